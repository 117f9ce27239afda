"""Which models an OpenAI-compatible endpoint has: `GET {base_url}/models`."""

from __future__ import annotations

from pydantic import BaseModel, SecretStr

from streams.adapters.openai_calls import connect, read_answer
from streams.adapters.openai_errors import failure


class _Model(BaseModel):
    id: str


class _Models(BaseModel):
    data: tuple[_Model, ...]


async def list_models(base_url: str, key: SecretStr, *, seconds: float, dependency: str) -> tuple[str, ...] | None:
    """Their names; None when the endpoint has no such list (HTTP 404). Asks once.

    Raises `DependencyDown`, `Refused`, and `ConfigurationError` without the package openai.
    """
    client = connect(base_url, key, seconds)
    import openai

    try:
        response = await client.models.with_raw_response.list()
    except openai.NotFoundError:
        return None
    except openai.OpenAIError as error:
        raise failure(error, dependency) from None
    finally:
        await client.close()
    return tuple(model.id for model in read_answer(_Models, response.content, dependency).data)


def has_model(models: tuple[str, ...], name: str) -> bool:
    """Ollama lists `llama3:latest` for what is asked for as `llama3`."""
    return name in models or f"{name}:latest" in models
