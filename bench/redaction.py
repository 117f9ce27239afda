"""What redaction finds, what it leaves alone, and how fast.

GOLD rows: `id, lang, text, entities [{type, start, end, text}], scope, tags`. An entity is found when predicted spans
cover 80 % of its letters and digits; a row is touched when a prediction of a type in its scope overlaps no entity.
Speed is by CPU time, on the texts of GOLD (dense with findings), and on chat text: the same, one in twenty messages;
and on single sentences that go on and on, where "growth" is the time a character takes in 1,000,000 of them against
that in 10,000 (1 = linear).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from bench.contract import Row, arguments, read_rows, report, write_rows
from streams.memory.redaction import Redactor, load_policy

SECRETS = frozenset({"api_key", "jwt", "private_key", "password", "url_credentials"})
IDS = frozenset({"ssn", "id_card", "national_id"})
# Ordinary sentences between the rows, because chat is mostly free of secrets.
CHAT = (
    "今天下午的会改到三点半了，记得带上上周的数据，晚点我们再对一下排期。",
    "I moved the sync to Thursday because Anna is travelling, hope that works for everyone on the team.",
    "哈哈哈好的，那就这么定了，周末一起去爬山吧，听说山顶的风景特别好。",
    "Could you summarise the last chapter for me? I liked the part about the lighthouse keeper the most.",
)
# What a sentence without an end repeats.
ENDLESS = {
    "words": "and then we went to the market with my sister ",
    "secrets en": "my password is Hun7er2x and i moved to leeds last week ",
    "secrets zh": "我的密码是abc12345，我昨天去了市场，",
    "digits": "8392017465",
    "short numbers": "1,2,3,4,",
    "words of keys": "password token secret api key ",
    "blanks": " ",
}


def group(kind: str) -> str:
    return "secret" if kind in SECRETS else "id" if kind in IDS else kind


def covered(entity: Row, spans: Iterable[Row], text: str) -> bool:
    positions = {at for span in spans for at in range(span["start"], span["end"])}
    wanted = [at for at in range(entity["start"], entity["end"]) if text[at].isalnum()]
    return sum(at in positions for at in wanted) >= 0.8 * len(wanted)


def touched(row: Row, spans: Iterable[Row]) -> bool:
    scope = {"secret" if kind == "*secret" else group(kind) for kind in row["scope"]}
    return any(
        group(span["type"]) in scope
        and not any(span["start"] < e["end"] and e["start"] < span["end"] for e in row["entities"])
        for span in spans
    )


def figures(rows: Sequence[Row], predicted: dict[str, list[Row]]) -> dict[str, Any]:
    """found / typed per language and type, touched per language and kind of row."""
    n: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for row in rows:
        spans, lang = predicted[row["id"]], row["lang"]
        for entity in row["entities"]:
            same = [span for span in spans if group(span["type"]) == group(entity["type"])]
            for name, ok in (
                (f"{lang} found", covered(entity, spans, row["text"])),
                (f"{lang} typed", covered(entity, same, row["text"])),
                (f"{lang} found {entity['type']}", covered(entity, spans, row["text"])),
            ):
                n[name] += 1
                hits[name] += ok
        kind = "near miss" if "near_miss" in row["tags"] else "positive" if row["entities"] else "negative"
        n[f"{lang} touched {kind}"] += 1
        hits[f"{lang} touched {kind}"] += touched(row, spans)
    out: dict[str, Any] = {}
    for name in sorted(n, key=lambda name: (name.split()[0], name.count(" "), name)):
        out[name] = round(hits[name] / n[name], 4)
        out[name + " n"] = n[name]
    return out


def megabytes_per_minute(redactor: Redactor, texts: Sequence[str]) -> float:
    size = sum(len(text.encode()) for text in texts)
    started = time.process_time()
    for text in texts:
        redactor.redact(text)
    return size / 1e6 / (time.process_time() - started) * 60


def speed(redactor: Redactor, texts: Sequence[str]) -> dict[str, float]:
    chat = [sentence for i, text in enumerate(texts) for sentence in (text, *(CHAT[(i + j) % 4] for j in range(19)))]
    joined = "\n".join(chat) * 20
    one, four = joined[:250_000], joined[:1_000_000]
    small = megabytes_per_minute(redactor, [one])
    large = megabytes_per_minute(redactor, [four])
    return {
        "MB/min chat": round(megabytes_per_minute(redactor, chat), 1),
        "MB/min rows": round(megabytes_per_minute(redactor, list(texts)), 1),
        "MB/min one text of 250,000": round(small, 1),
        "MB/min one text of 1,000,000": round(large, 1),
        "1,000,000 against 250,000 (1 = linear)": round(small / large, 3),
    }


def growth(redactor: Redactor) -> dict[str, float]:
    out = {}
    for name, piece in ENDLESS.items():
        rates = [
            megabytes_per_minute(redactor, [f"my pin is 4821 {piece * (size // len(piece))}x"])
            for size in (10_000, 1_000_000)
        ]
        out[f"MB/min endless {name}"] = round(rates[1], 1)
        out[f"growth endless {name}"] = round(rates[0] / rates[1], 2)
    return out


def main() -> None:
    args = arguments("redaction: found, touched, speed")
    rows = read_rows(args.gold)
    redactor = Redactor(load_policy())
    predicted = {
        row["id"]: [
            {"type": span.entity, "start": span.start, "end": span.end, "action": span.action}
            for span in redactor.redact(row["text"]).spans
        ]
        for row in rows
    }
    if args.predictions:
        write_rows(args.predictions, ({"id": key, "entities": spans} for key, spans in predicted.items()))
    result = figures(rows, predicted) | speed(redactor, [row["text"] for row in rows]) | growth(redactor)
    report("redaction", len(rows), result, as_json=args.as_json)


if __name__ == "__main__":
    main()
