"""What the model extractor asks: instructions and examples, from a file with a version."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from streams.errors import ConfigurationError
from streams.memory.extraction.reply import items
from streams.ports import ChatTurn

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Example(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    user: _Text
    assistant: _Text


class Prompt(BaseModel):
    """`version` is stored in every memory; `examples` are shown as earlier turns of the same exchange."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[_Text, Field(max_length=64)]
    system: _Text
    examples: tuple[Example, ...] = ()

    def turns(self, asked: str) -> list[ChatTurn]:
        """The conversation with the model that ends in what it is asked."""
        shown = [
            turn
            for example in self.examples
            for turn in (ChatTurn("user", example.user), ChatTurn("assistant", example.assistant))
        ]
        return [ChatTurn("system", self.system), *shown, ChatTurn("user", asked)]


@cache
def load_prompt(name: str = "facts-1", package: str = "streams.memory.extraction") -> Prompt:
    """A prompt file of the folder `prompts` of a package, by name."""
    text = files(package).joinpath("prompts", f"{name}.toml").read_text(encoding="utf-8")
    return Prompt.model_validate(tomllib.loads(text))


def read_prompt(path: Path) -> Prompt:
    """A prompt file of one's own, in the form of those in the package. Raises `ConfigurationError` that says what is
    wrong with it."""
    where = f"MEMSTREAM_EXTRACTION_PROMPT: {path}"
    try:
        prompt = Prompt.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigurationError(f"{where}: {error.strerror or type(error).__name__}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{where}: not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{where}: not TOML: {error}") from None
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False, include_context=False)
        says = "; ".join(f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in wrong)
        raise ConfigurationError(f"{where}: {says}") from None
    for place, example in enumerate(prompt.examples):
        if items(example.assistant) is None:
            raise ConfigurationError(f'{where}: examples.{place}.assistant: must be JSON: {{"memories": [...]}}')
    built_in = load_prompt()
    if prompt.version == built_in.version and prompt != built_in:
        raise ConfigurationError(f"{where}: version {prompt.version} is the built-in prompt's: give it one of its own")
    return prompt
