"""What every test can ask for, and the summary at the end of a run."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

from tests.kafka import BROKER, kafka, make_kafka, own_kafka, topic_prefix

__all__ = ["evaluation_data", "kafka", "make_kafka", "own_kafka", "topic_prefix"]

ON_BROKER = pytest.StashKey[set[str]]()
SECONDS = pytest.StashKey[defaultdict[str, float]]()
TESTS = pytest.StashKey[Counter[str]]()

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def evaluation_data() -> Path:
    """The folder of the public evaluation sets: `$MEMSTREAM_DATA`, else `../shared/data` beside the project.

    Without it the test is skipped; with `MEMSTREAM_REQUIRE_DATA=1` (as in CI) it fails.
    """
    named = os.environ.get("MEMSTREAM_DATA")
    folder = Path(named) if named else HERE.parent.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    message = f"the evaluation sets are not in {folder}: name their folder in MEMSTREAM_DATA"
    if named or os.environ.get("MEMSTREAM_REQUIRE_DATA") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak", type=int, nargs="?", const=1, default=0, help="longer proofs; the number moves the seeds"
    )


@pytest.fixture(scope="session")
def soak(request: pytest.FixtureRequest) -> int:
    """0 in a normal run; else the number to add to seeds, and the sign to run longer."""
    return int(request.config.getoption("--soak"))


def pytest_configure(config: pytest.Config) -> None:
    # A fixed seed: the same examples on every machine. The long form looks for new ones.
    settings.register_profile("fixed", derandomize=True, deadline=None)
    if not config.getoption("--soak"):
        settings.load_profile("fixed")
    config.stash[ON_BROKER] = set()
    config.stash[SECONDS] = defaultdict(float)
    config.stash[TESTS] = Counter()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """So that `-m "not kafka"` leaves out whatever needs a broker."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        if names & {"kafka", "own_kafka", "make_kafka"}:
            item.add_marker(pytest.mark.kafka)
        if "evaluation_data" in names:
            item.add_marker(pytest.mark.data)


def pytest_runtest_call(item: pytest.Item) -> None:
    if "kafka" in getattr(item, "fixturenames", ()):
        item.config.stash[ON_BROKER].add(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    folder = item.path.parent
    name = str(folder.relative_to(HERE.parent)) if folder.is_relative_to(HERE.parent) else str(folder)
    item.config.stash[SECONDS][name] += call.duration
    item.config.stash[TESTS][name] += call.when == "setup"
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    write = terminalreporter.write_line
    terminalreporter.section("memstream")
    if broker := config.stash.get(BROKER, None):
        count = len(config.stash[ON_BROKER])
        write(f"broker: Apache Kafka {broker.version} on {broker.bootstrap}, {count} tests ran on it")
    else:
        write("broker: no test asked for the shared one")
    seconds, tests = config.stash[SECONDS], config.stash[TESTS]
    for name in sorted(seconds):
        write(f"{name:<40} {tests[name]:>5} tests {seconds[name]:>8.1f} s")
    write(f"{'in all':<40} {sum(tests.values()):>5} tests {sum(seconds.values()):>8.1f} s")
