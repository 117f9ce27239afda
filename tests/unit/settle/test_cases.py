"""Scenarios of one truth per fact, by hand: each a kind of failure that memory systems are known for."""

from __future__ import annotations

from datetime import timedelta

import pytest

from schemas import MemoryRecord, MemoryStatus, Supersede
from streams.memory.settle import as_of, chain, markers, settle
from streams.memory.settle.fold import Verdict
from streams.memory.settle.history import still_so
from tests.unit.settle.histories import (
    PROFILE,
    START,
    TENANT,
    History,
    at_once,
    city,
    record,
    stored,
    taste,
)

ACTIVE, DUPLICATE, SUPERSEDED = MemoryStatus.ACTIVE, MemoryStatus.DUPLICATE, MemoryStatus.SUPERSEDED


def verdicts(*records: MemoryRecord, near: float | None = None, **options: object) -> list[Verdict]:
    """Verdicts in the order given; `near`: the cosine of every pair."""
    ids = sorted(r.memory_id for r in records)
    pairs = {(a, b): near for i, a in enumerate(ids) for b in ids[i + 1 :]} if near is not None else {}
    found = settle(records, pairs, profile=PROFILE, **options)  # type: ignore[arg-type]
    return [found[r.memory_id] for r in records]


def statuses(*records: MemoryRecord, near: float | None = None, **options: object) -> list[MemoryStatus]:
    return [v.status for v in verdicts(*records, near=near, **options)]


def directive(old: str, new: str, day: int, *, inferred: bool = False) -> Supersede:
    return Supersede(
        namespace=TENANT.namespace,
        user_id=TENANT.user_id,
        old_id=old,
        new_id=new,
        occurred_at=START + timedelta(days=day),
        inferred=inferred,
    )


def test_a_value_that_comes_back_is_current_again() -> None:
    first, between, again = city(1, 1, "Bonn"), city(2, 2, "Berlin"), city(3, 3, "Bonn")
    assert statuses(first, between, again) == [SUPERSEDED, SUPERSEDED, ACTIVE]


def test_a_late_older_fact_is_born_superseded() -> None:
    newer, late = city(1, 5, "Berlin"), city(2, 1, "Bonn", created=9)
    found = verdicts(newer, late)
    assert [v.status for v in found] == [ACTIVE, SUPERSEDED]
    assert found[1].superseded_by == newer.memory_id
    assert found[0].supersedes == (late.memory_id,)


def test_what_is_liked_makes_two_likings_one_not_that_both_are() -> None:
    near = 0.7 * PROFILE.duplicate + 0.3 * PROFILE.conflict
    travel, areas = record(1, 1, "Dislikes long travel times"), record(2, 2, "Dislikes scenic areas")
    assert statuses(travel, areas, near=near) == [ACTIVE, ACTIVE]
    again = record(3, 2, "Hates long travel times")
    assert statuses(travel, again, near=near) == [ACTIVE, DUPLICATE]


def test_three_employers_leave_one() -> None:
    jobs = [
        record(i, i, f"I work at {c}", attribute="employer", value=c, cardinality="single") for i, c in enumerate("ABC")
    ]
    assert statuses(*jobs) == [SUPERSEDED, SUPERSEDED, ACTIVE]


def test_the_same_sentence_twice_is_one_memory_with_two_sources() -> None:
    found = verdicts(city(1, 1, "Bonn"), city(2, 2, "Bonn"))
    assert [v.status for v in found] == [ACTIVE, DUPLICATE]
    assert [s.event_id for s in found[0].sources] == ["event-1", "event-2"]


def test_a_multi_valued_slot_accumulates() -> None:
    assert statuses(taste(1, 1, "jazz"), taste(2, 2, "rock"), near=0.9) == [ACTIVE, ACTIVE]


def test_love_then_hate_leaves_the_new_one() -> None:
    love = taste(1, 1, "Chinese food")
    hate = taste(2, 2, "Chinese food", polarity="negative")
    assert statuses(love, hate) == [SUPERSEDED, ACTIVE]


def test_a_narrower_value_does_not_retire_a_broader_one_but_a_third_retires_both() -> None:
    broad, narrow, other = city(1, 1, "Berlin"), city(2, 2, "Berlin Mitte"), city(3, 3, "Lyon")
    assert statuses(broad, narrow) == [ACTIVE, ACTIVE]
    assert statuses(broad, narrow, other) == [SUPERSEDED, SUPERSEDED, ACTIVE]


