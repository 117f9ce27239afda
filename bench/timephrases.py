"""Time phrases: how many are found and resolved, and how fast.

`python -m bench.timephrases GOLD [--predictions OUT] [--json]`

GOLD: `{"id", "lang", "text", "reference", "spans", "complete"}`, `reference` naive local ISO 8601 or null.
OUT: `{"id", "spans": [{"start", "end", "value", "end_value"}]}` with "YYYY-MM-DD", "YYYY-MM-DDTHH:MM:SS" or "HH:MM".
The figures here are `found` (spans that a phrase overlaps), `first_day` (of dates that are not fuzzy, in any accepted
reading) and `negatives_hit`; ends and minutes are for the scorer of the set.
"""

from collections import Counter
from datetime import date, datetime, time
from time import perf_counter
from typing import Any

from bench.contract import Row, arguments, read_rows, report, write_rows
from streams.memory.timephrases import TimePhrase, resolve

NO_REFERENCE = datetime(2020, 1, 1)


def written(value: date | time | None) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.replace(microsecond=0).isoformat()
    return value.strftime("%H:%M") if isinstance(value, time) else value.isoformat()


def prediction(phrase: TimePhrase) -> Row:
    """One span as the scorer wants it; a bare time of day carries the day it is taken to fall on."""
    value, end = written(phrase.value), written(phrase.end_value)
    if phrase.anchor is not None:
        value, end = (side and f"{phrase.anchor.isoformat()}T{side}" for side in (value, end))
    return {"start": phrase.start, "end": phrase.end, "value": value, "end_value": end}


def answer(row: Row) -> list[Row]:
    reference = datetime.fromisoformat(row["reference"]) if row["reference"] else NO_REFERENCE
    return [prediction(p) for p in resolve(row["text"], reference)]


def count(row: Row, spans: list[Row], totals: Counter[str]) -> None:
    lang = row["lang"]
    for gold in row["spans"]:
        hits = [s for s in spans if s["start"] < gold["end"] and gold["start"] < s["end"]]
        totals[f"{lang}.gold"] += 1
        totals[f"{lang}.found"] += bool(hits)
        if (
            gold["type"] in ("date", "daterange", "datetime", "datetimerange")
            and gold["value"]
            and "fuzzy" not in gold["tags"]
        ):
            days = {alt["value"][:10] for alt in gold["alts"] if alt["value"]}
            totals[f"{lang}.valued"] += 1
            totals[f"{lang}.day"] += any(str(s["value"])[:10] in days for s in hits)
    if row.get("complete") and not row["spans"]:
        totals[f"{lang}.negatives"] += 1
        totals[f"{lang}.hit"] += bool(spans)


def main() -> None:
    args = arguments(__doc__ or "")
    rows = read_rows(args.gold)
    resolve("warm up on 下周三 at noon", NO_REFERENCE)
    began = perf_counter()
    answers = [answer(row) for row in rows]
    seconds = perf_counter() - began
    if args.predictions:
        write_rows(args.predictions, [{"id": r["id"], "spans": a} for r, a in zip(rows, answers, strict=True)])
    totals: Counter[str] = Counter()
    for row, spans in zip(rows, answers, strict=True):
        count(row, spans, totals)
    figures: dict[str, Any] = {"ms_per_row": 1000 * seconds / max(1, len(rows))}
    for lang in sorted({row["lang"] for row in rows}):
        figures[f"{lang}.found"] = totals[f"{lang}.found"] / max(1, totals[f"{lang}.gold"])
        figures[f"{lang}.first_day"] = totals[f"{lang}.day"] / max(1, totals[f"{lang}.valued"])
        figures[f"{lang}.negatives_hit"] = f"{totals[f'{lang}.hit']} of {totals[f'{lang}.negatives']}"
    report("timephrases", len(rows), figures, as_json=args.as_json)


if __name__ == "__main__":
    main()
