"""The Kubernetes manifests: sound by the API's own schemas, and held to the code.

Deployments and the like are checked against the published schemas of Kubernetes, topics against one that is generated
from the classes of Strimzi's API, Kustomize files by kubectl, which takes no field that it does not know. NOT proven
here: that a cluster admits them (quotas, policies, versions other than `API_VERSION`), that the images start there, and
rules of Strimzi that its classes do not tell (its ranges of numbers); no cluster runs in these tests.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import httpx
import jsonschema
import kubernetes_validate
import pytest
import yaml

from streams import topics
from streams.app import STOP_SECONDS
from streams.cli.worker import parse_roles
from streams.health import Health
from streams.settings import ROLES, Settings, load_settings
from streams.web import serve_metrics
from tests.harness import free_port

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
API_VERSION = "1.34"
STRIMZI = ROOT / ".venv" / "strimzi" / "kafkatopics.kafka.strimzi.io-v1.yml"
SETTINGS = {f"MEMSTREAM_{name.upper()}": field for name, field in Settings.model_fields.items()}


def documents(name: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")) if document]


def listed(folder: str = ".") -> list[dict[str, Any]]:
    (kustomization,) = documents(f"{folder}/kustomization.yaml")
    return [document for name in kustomization["resources"] for document in documents(f"{folder}/{name}")]


ALL = listed()
DEPLOYMENTS = {d["metadata"]["labels"]["app.kubernetes.io/component"]: d for d in ALL if d["kind"] == "Deployment"}
(CONFIG,) = [document["data"] for document in ALL if document["kind"] == "ConfigMap"]
TOPICS = listed("topics")


def container(role: str) -> dict[str, Any]:
    (only,) = DEPLOYMENTS[role]["spec"]["template"]["spec"]["containers"]
    return dict(only)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What a pod's worker reads."""
    for name, value in CONFIG.items():
        monkeypatch.setenv(name, value)
    return load_settings()