def test_other_attributes_of_one_person_stand_side_by_side() -> None:
    job = record(1, 1, "She works at the company", subject="she", attribute="employer", value="the company")
    admin = record(2, 2, "She administers the GitHub org", subject="she", attribute="administers", value="GitHub org")
    assert statuses(job, admin, near=0.8) == [ACTIVE, ACTIVE]


def test_an_owner_is_replaced() -> None:
    lee = record(1, 1, "The owner of the Apollo project is Lee")
    dana = record(2, 2, "The owner of the Apollo project is Dana")
    assert statuses(lee, dana, near=0.9) == [SUPERSEDED, ACTIVE]


def test_a_retraction_without_a_new_value_retires_what_it_names() -> None:
    jazz, rock = taste(1, 1, "jazz"), taste(2, 2, "rock")
    no_jazz = taste(3, 3, "jazz", operation="retract", polarity="negative")
    assert statuses(jazz, rock, no_jazz) == [SUPERSEDED, ACTIVE, ACTIVE]
    again = taste(4, 4, "jazz")
    assert statuses(jazz, rock, no_jazz, again) == [SUPERSEDED, ACTIVE, SUPERSEDED, ACTIVE]


def test_a_temporary_change_holds_for_its_interval() -> None:
    home = city(1, 1, "Bonn")
    week = {"valid_from": START + timedelta(days=5), "valid_until": START + timedelta(days=12)}
    away = city(2, 5, "Lyon", temporary=True, **week)
    state = list(at_once(History((stored(home, 0), stored(away, 90)), ())).values())
    assert [r.status for r in state] == [ACTIVE, ACTIVE]
    values = {day: [r.value for r in as_of(state, START + timedelta(days=day))] for day in (2, 7, 13)}
    assert values == {2: ["Bonn"], 7: ["Lyon"], 13: ["Bonn"]}


def test_as_of_answers_from_the_intervals() -> None:
    moves = [city(1, 1, "Bonn"), city(2, 5, "Berlin")]
    state = at_once(History(tuple(stored(m, 0) for m in moves), ()))
    values = [[r.value for r in as_of(state.values(), START + timedelta(days=d))] for d in (0, 1, 4, 5, 9)]
    assert values == [[], ["Bonn"], ["Bonn"], ["Berlin"], ["Berlin"]]
    assert [r.value for r in chain(state, "mem_2")] == ["Bonn", "Berlin"]


def test_no_chain_merges_two_through_a_bridge() -> None:
    texts = ("I often train for basketball", "I often train and eat for basketball", "I often eat vegetables")
    a, b, c = (record(i, i, text) for i, text in enumerate(texts))
    near = {("mem_0", "mem_1"): 0.97, ("mem_1", "mem_2"): 0.97}
    found = settle([a, b, c], near, profile=PROFILE)
    assert [found[i].status for i in ("mem_0", "mem_1", "mem_2")] == [ACTIVE, DUPLICATE, ACTIVE]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Please notify me at 9", "Please notify me at 11"),
        ("The budget for the trip is 5000", "My budget for the trip: 8,000"),
        ("I always take the train", "I sometimes take the train"),
        ("I have lunch with Ann on Fridays", "I have lunch with Bob on Fridays"),
        ("我每天喝两杯咖啡", "我每天喝三杯咖啡"),
        ("会议定在周二", "会议定在周四"),
        ("我喜欢吃香菜", "我不喜欢吃香菜"),
        ("I like this keyboard", "I don't like this keyboard"),
    ],
)
def test_a_difference_that_counts_is_never_a_repeat(one: str, other: str) -> None:
    found = verdicts(record(1, 1, one), record(2, 1, other), near=0.99)
    assert DUPLICATE not in [v.status for v in found]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The meeting costs 5,000", "the meeting costs 5000."),
        ("Ｉ live in Bonn", "I live in Bonn!"),
        ("预算五千元", "预算5000元"),
        ("Has a dog", "The user has a dog."),
    ],
)
def test_spelling_is_no_difference(one: str, other: str) -> None:
    assert statuses(record(1, 1, one), record(2, 1, other), near=0.99) == [ACTIVE, DUPLICATE]


