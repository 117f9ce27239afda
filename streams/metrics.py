"""Prometheus metrics. Names and units by convention, no per-user label, one registry a process."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector

REGISTRY = CollectorRegistry()
# CPU, memory and open files under the names that every Prometheus client uses (process_cpu_seconds_total, ...).
ProcessCollector(registry=REGISTRY)

_STAGE_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_DELAY_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 43200)
_RECALL_BUCKETS = (0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.5, 1, 2.5, 5)
# A write waits for all stages, as long as its caller lets it.
_HTTP_BUCKETS = (*_RECALL_BUCKETS, 10, 30, 60)

RECORDS = Counter(
    "memstream_records", "Records handled, by stage and outcome.", ["stage", "outcome"], registry=REGISTRY
)
SKIPPED = Counter("memstream_skipped_events", "Events skipped, by reason.", ["stage", "reason"], registry=REGISTRY)
DEAD_LETTERS = Counter(
    "memstream_dead_letters", "Records parked, by stage and reason.", ["stage", "reason"], registry=REGISTRY
)
REPLIES_REFUSED = Counter(
    "memstream_replies_refused",
    "Replies to published events that could not be sent, by reason.",
    ["stage", "reason"],
    registry=REGISTRY,
)
RETRIES = Counter("memstream_retries", "Attempts that a dependency failed.", ["stage", "dependency"], registry=REGISTRY)
STAGE_SECONDS = Histogram(
    "memstream_stage_duration_seconds",
    "Time of one lane of records in a stage.",
    ["stage"],
    buckets=_STAGE_BUCKETS,
    registry=REGISTRY,
)
STEP_SECONDS = Histogram(
    "memstream_step_duration_seconds",
    "Time of one step inside a stage (embed, settle, produce, store, ...).",
    ["stage", "step"],
    buckets=_STAGE_BUCKETS,
    registry=REGISTRY,
)
END_TO_END_SECONDS = Histogram(
    "memstream_end_to_end_delay_seconds",
    "From the event's append to its receipt.",
    buckets=_DELAY_BUCKETS,
    registry=REGISTRY,
)
MEMORIES = Counter(
    "memstream_memories", "Memories written, by layer and status.", ["layer", "status"], registry=REGISTRY
)
STATUS_CHANGES = Counter(
    "memstream_status_changes",
    "Stored memories whose status changed (archived to active: revived), or that went: erased, withdrawn.",
    ["before", "after"],
    registry=REGISTRY,
)
REDACTIONS = Counter("memstream_redactions", "Spans redacted, by entity.", ["entity"], registry=REGISTRY)
REDACTION_GUARD = Counter(
    "memstream_redaction_guard_hits", "Memories that the second look before storing refused.", registry=REGISTRY
)
LAG_RECORDS = Gauge(
    "memstream_consumer_lag_records",
    "Records not yet handled, by role and topic.",
    ["role", "topic"],
    registry=REGISTRY,
)
LAG_RETENTION = Gauge(
    "memstream_consumer_lag_retention_ratio",
    "Age of the oldest record not yet handled, as a share of retention.",
    ["role", "topic"],
    registry=REGISTRY,
)
RECALL_SECONDS = Histogram(
    "memstream_recall_duration_seconds",
    "From the request's arrival to its reply.",
    ["kind"],
    buckets=_RECALL_BUCKETS,
    registry=REGISTRY,
)
RECALL_STEP_SECONDS = Histogram(
    "memstream_recall_step_duration_seconds",
    "Time of one step of a recall.",
    ["step"],
    buckets=_RECALL_BUCKETS,
    registry=REGISTRY,
)
RECALL_RESULTS = Histogram(
    "memstream_recall_results", "Memories a recall returned.", buckets=(0, 1, 2, 3, 5, 10, 20, 50), registry=REGISTRY
)
RECALLS = Counter("memstream_recalls", "Requests by kind and outcome.", ["kind", "outcome"], registry=REGISTRY)
PROMPT_TOKENS = Histogram(
    "memstream_prompt_growth_tokens",
    "Estimated tokens that a prompt block adds.",
    buckets=(0, 50, 100, 150, 200, 300, 500),
    registry=REGISTRY,
)
HTTP_REQUESTS = Counter(
    "memstream_http_requests", "Requests to the gateway, by route and status.", ["route", "status"], registry=REGISTRY
)
HTTP_SECONDS = Histogram(
    "memstream_http_request_duration_seconds",
    "From the headers of a request to the start of its answer.",
    ["route"],
    buckets=_HTTP_BUCKETS,
    registry=REGISTRY,
)
HTTP_IN_FLIGHT = Gauge("memstream_http_requests_in_flight", "Requests that wait for Kafka.", registry=REGISTRY)
HTTP_CONNECTIONS_REFUSED = Counter(
    "memstream_http_connections_refused",
    "Connections above the gateway's limit, by how: answered with 503, or closed without a word.",
    ["how"],
    registry=REGISTRY,
)
IMPORTED = Counter(
    "memstream_imported_conversations",
    "Conversations of import jobs, by what the gateway did with them.",
    ["result"],
    registry=REGISTRY,
)
IMPORT_OUTCOMES = Counter(
    "memstream_import_outcomes",
    "Receipts of conversations of import jobs, whoever sent them, by outcome.",
    ["outcome"],
    registry=REGISTRY,
)
IMPORT_FAILURES = Counter(
    "memstream_import_failures",
    "Conversations of import jobs that a gateway refused or a stage parked, by reason.",
    ["stage", "reason"],
    registry=REGISTRY,
)
IMPORTS_RUNNING = Gauge(
    "memstream_imports_running",
    "Import jobs that have conversations without an outcome, whoever sends them. Every gateway tells the same.",
    registry=REGISTRY,
)
IMPORTS_QUEUED = Gauge(
    "memstream_import_queued_conversations", "Conversations of those without an outcome.", registry=REGISTRY
)
IMPORTS_OLDEST_DONE = Gauge(
    "memstream_import_oldest_done_ratio",
    "Share that has its outcome, of the import that runs longest; 1 when none runs.",
    registry=REGISTRY,
)
IMPORTS_REMAINING = Gauge(
    "memstream_import_remaining_seconds",
    "Estimated for the import that takes longest, at the pace of its outcomes so far; 0 when none runs, NaN while "
    "there is no pace.",
    registry=REGISTRY,
)
MODEL_TOKENS = Counter("memstream_model_tokens", "Chat model tokens.", ["direction"], registry=REGISTRY)
DEPENDENCY_UP = Gauge(
    "memstream_dependency_up", "1 while the dependency does its work.", ["dependency"], registry=REGISTRY
)
STORE_BYTES = Gauge(
    "memstream_store_size_bytes", "Files of the embedded store; Qdrant measures its own.", ["store"], registry=REGISTRY
)
DATA_FREE_BYTES = Gauge(
    "memstream_data_dir_free_bytes", "Free space on the disk of the data folder.", registry=REGISTRY
)
LOOP_LAG_SECONDS = Gauge("memstream_event_loop_lag_seconds", "How late the event loop wakes up.", registry=REGISTRY)
WINDOW_CHANGES = Counter("memstream_window_changes", "What the window job changed.", ["change"], registry=REGISTRY)
WINDOW_LAST = Gauge(
    "memstream_window_last_end_timestamp_seconds",
    "End of the window up to which every shard held is worked off; 0 without any.",
    registry=REGISTRY,
)
BUILD = Info("memstream_build", "Version of the running code.", registry=REGISTRY)
