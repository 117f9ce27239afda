"""Chat histories on real Kafka: the same file twice, an importer that is killed, cancelled tasks; over HTTP as well."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from schemas import ConversationEvent, Job
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.imports.pace import LEAST_AHEAD
from streams.imports.tasks import put
from tests.harness import Pipeline, Process, eventually, free_port, pipeline
from tests.terminal import ERASE_LINE, HIDE_CURSOR, SHOW_CURSOR, Terminal

pytestmark = pytest.mark.asyncio(loop_scope="module")
COUNT = 260
COMMAND = [sys.executable, "-c", "import sys; from streams.cli import main; sys.exit(main())"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(kafka: EmbeddedKafka) -> AsyncIterator[Pipeline]:
    async with pipeline(kafka.bootstrap, "imports.", partitions=2, http_port=free_port(), http_auth="off") as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stages(line: Pipeline) -> Process:
    """Not started yet."""
    return line.worker(roles="redact,extract,memory,recall")


def importer(line: Pipeline, *arguments: str) -> Process:
    return command(line, "import", *arguments)


def doctor(line: Pipeline, *arguments: str) -> Process:
    return command(line, "doctor", *arguments)


def command(line: Pipeline, *arguments: str) -> Process:
    made = Process([*COMMAND, *arguments], line.environment, line.folder / f"command{len(line.processes)}.log")
    line.processes.append(made)
    made.spawn()
    return made


async def told(process: Process, code: int = 0, seconds: float = 60) -> str:
    """The last of what it said, when it has ended."""
    assert await process.gone(seconds) == code, process.tail()
    return process.tail()


def history(folder: Path, count: int) -> Path:
    file = folder / "history.jsonl"
    lines = [
        {"time": f"2026-03-{n % 28 + 1:02}T09:00:00Z", "text": f"The archive box {n} is kept in room {n * 7}."}
        for n in range(count)
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in lines) + "not JSON\n", encoding="utf-8")
    return file


async def is_sent(line: Pipeline) -> bool:
    jobs = [Job.from_bytes(value) for value in (await line.compacted("jobs")).values()]
    return bool(jobs) and all(job.sent for job in jobs)


async def sent(line: Pipeline) -> int:
    return len([key async for key, _ in line.read("conversations")])


async def test_a_killed_import_goes_on_and_the_same_file_adds_nothing(
    line: Pipeline, stages: Process, tmp_path: Path
) -> None:
    file = history(tmp_path, COUNT)
    arguments = (str(file), "--namespace", "shop", "--user", "张三", "--watch")
    # Nobody handles anything yet: it stops by itself at the most that may be on its way.
    first = importer(line, *arguments)

    async def far_enough() -> bool:
        return f"sent {LEAST_AHEAD}\n" in first.tail()

    await eventually(far_enough, what="the first batches to be sent")
    first.kill()
    assert await sent(line) == LEAST_AHEAD
    (job,) = [Job.from_bytes(value) for value in (await line.compacted("jobs")).values()]
    assert (len(job.event_ids), job.state, dict(job.refused)) == (COUNT, "running", {"import:invalid": 1})
    shown = await told(importer(line, "--status", job.job_id))
    assert f"running: {COUNT + 1} conversations, 1 failed, {COUNT} queued, because import:invalid=1" in shown

    await stages.start()
    said = await told(importer(line, *arguments), 1)
    assert said.count("not JSON") == 1
    receipts = await line.all_received(job.event_ids)
    assert {receipt.outcome for receipt in receipts.values()} == {"stored"}
    assert f"done: {COUNT + 1} conversations, {COUNT} stored, 1 failed" in said
    assert "a second" in said

    # What is asked first when something seems to be missing.
    whose = ("--namespace", "shop", "--user", "张三")
    some = receipts[job.event_ids[0]]
    answer = await told(doctor(line, "--event", some.event_id, *whose))
    assert f"event: stored as {some.memory_ids[0]}" in answer
    assert f"memory {some.memory_ids[0]}: holds, said 2026-03-01T09:00:00+00:00" in answer
    unheard = await told(doctor(line, "--event", "unheard", *whose), 1)
    assert "FAIL event: no outcome" in unheard
    assert "ok   workers: every role has one" in unheard
    assert f"memory {some.memory_ids[0]}: holds" in await told(doctor(line, "--memory", some.memory_ids[0], *whose))
    assert f"import: done: {COUNT + 1} conversations" in await told(doctor(line, "--import", job.job_id))

    before = await sent(line), await line.compacted("records")
    again = await told(importer(line, *arguments), 1)
    assert f"{COUNT} stored" in again
    assert (await sent(line), await line.compacted("records")) == before

    # Of a longer file only what is new is sent, whatever was put before the rest.
    text = file.read_text(encoding="utf-8").removesuffix("not JSON\n")
    file.write_text('{"time": 1772442000, "text": "My sister Ann lives in Oslo."}\n' + text, encoding="utf-8")
    longer = await told(importer(line, *arguments))
    assert f"done: {COUNT + 1} conversations, 1 stored, {COUNT} duplicate" in longer
    assert await sent(line) == before[0] + 1


async def test_an_import_that_nobody_handles_says_what_is_missing(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    async with pipeline(kafka.bootstrap, "nobody.", partitions=2) as line:
        file = tmp_path / "history.txt"
        file.write_text("2026-03-02 09:00 张三：我搬到杭州了\n2026-03-02 12:00 张三：我在上海开会\n", encoding="utf-8")
        watching = [*COMMAND, "import", str(file), "--namespace", "shop", "--user", "Ann", "--watch"]
        with Terminal(watching, line.environment) as terminal:
            await terminal.shows("outcomes", "0/2")
            # All is sent; who does not want to wait leaves, and the terminal is as it was.
            await eventually(lambda: is_sent(line), what="all to be sent")
            terminal.type(b"\x03")
            assert await terminal.ended() == 130
            assert SHOW_CURSOR in terminal.said.rpartition(HIDE_CURSOR)[2]
            assert "Traceback" not in terminal.said
        (job,) = [Job.from_bytes(value) for value in (await line.compacted("jobs")).values()]
        said = await told(doctor(line, "--import", job.job_id), 1)
        assert "ok   import: running" in said
        assert "FAIL workers: none has the roles redact,extract,memory: `memstream worker --roles" in said

        # Some time later, when one role has its worker.
        began = job.updated_at - timedelta(hours=1)
        async with line.client() as client:
            await put(client, job.model_copy(update={"started_at": began, "updated_at": began}))
        await line.worker(roles="redact").start()
        said = await told(doctor(line, "--import", job.job_id), 1)
        since = began.isoformat(timespec="seconds")
        assert f"FAIL import: running: 2 conversations, 2 queued, nothing came of it since {since}" in said
        assert "none has the roles extract,memory: " in said

        with Terminal(watching, line.environment) as terminal:
            await terminal.shows("outcomes", "0/2", f"nothing came of it since {since}")
            await line.worker(roles="extract,memory").start()
            await terminal.shows("2/2")
            assert await terminal.ended() == 0
            # The bar is gone, the result stands.
            assert "done: 2 conversations, 2 stored" in terminal.said.rpartition(ERASE_LINE)[2]


async def test_a_cancelled_import_sends_no_more(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    # Nobody handles anything: it waits at the most that may be on its way.
    async with pipeline(kafka.bootstrap, "cancelled.", partitions=2) as line:
        running = importer(line, str(history(tmp_path, 3 * LEAST_AHEAD)), "--namespace", "shop", "--user", "Ann")

        async def far_enough() -> bool:
            return f"sent {LEAST_AHEAD}\n" in running.tail()

        await eventually(far_enough, what="the first batches to be sent")
        task_id = next(word for word in running.tail().split() if word.startswith("task_"))
        assert "cancelled: " in await told(importer(line, "--cancel", task_id))
        assert "cancelled: " in await told(running, 1)
        assert await sent(line) == LEAST_AHEAD


async def test_a_gateway_that_is_killed_while_it_sends(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    file = history(tmp_path, 20_000)
    form = {"user_id": "Ann", "namespace": "shop"}
    options = {"partitions": 2, "http_port": free_port(), "http_auth": "off", "http_max_upload_bytes": 8 << 20}
    async with pipeline(kafka.bootstrap, "killed.", **options) as line:
        gateway = line.worker(roles="http")
        await gateway.start()
        url = f"http://127.0.0.1:{line.settings.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=90, headers={"Prefer": "wait=60"}) as http:

            async def import_it() -> httpx.Response:
                return await http.post("/memory/import", data=form, files={"file": ("history", file.read_bytes())})

            first = asyncio.create_task(import_it())
            await eventually(lambda: sent(line), every=0.02, what="the first of it to be sent")
            gateway.kill()
            with pytest.raises(httpx.TransportError):
                await first
            (job,) = [Job.from_bytes(value) for value in (await line.compacted("jobs")).values()]
            assert 0 < await sent(line) < len(job.event_ids) == 20_000

            # Whoever asks learns that not all of it is there; the same request again is the same task and goes on.
            await gateway.start()
            status = (await http.get(f"/memory/import/{job.job_id}")).json()
            assert (status["sent"], status["queued"]) == (False, 20_000)
            again = await import_it()
            assert (again.status_code, again.json()["task_id"]) == (202, job.job_id), again.text
            assert again.json()["sent"]
            assert {ConversationEvent.from_bytes(value).event_id async for _, value in line.read("conversations")} == {
                *job.event_ids
            }


async def test_a_cancel_stops_what_any_gateway_sends(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    count = 20_000
    file = history(tmp_path, count).read_bytes()
    options = {"partitions": 2, "http_auth": "off", "http_max_upload_bytes": 8 << 20}
    async with pipeline(kafka.bootstrap, "stopped.", **options) as line, AsyncExitStack() as stack:

        async def begun(port: int) -> tuple[Process, httpx.AsyncClient]:
            gateway = line.worker(roles="http", MEMSTREAM_HTTP_PORT=str(port))
            await gateway.start()
            http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=90, headers={"Prefer": "wait=60"})
            return gateway, await stack.enter_async_context(http)

        sender, http = await begun(free_port())
        _, other = await begun(free_port())

        async def asked_in_the_middle(user: str, cancels: httpx.AsyncClient) -> int:
            """How many are on Kafka when the gateway that sends them has taken notice."""
            before = await sent(line)
            form = {"user_id": user, "namespace": "shop"}
            running = asyncio.create_task(http.post("/memory/import", data=form, files={"file": ("history", file)}))

            async def some() -> bool:
                return await sent(line) > before

            await eventually(some, every=0.02, what="the first of it to be sent")
            jobs = map(Job.from_bytes, (await line.compacted("jobs")).values())
            (job,) = [one for one in jobs if one.user_id == user]
            answer = await cancels.delete(f"/memory/import/{job.job_id}")
            assert (answer.status_code, answer.json()["state"], answer.json()["sent"]) == (200, "cancelled", False)
            at_once = await sent(line)
            told = await running
            assert (told.status_code, told.json()["state"]) == (202, "cancelled"), told.text
            if cancels is http:
                assert await sent(line) == at_once, "not one after the answer"
            assert f"import {job.job_id}: cancelled" in sender.tail()
            return await sent(line) - before

        landed = await asked_in_the_middle("Ann", http), await asked_in_the_middle("Eve", other)
        assert all(0 < some < count for some in landed)
        sender.terminate()
        await sender.gone()
        assert await sent(line) == sum(landed), "nor when what a client still held is flushed"

        # The same again takes it up.
        form = {"user_id": "Ann", "namespace": "shop"}
        again = await other.post("/memory/import", data=form, files={"file": ("history", file)})
        assert (again.status_code, again.json()["state"], again.json()["sent"]) == (202, "running", True), again.text


async def test_over_http(line: Pipeline, stages: Process, tmp_path: Path) -> None:
    if not stages.running:
        await stages.start()
    gateway = line.worker(roles="http")
    await gateway.start()
    url = f"http://127.0.0.1:{line.settings.http_port}"
    async with httpx.AsyncClient(base_url=url, timeout=90, headers={"Prefer": "wait=60"}) as http:
        body: dict[str, Any] = {
            "user_id": 7,
            "namespace": "lab",
            "conversations": [
                {"time": "2026-03-02T09:00:00Z", "text": "I always take the window seat on trains."},
                {"time": "2026-03-02T09:01:00Z", "text": "Great, thanks!"},
                {"time": "2026-03-02T09:02:00Z", "text": "long " * 10_000},
                {"time": "yesterday", "text": "unheard"},
            ],
        }
        begun = await http.post("/memory/import", json={**body, "async": True})
        assert begun.status_code == 202, begun.text
        task_id = begun.json()["task_id"]

        # Another gateway knows it as well: the first one takes nothing with it.
        gateway.kill()
        await gateway.start()

        async def done() -> dict[str, Any]:
            answer = await http.get(f"/memory/import/{task_id}")
            assert answer.status_code == 200, answer.text
            status: dict[str, Any] = answer.json()
            return status if status["state"] == "done" else {}

        status = await eventually(done)
        counts = {name: status[name] for name in ("total", "stored", "skipped", "duplicate", "failed", "queued")}
        assert counts == {"total": 4, "stored": 1, "skipped": 1, "duplicate": 0, "failed": 2, "queued": 0}
        assert {"import:invalid": 1, "redact:too_large": 1}.items() <= status["reasons"].items()
        assert any(reason.endswith(":small_talk") for reason in status["reasons"])

        before = await sent(line)
        again = await http.post("/memory/import", json={**body, "async": False})
        assert (again.status_code, again.json()) == (200, status)
        assert await sent(line) == before
        new = {**body, "conversations": [{"text": "I keep bees on the roof.", "time": 1772442000}], "async": False}
        at_once = await http.post("/memory/import", json=new)
        assert (at_once.status_code, at_once.json()["stored"]) == (200, 1)

        # A file adds nothing to what the command sent of it, and the other way round.
        log = tmp_path / "chat.txt"
        log.write_text(
            "2026-03-02 09:00 张三：我搬到杭州了\n2026-03-02 12:00 Ann: I keep bees in Graz.\n", encoding="utf-8"
        )
        form = {"user_id": "8", "namespace": "lab", "timezone": "Asia/Shanghai", "async": "false"}
        files = {"file": (log.name, log.read_bytes(), "text/plain")}
        before = await sent(line)
        shown = await http.post("/memory/import", data={**form, "preview": "true"}, files=files)
        assert (shown.status_code, shown.json()["messages"], await sent(line)) == (200, 2, before)
        uploaded = await http.post("/memory/import", data=form, files=files)
        assert (uploaded.status_code, uploaded.json()["total"], await sent(line)) == (200, 2, before + 2), uploaded.text
        own = ("--namespace", "lab", "--user", "8", "--timezone", "Asia/Shanghai")
        by_command = importer(line, str(log), *own, "--watch")
        assert uploaded.json()["task_id"] in await told(by_command)
        log.write_text(log.read_text(encoding="utf-8") + "2026-03-02 15:00 Ann: My cat is Minka.\n", encoding="utf-8")
        await told(importer(line, str(log), *own, "--watch"))
        again = await http.post("/memory/import", data=form, files={"file": (log.name, log.read_bytes())})
        assert (again.json()["total"], await sent(line)) == (3, before + 3)

        cancelled = await http.delete(f"/memory/import/{task_id}")
        assert (cancelled.status_code, cancelled.json()["state"]) == (200, "done")
        assert (await http.get("/memory/import/task_" + "0" * 32)).status_code == 404
        metrics = (await http.get("/metrics")).text
        assert 'memstream_imported_conversations_total{result="published"} 3.0' in metrics

        # How far what runs is, whoever sends it: nobody handles anything for now.
        async def says(*lines: str) -> None:
            async def so() -> bool:
                told = (await http.get("/metrics")).text
                return all(f"\nmemstream_{line}\n" in told for line in lines)

            await eventually(so, what=str(lines))

        stages.terminate()
        await stages.gone()
        waiting = importer(line, str(history(tmp_path, 10)), "--namespace", "lab", "--user", "9")
        await told(waiting, 1)
        await says("imports_running 1.0", "import_queued_conversations 10.0", "import_oldest_done_ratio 0.0")
        await stages.start()
        await says("imports_running 0.0", "import_queued_conversations 0.0", "import_oldest_done_ratio 1.0")
