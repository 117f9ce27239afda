"""The rule extractor: zh and en, no model. Sentences, then gate, reality, statements, signals."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from schemas import Candidate, Layer, MemoryType, Message, RedactedEvent
from streams.memory.extraction import details
from streams.memory.extraction.clauses import clauses
from streams.memory.extraction.condense import condense
from streams.memory.extraction.contractions import Restored
from streams.memory.extraction.contrast import contrast
from streams.memory.extraction.cued import Cued
from streams.memory.extraction.gate import beside_masked, gate, placeholder_only, says_something
from streams.memory.extraction.importance import STANDING, importance
from streams.memory.extraction.lang import language
from streams.memory.extraction.material import own_words
from streams.memory.extraction.off_record import on_record
from streams.memory.extraction.orders import one_off
from streams.memory.extraction.parts import parts
from streams.memory.extraction.patterns import table
from streams.memory.extraction.plain import LONGEST, answers, asks_for_fact, plain
from streams.memory.extraction.plans import may_plan, plan
from streams.memory.extraction.reference import agreed, last_person, points_back
from streams.memory.extraction.result import Extraction, SentenceTrace
from streams.memory.extraction.sentences import Sentence, sentences
from streams.memory.extraction.signals import Worth, fold, worth
from streams.memory.extraction.slots import SLOTS, Slot
from streams.memory.extraction.speakers import conditional, first_person, takes_back, unreal, without_quotations
from streams.memory.extraction.statements import Statement, statements
from streams.memory.extraction.timing import Timing, timing
from streams.memory.look import Looked

MAX_CANDIDATES = 5
_LONG_TEXT = 2_000  # characters; longer events leave the event loop
_WORTH = 0.0  # log-odds
_DOCUMENT = 1_200  # characters; general statements in a pasted text are not the user's
_LOOK_BACK = 3  # sentences in which "she" may have been named
_TELLING = 5  # importance of a slot that is read in the middle of a question
_FREE_SENTENCES = 2  # of a message, beside those that fill a slot
_RULE, _DATED, _FEELING, _WORK = "standing rule", "dated", "feeling", "working_on"
_ONE_OFF = "one_off"
_OF_OTHERS = frozenset({"relation", "about somebody", _FEELING})
_OF_ONESELF = frozenset({_RULE, _DATED})
# Slots whose time is their value, not the span in which they hold.
_TIME_IS_VALUE = frozenset({"birthday", "deadline", "meeting_time", "plan", "experience", "progress", "schedule"})


@dataclass(frozen=True, slots=True)
class _Scene:
    """Where a message stands: what was said before it, by whom and when it was said."""

    message: Message
    place: int
    earlier: Sequence[Message]
    said_at: datetime
    zone: str
    # Of this message only: the same words are asked about when a sentence is judged and when it is kept.
    times: dict[str, Timing] = field(default_factory=dict)

    def timing(self, text: str) -> Timing:
        found = self.times.get(text)
        if found is None:
            found = self.times[text] = timing(text, self.said_at, self.zone)
        return found


@dataclass(frozen=True, slots=True)
class _Verdict:
    """`open`: nothing speaks against keeping the sentence, though it states nothing known."""

    sentence: Sentence
    lang: str
    found: tuple[Statement, ...] = ()
    why: str = ""
    open: bool = False


class RuleExtractor:
    """`extract_now` is pure and synchronous; `extract` is the same without holding up an event loop."""

    version = "rules-1"
    prompt_version = ""

    def __init__(self, *, explain: bool = True) -> None:
        """`explain`: whether an extraction has its trace, which for a long text is far more than all else."""
        self._explain = explain
        for lang in ("en", "zh"):
            table(lang)  # compiled now, not in the middle of the first message
        timing("tomorrow 明天", datetime(2026, 1, 1, tzinfo=UTC), "UTC")

    async def extract(self, event: RedactedEvent) -> Extraction:
        if sum(len(message.text) for message in event.messages) > _LONG_TEXT:
            await asyncio.sleep(0)  # who waited while the event was decoded has a turn first
            return await asyncio.to_thread(self.extract_now, event)
        return self.extract_now(event)

    def extract_now(self, event: RedactedEvent) -> Extraction:
        """Candidates of the facts layer, at most 5 a message; `skipped` says why when there are none."""
        event = on_record(event)
        candidates: list[Candidate] = []
        trace: list[SentenceTrace] = []
        reasons: Counter[str] = Counter()
        for place, message in enumerate(event.messages):
            said = Restored(message.text)
            scene = _Scene(
                message.model_copy(update={"text": said.text}) if said else message,
                place,
                (*event.context, *event.messages[:place]),
                message.time or event.occurred_at or event.appended_at,
                event.timezone or "UTC",
            )
            reason = _closed(scene)
            if reason is not None:
                reasons[reason] += 1
                if self._explain:
                    trace.append(SentenceTrace(place, 0, len(message.text), False, reason))
                continue
            verdicts = _read(scene)
            reasons.update(v.why for v in verdicts if not v.found)
            if self._explain:
                trace += [
                    SentenceTrace(place, said.place(v.sentence.start), said.place(v.sentence.end), bool(v.found), v.why)
                    for v in verdicts
                ]
            found = _strongest([_candidate(one, v, scene) for v in _parted(verdicts, scene) for one in v.found])
            candidates += [_as_said(one, said) for one in found] if said else found
        skipped = None if candidates else main_reason(reasons.elements())
        return Extraction(tuple(candidates), skipped, tuple(trace))


def _as_said(candidate: Candidate, said: Restored) -> Candidate:
    """In the words of the message, where they stand in it."""
    start, end = candidate.start, candidate.end
    read = {"content": candidate.content, "value": candidate.value, "replaced_value": candidate.replaced_value}
    words = {name: text and said.words(text, start, end) for name, text in read.items()}
    return candidate.model_copy(update={**words, "start": said.place(start), "end": said.place(end)})


def _closed(scene: _Scene) -> str | None:
    """Why a message is not read at all."""
    message = scene.message
    reason = gate(message.text, message.role)
    if reason is None and message.role != "user":
        return "assistant"
    if reason == "small_talk" and message.role == "user" and points_back(message.text):
        return None
    return reason


def _strongest(found: list[Candidate]) -> list[Candidate]:
    """The most important ones, in the order in which they were said; of the same words there is one memory."""
    places: dict[tuple[int, int, str], Candidate] = {}
    for candidate in sorted(found, key=lambda c: (-c.importance, c.start)):
        places.setdefault((candidate.start, candidate.end, candidate.content), candidate)
    return sorted([*places.values()][:MAX_CANDIDATES], key=lambda c: (c.start, c.end))


def main_reason(reasons: Iterable[str]) -> str:
    """One word for an event from which nothing was kept: the reason that comes up most."""
    counted = Counter(reasons)
    if len(counted) > 1:
        del counted["empty"]
    most = counted.most_common(1)
    return most[0][0] if most else "nothing_to_keep"


def _read(scene: _Scene) -> list[_Verdict]:
    text = own_words(scene.message.text)
    own = text.strip()
    foreign = _foreign(own)
    verdicts: list[_Verdict] = []
    only_tells = not foreign and len(own) <= LONGEST
    for sentence in sentences(text):
        verdict = _judge(sentence, scene, [v.sentence.text for v in verdicts[-_LOOK_BACK:]], foreign)
        if verdicts and takes_back(sentence.text):
            verdicts[-1] = replace(verdicts[-1], found=(), why="joke", open=False)
        elif verdict.open and verdicts and _RULE not in foreign and _goes_on(verdict, verdicts[-1]):
            verdict = replace(verdict, found=_rule(scene), why=_RULE, open=False)
        verdicts.append(_plain(verdict, scene) if only_tells and verdict.open else verdict)
    if only_tells and _answers(verdicts, scene):
        return [_whole(text, verdicts, scene)]
    if not any(v.open for v in verdicts):
        return verdicts
    if any(v.why == _ONE_OFF for v in verdicts):
        own = " ".join(v.sentence.text for v in verdicts if v.why != _ONE_OFF)
    whole = worth(own, language(own))
    return _keep_best(verdicts, whole, scene) if whole.score >= _WORTH else verdicts


def _plain(verdict: _Verdict, scene: _Scene) -> _Verdict:
    """A sentence that states nothing known, in a message that asks for nothing."""
    text = verdict.sentence.text
    if verdict.sentence.question or conditional(text):
        return verdict
    bare = beside_masked(without_quotations(text))
    found = plain(bare, scene.timing(bare).time, scene.said_at)
    if found is None:
        return verdict
    slot, why = found
    return replace(verdict, found=(Statement(slot, first_person(scene.message.speaker), why=why),), why=why)


def _answers(verdicts: list[_Verdict], scene: _Scene) -> bool:
    """A short answer to what the assistant asked about the user: it tells something only as a whole."""
    if not scene.earlier or scene.earlier[-1].role != "assistant" or not asks_for_fact(scene.earlier[-1].text):
        return False
    if not answers(scene.message.text):
        return False
    filled = any(one.value for v in verdicts for one in v.found)
    real = [v for v in verdicts if v.found or v.open]
    return bool(real) and not filled and not any(v.sentence.question or conditional(v.sentence.text) for v in verdicts)


def _whole(text: str, verdicts: list[_Verdict], scene: _Scene) -> _Verdict:
    start, end = verdicts[0].sentence.start, verdicts[-1].sentence.end
    kept = (Statement(None, first_person(scene.message.speaker), why="answer"),)
    return _Verdict(Sentence(start, end, text[start:end]), language(text[start:end]), kept, "answer")


def _foreign(text: str) -> frozenset[str]:
    """Kinds of statements that are not the user's own here: general ones beside a request, and those of a long text."""
    if len(text) > _DOCUMENT:
        return _OF_OTHERS | _OF_ONESELF | {_WORK}
    found = clauses(fold(text), language(text))
    if found.questions or found.requests > 1:
        return _OF_OTHERS | {_WORK}
    if found.requests and len(text) <= LONGEST and _OWN_PROJECT.search(text) and not _ASKED_FOR.search(text):
        return frozenset()
    # "I'm working on a novel" alone tells something; it counts as a request since one mostly follows.
    return _OF_OTHERS if found.requests else frozenset()


