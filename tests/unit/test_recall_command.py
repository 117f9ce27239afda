"""`memstream recall`: what its options ask for. The command against a running memory: tests/acceptance/test_cli.py."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from schemas import Layer, MemoryType, RecallReply, RecallRequest
from streams.cli import app, recall
from streams.cli.recall import left_out

WHO = ["recall", "--namespace", "shop", "--user", "1"]
asked: list[RecallRequest] = []


class Recorder:
    """Stands in for the client: keeps the request that would be sent."""

    def __init__(self, *, settings: object, namespace: str) -> None:
        self.namespace = namespace

    async def __aenter__(self) -> Recorder:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def recall(self, query: str, *, deadline: float, **options: Any) -> RecallReply:
        asked.append(RecallRequest.model_validate({"namespace": self.namespace, "query": query, **options}))
        return RecallReply(prompt="the block")


@pytest.fixture(autouse=True)
def recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    asked.clear()
    monkeypatch.setattr(recall, "MemoryClient", Recorder)
    monkeypatch.setattr(recall, "settings_for_client", lambda: None)


def request(*arguments: str) -> RecallRequest:
    done = CliRunner().invoke(app, [*WHO, *arguments])
    assert done.exit_code == 0, done.output
    return asked.pop()


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        (["--layers", "fact", "--layers", "episode"], "layers", (Layer.FACT, Layer.EPISODE)),
        (["--types", "task"], "types", (MemoryType.TASK,)),
        (["--tags", "出差", "--tag", "work"], "tags", ("出差", "work")),
        (["--session", "chat-7"], "session_id", "chat-7"),
        (["--since", "2026-03-01"], "since", datetime(2026, 3, 1, tzinfo=UTC)),
        (["--until", "2026-03-01T09:00:00+08:00"], "until", datetime(2026, 3, 1, 1, tzinfo=UTC)),
        (["--as-of", "2026-03-01"], "as_of", datetime(2026, 3, 1, tzinfo=UTC)),
        (["--about", "李明"], "about", "李明"),
        (["--include-superseded"], "include_superseded", True),
        (["--superseded"], "include_superseded", True),
        (["--include-archived"], "include_archived", True),
        (["--format", "prompt"], "format", "prompt"),
        (["--prompt"], "format", "prompt"),
        (["--prompt-role", "user"], "prompt_role", "user"),
        (["--explain"], "explain", True),
        (["--top-k", "7"], "top_k", 7),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_option_is_asked_for(arguments: list[str], field: str, value: object) -> None:
    plain = request("seat?")
    chosen = request("seat?", *arguments)
    assert getattr(chosen, field) == value
    assert chosen.model_copy(update={field: getattr(plain, field)}) == plain


def test_a_dialogue_is_asked_by_its_messages() -> None:
    said = request(
        "--message", "assistant: Where to?", "--message", "<Anna>：去波恩", "--message", "see https://a.example"
    )
    assert said.query == ""
    assert [(m.role, m.speaker, m.text) for m in said.messages] == [
        ("assistant", None, "Where to?"),
        ("user", "Anna", "去波恩"),
        ("user", None, "see https://a.example"),
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "give either a question or --message"),
        (["seat?", "--message", "hi"], "give either a question or --message"),
        (["seat?", "--since", "yesterday"], "--since: not a time such as 2026-03-01"),
        (["seat?", "--as-of", "13"], "--as-of: not a time such as 2026-03-01"),
        (["seat?", "--layers", "facts"], "'facts' is not one of"),
        (["seat?", "--format", "html"], "'html' is not one of"),
    ],
)
def test_a_mistake_is_said_before_anything_is_asked(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = CliRunner().invoke(app, [*WHO, *arguments])
    assert done.exit_code == 2
    assert says in " ".join((done.output + done.stderr + capsys.readouterr().err).split())
    assert not asked


def test_what_an_answer_was_made_without_is_told_in_words() -> None:
    assert left_out(("dense",)) == "note: the embedding model did not answer in time: found by words alone"
    assert left_out(("rewrite", "more")).endswith("; answered without more")
