"""A prompt file of one's own: used as it is, or refused with what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas import CandidateEvent
from streams.adapters.chat import OpenAIChatModel
from streams.agents.extract import ExtractStage
from streams.app import model_extractor_of
from streams.errors import ConfigurationError
from streams.memory.extraction import prompt
from streams.memory.extraction.prompt import load_prompt, read_prompt
from streams.outcome import Done
from streams.records import Inbound
from streams.settings import load_settings
from tests.misbehaving import Misbehaving, Step
from tests.unit.extraction.events import event

OWN = """
version = "own-7"
system = "只挑出值得记住的内容。"

[[examples]]
user = "[0] user: hi"
assistant = '{"memories": []}'
"""
FACT = '{"memories": [{"message": 0, "content": "I moved to Bergen", "quote": "I moved to Bergen", "subject": "user"}]}'


def written(folder: Path, text: str) -> Path:
    (folder / "prompt.toml").write_text(text, encoding="utf-8")
    return folder / "prompt.toml"


async def test_the_model_is_asked_so_and_memories_carry_the_version(tmp_path: Path) -> None:
    settings = load_settings(extraction_prompt=written(tmp_path, OWN))
    said = event("Last week I moved to Bergen.")
    record = Inbound("redacted", 0, 0, said.appended_at, said.tenant.key.encode(), said.to_bytes())
    async with Misbehaving() as server:
        server.always("chat", Step(content=FACT))
        chat = OpenAIChatModel("m", base_url=server.base_url)
        stage = ExtractStage(model_extractor_of(settings, chat), keeps_episodes=lambda _: False, dependencies=("chat",))
        (outcome,) = await stage.handle([record])
        await chat.close()
        asked = server.bodies("chat")[0]["messages"]
    assert isinstance(outcome, Done)
    made = CandidateEvent.from_bytes(outcome.emit[0].value or b"")
    assert [c.content for c in made.candidates] == ["I moved to Bergen"]
    assert made.prompt_version == "own-7"
    assert [turn["content"] for turn in asked[:3]] == ["只挑出值得记住的内容。", "[0] user: hi", '{"memories": []}']


def test_a_copy_of_the_built_in_one_is_fine_as_it_is() -> None:
    built_in = Path(prompt.__file__).parent / "prompts" / "facts-1.toml"
    assert read_prompt(built_in) == load_prompt()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("version = 1", "version: Input should be a valid string; system: Field required"),
        ('version = "a"\nsystem = " "', "system: String should have at least 1 character"),
        ('version = "a"\nsystem = "b"\nexample = 1', "example: Extra inputs are not permitted"),
        ('version = "a"\nsystem = "b"\nexamples = [{user = "c"}]', "examples.0.assistant: Field required"),
        (OWN.replace('{"memories": []}', "nothing"), "examples.0.assistant: must be JSON"),
        (OWN.replace("own-7", "facts-1"), "version facts-1 is the built-in prompt's: give it one of its own"),
        ("version = ", "not TOML"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^MEMSTREAM_EXTRACTION_PROMPT: ") as caught:
        read_prompt(written(tmp_path, text))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_prompt(tmp_path / "nowhere.toml")
