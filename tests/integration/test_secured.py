"""A cluster that asks who is there, by SASL with and without TLS or by certificate, and what each may do."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import TopicAuthorizationFailedError
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from pydantic import SecretStr

from streams.adapters import kafka_broker
from streams.adapters.kafka_properties import HOST
from streams.client import MemoryClient
from streams.kafka import connection
from tests.harness import free_port, pipeline
from tests.kafka import MakeKafka

USER, PASSWORD = "memstream", "pässword, 密码="
JAAS = "org.apache.kafka.common.security"


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The embedded broker with more listeners, by their protocol; there once it has started."""
    more: dict[str, int] = {}
    plain = kafka_broker.listeners

    def listeners(port: int, controller_port: int) -> dict[str, str]:
        # At each attempt to start: one that another program took meanwhile is the cause of the next attempt.
        more.update({name: free_port() for name in ("SASL_PLAINTEXT", "SASL_SSL", "SSL")})
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


def properties(authority: trustme.CA, *others: str) -> Mapping[str, str]:
    """`others`: users with the same password beside `USER`, by PLAIN."""
    certificate = authority.issue_cert(HOST)
    # Java reads a key of this form only.
    key = load_pem_private_key(certificate.private_key_pem.bytes(), None)
    users = " ".join(f'user_{name}="{PASSWORD}"' for name in (USER, *others))
    both = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "plain.sasl.jaas.config": f"{JAAS}.plain.PlainLoginModule required {users};",
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
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": authority.cert_pem.bytes().decode(),
        "listener.name.ssl.ssl.client.auth": "required",
    }


async def add_scram_user(bootstrap: str) -> None:
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    wanted = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
    client = AdminClient({"bootstrap.servers": bootstrap})
    for done in client.alter_user_scram_credentials([wanted]).values():
        await asyncio.wrap_future(done)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("protocol", "mechanism"), [("SASL_SSL", "SCRAM-SHA-512"), ("SASL_PLAINTEXT", "PLAIN"), ("SSL", "")]
)
async def test_remembered_and_recalled(
    make_kafka: MakeKafka, ports: dict[str, int], tmp_path: Path, protocol: str, mechanism: str
) -> None:
    authority = trustme.CA(key_type=trustme.KeyType.RSA)
    cafile = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(cafile)
    broker = make_kafka(extra_properties=properties(authority))
    await broker.start()
    await add_scram_user(broker.bootstrap)
    known: dict[str, Any] = {"kafka_security_protocol": protocol}
    wrong: dict[str, str] = {}
    if "SASL" in protocol:
        known |= {"kafka_sasl_mechanism": mechanism, "kafka_username": USER, "kafka_password": PASSWORD}
        wrong["MEMSTREAM_KAFKA_PASSWORD"] = "wrong"
    else:
        certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
        mine = authority.issue_cert("worker.example")
        mine.cert_chain_pems[0].write_to_path(certificate)
        mine.private_key_pem.write_to_path(key)
        known |= {"kafka_ssl_certfile": str(certificate), "kafka_ssl_keyfile": str(key)}
        wrong["MEMSTREAM_KAFKA_SSL_CERTFILE"] = ""
    if "SSL" in protocol:
        known["kafka_ssl_cafile"] = str(cafile)
        wrong["MEMSTREAM_KAFKA_SSL_CAFILE"] = ""
    async with pipeline(f"{HOST}:{ports[protocol]}", "secured.", partitions=2, **known) as line:
        worker = line.worker()
        await worker.start()
        async with line.client(namespace="shop", deadline=60) as memory:
            outcome = await memory.publish_and_wait(user_id="u", text="I always take the window seat on trains.")
            assert outcome.outcome == "stored"
            assert (await memory.recall(user_id="u", query="Which seat on trains?")).memories
        for variable, value in wrong.items():
            code, said = await topics({**line.environment, variable: value})
            assert code == 1
            assert "does not answer" in said
            assert "Traceback" not in said
            assert PASSWORD not in said


async def topics(environment: Mapping[str, str]) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import sys; from streams.cli import main; sys.exit(main())", "topics",
        env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


# What each may do

DOCUMENTED = Path(__file__).parents[2] / "deploy" / "kafka" / "README.md"
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",  # of the listener without SASL: the broker itself, and the test
}