def _judge(sentence: Sentence, scene: _Scene, before: list[str], foreign: frozenset[str]) -> _Verdict:
    """What one sentence says for itself, and the reason for the decision either way."""
    text = sentence.text
    lang = language(text)
    speaker = scene.message.speaker
    if points_back(text) and not _points_at_itself(text, lang, scene):
        return _pointing_back(sentence, lang, scene)
    reason = unreal(text)
    if not says_something(text):
        reason = "small_talk"
    elif placeholder_only(text):
        reason = "placeholder_only"
    elif one_off(text):
        reason = _ONE_OFF
    if reason:
        return _Verdict(sentence, lang, why=reason)
    if conditional(text):
        return _Verdict(sentence, lang, why="question" if sentence.question else "condition", open=True)
    if sentence.question:
        told = tuple(one for one in _told_first(text, lang, speaker) if one.why not in foreign)
        if told:
            return _Verdict(sentence, lang, told, "states " + ", ".join(one.why for one in told))
        return _Verdict(sentence, lang, why="question", open=True)
    named = last_person([*(m.text for m in scene.earlier[-2:]), *before, text]) if _pronoun(text) else None
    found = tuple(
        _as_task(one, scene, text) for one in statements(text, lang, speaker, named) if one.why not in foreign
    )
    if found:
        return _Verdict(sentence, lang, found, "states " + ", ".join(one.why for one in found))
    if _RULE not in foreign and STANDING.search(without_quotations(text)):
        return _Verdict(sentence, lang, _rule(scene), _RULE)
    slot = None if _DATED in foreign else _dated(text, scene)
    if slot:
        return _Verdict(sentence, lang, (Statement(slot, first_person(speaker), why=slot.attribute),), slot.attribute)
    if _FEELING not in foreign and details.emotion(text):
        return _Verdict(sentence, lang, (Statement(SLOTS[_FEELING], first_person(speaker), why=_FEELING),), _FEELING)
    return _Verdict(sentence, lang, why="nothing_to_keep", open=True)


