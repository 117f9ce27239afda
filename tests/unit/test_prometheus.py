"""Rules and alerts: sound by Prometheus's own tool, and about metrics that exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.prometheus import binary, exported, level, problems, recorded

FOLDER = Path(__file__).parents[2] / "deploy" / "prometheus"
OPERATIONS = (FOLDER.parents[1] / "docs" / "operations.md").read_text(encoding="utf-8")


def load(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


RULES = [rule for name in ("records.yml", "alerts.yml") for group in load(name)["groups"] for rule in group["rules"]]
ALERTS = [rule for rule in RULES if "alert" in rule]
KNOWN = exported() | recorded(load("records.yml")["groups"])


def promtool(*arguments: str) -> None:
    done = subprocess.run([binary("promtool"), *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_its_configuration() -> None:
    promtool("check", "config", "prometheus.yml")


def test_prometheus_finds_nothing_wrong_with_the_rules() -> None:
    promtool("check", "rules", *load("prometheus.yml")["rule_files"])


def test_alerts_fire_when_they_should_and_only_then() -> None:
    promtool("test", "rules", "alerts_test.yml")


def test_every_alert_has_a_case_that_fires() -> None:
    cases = [case for test in load("alerts_test.yml")["tests"] for case in test.get("alert_rule_test", ())]
    assert {case["alertname"] for case in cases if case["exp_alerts"]} == {rule["alert"] for rule in ALERTS}
    assert set(load("alerts_test.yml")["rule_files"]) == set(load("prometheus.yml")["rule_files"])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("alert") or rule["record"])
def test_rules_ask_for_what_workers_export(rule: dict[str, Any]) -> None:
    assert problems(rule["expr"], KNOWN) == []


@pytest.mark.parametrize("rule", [r for r in RULES if "record" in r], ids=lambda rule: rule["record"])
def test_the_name_of_a_rule_tells_its_labels(rule: dict[str, Any]) -> None:
    kept = {frozenset(re.findall(r"\w+", group)) - {"le"} for group in re.findall(r"by \(([^)]*)\)", rule["expr"])}
    assert (kept or {frozenset()}) == {level(rule["record"])}


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("memstream_nothing_total", "does not exist"),
        ("rate(memstream_records_total[5m])", ""),
        ('memstream_records_total{user="1"}', "no label user"),
        ("sum by (tenant) (rate(memstream_records_total[5m]))", "label tenant"),
        ("rate(memstream_dependency_up[5m])", "is a gauge"),
        ("deriv(memstream_records_total[5m])", "is a counter"),
        ("memstream_recall_results_bucket", "without a rate"),
        ("histogram_quantile(0.9, rate(memstream_recall_results_sum[5m]))", "needs buckets"),
        ("stage:memstream_never_recorded:rate5m", "does not exist"),
        ("1", "nothing"),
    ],
)
def test_a_query_that_fits_nothing_is_noticed(query: str, problem: str) -> None:
    assert any(problem in one for one in problems(query, KNOWN)) if problem else problems(query, KNOWN) == []


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_alerts_say_what_is_wrong_and_the_guide_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["annotations"]["summary"]
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert f"| `{rule['alert']}` |" in OPERATIONS
