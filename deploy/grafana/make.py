"""The dashboards from the table below: `python deploy/grafana/make.py` writes them anew, a test compares them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("dashboards")
SOURCE = {"type": "prometheus", "uid": "prometheus"}
PANELS_A_ROW = 3
WIDTH, HEIGHT = 24 // PANELS_A_ROW, 8


@dataclass(frozen=True)
class Panel:
    """One graph. `queries`: legend and PromQL; `unit` as Grafana names it."""

    title: str
    queries: Sequence[tuple[str, str]]
    unit: str = "short"
    about: str = ""
    kind: str = "timeseries"


def one(
    title: str, query: str, unit: str = "short", legend: str = "", about: str = "", kind: str = "timeseries"
) -> Panel:
    return Panel(title, [(legend, query)], unit, about, kind)


def quantiles(title: str, histogram: str, by: str = "", where: str = "", about: str = "") -> Panel:
    """Median and 95th percentile of a histogram in seconds, for each value of the label `by`."""
    labels = ", ".join(filter(None, (by, "le")))
    prefix = f"{{{{{by}}}}} " if by else ""
    return Panel(
        title,
        [
            (
                f"{prefix}p{round(q * 100)}",
                f"histogram_quantile({q}, sum by ({labels}) (rate({histogram}_bucket{where}[$__rate_interval])))",
            )
            for q in (0.5, 0.95)
        ],
        "s",
        about,
    )


def rate(title: str, counter: str, by: str, unit: str = "cps", where: str = "", about: str = "") -> Panel:
    legend = " ".join(f"{{{{{label}}}}}" for label in by.split(", "))
    return one(title, f"sum by ({by}) (rate({counter}{where}[$__rate_interval]))", unit, legend, about)


DASHBOARDS: dict[str, Sequence[Panel]] = {
    "pipeline": [
        one("Workers that are scraped", 'sum by (job) (up{job="memstream"})', legend="{{job}}", kind="stat"),
        one("Dependencies", "min by (dependency) (memstream_dependency_up)", legend="{{dependency}}", kind="stat"),
        one(
            "Share of retention used by the backlog",
            "max by (role, topic) (memstream_consumer_lag_retention_ratio)",
            "percentunit",
            "{{role}} {{topic}}",
            "At 100 % Kafka deletes records that nobody has handled.",
        ),
        one("Records by outcome", "stage_outcome:memstream_records:rate5m", "cps", "{{stage}} {{outcome}}"),
        one("Backlog", "role_topic:memstream_consumer_lag_records:sum", "short", "{{role}} {{topic}}"),
        quantiles("From append to receipt", "memstream_end_to_end_delay_seconds"),
        quantiles("Time of a lane in a stage", "memstream_stage_duration_seconds", "stage"),
        quantiles("Time of a step in the writer", "memstream_step_duration_seconds", "step", '{stage="memory"}'),
        one(
            "Dead letters in 15 minutes",
            "stage_reason:memstream_dead_letters:increase15m",
            "short",
            "{{stage}} {{reason}}",
            "memstream dead-letters list",
        ),
        rate("Attempts that a dependency failed", "memstream_retries_total", "stage, dependency"),
        rate("Events skipped", "memstream_skipped_events_total", "stage, reason"),
        one("Event loop, how late", "max by (instance) (memstream_event_loop_lag_seconds)", "s", "{{instance}}"),
    ],
    "recall": [
        one("Requests", "kind_outcome:memstream_recalls:rate5m", "reqps", "{{kind}} {{outcome}}"),
        quantiles("Time to the reply", "memstream_recall_duration_seconds", "kind"),
        quantiles("Time of a step", "memstream_recall_step_duration_seconds", "step"),
        one(
            "Memories a recall returns",
            "sum(rate(memstream_recall_results_sum[$__rate_interval])) / "
            "(sum(rate(memstream_recall_results_count[$__rate_interval])) > 0)",
            legend="mean",
        ),
        one(
            "Recalls that return none",
            'sum(rate(memstream_recall_results_bucket{le="0.0"}[$__rate_interval])) / '
            "(sum(rate(memstream_recall_results_count[$__rate_interval])) > 0)",
            "percentunit",
            "empty",
            "The intended answer to an unrelated question; a jump means that something is not found any more.",
        ),
        one(
            "Recalls without an answer",
            "outcome:memstream_recalls:share5m",
            "percentunit",
            "{{outcome}}",
            "A dependency, a bug or the clock kept them from one.",
        ),
        rate("HTTP requests", "memstream_http_requests_total", "route, status", "reqps"),
        quantiles("HTTP, time to the answer", "memstream_http_request_duration_seconds", "route"),
        one(
            "HTTP requests that fail",
            "memstream_http_requests:failed_share5m",
            "percentunit",
            "5xx",
        ),
        one("HTTP requests under way", "sum by (instance) (memstream_http_requests_in_flight)", legend="{{instance}}"),
        rate(
            "Connections refused",
            "memstream_http_connections_refused_total",
            "how",
            about="Above MEMSTREAM_HTTP_MAX_CONNECTIONS. More gateways, or clients that keep their connections.",
        ),
    ],
    "lifecycle": [
        rate("Memories written", "memstream_memories_total", "layer, status"),
        one(
            "Status of stored memories, changes in a window of 6 h",
            "sum by (before, after) (increase(memstream_status_changes_total[6h]))",
            legend="{{before}} {{after}}",
            about="archived active: revived by an access, a repetition or a restore.",
        ),
        rate("What the decay windows changed", "memstream_window_changes_total", "change"),
        one(
            "Age of the oldest decay window that a shard has behind it",
            "time() - min(memstream_window_last_end_timestamp_seconds > 0)",
            "s",
            "age",
            "Windows are six hours.",
        ),
        rate("Spans redacted", "memstream_redactions_total", "entity"),
        one(
            "Memories that the second look refused, in a day",
            "sum(increase(memstream_redaction_guard_hits_total[1d]))",
            legend="refused",
            about="Anything but 0 means that a rule of redaction is missing.",
            kind="stat",
        ),
        one("Size of an embedded store", "sum by (instance) (memstream_store_size_bytes)", "bytes", "{{instance}}"),
    ],
    "imports": [
        rate(
            "Conversations with an outcome",
            "memstream_import_outcomes_total",
            "outcome",
            about="The throughput of imports, whoever sends them. Of one: GET /memory/import/{task_id}.",
        ),
        one(
            "Outcomes in a day",
            "sum by (outcome) (increase(memstream_import_outcomes_total[1d]))",
            legend="{{outcome}}",
            kind="stat",
        ),
        one(
            "Refused or parked",
            "memstream_imports:failed_share30m",
            "percentunit",
            "of the last half hour",
            "The status of an import says which and why.",
        ),
        one(
            "Refused or parked in a day, by reason",
            "stage_reason:memstream_import_failures:increase1d",
            legend="{{stage}} {{reason}}",
            about="import: refused by a gateway. Those of the others are dead letters.",
        ),
        rate(
            "What gateways did",
            "memstream_imported_conversations_total",
            "result",
            about="known: there already. What commands send is not among these.",
        ),
        one("Imports that run", "max(memstream_imports_running)", legend="running", kind="stat"),
        one(
            "Conversations of them without an outcome",
            "max(memstream_import_queued_conversations)",
            legend="queued",
        ),
        one(
            "Done, of the import that runs longest",
            "max(memstream_import_oldest_done_ratio)",
            "percentunit",
            "done",
            "100 % when none runs.",
        ),
        one(
            "Time left, of the import that takes longest",
            "max(memstream_import_remaining_seconds)",
            "s",
            "left",
            "At the pace so far. A gap: nothing has come of those that run for two minutes.",
        ),
        one(
            "Events that wait",
            'role_topic:memstream_consumer_lag_records:sum{topic="conversations"}',
            legend="{{role}} {{topic}}",
            about="Imported ones and others: they stand in one line.",
        ),
    ],
    "cost": [
        one(
            "Tokens of the chat model in an hour",
            "sum by (direction) (increase(memstream_model_tokens_total[1h]))",
            legend="{{direction}}",
        ),
        one(
            "Chat tokens for each record extracted",
            "sum(rate(memstream_model_tokens_total[$__rate_interval])) / "
            '(sum(rate(memstream_records_total{stage="extract"}[$__rate_interval])) > 0)',
            legend="tokens",
        ),
        one(
            "Tokens that a prompt block adds",
            "sum(rate(memstream_prompt_growth_tokens_sum[$__rate_interval])) / "
            "(sum(rate(memstream_prompt_growth_tokens_count[$__rate_interval])) > 0)",
            legend="mean",
            about="Estimated; the agent's own model is billed for them at every turn.",
        ),
        one(
            "Tokens added to prompts in an hour",
            "sum(increase(memstream_prompt_growth_tokens_sum[1h]))",
            legend="tokens",
        ),
        one("CPU", "sum by (instance) (rate(process_cpu_seconds_total[$__rate_interval]))", "short", "{{instance}}"),
        one("Memory", "sum by (instance) (process_resident_memory_bytes)", "bytes", "{{instance}}"),
        one("Free disk", "min by (instance) (memstream_data_dir_free_bytes)", "bytes", "{{instance}}"),
    ],
}


def dashboard(name: str) -> dict[str, Any]:
    return {
        "uid": f"memstream-{name}",
        "title": f"memstream: {name}",
        "tags": ["memstream"],
        "schemaVersion": 39,
        "timezone": "browser",
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "panels": [_panel(number, panel) for number, panel in enumerate(DASHBOARDS[name])],
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    row, column = divmod(number, PANELS_A_ROW)
    return {
        "id": number + 1,
        "title": panel.title,
        "description": panel.about,
        "type": panel.kind,
        "datasource": SOURCE,
        "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": SOURCE, "expr": query, "legendFormat": legend}
            for place, (legend, query) in enumerate(panel.queries)
        ],
    }


def written() -> dict[str, str]:
    """By file name."""
    return {f"{name}.json": json.dumps(dashboard(name), indent=2, ensure_ascii=False) + "\n" for name in DASHBOARDS}


if __name__ == "__main__":
    for name, text in written().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
