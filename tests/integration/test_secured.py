"""A cluster that asks who is there: every door of memstream, by SASL, with and without TLS."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trustme
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from streams.adapters import kafka_broker
from streams.adapters.kafka_properties import HOST
from tests.harness import free_port, pipeline
from tests.kafka import MakeKafka

USER, PASSWORD = "memstream", "pässword, 密码="
JAAS = "org.apache.kafka.common.security"


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The embedded broker with two more listeners, by their protocol."""
    more = {"SASL_PLAINTEXT": free_port(), "SASL_SSL": free_port()}
    plain = kafka_broker.listeners

    def listeners(port: int, controller_port: int) -> dict[str, str]:
        added = "".join(f",{name}://{HOST}:{number}" for name, number in more.items())
        own = plain(port, controller_port)
        return {
            **own,
            "listeners": own["listeners"] + added,
            "advertised.listeners": own["advertised.listeners"] + added,
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"
            + "".join(f",{name}:{name}" for name in more),
        }

    monkeypatch.setattr(kafka_broker, "listeners", listeners)
    return more


def properties(authority: trustme.CA) -> Mapping[str, str]:
    certificate = authority.issue_cert(HOST)
    # Java reads a key of this form only.
    key = load_pem_private_key(certificate.private_key_pem.bytes(), None)
    users = f'{JAAS}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
    both = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "plain.sasl.jaas.config": users,
        "scram-sha-512.sasl.jaas.config": f"{JAAS}.scram.ScramLoginModule required;",
    }
    return {
        **{
            f"listener.name.{name}.{key}": value
            for name in ("sasl_plaintext", "sasl_ssl")
            for key, value in both.items()
        },
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "".join(pem.bytes().decode() for pem in certificate.cert_chain_pems),
        "ssl.keystore.key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
    }


async def add_scram_user(bootstrap: str) -> None:
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    wanted = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
    client = AdminClient({"bootstrap.servers": bootstrap})
    for done in client.alter_user_scram_credentials([wanted]).values():
        await asyncio.wrap_future(done)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("protocol", "mechanism"), [("SASL_SSL", "SCRAM-SHA-512"), ("SASL_PLAINTEXT", "PLAIN")])
async def test_remembered_and_recalled(
    make_kafka: MakeKafka, ports: dict[str, int], tmp_path: Path, protocol: str, mechanism: str
) -> None:
    authority = trustme.CA(key_type=trustme.KeyType.RSA)
    cafile = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(cafile)
    broker = make_kafka(extra_properties=properties(authority))
    await broker.start()
    await add_scram_user(broker.bootstrap)
    known: dict[str, Any] = {
        "kafka_security_protocol": protocol,
        "kafka_sasl_mechanism": mechanism,
        "kafka_username": USER,
        "kafka_password": PASSWORD,
        **({"kafka_ssl_cafile": str(cafile)} if "SSL" in protocol else {}),
    }
    async with pipeline(f"{HOST}:{ports[protocol]}", "secured.", partitions=2, **known) as line:
        worker = line.worker()
        await worker.start()
        async with line.client(namespace="shop", deadline=60) as memory:
            outcome = await memory.publish_and_wait(user_id="u", text="I always take the window seat on trains.")
            assert outcome.outcome == "stored"
            assert (await memory.recall(user_id="u", query="Which seat on trains?")).memories
        for variable, value, told in (
            ("MEMSTREAM_KAFKA_PASSWORD", "wrong", "does not answer"),
            *([("MEMSTREAM_KAFKA_SSL_CAFILE", "", "does not answer")] if "SSL" in protocol else []),
        ):
            code, said = await topics({**line.environment, variable: value})
            assert code == 1
            assert told in said
            assert "Traceback" not in said
            assert PASSWORD not in said


async def topics(environment: Mapping[str, str]) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import sys; from streams.cli import main; sys.exit(main())", "topics",
        env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()
