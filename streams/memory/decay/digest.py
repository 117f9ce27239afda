"""An old session's episodes become one dated digest; the episodes go to the archive, and it can be undone.

A digest names the episodes that it stands for (`digest_of`), so that it can be undone, and so that it goes when one of
them is forgotten. By rule: what carries a name, a figure or a date is kept in its own words, in order; chatter is left
out. Or a model told the session. What either leaves out is listed, so that no name and no figure is lost.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from schemas.memory import Layer, MemoryRecord, MemoryStatus, MemoryType
from streams.memory.decay.fading import in_archive, last_active
from streams.memory.decay.telling import Told
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
    """`archived`: the sources of `digest` as they stand in the archive."""

    digest: MemoryRecord
    archived: tuple[MemoryRecord, ...]


def fold_session(
    episodes: Sequence[MemoryRecord],
    window_end: datetime,
    *,
    conflicts: Sequence[MemoryRecord] = (),
    told: Told | None = None,
) -> Folded | None:
    """The digest of one session's episodes, None when the session is not old, too small or still in use.

    `episodes`: all of one session, the archive and earlier digests included. `conflicts`: facts that may contradict
    another one; both sides are kept in the digest. `told`: counts if it tells of these very episodes. A digest of this
    very window stays as it is (a crash came between), and what is left of its episodes follows it.
    """
    if not episodes:
        return None
    made = digest_id(episodes[0], window_end)
    foldable = sorted((e for e in episodes if _foldable(e, window_end)), key=order)
    standing = next((e for e in episodes if e.memory_id == made), None)
    if standing is not None:
        left = [e for e in foldable if e.memory_id in standing.digest_of]
        return Folded(standing, _archived(left, window_end)) if left else None
    if len(foldable) < MIN_EPISODES or any(window_end - e.occurred_at <= OLD_AFTER for e in episodes):
        return None
    first, last = foldable[0], foldable[-1]
    facts = sorted((f for f in conflicts if f.ambiguous_with), key=order)
    ids = tuple(e.memory_id for e in foldable)
    told = told if told is not None and told.of == ids else None
    digest = MemoryRecord(
        layer=Layer.EPISODE,
        content=_content(foldable, facts, told),
        memory_type=MemoryType.DIGEST,
        importance=max(e.importance for e in foldable),
        entities=tuple(sorted({name for e in foldable for name in e.entities})),
        valid_from=first.occurred_at,
        lang=first.lang,
        memory_id=made,
        namespace=first.namespace,
        user_id=first.user_id,
        session_id=first.session_id,
        sequence=last.sequence,
        occurred_at=last.occurred_at,
        created_at=window_end,
        digest_of=ids,
        reason=f"digest of {len(foldable)} episodes",
        sources=tuple(dict.fromkeys(source for told in (*foldable, *facts) for source in told.sources)),
        supersedes=(),
        shard=first.shard,
        policy_version=first.policy_version,
        extractor_version=told.version if told else first.extractor_version,
        prompt_version=told.prompt_version if told else "",
        embedding_model=first.embedding_model,
    )
    return Folded(digest, _archived(foldable, window_end))


def unfold(digest: MemoryRecord, episodes: Sequence[MemoryRecord]) -> tuple[MemoryRecord, ...]:
    """Undo: those of its sources that are in the archive, as they were; the digest itself is to be deleted."""
    own = (e for e in episodes if e.memory_id in digest.digest_of and e.archived_at is not None)
    return tuple(e.model_copy(update={"archived_at": None}) for e in sorted(own, key=order))


def digest_id(episode: MemoryRecord, window_end: datetime) -> str:
    """One digest a session and window: however often a window is worked off, it overwrites itself."""
    place = (episode.tenant.key, episode.session_id, window_end.astimezone(UTC).isoformat())
    return "mem_" + uuid.uuid5(_IDS, "\n".join(place)).hex


def _archived(episodes: Sequence[MemoryRecord], window_end: datetime) -> tuple[MemoryRecord, ...]:
    return tuple(e.model_copy(update={"archived_at": window_end}) for e in episodes)


def _foldable(episode: MemoryRecord, window_end: datetime) -> bool:
    return (
        episode.layer is Layer.EPISODE
        and episode.memory_type is not MemoryType.DIGEST
        and not in_archive(episode)
        and episode.status is MemoryStatus.ACTIVE
        and window_end - last_active(episode) > OLD_AFTER
    )


def _content(episodes: Sequence[MemoryRecord], conflicts: Sequence[MemoryRecord], told: Told | None) -> str:
    first, last = episodes[0].occurred_at.date(), episodes[-1].occurred_at.date()
    text = f"{first}" if first == last else f"{first} – {last}"
    kept = [f"{c.occurred_at.date()}: {c.content}" for c in conflicts]
    kept += [told.text] if told else []
    left_out: list[str] = []
    length = len(text) + sum(len(part) for part in kept)
    for episode in episodes:
        for sentence in sentences(episode.content):
            if not names(sentence.text) and not figures(sentence.text) and not _mentions(episode, sentence.text):
                continue
            line = f"{episode.speaker}: {sentence.text}" if episode.speaker else sentence.text
            if told is None and length + len(line) <= MAX_CHARS:
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
