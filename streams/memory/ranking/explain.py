"""The reason of a score in words."""

from __future__ import annotations

from streams.memory.ranking.query import Understanding
from streams.memory.ranking.score import Judged, name_of


def reason(judged: Judged, understanding: Understanding) -> str:
    """Such as "said by Caroline; on 7 May 2023 (asked: in May 2023); matches 'support', 'group'; close in meaning"."""
    why: list[str] = []
    record, because = judged.record, judged.reasons()
    if because.person is not None:
        speaker = name_of(record)
        why.append(f"said by {speaker}" if speaker is not None else f"about {because.person}")
    if because.period is not None:
        day = f"{record.occurred_at.day} {record.occurred_at:%B %Y}"
        why.append(f"said on {day}, near what was asked ({because.period.text.strip()})")
    if because.matched:
        why.append("matches " + ", ".join(f"'{word}'" for word in because.matched[:6]))
    elif because.coverage > 0:
        why.append("the turns around it or kindred words match")
    if because.cosine > 0 and because.parts.get("meaning", 0.0) >= 0.5:
        why.append("close in meaning")
    if "slot" in because.parts:
        why.append(f"is the {record.attribute} that was asked for")
    if "asked_for" in because.parts:
        why.append(f"holds a {understanding.asks}")
    if "answer" in because.parts:
        why.append("answers a question")
    return "; ".join(why) or "weakly related"
