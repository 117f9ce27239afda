"""The AsyncAPI document is what the code says, and a valid one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from schemas import ConversationEvent, ForgetCommand, RecallRequest
from streams.agents.commands import CommandStage
from streams.agents.decay import DecayStage
from streams.agents.extract import ExtractStage
from streams.agents.memory import AccessStage, RememberStage, SupersedeStage
from streams.agents.redact import RedactStage
from streams.contract import ASYNCAPI, asyncapi
from streams.settings import load_settings
from streams.topics import TOPICS

PARSER = Path(__file__).parents[2] / ".venv" / "asyncapi" / "node_modules" / "@asyncapi" / "parser"
ASK = """
const { Parser } = require(%s);
new Parser().parse(require("fs").readFileSync(0, "utf8")).then(({ document, diagnostics }) =>
  console.log(JSON.stringify({
    operations: document ? document.operations().length : 0,
    problems: diagnostics.filter((d) => d.severity < 2).map((d) => d.path.join(".") + ": " + d.message),
  })));
"""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return dict(yaml.safe_load(ASYNCAPI.read_text(encoding="utf-8")))


def parsed(text: str) -> dict[str, Any]:
    """What the official parser makes of it."""
    node = shutil.which("node")
    if node is None or not PARSER.is_dir():
        message = (
            "the AsyncAPI document is NOT TESTED by the official parser in this run: "
            "it needs node, and `.ci/asyncapi .venv/asyncapi`"
        )
        if os.environ.get("MEMSTREAM_REQUIRE_ASYNCAPI") == "1":
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    asked = [node, "--eval", ASK % json.dumps(str(PARSER))]
    done = subprocess.run(asked, input=text, capture_output=True, text=True, check=True, timeout=120)
    return dict(json.loads(done.stdout))


def test_golden_file_is_current() -> None:
    assert ASYNCAPI.read_text(encoding="utf-8") == asyncapi(), "run `python -m streams.contract`"


def test_the_official_parser_takes_it(document: dict[str, Any]) -> None:
    assert parsed(asyncapi()) == {"operations": len(document["operations"]), "problems": []}


def test_the_official_parser_would_notice() -> None:
    assert parsed(asyncapi().replace("action: send", "action: shout", 1))["problems"]


def test_every_topic_is_a_channel_with_its_settings(document: dict[str, Any]) -> None:
    settings = load_settings()
    channels = document["channels"]
    assert [name for name in channels if name != "replies"] == [topic.name for topic in TOPICS]
    for topic in TOPICS:
        channel = channels[topic.name]
        assert channel["address"] == settings.topic_prefix + topic.name
        binding = channel["bindings"]["kafka"]
        assert binding["partitions"] == (settings.partitions if topic.partitioned else 1)
        for name, value in binding["topicConfiguration"].items():
            assert topic.config()[name] == (value[0] if isinstance(value, list) else str(value))


def test_roles_receive_what_their_agents_read(document: dict[str, Any]) -> None:
    stages = {
        "redact": (RedactStage,),
        "extract": (ExtractStage,),
        "memory": (RememberStage, SupersedeStage, CommandStage, AccessStage, DecayStage),
    }
    read = {(role, stage.topic) for role, stages in stages.items() for stage in stages}
    read |= {("recall", "recall.requests"), ("memory", "jobs")}
    receives = {tuple(name.split(".receives.")) for name in document["operations"] if ".receives." in name}
    assert {pair for pair in receives if pair[0] != "http"} == read


@pytest.mark.parametrize(
    ("name", "written"),
    [
        pytest.param(
            "ConversationEvent",
            ConversationEvent.model_validate(
                {"event_id": "e", "namespace": "n", "user_id": 1, "messages": [{"text": "你好"}]}
            ).to_bytes(),
            id="event",
        ),
        pytest.param(
            "RecallRequest", RecallRequest(namespace="n", user_id="1", query="seats?").to_bytes(), id="request"
        ),
        pytest.param(
            "Command",
            ForgetCommand.model_validate(
                {
                    "command_id": "c",
                    "namespace": "n",
                    "user_id": "1",
                    "scope": "all",
                    "requested_at": "2026-03-02T09:00:00Z",
                }
            ).to_bytes(),
            id="command",
        ),
    ],
)
def test_what_is_written_fits_its_message(document: dict[str, Any], name: str, written: bytes) -> None:
    # AsyncAPI's discriminator is no keyword of JSON Schema: the alternatives alone decide.
    payload = document["components"]["messages"][name]["payload"]
    schema = {**payload, "components": document["components"]}
    jsonschema.validate(json.loads(written), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**json.loads(written), "user_id": ["everybody"]}, schema)
