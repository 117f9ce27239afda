"""Which models an OpenAI-compatible endpoint has: `GET {base_url}/models`."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr

from streams.adapters.openai_calls import connect, read_answer
from streams.adapters.openai_errors import failure
from streams.errors import ConfigurationError


class _Model(BaseModel):
    id: str


class _Models(BaseModel):
    # Servers in Go write an empty list as null.
    data: tuple[_Model, ...] | None


def check_endpoint(setting: str, base_url: str, key: SecretStr) -> None:
    """What the SDK fails over without a word of the setting. `setting`: MEMSTREAM_CHAT or MEMSTREAM_EMBEDDER.

    Raises `ConfigurationError`, which quotes neither.
    """
    if not is_url(base_url):
        raise ConfigurationError(f"correct {setting}_BASE_URL: it must look like http://localhost:11434/v1")
    secret = key.get_secret_value()
    if not (secret.isascii() and secret.isprintable()):
        raise ConfigurationError(f"correct {setting}_API_KEY: it has characters that no key can have")


def is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").encode("idna")
        return parts.scheme in ("http", "https") and bool(host) and parts.port != 0 and text.isprintable()
    except ValueError:
        return False


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
    return tuple(model.id for model in read_answer(_Models, response.content, dependency).data or ())


def has_model(models: tuple[str, ...], name: str) -> bool:
    """Ollama lists `llama3:latest` for what is asked for as `llama3`, Gemini `models/gemini` for `gemini`."""
    return not {name, f"{name}:latest", f"models/{name}"}.isdisjoint(models)
