"""The documents agree with the code: tables, tests that are named, variables, commands."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest
import typer

from streams.cli import app
from streams.settings import Settings
from streams.topics import TOPICS

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("deploy/**/*.md")]
)


def names(document: Path) -> str:
    return str(document.relative_to(ROOT))


@pytest.fixture(params=DOCUMENTS, ids=names)
def text(request: pytest.FixtureRequest) -> str:
    return Path(request.param).read_text(encoding="utf-8")


def test_tables_are_those_of_the_code() -> None:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    document = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert document == tables.written(document), "run `python docs/tables.py`"
    assert document.count("`MEMSTREAM_") >= len(Settings.model_fields)
    assert all(f"| `{topic.name}` |" in document for topic in TOPICS)


def test_every_setting_says_what_it_is_for() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def named_in(path: Path) -> set[str]:
    """Functions and methods, and what a property is assigned to."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
    return {name for name in names if name.startswith("test_")}


def test_every_test_that_is_named_exists(text: str) -> None:
    missing = [
        f"{file}::{name}"
        for file, name in re.findall(r"(tests/[\w/]+\.py)(?:::(\w+))?", text)
        if not (ROOT / file).is_file() or (name and name not in named_in(ROOT / file))
    ]
    assert missing == []


def test_every_law_names_its_proof() -> None:
    document = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    laws = re.split(r"^### (?=\d)", document.partition("## The laws")[2], flags=re.MULTILINE)[1:]
    assert [law[0] for law in laws] == list("12345678")
    assert [law.splitlines()[0] for law in laws if not re.search(r"tests/[\w/]+\.py", law)] == []


def test_links_lead_somewhere(request: pytest.FixtureRequest, text: str) -> None:
    folder = request.node.callspec.params["text"].parent
    links = [link for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text) if "://" not in link]
    assert [link for link in links if not (folder / link).exists()] == []


def test_every_variable_that_is_named_exists(text: str) -> None:
    known = {f"MEMSTREAM_{name.upper()}" for name in Settings.model_fields}
    # Of the embedded broker, of the tests.
    known |= {
        "MEMSTREAM_CACHE",
        "MEMSTREAM_MAVEN_REPOSITORY",
        "MEMSTREAM_JAVA",
        "MEMSTREAM_DATA",
        "MEMSTREAM_REQUIRE_DATA",
    }
    assert set(re.findall(r"MEMSTREAM_[A-Z_]+[A-Z]", text)) - known == set()


def test_every_command_that_is_named_exists(text: str) -> None:
    known = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert set(re.findall(r"\bmemstream ([a-z]+)(?= |`|$)", " ".join(re.findall(r"`memstream [^`]+`", text)))) <= known


def test_nothing_names_the_machine_it_was_written_on(text: str) -> None:
    assert not re.search(r"/(?:work|home|tmp)/", text)


EXTENDING = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", EXTENDING, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("code", blocks("python"))
def test_python_of_the_guide_runs(code: str) -> None:
    exec(compile(code, "docs/extending.md", "exec"), {"__name__": "guide"})


@pytest.mark.parametrize("policy", blocks("toml"))
def test_policy_of_the_guide_is_understood(policy: str, tmp_path: Path) -> None:
    from streams.memory.redaction import Redactor, load_policy

    (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    redactor = Redactor(load_policy(tmp_path / "policy.toml"))
    assert redactor.redact("call 415-555-2671, 工号 E123456").text == "call 415-555-2671, 工号 [STAFF_ID_1]"
