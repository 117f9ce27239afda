"""The signals of importance are those that the documentation lists."""

from __future__ import annotations

import doctest
import re
from collections import defaultdict
from pathlib import Path

from streams.memory.extraction import importance as module
from streams.memory.extraction.importance import importance
from streams.memory.extraction.slots import SLOTS

GUIDE = (Path(__file__).parents[3] / "docs" / "extending.md").read_text(encoding="utf-8")
CHAPTER = GUIDE.split("### Importance\n")[1].split("\n## ")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in CHAPTER.splitlines() if line.startswith("| ")]


def test_every_attribute_is_listed_with_what_it_begins_with() -> None:
    listed = {int(row[0]): set(re.findall(r"`(\w+)`", row[1])) for row in ROWS if row[0].isdigit()}
    wanted = defaultdict(set)
    for slot in SLOTS.values():
        wanted[slot.importance].add(slot.attribute)
    assert listed == wanted


def test_every_signal_has_the_effect_that_is_listed() -> None:
    effects = {"5": 5.0, "+1": 4.0, "-1": 2.0}
    signals = {row[1]: re.findall(r"`([^`]+)`", row[2]) for row in ROWS if len(row) == 3 and row[1] in effects}
    assert signals.keys() == effects.keys()
    for effect, wordings in signals.items():
        assert len(wordings) >= 15
        wrong = [said for said in wordings if importance(3, f"it {said} x") != effects[effect]]
        assert wrong == [], effect


def test_words_of_the_code_are_listed() -> None:
    """Each alternative of strong words and hedges is there; a Chinese one in so many words."""
    for cued in (module._STRONG, module._WEAK):
        chinese = set(re.findall(r"[\u4e00-\u9fff]+", cued.expression.pattern))
        assert chinese <= set(re.findall(r"`([^`]+)`", CHAPTER))


def test_a_correction_adds_one_once() -> None:
    assert importance(3, "no, it is Bonn", correction=True) == 4
    assert importance(3, "it must be Bonn", correction=True) == 4


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(module).attempted == 1
    assert doctest.testmod(module).failed == 0
