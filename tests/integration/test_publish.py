"""`memstream publish` as a person sees it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from streams.adapters.kafka_broker import EmbeddedKafka
from tests.harness import pipeline
from tests.terminal import ERASE_LINE, HIDE_CURSOR, SHOW_CURSOR, Terminal

COMMAND = [sys.executable, "-c", "import sys; from streams.cli import main; sys.exit(main())", "publish"]
SAID = ({"text": "我搬到杭州了。"}, {"text": "I always take the window seat."})


async def test_a_bar_on_a_terminal_and_results_that_stay(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in SAID), encoding="utf-8")
    results = tmp_path / "results.jsonl"
    publish = [*COMMAND, str(file), "--namespace", "shop", "--wait", "--user"]

    async with pipeline(kafka.bootstrap, "publish.", partitions=1) as line:
        with Terminal([*publish, "Bob"], line.environment) as terminal:
            # Nobody handles it: who does not want to wait leaves, and the terminal is as it was.
            await terminal.shows("publishing", "0/2")
            terminal.type(b"\x03")
            assert await terminal.ended() == 130
            assert SHOW_CURSOR in terminal.said.rpartition(HIDE_CURSOR)[2]
            assert "Traceback" not in terminal.said
        await line.worker().start()
        with Terminal([*publish, "Ann"], line.environment) as terminal:
            assert await terminal.ended() == 0
            assert "2/2" in terminal.said
            # The bar is gone, what became of each line stands.
            assert "2 stored" in terminal.said.rpartition(ERASE_LINE)[2]
            assert all(f"line {number}: stored" in terminal.said for number in (1, 2))
        piped = f"exec {shlex.join([*publish, '李雷', '--json'])} > {shlex.quote(str(results))}"
        with Terminal(["sh", "-c", piped], line.environment) as terminal:
            assert await terminal.ended() == 0
            assert "2/2" in terminal.said
            outcomes = [json.loads(one)["outcome"] for one in results.read_text(encoding="utf-8").splitlines()]
            assert outcomes == ["stored", "stored"]
            assert '"outcome"' not in terminal.said
