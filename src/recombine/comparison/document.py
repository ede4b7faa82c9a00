"""A comparison as the record that ``run.json`` holds and ``recombine report`` shows."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from recombine.augmentation.recombination import Recombination
from recombine.comparison.compare import LEARNED, METHODS, Comparison
from recombine.comparison.splitting import contents
from recombine.comparison.verdict import BOTH
from recombine.data import files
from recombine.data.output import replacing_folder
from recombine.decoding.trace import END, trace
from recombine.example import SEPARATOR, Example, Tokens
from recombine.report import run as records

SAMPLES_FOLDER = "samples"

SAMPLES, TRACED = 100, 30
"""How many samples of each method's first seed are shown, and how many of them with the attention of the network."""

RAREST = 200
"""For how many rare things it is told how often they are seen."""

_NAMES = {SEPARATOR: "▷", END: "end"}


def write_samples(found: Comparison, folder: Path) -> Path:
    """Writes all samples into the folder ``samples`` of a run, a file for each method and seed, and returns it."""
    path = folder / SAMPLES_FOLDER
    with replacing_folder(path) as made:
        for method, every in found.drawn.samples.items():
            for seed, samples in enumerate(every, start=found.plan.seed):
                if samples:
                    files.write(samples, made / f"{method}.{seed}.jsonl", format="jsonl")
    return path


def run_record(found: Comparison, *, title: str, command: str, provenance: dict[str, str]) -> records.Run:
    """Returns the whole of a comparison.

    Args:
        found: What was found.
        title: What the data are called.
        command: What was typed.
        provenance: Where the figures are from.
    """
    split = found.split
    shown = [(method, sample) for method in _shown(found) for sample in _first(found, method)[:SAMPLES]]
    return records.Run(
        format=1,
        title=title,
        command=command,
        provenance=provenance,
        data=records.Data(
            train=len(split.train),
            test=len(split.test),
            rare_test=sum(split.rare),
            held_out=split.held_out,
            phenomena=tuple(" ".join(name) for name in split.phenomena),
        ),
        comparison=comparison(found),
        verdict=found.verdict,
        curves=tuple(_curves(found)),
        samples=tuple(_sample(sample, method) for method, sample in shown),
        attention=tuple(_attention(found.drawn.networks, shown)),
        rejected=_rejected(found),
        turned_down=tuple(_turned_down(found)),
        rarity=tuple(_rarity(found)),
        network=str(found.network),
    )


def comparison(found: Comparison) -> tuple[records.Compared, ...]:
    """Returns the rows of the table: of each method its new examples, scores and p-values."""
    return tuple(
        records.Compared(
            method=method,
            new_examples=tuple(len(samples) for samples in found.drawn.samples[method]),
            scores=records.Scores(**{part: tuple(judged.scores) for part, judged in parts.items()}),
            p=records.Significance(**{part: judged.p for part, judged in parts.items()}),
        )
        for method, parts in found.judged.items()
    )


def _shown(found: Comparison) -> list[str]:
    """Returns the methods whose samples are shown; those of ``both`` are made as those of ``learned`` are."""
    return [method for method in reversed(METHODS) if method != BOTH or LEARNED not in found.drawn.samples]


def _first(found: Comparison, method: str) -> Sequence[Example]:
    """Returns the samples that a method made with its first seed."""
    drawn = found.drawn.samples.get(method)
    return drawn[0].examples if drawn else ()


def _curves(found: Comparison) -> Iterator[records.Curve]:
    seeds = found.plan.seeds
    unknown = [[math.nan] * len(losses) for losses in found.history.loss]
    for number, method in enumerate(found.judged):
        own = slice(number * seeds, (number + 1) * seeds)
        loss, held_out = (
            tuple(tuple(value if math.isfinite(value) else None for value in point[own]) for point in points)
            for points in (found.history.loss, found.history.evaluation or unknown)
        )
        yield records.Curve(method, tuple(found.steps), loss, held_out)


def _sample(sample: Example, method: str) -> records.Sample:
    origin = sample.provenance
    assert origin is not None  # what an augmenter gives has one
    prototypes = tuple(records.Pair(prototype.x, prototype.y) for prototype in origin.prototypes)
    return records.Sample(sample.x, sample.y, method, origin.log_probability, prototypes, origin.sources)


def _attention(
    augmenter: Recombination | None, shown: Sequence[tuple[str, Example]]
) -> Iterator[records.Attention | None]:
    """Yields where the first network looked when it produced its first samples."""
    if augmenter is not None and (not augmenter.prototypes or augmenter.recipe.twins):  # twins go by other names
        augmenter = None
    for place, (_, sample) in enumerate(shown):
        is_traced = augmenter is not None and place < TRACED and _is_learned(sample)
        yield _looked(augmenter, sample) if is_traced and augmenter is not None else None


def _is_learned(sample: Example) -> bool:
    return sample.provenance is not None and sample.provenance.method == "recombination"


def _looked(augmenter: Recombination, sample: Example) -> records.Attention:
    assert sample.provenance is not None
    prototypes = [prototype.d for prototype in sample.provenance.prototypes]
    traced = trace(augmenter.fitted_.model, augmenter.vocabulary_, prototypes=prototypes, d=sample.d)
    weights = (
        tuple(map(tuple, attention[:, : len(tokens)].round(3).tolist()))
        for attention, tokens in zip(traced.attention, traced.prototypes, strict=True)
    )
    return records.Attention(_named(traced.tokens), tuple(map(_named, traced.prototypes)), tuple(weights))


def _named(tokens: Tokens) -> Tokens:
    return tuple(_NAMES.get(token, token) for token in tokens)


def _rejected(found: Comparison) -> dict[str, int]:
    """Returns how many candidates were turned down by reason, over all methods and seeds."""
    every = (samples for drawn in found.drawn.samples.values() for samples in drawn)
    total = sum((Counter(samples.rejected) for samples in every), Counter[str]())
    return dict(sorted(total.items()))


def _turned_down(found: Comparison) -> Iterator[records.TurnedDown]:
    drawn = found.drawn.samples.get(LEARNED) or found.drawn.samples.get(BOTH)
    for sample in drawn[0].turned_down if drawn else ():
        if sample.provenance is not None:
            yield records.TurnedDown(sample.x, sample.y, str(sample.provenance.details.get("rejected", "")))


def _rarity(found: Comparison) -> list[records.Rarity]:
    """Returns in how many training examples each rare thing is, alone and with the new ones that are shown first."""
    rare = found.split.phenomena[:RAREST]
    first = next(filter(None, (_first(found, method) for method in _shown(found))), ())
    before, new = (_counted(examples, rare) for examples in (found.split.train, first))
    rows = [records.Rarity(" ".join(name), before[name], before[name] + new[name]) for name in rare]
    return sorted(rows, key=lambda row: (row.before, row.token))


def _counted(examples: Sequence[Example], rare: Sequence[Tokens]) -> Counter[Tokens]:
    wanted = set(rare)
    return Counter(part for example in examples for part in contents(example, wanted))
