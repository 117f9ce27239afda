"""`memstream calibrate`: thresholds of the embedding model, measured and written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.common import err, fail, out, run, settings_for_client
from streams.cli.source import Lines
from streams.settings import Settings, load_settings

if TYPE_CHECKING:
    from streams.calibration import Calibration, Pair
    from streams.calibration.pairs import Languages


def register(app: typer.Typer) -> None:
    app.command("calibrate")(calibrate)


def calibrate(
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='JSON Lines of {"a", "b", "label"}: a question and its "answer"; two texts that are a "duplicate", a '
            '"conflict" (the same with another value) or "unrelated". - for standard input.',
        ),
    ] = None,
    from_store: Annotated[
        bool, typer.Option("--from-store", help="Pairs from what is remembered: the topic `records` is read.")
    ] = False,
    languages: Annotated[str, typer.Option(help="Of the built-in sentences: en, zh or en,zh.")] = "en,zh",
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the profile goes.")] = Path(
        "model-profile.json"
    ),
) -> None:
    """Measure the thresholds of MEMSTREAM_EMBEDDER, and its mean when that is not known; write them as a profile.

    Without --pairs and --from-store on built-in sentences, which also fill up a label with fewer than 20 pairs.
    Workers take the profile from MEMSTREAM_MODEL_PROFILE.
    """
    if pairs is not None and from_store:
        fail("give either --pairs or --from-store", 2)
    if languages not in ("en", "zh", "en,zh"):
        fail("--languages is one of en, zh, en,zh", 2)
    settings = load_settings()
    given: list[Pair] = [] if pairs is None else read_pairs(pairs)
    run(measure(settings, given, languages, output, from_store=from_store))  # type: ignore[arg-type]


def read_pairs(file: str) -> list[Pair]:
    """Ends the command when a line is no pair; names its number and no text."""
    from streams.calibration import LABELS, Pair

    lines = Lines(file)
    found: list[Pair] = []
    for number, given in lines:
        a, b, label = given.get("a"), given.get("b"), given.get("label")
        if not (isinstance(a, str) and a.strip() and isinstance(b, str) and b.strip()):
            lines.refuse(number, '"a" and "b" must be texts')
        elif label not in LABELS:
            lines.refuse(number, f'"label" must be one of {", ".join(LABELS)}')
        else:
            found.append(Pair(a, b, label))
    lines.end()
    return found


async def measure(
    settings: Settings, given: list[Pair], languages: Languages, output: Path, *, from_store: bool
) -> None:
    from streams.adapters.embedders import make_embedder
    from streams.adapters.embedders.measured import MeasuredProfile, write_profile
    from streams.app import embedder_options
    from streams.calibration import LABELS, calibrate, filled
    from streams.errors import ConfigurationError

    if from_store:
        from streams.calibration.kept import pairs_of, read_facts

        given = pairs_of(await read_facts(settings_for_client()))
    pairs = filled(given, languages)
    for label in LABELS:
        own = sum(pair.label == label for pair in given)
        added = sum(pair.label == label for pair in pairs) - own
        out.print(f"{label:10} {own} pairs given, {added} built-in")
    # What was measured before must not be measured upon.
    options = {name: value for name, value in embedder_options(settings).items() if name != "measured"}
    embedder = make_embedder(settings.embedder, centred=False, **options)
    try:
        made = await calibrate(embedder, pairs, languages)
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    finally:
        await embedder.close()
    counts = {label: sum(pair.label == label for pair in pairs) for label in LABELS}
    profile = embedder.profile
    measured = MeasuredProfile(
        model=profile.name, dimension=profile.dimension, mean=made.mean, pairs=counts, **made.thresholds
    )
    write_profile(output, measured)
    report(made)
    err.print(f"written: {output}. Workers use it with MEMSTREAM_MODEL_PROFILE={output}", markup=False, soft_wrap=True)
    if made.mean is not None:
        err.print(
            "the mean is new, so that vectors change: a store that was made without it needs `memstream rebuild`",
            soft_wrap=True,
        )


def report(made: Calibration) -> None:
    from streams.calibration.measure import TELLS

    out.print("on the half of the pairs that the thresholds do not come from:")
    for cut, (over, under) in TELLS.items():
        right, wrong = made.shares[cut]
        out.print(f"{cut:10} {made.thresholds[cut]:.3f}  reached by {right:.0%} of {over}, {wrong:.0%} of {under}")