@pytest.mark.parametrize(
    ("said", "correction"),
    [
        ("My cousin plays the oboe in an orchestra", "Correction: my cousin doesn't play the oboe, it is the clarinet"),
        ("I want every answer as a table", "I said every answer as a table, but I only meant that one report"),
        ("我家里养了两只鹦鹉", "上次我说家里养了鹦鹉，其实那是我表哥家的，我没养"),
    ],
)
def test_a_correction_takes_back_what_it_is_about(said: str, correction: str) -> None:
    other = record(3, 1, "The harbour opens at dawn")
    found = verdicts(record(1, 1, said), record(2, 2, correction), other, near=0.6)
    assert [v.status for v in found] == [SUPERSEDED, ACTIVE, ACTIVE]


def test_a_clients_word_wins_over_inferences_up_to_its_time() -> None:
    old, new = city(1, 1, "Bonn"), city(2, 2, "Berlin")
    back = directive("mem_2", "mem_1", 3)
    assert statuses(old, new, directives=[back]) == [ACTIVE, SUPERSEDED]
    later = city(3, 4, "Lyon")
    assert statuses(old, new, later, directives=[back]) == [SUPERSEDED, SUPERSEDED, ACTIVE]


def test_an_unknown_id_stays_pending() -> None:
    assert statuses(taste(1, 1, "jazz"), directives=[directive("mem_1", "mem_9", 2)]) == [ACTIVE]
    assert statuses(taste(1, 1, "jazz"), taste(9, 1, "rock"), directives=[directive("mem_1", "mem_9", 2)]) == [
        SUPERSEDED,
        ACTIVE,
    ]


def test_a_cycle_breaks_by_time() -> None:
    ring = [directive("mem_1", "mem_2", 1), directive("mem_2", "mem_3", 2), directive("mem_3", "mem_1", 3)]
    items = [taste(i, 0, value) for i, value in enumerate(("jazz", "rock", "folk"), 1)]
    assert statuses(*items, directives=ring) == [ACTIVE, SUPERSEDED, SUPERSEDED]


def test_a_correction_with_new_text_names_what_it_replaces() -> None:
    old = taste(1, 1, "jazz")
    new = taste(2, 2, "blues", replaces=("mem_1",))
    assert statuses(old, new) == [SUPERSEDED, ACTIVE]


def test_what_a_forgotten_memory_had_superseded_stays_superseded() -> None:
    old, new = city(1, 1, "Bonn"), city(2, 2, "Berlin")
    state = at_once(History((stored(old, 0), stored(new, 0)), ()))
    left = markers([state["mem_2"]], [state["mem_1"]])
    assert "Berlin" not in left[0].model_dump_json()
    assert statuses(old, directives=left) == [SUPERSEDED]
    assert statuses(old, city(3, 3, "Lyon"), directives=left) == [SUPERSEDED, ACTIVE]


def test_a_verdict_on_a_pair_that_the_rules_cannot_tell_is_kept() -> None:
    one, other = record(1, 1, "The harbour tour takes 3 hours"), record(2, 2, "The harbour tour takes 4 hours")
    found = verdicts(one, other, near=0.9)
    assert [v.ambiguous_with for v in found] == [("mem_2",), ("mem_1",)]
    judged = {("mem_1", "mem_2"): "supersede"}
    assert statuses(one, other, near=0.9, judged=judged) == [SUPERSEDED, ACTIVE]
    assert statuses(one, other, near=0.9, judged={("mem_1", "mem_2"): "independent"}) == [ACTIVE, ACTIVE]
    assert verdicts(one, other, near=0.9, judged={("mem_1", "mem_2"): "independent"})[0].ambiguous_with == ()


def test_archiving_is_beside_settling() -> None:
    archived = city(1, 1, "Bonn", archived_at=START + timedelta(days=100))
    assert statuses(archived) == [MemoryStatus.ARCHIVED]
    assert statuses(archived, city(2, 120, "Berlin")) == [SUPERSEDED, ACTIVE]
    # Said again after the window: it is current.
    assert statuses(archived, city(2, 120, "Bonn")) == [ACTIVE, DUPLICATE]