def _told_first(text: str, lang: str, speaker: str | None) -> list[Statement]:
    """What matters most may stand before a question: "I'm allergic to nuts, what can I eat?" tells, then asks."""
    comma = _LAST_COMMA.match(text)
    if comma is None or _ASKS.match(text) or _ASKS_FOR_WORDS.search(text, comma.end("told")):
        return []
    if clauses(fold(comma["told"]), lang).questions:
        return []
    found = statements(comma["told"], lang, speaker, None)
    return [
        replace(one, text=one.text or comma["told"])
        for one in found
        if one.slot and one.value and one.slot.importance >= _TELLING
    ]


def _as_task(one: Statement, scene: _Scene, text: str) -> Statement:
    """A reminder for one day is a task of that day, not the time at which reminders come from now on."""
    if one.slot is None or one.slot.attribute != "notification_time" or details.temporary(text):
        return one
    when = scene.timing(text)
    if when.time is None or when.time.start is None or when.since or when.time.granularity in ("week", "month", "year"):
        return one
    return Statement(SLOTS["plan"], one.subject, why="reminder")


def _dated(text: str, scene: _Scene) -> Slot | None:
    bare = without_quotations(text)
    if not may_plan(bare):
        return None
    return plan(bare, scene.timing(text).time, scene.said_at)


