"""A chat model behind any server that speaks the OpenAI chat completions API: OpenAI, vLLM, Ollama, llama.cpp."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, SecretStr

from streams import metrics
from streams.adapters.openai_calls import CallPolicy, GuardedCalls, connect, read_answer
from streams.errors import DependencyDown, Refused
from streams.ports import ChatReply, ChatTurn

if TYPE_CHECKING:
    import openai

logger = logging.getLogger(__name__)

_SIMPLER_FORMAT: dict[str, Literal["json_object", "none"]] = {"json_schema": "json_object", "json_object": "none"}


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Answer(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """What this server turned out to understand. Servers differ in what they take for an unknown parameter."""

    response_format: Literal["json_schema", "json_object", "none"] = "json_schema"
    token_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True

    def without(self, complaint: str) -> Dialect | None:
        """The next simpler dialect for an error that names a parameter; None when it names none that can go."""
        complaint = complaint.casefold()
        # First, since this message names both.
        if self.token_limit == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, token_limit="max_completion_tokens")
        names_format = any(word in complaint for word in ("response_format", "json_schema", "json_object"))
        if names_format and (simpler := _SIMPLER_FORMAT.get(self.response_format)):
            return replace(self, response_format=simpler)
        if self.temperature and "temperature" in complaint:
            return replace(self, temperature=False)
        return None


class OpenAIChatModel:
    """A `ChatModel` over `POST {base_url}/chat/completions`, through the openai SDK.

    Answers are asked for as JSON by schema where the server can, else as a JSON object, else in words only; what a
    server rejects with a 400 or 422 is remembered until the process ends. Sampling is off (temperature 0).
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "https://api.openai.com/v1",
        key: SecretStr | str | None = None,
        policy: CallPolicy | None = None,
        calls: GuardedCalls | None = None,
    ) -> None:
        policy = policy or CallPolicy()
        self._model = model
        self._client = connect(base_url, key, policy.timeout_seconds)
        self._calls = calls or GuardedCalls("chat", policy)
        self._dialect = Dialect()

    @property
    def name(self) -> str:
        return self._model

    async def complete(
        self,
        turns: Sequence[ChatTurn],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        deadline_seconds: float = 60.0,
    ) -> ChatReply:
        if self._client.is_closed():
            raise DependencyDown("chat", "it is closed")
        return await self._calls.run(
            lambda: self._ask(turns, json_schema, max_tokens), deadline_seconds=deadline_seconds
        )

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, turns: Sequence[ChatTurn], schema: Mapping[str, Any] | None, max_tokens: int) -> ChatReply:
        import openai

        messages: Any = [{"role": turn.role, "content": turn.content} for turn in turns]
        while True:
            dialect = self._dialect
            try:
                response = await self._client.chat.completions.with_raw_response.create(
                    model=self._model, messages=messages, **_arguments(dialect, schema, max_tokens)
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                simpler = dialect.without(_complaint(error))
                if simpler is None:
                    raise
                logger.warning("the chat server rejected a parameter: %s gives way to %s", dialect, simpler)
                self._dialect = simpler
            else:
                reply = _reply(read_answer(_Answer, response.content, "chat"))
                metrics.MODEL_TOKENS.labels("prompt").inc(reply.prompt_tokens)
                metrics.MODEL_TOKENS.labels("completion").inc(reply.completion_tokens)
                return reply


def _arguments(dialect: Dialect, schema: Mapping[str, Any] | None, max_tokens: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {dialect.token_limit: max_tokens}
    if dialect.temperature:
        arguments["temperature"] = 0.0
    if schema is not None and dialect.response_format == "json_schema":
        described = {"name": "answer", "schema": dict(schema), "strict": _is_strict(schema)}
        arguments["response_format"] = {"type": "json_schema", "json_schema": described}
    elif schema is not None and dialect.response_format == "json_object":
        arguments["response_format"] = {"type": "json_object"}
    return arguments


def _is_strict(schema: Any) -> bool:
    """Whether OpenAI takes `schema` with `strict`: every object closed, every property required."""
    if isinstance(schema, Mapping):
        if "properties" in schema and (
            schema.get("additionalProperties") is not False
            or set(schema.get("required", ())) != set(schema["properties"])
        ):
            return False
        return all(_is_strict(value) for value in schema.values())
    if isinstance(schema, list | tuple):
        return all(_is_strict(value) for value in schema)
    return True


def _complaint(error: openai.APIStatusError) -> str:
    return f"{error.param or ''} {error.message}"


def _reply(answer: _Answer) -> ChatReply:
    if not answer.choices:
        raise DependencyDown("chat", "the answer has no choices")
    choice = answer.choices[0]
    text = choice.message.content or ""
    if not text and (choice.message.refusal or choice.finish_reason == "content_filter"):
        raise Refused("chat", choice.finish_reason if choice.finish_reason == "content_filter" else "refusal")
    usage = answer.usage or _Usage()
    return ChatReply(text, usage.prompt_tokens or 0, usage.completion_tokens or 0)
