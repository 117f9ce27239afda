"""What every test can ask for, and the summary at the end of a run."""

from __future__ import annotations

import os
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

from tests.kafka import kafka, make_kafka, own_kafka, topic_prefix

__all__ = ["evaluation_data", "kafka", "make_kafka", "own_kafka", "topic_prefix"]

# Name of the report's property that says on which broker its test ran.
BROKER = "broker"

HERE = Path(__file__).parent

# What a child process compiled, the next one need not, whatever this run was told for itself.
if "PYTHONPYCACHEPREFIX" not in os.environ:
    _COMPILED = tempfile.TemporaryDirectory(prefix="memstream-pycache-")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = _COMPILED.name


class Summary:
    """What ran on which broker, and how long each folder took. Made of reports alone: these come back from the
    processes that the tests run in."""

    def __init__(self) -> None:
        self.on_broker: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        folder = report.nodeid.split("::")[0].rpartition("/")[0]
        self.seconds[folder] += report.duration
        self.tests[folder] += report.when == "setup"
        if report.when == "call":
            self.on_broker.update(str(value) for name, value in report.user_properties if name == BROKER)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        write = terminalreporter.write_line
        terminalreporter.section("memstream")
        for broker, count in self.on_broker.items():
            write(f"broker: {broker}, {count} tests ran on it")
        if not self.on_broker:
            write("broker: no test asked for the shared one")
        for name, seconds in sorted(self.seconds.items()):
            write(f"{name:<40} {self.tests[name]:>5} tests {seconds:>8.1f} s")
        write(f"{'in all':<40} {sum(self.tests.values()):>5} tests {sum(self.seconds.values()):>8.1f} s")


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
    config.pluginmanager.register(Summary(), "memstream-summary")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """So that `-m "not kafka"` leaves out whatever needs a broker."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        if names & {"kafka", "own_kafka", "make_kafka"}:
            item.add_marker(pytest.mark.kafka)
        if "evaluation_data" in names:
            item.add_marker(pytest.mark.data)


def pytest_runtest_call(item: pytest.Item) -> None:
    broker = getattr(item, "funcargs", {}).get("kafka")
    if broker is not None:
        item.user_properties.append((BROKER, f"Apache Kafka {broker.version} on {broker.bootstrap}"))