def documented(tool: str) -> list[dict[str, list[str]]]:
    """The calls of one of Kafka's tools in the first script of the README, as bash makes them: options and values."""
    script = DOCUMENTED.read_text(encoding="utf-8").partition("```sh\n")[2].partition("```")[0]
    tools = "\n".join(f'{name}() {{ echo {name} "$@"; }}' for name in ("kafka-acls.sh", "kafka-topics.sh"))
    done = subprocess.run(["bash", "-euc", f"{tools}\nBOOT=here\n{script}"], capture_output=True, text=True, check=True)
    calls = []
    for line in done.stdout.splitlines():
        name, *words = line.split()
        options: dict[str, list[str]] = {}
        for word in words:
            if word.startswith("--"):
                values = options.setdefault(word[2:], [])
            else:
                values.append(word)
        if name == tool:
            calls.append(options)
    return calls


def bindings(call: Mapping[str, list[str]]) -> list[AclBinding]:
    kind = ResourceType.TOPIC if "topic" in call else ResourceType.GROUP
    pattern = ResourcePatternType[call.get("resource-pattern-type", ["literal"])[0].upper()]
    operations = {"Read": "READ", "Write": "WRITE", "Describe": "DESCRIBE", "DescribeConfigs": "DESCRIBE_CONFIGS"}
    return [
        AclBinding(kind, name, pattern, who, "*", AclOperation[operations[what]], AclPermissionType.ALLOW)
        for name in call.get("topic", call.get("group", []))
        for who in call["allow-principal"]
        for what in call["operation"]
    ]


async def allow_what_is_documented(bootstrap: str) -> None:
    client = AdminClient({"bootstrap.servers": bootstrap})
    added = {binding for call in documented("kafka-acls.sh") for binding in bindings(call)}
    made = [
        NewTopic(
            call["topic"][0], int(call["partitions"][0]), 1, config=dict(pair.split("=", 1) for pair in call["config"])
        )
        for call in documented("kafka-topics.sh")
    ]
    for done in (*client.create_acls(list(added)).values(), *client.create_topics(made).values()):
        await asyncio.wrap_future(done)


@pytest.mark.timeout(600)
async def test_every_role_does_its_work_with_the_documented_rights(
    make_kafka: MakeKafka, ports: dict[str, int]
) -> None:
    roles = ("redact", "extract", "memory", "recall", "http")
    authority = trustme.CA(key_type=trustme.KeyType.RSA)
    broker = make_kafka(extra_properties={**properties(authority, *roles, "shop"), **AUTHORIZER})
    await broker.start()
    gateway = free_port()

    def as_user(name: str) -> dict[str, str]:
        return {
            "kafka_bootstrap": f"{HOST}:{ports['SASL_PLAINTEXT']}",
            "kafka_security_protocol": "SASL_PLAINTEXT",
            "kafka_username": name,
            "kafka_password": PASSWORD,
        }

    async with pipeline(
        broker.bootstrap, "memory.", partitions=1, shared_store=True, http_port=gateway, http_auth="off"
    ) as line:
        await allow_what_is_documented(broker.bootstrap)
        workers = [
            line.worker(roles=role, **{f"MEMSTREAM_{name.upper()}": value for name, value in as_user(role).items()})
            for role in roles
        ]
        await asyncio.gather(*(worker.start() for worker in workers))
        shop = line.settings.model_copy(update={**as_user("shop"), "kafka_password": SecretStr(PASSWORD)})
        async with MemoryClient(settings=shop, service="shop", namespace="shop", deadline=60) as memory:
            outcome = await memory.publish_and_wait(user_id="u", text="I always take the window seat on trains.")
            assert outcome.outcome == "stored"
            assert (await memory.recall(user_id="u", query="Which seat on trains?")).memories
        about = {"namespace": "shop", "user_id": "u"}
        async with httpx.AsyncClient(
            base_url=f"http://{HOST}:{gateway}/memory", timeout=90, headers={"Prefer": "wait=60"}
        ) as http:
            asked = await http.post("/query", json={**about, "query": "Which seat on trains?"})
            assert asked.json()["memories"]
            forgotten = await http.post("/forget", json={**about, "everything": True})
            assert forgotten.is_success, forgotten.text
        # The authorizer is in force: nobody but `redact` reads what was said.
        consumer = AIOKafkaConsumer(**connection(shop), auto_offset_reset="earliest")
        await consumer.start()
        try:
            consumer.assign([TopicPartition("memory.conversations", 0)])
            with pytest.raises(TopicAuthorizationFailedError):
                await asyncio.wait_for(consumer.getone(), 60)
        finally:
            await consumer.stop()
