"""Dashboards: written by their table, provisioned by compose, about series that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.prometheus import exported, grafana, panels, problems, recorded

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "grafana"
RECORDS = yaml.safe_load((ROOT / "deploy/prometheus/records.yml").read_text(encoding="utf-8"))
KNOWN = exported() | recorded(RECORDS["groups"])
QUERIES = panels()


def load(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_golden_files_are_current() -> None:
    found = {path.name: path.read_text(encoding="utf-8") for path in (FOLDER / "dashboards").iterdir()}
    assert found == grafana().written(), "run `python deploy/grafana/make.py`"


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_panels_ask_for_what_workers_export(query: Any) -> None:
    assert problems(query.promql.replace("$__rate_interval", "5m"), KNOWN) == []
    level = {label for group in re.findall(r"\bby \(([^)]*)\)", query.promql) for label in re.findall(r"\w+", group)}
    level |= {
        label for name, series in KNOWN.items() if ":" in name and name in query.promql for label in series.labels
    }
    assert set(re.findall(r"{{(\w+)}}", query.legend)) == level - {"le"}, "the legend tells the curves apart"


def test_every_metric_is_on_a_dashboard_or_in_a_rule() -> None:
    """What nobody looks at should not be measured."""
    alerts = (ROOT / "deploy/prometheus/alerts.yml").read_text(encoding="utf-8")
    asked = alerts + json.dumps(RECORDS) + " ".join(query.promql for query in QUERIES)
    names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in exported() if name.startswith("memstream")}
    unseen = {name for name in names if name not in asked}
    # The version is a label for whoever compares two of them; who can't be answered finds it in the log.
    assert unseen == {"memstream_build_info", "memstream_replies_refused_total"}


def test_panels_do_not_overlap() -> None:
    for path in (FOLDER / "dashboards").iterdir():
        places = [panel["gridPos"] for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]]
        corners = {(place["x"], place["y"]) for place in places}
        assert len(corners) == len(places)
        assert all(place["x"] + place["w"] <= 24 and place["x"] % place["w"] == 0 for place in places)


def test_compose_provisions_them() -> None:
    services = load("docker-compose.yml")["services"]
    mounted = dict(volume.split(":")[:2] for volume in services["grafana"]["volumes"])
    assert mounted["./deploy/grafana/provisioning"] == "/etc/grafana/provisioning"
    (provider,) = load("deploy/grafana/provisioning/dashboards/memstream.yml")["providers"]
    assert provider["options"]["path"] == mounted["./deploy/grafana/dashboards"]
    (source,) = load("deploy/grafana/provisioning/datasources/prometheus.yml")["datasources"]
    assert source["url"] == "http://prometheus:" + services["prometheus"]["ports"][0].rpartition(":")[2]
    assert source["uid"] == grafana().SOURCE["uid"]
    assert source["jsonData"]["timeInterval"] == load("deploy/prometheus/prometheus.yml")["global"]["scrape_interval"]
