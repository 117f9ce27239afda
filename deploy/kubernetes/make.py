"""The manifests from the tables below and from the code: `python deploy/kubernetes/make.py` writes them anew, a test
compares them. Ports, variables and topic settings are not typed twice.

Deployments without stable names can't use static membership (`MEMSTREAM_KAFKA_GROUP_INSTANCE_ID`): a pod that is
replaced costs its group one rebalance.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))

from streams.settings import ROLES, Role, Settings  # noqa: E402
from streams.topics import TOPICS  # noqa: E402

IMAGE = "memstream"
USER = 10001  # of deploy/Dockerfile
DATA = "/var/lib/memstream"
KEYS = "/etc/memstream/http-keys.json"
REPLICAS = 3
# Above what a worker needs at the most to finish (MEMSTREAM_DRAIN_SECONDS, and three seconds to close).
GRACE_SECONDS = 20
# A gateway goes on answering until the Service sends it no more requests.
LEAVE_SECONDS = 5

# Settings that every role shares. What is secret comes from the Secret `memstream`.
CONFIG: dict[str, str] = {
    "MEMSTREAM_KAFKA_BOOTSTRAP": "kafka-kafka-bootstrap:9092",
    "MEMSTREAM_KAFKA_REPLICATION_FACTOR": str(REPLICAS),
    "MEMSTREAM_QDRANT_URL": "http://qdrant:6333",
    "MEMSTREAM_PARTITIONS": "8",
    "MEMSTREAM_METRICS_HOST": "0.0.0.0",
    "MEMSTREAM_HTTP_HOST": "0.0.0.0",
    "MEMSTREAM_HTTP_KEYS_FILE": KEYS,
    "MEMSTREAM_LOG_FORMAT": "json",
    "OMP_NUM_THREADS": "1",
}
SETTINGS = Settings.model_construct(
    **{name: Settings.model_fields[name].default for name in ("metrics_port", "http_port")}
)


@dataclass(frozen=True)
class Shape:
    """How many pods of a role, and how large. `most` above `least` scales by CPU; at most one pod a partition."""

    least: int
    most: int
    cpu: str
    memory: str = "1Gi"


SHAPES: dict[Role, Shape] = {
    "redact": Shape(2, 8, "250m"),
    "extract": Shape(2, 8, "250m"),
    # Every change of its number moves tenants between writers, so that is left to you.
    "memory": Shape(2, 2, "500m"),
    "recall": Shape(2, 8, "500m"),
    "http": Shape(2, 8, "250m"),
}


def labels(role: Role) -> dict[str, str]:
    return {"app.kubernetes.io/name": "memstream", "app.kubernetes.io/component": role}


def metadata(role: Role) -> dict[str, Any]:
    return {"name": f"memstream-{role}", "labels": labels(role)}


def deployment(role: Role) -> dict[str, Any]:
    shape = SHAPES[role]
    # A worker more for a moment would be two rebalances more; a gateway is in no group.
    surge = {"maxSurge": 1, "maxUnavailable": 0} if role == "http" else {"maxSurge": 0, "maxUnavailable": 1}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(role),
        "spec": {
            # Where an autoscaler decides, applying the manifest must not.
            **({"replicas": shape.least} if shape.least == shape.most else {}),
            "selector": {"matchLabels": labels(role)},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": surge},
            "template": {
                "metadata": {
                    "labels": labels(role),
                    "annotations": {
                        "prometheus.io/scrape": "true",
                        "prometheus.io/port": str(SETTINGS.metrics_port),
                    },
                },
                "spec": pod(role, shape),
            },
        },
    }


def pod(role: Role, shape: Shape) -> dict[str, Any]:
    ports = {"metrics": SETTINGS.metrics_port, **({"http": SETTINGS.http_port} if role == "http" else {})}
    keys = [{"name": "keys", "mountPath": str(Path(KEYS).parent), "readOnly": True}] if role == "http" else []
    key_volume = [{"name": "keys", "secret": {"secretName": "memstream-http-keys"}}] if role == "http" else []
    return {
        "automountServiceAccountToken": False,
        # A Service called memstream would put MEMSTREAM_PORT and its like into every pod, beside our settings.
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": labels(role)},
            }
        ],
        "containers": [
            {
                "name": "memstream",
                "image": IMAGE,
                "args": ["worker", "--roles", role],
                "envFrom": [
                    {"configMapRef": {"name": "memstream"}},
                    {"secretRef": {"name": "memstream", "optional": True}},
                ],
                "ports": [{"name": name, "containerPort": port} for name, port in ports.items()],
                # It serves nothing before Kafka and Qdrant have answered it once.
                "startupProbe": probe("/healthz", periodSeconds=5, failureThreshold=60),
                "livenessProbe": probe("/healthz", periodSeconds=15, failureThreshold=4, timeoutSeconds=5),
                "readinessProbe": probe("/readyz", periodSeconds=5, timeoutSeconds=5),
                "resources": {
                    "requests": {"cpu": shape.cpu, "memory": "384Mi"},
                    "limits": {"memory": shape.memory},
                },
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                **({"lifecycle": {"preStop": {"sleep": {"seconds": LEAVE_SECONDS}}}} if role == "http" else {}),
                "volumeMounts": [
                    {"name": "data", "mountPath": DATA},
                    {"name": "tmp", "mountPath": "/tmp"},
                    *keys,
                ],
            }
        ],
        "volumes": [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}, *key_volume],
    }


def probe(path: str, **numbers: int) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "metrics"}, **numbers}


def disruption_budget(role: Role) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(role),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels(role)}},
    }


def autoscaler(role: Role) -> dict[str, Any]:
    shape = SHAPES[role]
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata(role),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": f"memstream-{role}"},
            "minReplicas": shape.least,
            "maxReplicas": shape.most,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "700m"}},
                }
            ],
            # Every change is a rebalance of the role's group.
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 900}},
        },
    }


def gateway_service() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "memstream", "labels": labels("http")},
        "spec": {
            "selector": labels("http"),
            "ports": [{"name": "http", "port": SETTINGS.http_port, "targetPort": "http"}],
        },
    }


def config_map() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "memstream", "labels": {"app.kubernetes.io/name": "memstream"}},
        "data": CONFIG,
    }


def role(name: Role) -> list[dict[str, Any]]:
    """What one role needs."""
    shape = SHAPES[name]
    return [
        deployment(name),
        disruption_budget(name),
        *([autoscaler(name)] if shape.most > shape.least else []),
        *([gateway_service()] if name == "http" else []),
    ]


def topics() -> list[dict[str, Any]]:
    """For the topic operator of Strimzi 0.49 or later."""
    prefix = Settings.model_fields["topic_prefix"].default
    return [
        {
            "apiVersion": "kafka.strimzi.io/v1",
            "kind": "KafkaTopic",
            "metadata": {"name": prefix + topic.name, "labels": {"strimzi.io/cluster": "kafka"}},
            "spec": {
                "topicName": prefix + topic.name,
                "partitions": int(CONFIG["MEMSTREAM_PARTITIONS"]) if topic.partitioned else 1,
                "replicas": REPLICAS,
                "config": {**topic.config(), "min.insync.replicas": str(REPLICAS - 1)},
            },
        }
        for topic in TOPICS
    ]


def kustomization(*resources: str) -> dict[str, Any]:
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": list(resources)}


def written() -> dict[str, str]:
    """By file name."""
    roles = [f"{name}.yaml" for name in ROLES]
    # Replace the image here: `kustomize edit set image memstream=REGISTRY/memstream:0.1.0`.
    main = {**kustomization("config.yaml", *roles), "images": [{"name": IMAGE, "newTag": "0.1.0"}]}
    documents = {
        "kustomization.yaml": [main],
        "config.yaml": [config_map()],
        **{f"{name}.yaml": role(name) for name in ROLES},
        "topics/kustomization.yaml": [kustomization("topics.yaml")],
        "topics/topics.yaml": topics(),
    }
    return {name: as_yaml(document) for name, document in documents.items()}


class _NoAnchors(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


def as_yaml(documents: list[dict[str, Any]]) -> str:
    head = "# Written by deploy/kubernetes/make.py. Change it there, or lay a Kustomize overlay over it.\n"
    return head + yaml.dump_all(documents, Dumper=_NoAnchors, sort_keys=False)


if __name__ == "__main__":
    for name, text in written().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