# What is being built, by name, and then what it is made of; nothing is asked for.
_OWN_PROJECT = re.compile(
    r"\bI(?:['’]m| am) (?:building|making|designing|planning|working on) (?:an? |the |my |our )?[A-Z]\w+"
)
_ASKED_FOR = re.compile(r"\b(?:please|help|need|want|can|could|would|give|show|write|tell|make|add)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"\W*(?:(?:and|but|so|or|then|also|ok(?:ay)?)\W+)*(?:am|is|are|was|were|do|does|did|have|has|had|can|could|would|will"
    r"|should|shall|may|might|must|what|how|why|when|where|who|whose|which|suppose|say|unless|(?:even|only|as) if"
    r"|in case)(?:n['’]t)?\b"
    r"|\W*(?:谁|[难難]道|莫非|即使|就算|哪怕|除非)",
    re.IGNORECASE,
)
# "…, how do I say that in Spanish?" asks for words for a sentence, which need not be true.
_ASKS_FOR_WORDS = re.compile(
    r"\bhow\b[^,.;]{0,20}\b(?:say|said|write|spell|translate|pronounce)\b|(?:怎[么麼]|如何|咋)(?:[说說写寫念读讀](?!服)|翻[译譯])",
    re.IGNORECASE,
)
_LAST_COMMA = re.compile(r"(?P<told>.{6,})[,，;；—–]\s*[^,，;；—–]+$", re.DOTALL)
_PRONOUN = Cued("he she they", r"\b(?:he|she|they)\b|[他她]")


def _pronoun(text: str) -> bool:
    return _PRONOUN.search(text) is not None


def _points_at_itself(text: str, lang: str, scene: _Scene) -> bool:
    """咖啡我现在改喝拿铁了，以后点单就按这个来: what is to hold is said right before."""
    said = _LAST_COMMA.match(text)
    return said is not None and not STANDING.search(said["told"]) and _states(said["told"], lang, scene)


def _pointing_back(sentence: Sentence, lang: str, scene: _Scene) -> _Verdict:
    what = agreed(scene.earlier)
    if what is None:
        return _Verdict(sentence, lang, why="points_at_nothing")
    joined = f"{sentence.text.rstrip('。.!！ ')}：{what}" if lang == "zh" else f"{sentence.text.rstrip('.! ')}: {what}"
    return _Verdict(sentence, lang, _rule(scene, joined), _RULE)


def _rule(scene: _Scene, text: str | None = None) -> tuple[Statement, ...]:
    return (Statement(SLOTS["instruction"], first_person(scene.message.speaker), why=_RULE, text=text),)


# "From now on use metric units. Also keep it short.": one more order, of the same standing.
_ONE_MORE = re.compile(
    r"\W*(?:also|and|plus|oh and)\W+(?:please )?(?:do not|don['’]?t|always|never|keep|use|write|call|answer|reply"
    r"|respond|avoid|skip|stop|put|start|end|format|include|address|speak|stick|send|leave|give|make|add|no)\b"
    r"|\W*(?:另外|还有|同时|并且|而且|也)[，,\s]*(?:请|都|就|把)?(?:回[答复]|别|不要|用|叫|写|说|每|记得|避免|控制|保持|少|多)",
    re.IGNORECASE,
)


def _goes_on(verdict: _Verdict, before: _Verdict) -> bool:
    """Whether a sentence gives one more order after one that is to hold from now on."""
    return (
        _ONE_MORE.match(verdict.sentence.text) is not None
        and not verdict.sentence.question
        and bool(before.found)
        and (before.why == _RULE or STANDING.search(before.sentence.text) is not None)
    )


def _parted(verdicts: list[_Verdict], scene: _Scene) -> list[_Verdict]:
    """A fact for each statement of a sentence, as long as the message has room for them all."""
    kept = [v for v in verdicts if v.found]
    room = max(0, MAX_CANDIDATES - sum(len(v.found) for v in kept))
    found: list[_Verdict] = []
    for verdict in kept:
        cut = _cut(verdict, scene, len(verdict.found) + room)
        more = sum(len(v.found) for v in cut) - len(verdict.found)
        if cut and more <= room:
            room -= more
            found += cut
        else:
            found.append(verdict)
    return found


def _cut(whole: _Verdict, scene: _Scene, most: int) -> list[_Verdict]:
    """The parts of a sentence, each as it is judged on its own; none when one says nothing or something is lost."""
    sentence = whole.sentence
    if sentence.question or whole.why in (_RULE, "answer"):
        return []
    pieces = parts(sentence.text, whole.lang, lambda text: _states(text, whole.lang, scene), most)
    denied = contrast(sentence.text).old
    if len(pieces) < 2 or (denied and not any(contrast(piece.text).old == denied for piece in pieces)):
        return []
    foreign = _foreign(own_words(scene.message.text).strip())
    found: list[_Verdict] = []
    for piece in pieces:
        part = Sentence(sentence.start + piece.start, sentence.start + piece.end, piece.text)
        own = _judge(part, scene, [sentence.text], foreign)
        own = _plain(own, scene) if own.open else own
        if not own.found:
            if not own.open:
                return []
            own = replace(own, found=(Statement(None, first_person(scene.message.speaker), why=whole.why),))
        said = tuple(replace(one, text=one.text or piece.text) for one in own.found)
        text = sentence.text[piece.start : piece.end]
        found.append(replace(own, sentence=Sentence(part.start, part.end, text), lang=whole.lang, found=said))
    kept = {_says(one) for part in found for one in part.found}
    lost = [one for one in whole.found if one.value and _says(one) not in kept]
    return [] if any(_within(one, piece.text) for one in lost for piece in pieces) else found


def _says(one: Statement) -> tuple[str | None, str | None, str | None]:
    return one.subject, one.slot.attribute if one.slot else None, one.value


def _within(one: Statement, text: str) -> bool:
    """Whether a part can say it: what is read across two clauses ("June 12 and Ravi owns") nobody has said."""
    named = one.subject is None or one.subject == "user" or one.subject.casefold() in text.casefold()
    return named and (one.value or "").casefold() in text.casefold()


def _states(text: str, lang: str, scene: _Scene) -> bool:
    """Whether the rules know what a text states, of whatever kind."""
    if statements(text, lang, scene.message.speaker, None):
        return True
    return plain(text, None, scene.said_at) is not None or _dated(text, scene) is not None


def _keep_best(verdicts: list[_Verdict], whole: Worth, scene: _Scene) -> list[_Verdict]:
    """The message is worth keeping: so are its most telling sentences."""
    open_places = [place for place, v in enumerate(verdicts) if v.open]
    alone = len(verdicts) == 1
    scores = {
        p: whole.score if alone else worth(verdicts[p].sentence.text, verdicts[p].lang).score for p in open_places
    }
    ranked = sorted(scores, key=lambda place: -scores[place])
    enough = any(v.found for v in verdicts)
    names = ", ".join(whole.names[:4])
    kept = (Statement(None, first_person(scene.message.speaker), why=names),)
    for rank, place in enumerate(ranked[:_FREE_SENTENCES]):
        best = rank == 0 and not enough
        if best or (scores[place] >= _WORTH and not verdicts[place].sentence.question):
            verdicts[place] = replace(verdicts[place], found=kept, why=f"signals: {names}")
    return verdicts


def _candidate(one: Statement, verdict: _Verdict, scene: _Scene) -> Candidate:
    sentence = verdict.sentence
    start, end = condense(sentence.text, one.value)
    said = sentence.text[start:end]
    content = said
    if one.text is not None:
        first, last = condense(one.text, one.value)
        content = one.text[first:last]
    slot = one.slot or _kind_of(content)
    attribute = slot.attribute if one.slot and one.value else None
    # Where the time is the value, one that is denied or of something else must not be taken for it.
    when = scene.timing(one.value if one.value and attribute in _TIME_IS_VALUE else content)
    temporary = details.temporary(content) and when.time is not None and when.time.end is not None
    valid_from, valid_until = validity(slot, when, temporary)
    return Candidate(
        layer=Layer.FACT,
        content=content,
        memory_type=MemoryType(slot.kind),
        importance=importance(slot.importance, said, correction=one.operation == "correct"),
        tags=details.tags(content),
        event=details.event(content),
        subject=one.subject,
        attribute=attribute,
        value=one.value,
        polarity=one.polarity,
        cardinality=slot.cardinality if one.value else "multi",
        operation=one.operation if one.value else "assert",
        replaced_value=one.replaced,
        temporary=temporary,
        emotion=details.emotion(content),
        entities=details.entities(content, one.subject, attribute, one.value),
        time=when.time,
        valid_from=valid_from,
        valid_until=valid_until,
        message=scene.place,
        start=sentence.start + start,
        end=sentence.start + end,
        said_at=scene.said_at,
        role=scene.message.role,
        speaker=scene.message.speaker,
        lang=verdict.lang,
        why=one.why,
    )


def validity(slot: Slot, when: Timing, temporary: bool) -> tuple[datetime | None, datetime | None]:
    """From when until when a statement holds, as far as its words say."""
    if when.time is None or slot.attribute in _TIME_IS_VALUE:
        return None, None
    if temporary:
        return when.time.start, when.time.end
    start = when.since or (when.time.start if slot.cardinality == "single" else None)
    return start, when.until


_PREFERS = Cued(
    "prefer like love hate enjoy rather favorite favourite want keep avoid instead always never usually tend "
    "please more",
    r"\b(?:prefer|like|love|hate|enjoy|rather|favou?rite|don['’]t want|i want|i['’]d like|keep|avoid|instead"
    r"|always|never|usually|tend to|please|no more)\b"
    r"|喜欢|讨厌|偏好|想要|更想|不想|不要|别|习惯|最好|尽量|就按|就行|宁愿|受不了",
)
_WORKS = Looked(
    r"\bi(?:['’]m| am|['’]ve been) (?:\w+ )?(?:work|writ|build|prepar|draft|edit|learn|study|finish|mak"
    r"|plann)\w*ing\b|我[^，。]{0,6}(?:在|正在)(?:写|做|准备|学|弄|整理|改)",
    re.IGNORECASE,
)


def _kind_of(content: str) -> Slot:
    """What a statement without a slot counts as, by its wording."""
    if _PREFERS.search(content):
        return SLOTS["prefers"]
    return SLOTS["working_on"] if _WORKS.search(content) else SLOTS["identity"]
