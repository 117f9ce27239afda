"""For developers: `python -m streams.adapters.kafka_lock [VERSION]` writes `kafka-jars.lock` anew.

Maven resolves the tree (strict about checksums); nobody who runs memstream needs it.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from streams.adapters.kafka_jars import LOCK_NAME, read_lock

SCALA = "2.13"
# Without a binding of SLF4J, Kafka logs nothing and every failure is an empty log.
SLF4J = "1.7.36"

POM = """<project>
<modelVersion>4.0.0</modelVersion><groupId>memstream</groupId><artifactId>kafka</artifactId><version>1</version>
<dependencies>{dependencies}</dependencies></project>
"""


def lock(version: str) -> dict[str, object]:
    """Resolve Kafka's runtime class path: `{"kafka": version, "jars": [...]}`, sorted by group and artifact."""
    roots = [
        ("org.apache.kafka", f"kafka_{SCALA}", version),
        ("org.apache.kafka", "kafka-clients", version),
        ("org.slf4j", "slf4j-simple", SLF4J),
    ]
    dependencies = "".join(
        f"<dependency><groupId>{g}</groupId><artifactId>{a}</artifactId><version>{v}</version></dependency>"
        for g, a, v in roots
    )
    with tempfile.TemporaryDirectory() as folder:
        pom = Path(folder) / "pom.xml"
        pom.write_text(POM.format(dependencies=dependencies), encoding="utf-8")
        command = ["mvn", "-q", "-B", "--strict-checksums", "-f", str(pom), "dependency:copy-dependencies"]
        options = ["-DincludeScope=runtime", "-Dmdep.useRepositoryLayout=true", f"-DoutputDirectory={folder}/jars"]
        subprocess.run([*command, *options], check=True)
        layout = Path(folder) / "jars"
        return {"kafka": version, "jars": [_entry(jar, layout) for jar in sorted(layout.rglob("*.jar"))]}


def _entry(jar: Path, layout: Path) -> dict[str, object]:
    *group, artifact, version, _ = jar.relative_to(layout).parts
    content = jar.read_bytes()
    return {
        "group": ".".join(group),
        "artifact": artifact,
        "version": version,
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
    }


def main() -> None:
    version = sys.argv[1] if len(sys.argv) > 1 else read_lock().version
    target = Path(__file__).with_name(LOCK_NAME)
    target.write_text(json.dumps(lock(version), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
