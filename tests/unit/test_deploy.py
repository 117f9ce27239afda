"""What is deployed agrees with the code: versions, variables, ports, roles, metrics, time to stop."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from streams.adapters.kafka_jars import read_lock
from streams.app import STOP_SECONDS
from streams.cli.worker import parse_roles
from streams.settings import ROLES, Settings, load_settings
from streams.topics import BY_NAME

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "deploy/constraints.txt"
SETTINGS = {f"MEMSTREAM_{name.upper()}": field for name, field in Settings.model_fields.items()}


def load(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    return dict(load("docker-compose.yml")["services"])


@pytest.fixture(scope="module")
def workers(services: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: service for name, service in services.items() if service.get("image") == "memstream"}


def settings_of(worker: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in worker["environment"].items():
        # As compose does when the caller sets nothing.
        if value is not None:
            monkeypatch.setenv(name, value)
    return load_settings()


def test_images_are_pinned(services: dict[str, dict[str, Any]]) -> None:
    tags = {name: service["image"].partition(":")[2] for name, service in services.items() if ":" in service["image"]}
    assert all(re.fullmatch(r"v?\d+\.\d+\.\d+", tag) for tag in tags.values()), tags


def test_kafka_is_the_version_that_the_tests_run_on(services: dict[str, dict[str, Any]]) -> None:
    assert services["kafka"]["image"] == f"apache/kafka:{read_lock().version}"


def test_qdrant_is_new_enough_for_its_client(services: dict[str, dict[str, Any]]) -> None:
    """The client's lower bound names the server's minor version that it was written for."""
    found = re.search(r'"qdrant-client>=(\d+)\.(\d+)', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert found is not None
    tag = services["qdrant"]["image"].removeprefix("qdrant/qdrant:v")
    assert tuple(map(int, tag.split(".")))[:2] >= tuple(map(int, found.groups()))


def test_every_role_has_its_worker(workers: dict[str, dict[str, Any]]) -> None:
    roles = {name: worker["command"] for name, worker in workers.items()}
    assert roles == {role: ["worker", "--roles", role] for role in ROLES}
    assert [parse_roles(",".join(command[2:])) for command in roles.values()] == [(role,) for role in ROLES]


def test_every_variable_is_a_setting(workers: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    named = {name for worker in workers.values() for name in worker["environment"]}
    named |= set(re.findall(r"MEMSTREAM_\w+", (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")))
    assert named - SETTINGS.keys() == set()
    for worker in workers.values():
        settings_of(worker, monkeypatch)


def test_all_settings_of_a_chat_model_are_the_callers(workers: dict[str, dict[str, Any]]) -> None:
    wanted = {name for name in SETTINGS if name.startswith("MEMSTREAM_CHAT_")} | {
        "MEMSTREAM_EXTRACTOR",
        "MEMSTREAM_JUDGE",
    }
    for worker in workers.values():
        assert {name for name, value in worker["environment"].items() if value is None} == wanted


def test_addresses_are_those_of_the_services(
    services: dict[str, dict[str, Any]], workers: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kafka = services["kafka"]["environment"]
    advertised = dict(part.split("://") for part in kafka["KAFKA_ADVERTISED_LISTENERS"].split(","))
    listening = {
        name: address.rpartition(":")[2]
        for name, address in (part.split("://") for part in kafka["KAFKA_LISTENERS"].split(","))
    }
    for name, address in advertised.items():
        assert address.rpartition(":")[2] == listening[name]
    assert services["kafka"]["ports"] == [f"127.0.0.1:{listening['EXTERNAL']}:{listening['EXTERNAL']}"]
    qdrant_port = services["qdrant"]["ports"][0].rpartition(":")[2]
    for worker in workers.values():
        settings = settings_of(worker, monkeypatch)
        assert settings.kafka_bootstrap == advertised["INTERNAL"]
        assert settings.qdrant_url == f"http://qdrant:{qdrant_port}"
        assert set(worker["depends_on"]) == {"kafka", "qdrant"}
        assert set(worker["depends_on"]) <= services.keys()


def test_kafka_does_not_create_topics_by_itself(services: dict[str, dict[str, Any]]) -> None:
    """Workers create them with their settings; one that Kafka made at the first message would have the wrong ones."""
    assert services["kafka"]["environment"]["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"


def test_everything_has_a_health_check_and_keeps_its_data(
    services: dict[str, dict[str, Any]], workers: dict[str, dict[str, Any]]
) -> None:
    document = load("docker-compose.yml")
    for name, service in services.items():
        if name in workers:
            continue
        assert "healthcheck" in service, name
        named = [volume.partition(":")[0] for volume in service["volumes"] if not volume.startswith(".")]
        assert named == [name]
        assert name in document["volumes"]
    assert "HEALTHCHECK" in (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")


def test_only_this_machine_is_served(services: dict[str, dict[str, Any]]) -> None:
    published = [port for service in services.values() for port in service.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in published), published


def test_ports_do_not_clash(services: dict[str, dict[str, Any]]) -> None:
    published = [port.split(":")[1] for service in services.values() for port in service.get("ports", ())]
    assert len(set(published)) == len(published)
    assert services["ollama"]["ports"] == ["127.0.0.1:11434:11434"]
    vllm = services["vllm"]
    assert vllm["ports"] == [f"127.0.0.1:{vllm['command'][vllm['command'].index('--port') + 1]}:8001"]


def test_everything_has_a_limit_of_memory(services: dict[str, dict[str, Any]]) -> None:
    assert [name for name, service in services.items() if not re.fullmatch(r"\d+[mg]", service["mem_limit"])] == []


def test_workers_write_nowhere_but_to_their_data(workers: dict[str, dict[str, Any]]) -> None:
    data = re.search(r"MEMSTREAM_DATA_DIR=(\S+)", dockerfile()).group(1)  # type: ignore[union-attr]
    for worker in workers.values():
        kept = [volume.split(":")[1] for volume in worker.get("volumes", ())]
        assert worker["read_only"] is True
        assert sorted([*worker["tmpfs"], *kept]) == sorted(["/tmp", data])


def test_models_start_only_with_their_profile(services: dict[str, dict[str, Any]]) -> None:
    profiles = {name: service["profiles"] for name, service in services.items() if "profiles" in service}
    assert profiles == {"ollama": ["ollama"], "vllm": ["vllm"]}


def test_no_secrets(services: dict[str, dict[str, Any]]) -> None:
    secret = {name for name, field in SETTINGS.items() if "SecretStr" in str(field.annotation)}
    assert len(secret) >= 4
    given = [
        name for one in services.values() for name, value in one.get("environment", {}).items() if value is not None
    ]
    assert set(given) & secret == set()


def test_workers_are_given_the_time_to_stop(
    workers: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for worker in workers.values():
        settings = settings_of(worker, monkeypatch)
        assert int(worker["stop_grace_period"].removesuffix("s")) > settings.drain_seconds + STOP_SECONDS


def test_prometheus_scrapes_every_worker(
    services: dict[str, dict[str, Any]], workers: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = {job["job_name"]: job for job in load("deploy/prometheus/prometheus.yml")["scrape_configs"]}
    (target,) = jobs["memstream"]["dns_sd_configs"]
    assert target["names"] == list(workers)
    for worker in workers.values():
        settings = settings_of(worker, monkeypatch)
        assert settings.metrics_port == target["port"]
        assert settings.metrics_host == "0.0.0.0"
        assert worker["expose"] == [str(target["port"])]
    assert jobs["qdrant"]["static_configs"][0]["targets"] == [
        "qdrant:" + services["qdrant"]["ports"][0].rpartition(":")[2]
    ]
    mounted = {volume.split(":")[0]: volume.split(":")[1] for volume in services["prometheus"]["volumes"]}
    assert mounted["./deploy/prometheus"] == "/etc/prometheus"
    for file in load("deploy/prometheus/prometheus.yml")["rule_files"]:
        assert (ROOT / "deploy/prometheus" / file).is_file()


def test_backlog_alert_fires_at_half_of_the_retention() -> None:
    rules = {rule["alert"]: rule for group in load("deploy/prometheus/alerts.yml")["groups"] for rule in group["rules"]}
    assert rules["MemstreamBacklogNearsRetention"]["expr"].endswith("memstream_consumer_lag_retention_ratio) > 0.5")


def dockerfile() -> str:
    return (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")


def image_extras() -> list[str]:
    extras = re.search(r"^ARG EXTRAS=([\w,-]+)$", dockerfile(), re.MULTILINE)
    assert extras is not None
    return extras[1].split(",")


def test_image_has_the_default_model() -> None:
    assert load_settings().embedder in image_extras()


def test_image_python_is_supported() -> None:
    from packaging.specifiers import SpecifierSet

    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    (version,) = re.findall(r"^ARG BASE=python:(\d+\.\d+)\.\d+-slim", dockerfile(), re.MULTILINE)
    assert version in SpecifierSet(wanted)
    assert re.findall(r"^FROM (\S+)", dockerfile(), re.MULTILINE) == ["$BASE", "$BASE"]


def test_image_installs_what_is_pinned() -> None:
    """All that the project and the model ask for, each in a version that they take."""
    pinned = {
        canonicalize_name(one.name): one
        for one in map(Requirement, re.findall(r"^[^#\n].*$", CONSTRAINTS.read_text(encoding="utf-8"), re.MULTILINE))
    }
    assert "--constraint constraints.txt" in dockerfile()
    assert all(re.fullmatch(r"==[\w.]+", str(one.specifier)) for one in pinned.values())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [text for extra in image_extras() for text in project["optional-dependencies"][extra]]
    for text in (*project["dependencies"], *extras):
        wanted = Requirement(text)
        if wanted.marker is None or wanted.marker.evaluate():
            (version,) = pinned[canonicalize_name(wanted.name)].specifier
            assert version.version in wanted.specifier, text


def test_image_does_not_run_as_root() -> None:
    final = dockerfile().rpartition("\nFROM ")[2]
    user = re.search(r"^USER (\d+)$", final, re.MULTILINE)
    assert user is not None
    assert int(user.group(1)) > 0
    assert final.index("USER ") < final.index("ENTRYPOINT ")
    assert re.findall(r"^(?:COPY|ADD) (?!--from=build)", final, re.MULTILINE) == [], (
        "the final stage takes the wheel only"
    )


def test_image_copies_what_is_there() -> None:
    for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile(), re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source


def test_image_health_check_asks_the_port_of_the_default() -> None:
    port = load_settings().metrics_port
    assert f"http://127.0.0.1:{port}/healthz" in dockerfile()
    assert f"EXPOSE {port}\n" in dockerfile()


def topics_named(text: str) -> set[str]:
    """Of a cell of the table; groups stand in brackets."""
    return set(re.findall(r"`([a-z.-]+|replies\.\S+?)`", re.sub(r"\(`[^)]*\)", "", text)))


@pytest.mark.parametrize("role", ROLES)
def test_the_commands_give_the_rights_of_the_table(role: str) -> None:
    guide = (ROOT / "deploy/kafka/README.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{role}` \| (.+) \| (.+) \|$", guide, re.MULTILINE)
    assert row is not None
    for what, cell in zip(("Read", "Write"), row.groups(), strict=True):
        given = {t for line in re.findall(rf"^may {role} {what} (.+)$", guide, re.MULTILINE) for t in line.split()}
        told = {topic for topic in topics_named(cell) if not topic.startswith("replies.")}
        assert given - {"replies.shared"} == told
        assert given - {"replies.shared"} <= BY_NAME.keys()
