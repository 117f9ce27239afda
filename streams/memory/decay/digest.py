"""An old session's episodes become one dated digest; the episodes go to the archive, and it can be undone.

By rule: what carries a name, a figure or a date is kept in its own words, in order; chatter is left out. What does not
fit is listed, so that no name and no figure is lost.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from schemas.memory import Layer, MemoryRecord, MemoryStatus, MemoryType
from streams.memory.decay.fading import last_active
from streams.memory.extraction.sentences import sentences
from streams.memory.settle.order import order
from streams.memory.settle.wording import figures, names

OLD_AFTER: Final = timedelta(days=30)
# Fewer episodes are no session to fold: they fade by themselves.
MIN_EPISODES: Final = 3
# What one embedding still describes.
MAX_CHARS: Final = 1000
_IDS: Final = uuid.UUID("7d1c5a52-9f0b-5c63-8f6e-646967657374")
_WORD: Final = re.compile(r"[\w'’.,:/%-]+")
_FIGURE_AS_SAID: Final = re.compile(r"[\w.,:/%-]*\d[\w.,:/%-]*")


@dataclass(frozen=True, slots=True)
class Folded:
    """`digest` is new; `archived` are its sources as they stand in the archive."""

    digest: MemoryRecord
    archived: tuple[MemoryRecord, ...]


def fold_session(
    episodes: Sequence[MemoryRecord], window_end: datetime, *, conflicts: Sequence[MemoryRecord] = ()
) -> Folded | None:
    """The digest of one session's episodes, None when the session is not old, too small or still in use.

    `conflicts`: facts of the session that may contradict another one; both sides are kept in the digest.
    """
    ready = sorted((e for e in episodes if _foldable(e, window_end)), key=order)
    if len(ready) < MIN_EPISODES or any(window_end - e.occurred_at <= OLD_AFTER for e in episodes):
        return None
    first, last = ready[0], ready[-1]
    facts = sorted((f for f in conflicts if f.ambiguous_with), key=order)
    digest = MemoryRecord(
        layer=Layer.EPISODE,
        content=_content(ready, facts),
        memory_type=MemoryType.DIGEST,
        importance=max(e.importance for e in ready),
        entities=tuple(sorted({name for e in ready for name in e.entities})),
        valid_from=first.occurred_at,
        lang=first.lang,
        memory_id=digest_id(ready),
        namespace=first.namespace,
        user_id=first.user_id,
        session_id=first.session_id,
        sequence=last.sequence,
        occurred_at=last.occurred_at,
        created_at=window_end,
        reason=f"digest of {len(ready)} episodes",
        sources=tuple(dict.fromkeys(source for e in ready for source in e.sources)),
        supersedes=(),
        shard=first.shard,
        policy_version=first.policy_version,
        extractor_version=first.extractor_version,
        embedding_model=first.embedding_model,
    )
    return Folded(digest, tuple(e.model_copy(update={"archived_at": window_end}) for e in ready))


def unfold(digest: MemoryRecord, episodes: Sequence[MemoryRecord]) -> tuple[MemoryRecord, ...]:
    """Undo: the sources as they were; the digest itself is to be deleted. Nothing when they are not its sources."""
    own = [e for e in episodes if e.archived_at == digest.created_at and e.session_id == digest.session_id]
    if digest_id(own) != digest.memory_id:
        return ()
    return tuple(e.model_copy(update={"archived_at": None}) for e in sorted(own, key=order))


def digest_id(episodes: Sequence[MemoryRecord]) -> str:
    """The same sources make the same digest, however often a window is worked off."""
    ids = "\n".join(sorted(e.memory_id for e in episodes))
    return "mem_" + uuid.uuid5(_IDS, ids).hex


def _foldable(episode: MemoryRecord, window_end: datetime) -> bool:
    return (
        episode.layer is Layer.EPISODE
        and episode.memory_type is not MemoryType.DIGEST
        and episode.archived_at is None
        and episode.status is MemoryStatus.ACTIVE
        and window_end - last_active(episode) > OLD_AFTER
    )


def _content(episodes: Sequence[MemoryRecord], conflicts: Sequence[MemoryRecord]) -> str:
    first, last = episodes[0].occurred_at.date(), episodes[-1].occurred_at.date()
    text = f"{first}" if first == last else f"{first} – {last}"
    kept = [f"{c.occurred_at.date()}: {c.content}" for c in conflicts]
    left_out: list[str] = []
    length = len(text) + sum(len(part) for part in kept)
    for episode in episodes:
        for sentence in sentences(episode.content):
            if not names(sentence.text) and not figures(sentence.text) and not _mentions(episode, sentence.text):
                continue
            line = f"{episode.speaker}: {sentence.text}" if episode.speaker else sentence.text
            if length + len(line) <= MAX_CHARS:
                kept.append(line)
                length += len(line)
            else:
                left_out += details(episode, sentence.text)
    parts = [text, *dict.fromkeys(kept)]
    there = set(_WORD.findall("\n".join(parts)))
    rest = [detail for detail in dict.fromkeys(left_out) if detail not in there]
    return "\n".join([*parts, ", ".join(rest)] if rest else parts)


def _mentions(episode: MemoryRecord, text: str) -> bool:
    return any(entity in text for entity in episode.entities)


def details(episode: MemoryRecord, text: str) -> list[str]:
    """Names and figures of a text as they are written there."""
    capitals = re.findall(r"[A-Z][\w'’.-]*", text)
    quoted = re.findall(r"[《「『“\"]([^》」』”\"]{1,40})[》」』”\"]", text)
    spelled = [] if _FIGURE_AS_SAID.search(text) or not figures(text) else [text]
    return [*capitals, *quoted, *_FIGURE_AS_SAID.findall(text), *(e for e in episode.entities if e in text), *spelled]
