"""Debian's Prometheus for tests (`.ci/prometheus` unpacks it), and what a query in PromQL asks for."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streams.metrics import REGISTRY

GRAFANA = Path(__file__).parents[1] / "deploy" / "grafana"
# What Prometheus itself adds to every sample.
TARGET_LABELS = frozenset({"instance", "job"})
SAMPLES = {
    "counter": ("_total",),
    "histogram": ("_bucket", "_sum", "_count"),
    "info": ("_info",),
    "gauge": ("",),
}
RATES = ("rate", "irate", "increase")
FUNCTIONS = ("deriv", "delta", "max_over_time", *RATES)


def binary(name: str) -> str:
    """Path of `promtool` or `prometheus`. Without it the test is skipped; with `MEMSTREAM_REQUIRE_PROMTOOL=1` it
    fails."""
    found = shutil.which(name)
    if found is None:
        message = (
            f"rules, alerts and dashboards are NOT TESTED in this run: {name} is not installed "
            "(Debian's package prometheus has it; `.ci/prometheus` unpacks it without root)"
        )
        if os.environ.get("MEMSTREAM_REQUIRE_PROMTOOL") == "1":
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    return found


@dataclass(frozen=True)
class Series:
    """A name that can be asked for."""

    kind: str
    labels: frozenset[str]


def exported() -> dict[str, Series]:
    """By sample name: what a worker's /metrics has."""
    labels = {
        collector._name: frozenset(collector._labelnames)
        for collector in REGISTRY._collector_to_names
        if hasattr(collector, "_labelnames")
    }
    found: dict[str, Series] = {"up": Series("gauge", frozenset())}
    for metric in REGISTRY.collect():
        own = labels.get(metric.name, frozenset())
        for end in SAMPLES[metric.type]:
            le = frozenset({"le"}) if end == "_bucket" else frozenset()
            kind = "gauge" if metric.type in ("gauge", "info") else "counter"
            found[metric.name + end] = Series(kind, own | le | TARGET_LABELS)
    return found


def recorded(groups: list[Mapping[str, object]]) -> dict[str, Series]:
    """By name: the recording rules. Their level, before the first colon, is the labels that they keep."""
    rules = [rule for group in groups for rule in group["rules"]]  # type: ignore[attr-defined]
    return {rule["record"]: Series("gauge", level(rule["record"])) for rule in rules if "record" in rule}


def level(name: str) -> frozenset[str]:
    before, _, rest = name.partition(":")
    return frozenset() if before.startswith("memstream") or not rest else frozenset(before.split("_"))


def problems(query: str, known: Mapping[str, Series]) -> list[str]:
    """What in a query does not fit the series that there are: names, labels, rates of what is no counter."""
    plain = re.sub(r'"[^"]*"', '""', query)
    selectors = re.findall(r"(?<![\w:$\"])((?:\w+:)?(?:memstream|process)_[\w:]*|up)\b(?:\{([^}]*)\})?(\[)?", plain)
    found: list[str] = [] if selectors else ["asks for nothing"]
    labels: set[str] = set()
    for name, matchers, ranged in selectors:
        series = known.get(name)
        if series is None:
            found.append(f"{name} does not exist")
            continue
        labels |= series.labels
        named = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers))
        found += [f"{name} has no label {label}" for label in sorted(named - series.labels - TARGET_LABELS)]
        if ranged:
            function = re.findall(rf"({'|'.join(FUNCTIONS)})\(\s*{re.escape(name)}", plain)
            if not function or any((one in RATES) != (series.kind == "counter") for one in function):
                found.append(f"{name} is a {series.kind}: {function or 'a range'}")
        elif name.endswith(("_bucket", "_sum")):
            found.append(f"{name} without a rate")
    kept = {label for group in re.findall(r"\bby\s*\(([^)]*)\)", plain) for label in re.findall(r"\w+", group)}
    found += [f"nothing has the label {label}" for label in sorted(kept - labels - TARGET_LABELS)]
    if "histogram_quantile" in plain and not re.search(r"_bucket\b", plain):
        found.append("a quantile needs buckets")
    return found


def grafana() -> Any:
    """The module that writes the dashboards."""
    spec = importlib.util.spec_from_file_location("make_dashboards", GRAFANA / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Query:
    """One query of a panel, as it stands in the files that Grafana reads."""

    dashboard: str
    panel: str
    legend: str
    promql: str

    def __str__(self) -> str:
        return f"{self.dashboard}: {self.panel}, {self.legend}"


def panels() -> list[Query]:
    return [
        Query(path.stem, panel["title"], target["legendFormat"], target["expr"])
        for path in sorted((GRAFANA / "dashboards").glob("*.json"))
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]
        for target in panel["targets"]
    ]