def test_an_episode_that_says_only_what_is_replaced_is_hidden() -> None:
    fact = city(1, 1, "Bonn")
    episode = record(1, 1, "I live in Bonn", layer="episode", memory_type="episode")
    longer = record(1, 1, "I live in Bonn and love rowing there", layer="episode", memory_type="episode")
    assert not still_so(episode, [fact])
    assert still_so(longer, [fact])
    assert still_so(episode, [])


@pytest.mark.parametrize(
    ("habit", "change"),
    [
        ("I drink green tea every morning", "I've switched to black coffee lately"),
        ("I take notes in Notion", "I moved over to Obsidian"),
        ("I go for a run after work", "These days I swim instead"),
        ("我写字用圆珠笔", "最近改用钢笔了"),
        ("我每天早上喝绿茶", "现在换成黑咖啡了"),
    ],
)
@pytest.mark.parametrize("near", [PROFILE.conflict, PROFILE.duplicate - 0.01])
def test_a_change_that_names_neither_what_it_changes_nor_its_old_value_retires_nothing(
    habit: str, change: str, near: float
) -> None:
    """It may speak of any habit, so both stay; recall shows them with their dates."""
    assert statuses(record(1, 1, habit), record(2, 40, change), near=near) == [ACTIVE, ACTIVE]


def test_an_episode_is_told_without_what_is_replaced() -> None:
    said = "I live in Bonn, above a bakery. Wei does the data part of the migration."
    fact = record(1, 0, "I live in Bonn, above a bakery.", value="Bonn")
    episode = record(1, 1, said, layer="episode")
    assert still_so(episode, [fact]) == "Wei does the data part of the migration."
    assert still_so(episode, [record(2, 0, fact.content, value="Bonn")]) == said  # of another event
    assert still_so(episode, []) == said


def test_a_clause_that_shares_its_subject_goes_by_its_place() -> None:
    clause = "work as a nurse."
    said = f"I live in Porto with my sister and {clause} Wei does the data part of the migration."
    episode = record(1, 1, said, layer="episode")
    place = episode.source.model_copy(update={"start": said.index(clause), "end": said.index(clause) + len(clause)})
    fact = record(1, 0, f"I {clause}", value="nurse").model_copy(update={"sources": (place,)})
    assert still_so(episode, [fact]) == said.replace(clause, "")


def test_of_a_chinese_sentence_the_clause_with_the_value_goes() -> None:
    said = "评审会定在4月15日上午十点，地点在浦东的会议中心。记得带投影仪。"
    fact = record(1, 0, "评审会定在4月15日上午十点，地点在浦东的会议中心。", value="4月15日上午十点")
    assert still_so(record(1, 1, said, layer="episode"), [fact]) == "地点在浦东的会议中心。记得带投影仪。"


@pytest.mark.parametrize(
    ("said", "meant", "minutes", "status"),
    [
        ("My son's school is Oakfield Primary.", "Sorry, I meant Oakwood Primary.", 2, SUPERSEDED),
        ("The plumber is called Sam Boyle.", "Oops, sorry, I meant Dan Boyle.", 5, SUPERSEDED),
        ("My son's school is Oakfield Primary.", "Sorry, I meant Oakwood Primary.", 300, ACTIVE),
        ("I'm learning Python at weekends.", "Sorry, I meant Python 3.", 2, ACTIVE),
        ("My bus leaves at 8:15.", "sorry, I meant 8:45, not 8:15", 3, SUPERSEDED),
        ("My bus leaves at 8:15.", "sorry, I meant 8:45, not 8:15", 300, ACTIVE),
        ("I need 2 eggs and 3 apples.", "sorry, I meant 4, not 3", 3, ACTIVE),
        ("I have 3 cousins.", "sorry, I meant the blue one", 3, ACTIVE),
        ("My son's school is Oakfield Primary.", "Sorry, I meant the blue one.", 2, ACTIVE),
    ],
)
def test_a_slip_of_the_tongue_is_set_right_at_once(said: str, meant: str, minutes: int, status: MemoryStatus) -> None:
    later = record(2, 0, meant, occurred_at=START + timedelta(days=1, minutes=minutes))
    earlier = record(1, 0, said, occurred_at=START + timedelta(days=1))
    assert statuses(earlier, later, near=0.5)[0] == status