def test_golden_files_are_current() -> None:
    spec = importlib.util.spec_from_file_location("make_kubernetes", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = make
    spec.loader.exec_module(make)
    found = {str(p.relative_to(FOLDER)): p.read_text(encoding="utf-8") for p in FOLDER.rglob("*.yaml")}
    assert found == make.written(), "run `python deploy/kubernetes/make.py`"


@pytest.mark.parametrize("document", ALL, ids=lambda d: f"{d['kind']} {d['metadata']['name']}")
def test_the_api_takes_it(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, API_VERSION, strict=True)


def test_the_api_takes_no_misspelt_field() -> None:
    wrong = {**DEPLOYMENTS["redact"], "spec": {**DEPLOYMENTS["redact"]["spec"], "replica": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, API_VERSION, strict=True)


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema, which takes no field that it does not name."""
    if "properties" not in schema:
        # Of a map of anything the generator says that it holds objects.
        return {name: value for name, value in schema.items() if name != "additionalProperties"}
    fields = {name: closed(field) for name, field in schema["properties"].items()}
    return {**schema, "properties": fields, "additionalProperties": False}


@pytest.fixture(scope="module")
def topic_schema() -> dict[str, Any]:
    """Of a KafkaTopic, by version and kind."""
    if not STRIMZI.is_file():
        not_tested("topic manifests", "`.ci/strimzi .venv/strimzi`, which needs mvn and java", "STRIMZI")
    made = yaml.safe_load(STRIMZI.read_text(encoding="utf-8"))["spec"]
    (version,) = made["versions"]
    fields = version["schema"]["openAPIV3Schema"]["properties"]
    named = {"apiVersion": {"const": f"{made['group']}/{version['name']}"}, "kind": {"const": made["names"]["kind"]}}
    return closed({"type": "object", "required": ["spec"], "properties": {**named, "metadata": {}, **fields}})


def not_tested(what: str, needed: str, name: str) -> NoReturn:
    message = f"{what} are NOT TESTED in this run: it needs {needed}"
    if os.environ.get(f"MEMSTREAM_REQUIRE_{name}") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def test_strimzi_takes_the_topics(topic_schema: dict[str, Any]) -> None:
    for document in TOPICS:
        jsonschema.validate(document, topic_schema)


@pytest.mark.parametrize(
    "wrong",
    [
        {"spec": {"partition": 3}},
        {"spec": {"partitions": "3"}},
        {"spec": {"config": ["cleanup.policy"]}},
        {"specs": {}},
        {"kind": "KafkaTopics"},
        {"apiVersion": "kafka.strimzi.io/v1beta2"},
    ],
    ids=str,
)
def test_strimzi_takes_no_mistake(topic_schema: dict[str, Any], wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**TOPICS[0], **wrong}, topic_schema)


def kustomized(folder: Path) -> subprocess.CompletedProcess[str]:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        not_tested("Kustomize files", "kubectl", "KUBECTL")
    return subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, check=False, timeout=60)


def test_kustomize_builds_what_the_api_takes() -> None:
    done = kustomized(FOLDER)
    built = list(yaml.safe_load_all(done.stdout))
    assert sorted(one["kind"] for one in built) == sorted(one["kind"] for one in ALL), done.stderr
    for document in built:
        kubernetes_validate.validate(document, API_VERSION, strict=True)


def test_kustomize_builds_the_topics(topic_schema: dict[str, Any]) -> None:
    done = kustomized(FOLDER / "topics")
    built = list(yaml.safe_load_all(done.stdout))
    assert len(built) == len(TOPICS), done.stderr
    for document in built:
        jsonschema.validate(document, topic_schema)


@pytest.mark.parametrize(("right", "wrong"), [("resources:", "resource:"), ("config.yaml", "configs.yaml")])
def test_kustomize_takes_no_mistake(tmp_path: Path, right: str, wrong: str) -> None:
    folder = tmp_path / "kubernetes"
    shutil.copytree(FOLDER, folder)
    file = folder / "kustomization.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    assert kustomized(folder).returncode != 0


def test_every_role_has_its_deployment() -> None:
    assert tuple(sorted(DEPLOYMENTS)) == tuple(sorted(ROLES))
    for role in ROLES:
        command, *arguments = container(role)["args"]
        assert command == "worker"
        assert parse_roles(arguments[1]) == (role,)


def test_every_variable_is_a_setting(settings: Settings) -> None:
    assert CONFIG.keys() - SETTINGS.keys() == {"OMP_NUM_THREADS"}
    secret = {name for name, field in SETTINGS.items() if "SecretStr" in str(field.annotation)}
    assert CONFIG.keys() & secret == set()
    assert settings.qdrant_url, "pods share no embedded store"


def test_ports_are_those_that_are_listened_on(settings: Settings) -> None:
    for role in ROLES:
        ports = {port["name"]: port["containerPort"] for port in container(role)["ports"]}
        assert ports.pop("metrics") == settings.metrics_port
        assert ports == ({"http": settings.http_port} if role == "http" else {})
        annotations = DEPLOYMENTS[role]["spec"]["template"]["metadata"]["annotations"]
        assert annotations["prometheus.io/port"] == str(settings.metrics_port)
    assert (settings.metrics_host, settings.http_host) == ("0.0.0.0", "0.0.0.0")
    (service,) = [document for document in ALL if document["kind"] == "Service"]
    assert service["spec"]["ports"] == [{"name": "http", "port": settings.http_port, "targetPort": "http"}]
    assert service["spec"]["selector"] == DEPLOYMENTS["http"]["spec"]["template"]["metadata"]["labels"]


async def test_probes_ask_for_what_a_worker_serves() -> None:
    paths = {
        probe: {container(role)[probe]["httpGet"]["path"] for role in ROLES}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert paths == {"startupProbe": {"/healthz"}, "livenessProbe": {"/healthz"}, "readinessProbe": {"/readyz"}}
    served = load_settings(metrics_port=free_port(), kafka_bootstrap="localhost:9")
    health = Health(roles_ready={"redact": False})
    stop = await serve_metrics(served, health)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.metrics_port}") as client:
            assert [(await client.get(path)).status_code for path in ("/healthz", "/readyz")] == [200, 503]
            health.roles_ready["redact"] = True
            assert (await client.get("/readyz")).status_code == 200
    finally:
        await stop()


def test_pods_are_given_the_time_to_stop(settings: Settings) -> None:
    for role in ROLES:
        pod = DEPLOYMENTS[role]["spec"]["template"]["spec"]
        before = container(role).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        assert pod["terminationGracePeriodSeconds"] > before + settings.drain_seconds + STOP_SECONDS


def test_no_more_pods_than_partitions_and_never_the_last_one(settings: Settings) -> None:
    scaled = {d["metadata"]["name"]: d["spec"] for d in ALL if d["kind"] == "HorizontalPodAutoscaler"}
    budgets = {d["metadata"]["name"]: d["spec"] for d in ALL if d["kind"] == "PodDisruptionBudget"}
    for role in ROLES:
        name, spec = f"memstream-{role}", DEPLOYMENTS[role]["spec"]
        # Either the manifest or the autoscaler says how many.
        assert ("replicas" in spec) != (name in scaled)
        least = scaled[name]["minReplicas"] if name in scaled else spec["replicas"]
        most = scaled[name]["maxReplicas"] if name in scaled else spec["replicas"]
        assert 2 <= least <= most <= settings.partitions
        if name in scaled:
            assert scaled[name]["scaleTargetRef"]["name"] == DEPLOYMENTS[role]["metadata"]["name"]
        assert budgets[name]["maxUnavailable"] < least
        labels = spec["template"]["metadata"]["labels"]
        assert spec["selector"]["matchLabels"] == budgets[name]["selector"]["matchLabels"] == labels


def test_pods_run_as_the_image_expects() -> None:
    dockerfile = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
    for role in ROLES:
        pod, only = DEPLOYMENTS[role]["spec"]["template"]["spec"], container(role)
        assert re.search(r"^USER (\d+)$", dockerfile, re.MULTILINE).group(1) == str(pod["securityContext"]["runAsUser"])  # type: ignore[union-attr]
        assert only["securityContext"]["readOnlyRootFilesystem"] is True
        mounts = {mount["name"]: mount["mountPath"] for mount in only["volumeMounts"]}
        assert f"MEMSTREAM_DATA_DIR={mounts['data']} " in dockerfile
        assert mounts["tmp"] == "/tmp"
        assert pod["enableServiceLinks"] is False
    keys = {mount["name"]: mount["mountPath"] for mount in container("http")["volumeMounts"]}["keys"]
    assert str(Path(CONFIG["MEMSTREAM_HTTP_KEYS_FILE"]).parent) == keys


def test_topics_are_as_workers_want_them(settings: Settings) -> None:
    found = {document["spec"]["topicName"]: document["spec"] for document in TOPICS}
    assert found.keys() == {settings.topic_prefix + topic.name for topic in topics.TOPICS}
    for topic in topics.TOPICS:
        spec = found[settings.topic_prefix + topic.name]
        # What a worker checks at its start.
        assert topics._problem(topic, spec["partitions"], spec["config"], settings) == ""
        assert topics._problem(topic, spec["partitions"] + 1, spec["config"], settings)
        assert topics._problem(topic, spec["partitions"], {**spec["config"], "cleanup.policy": "none"}, settings)
        assert spec["replicas"] == settings.kafka_replication_factor
        assert int(spec["config"]["min.insync.replicas"]) < spec["replicas"]
    assert all(re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", d["metadata"]["name"]) for d in TOPICS)
