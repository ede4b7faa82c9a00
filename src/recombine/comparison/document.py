"""A comparison as the record that ``run.json`` holds and ``recombine report`` shows."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from recombine.comparison.compare import KNOWN, LEARNED, Comparison
from recombine.comparison.splitting import contents
from recombine.comparison.verdict import BOTH
from recombine.data import files
from recombine.data.output import replacing_folder
from recombine.decoding.trace import END, trace
from recombine.example import SEPARATOR, Example, Tokens
from recombine.own_data.inspection import aligned
from recombine.report import run as records

SAMPLES_FOLDER = "samples"

SAMPLES, TRACED = 100, 30
"""How many samples of each method's first seed are shown, and how many of them with the attention of the network."""

RAREST = 200  # for how many rare things it is told how often they are seen


def write_samples(found: Comparison, folder: Path, *, tokens: str = "words") -> Path:
    """Writes all samples into the folder ``samples`` of a run, a file for each method and seed, and returns it.

    Beside their tokens, which are words, characters or code, they have texts.
    """
    path = folder / SAMPLES_FOLDER
    with replacing_folder(path) as made:
        for method, every in found.drawn.samples.items():
            for seed, samples in enumerate(every, start=found.plan.seed):
                if samples:
                    files.write(samples, made / f"{method}.{seed}.jsonl", format="jsonl", tokens=tokens)
    return path


def run_record(found: Comparison, *, title: str, command: str, provenance: dict[str, str]) -> records.Run:
    """Returns the whole of a comparison, with the name of the data, the command, and where the figures are from."""
    split, drawn = found.split, found.drawn.samples
    # Samples of `both` are made as those of `learned` are, so they are shown only where these are not.
    first = {
        method: drawn[method][0]
        for method in reversed(KNOWN)
        if method in drawn and (method != BOTH or LEARNED not in drawn)
    }
    shown = [(method, sample) for method, samples in first.items() for sample in sorted(samples, key=_rank)[:SAMPLES]]
    rejected = sum((Counter(samples.rejected) for every in drawn.values() for samples in every), Counter[str]())
    distinct = list(dict.fromkeys(split.train))
    learned = drawn.get(LEARNED) or drawn.get(BOTH)
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
        curves=_curves(found),
        samples=tuple(_sample(sample, method) for method, sample in shown),
        attention=tuple(_attention(found, sample, place) for place, (_, sample) in enumerate(shown)),
        rejected=dict(sorted(rejected.items())),
        turned_down=tuple(
            records.TurnedDown(sample.x, sample.y, str(sample.provenance.details.get("rejected", "")))
            for sample in (learned[0].turned_down if learned else ())
            if sample.provenance is not None
        ),
        rarity=_rarity(found, next(filter(None, first.values()), ())),
        network=str(found.network),
        alignment=tuple(
            records.Aligned(example.x, example.y, tuple(links)) for example, links in aligned(distinct, found.plan.seed)
        ),
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


def _curves(found: Comparison) -> tuple[records.Curve, ...]:
    seeds, curves = found.plan.seeds, []
    history = found.history
    steps = tuple(found.steps_per_epoch * epoch for epoch in range(1, len(history.loss) + 1))
    unknown = [[math.nan] * len(losses) for losses in history.loss]
    for number, method in enumerate(found.judged):
        own = slice(number * seeds, (number + 1) * seeds)
        loss, held_out = (
            tuple(tuple(value if math.isfinite(value) else None for value in point[own]) for point in points)
            for points in (history.loss, history.evaluation or unknown)
        )
        curves.append(records.Curve(method, steps, loss, held_out))
    return tuple(curves)


def _rank(sample: Example) -> float:
    """Returns a number by which samples of a network are in the order of the probability shown beside them."""
    probability = sample.provenance.log_probability if sample.provenance else None
    return 0.0 if probability is None else -probability


def _sample(sample: Example, method: str) -> records.Sample:
    origin = sample.provenance
    assert origin is not None  # what an augmenter gives has one
    prototypes = tuple(records.Pair(prototype.x, prototype.y) for prototype in origin.prototypes)
    return records.Sample(sample.x, sample.y, method, origin.log_probability, prototypes, origin.sources)


def _attention(found: Comparison, sample: Example, place: int) -> records.Attention | None:
    """Returns where the first network looked when it produced a sample, which is among the first ones shown."""
    augmenter, origin = found.drawn.networks, sample.provenance
    if augmenter is None or not augmenter.prototypes or augmenter.recipe.twins:  # twins go by other names
        return None
    if place >= TRACED or origin is None or origin.method != "recombination":
        return None
    prototypes = [prototype.d for prototype in origin.prototypes]
    traced = trace(augmenter.fitted_.model, augmenter.vocabulary_, prototypes=prototypes, d=sample.d)
    names = {SEPARATOR: "▷", END: "end"}
    tokens, *read = (tuple(names.get(token, token) for token in d) for d in (traced.tokens, *traced.prototypes))
    weights = (
        tuple(map(tuple, attention[:, : len(d)].round(3).tolist()))
        for attention, d in zip(traced.attention, read, strict=True)
    )
    return records.Attention(tokens, tuple(read), tuple(weights))


def _rarity(found: Comparison, new: Sequence[Example]) -> tuple[records.Rarity, ...]:
    """Returns in how many training examples each rare thing is, alone and with new ones."""
    rare = found.split.phenomena[:RAREST]
    before, after = Counter[Tokens](), Counter[Tokens]()
    for counts, examples in ((before, found.split.train), (after, (*found.split.train, *new))):
        counts.update(part for example in examples for part in contents(example, set(rare)))
    rows = [records.Rarity(" ".join(name), before[name], after[name]) for name in rare]
    return tuple(sorted(rows, key=lambda row: (row.before, row.token)))
