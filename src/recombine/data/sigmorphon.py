"""The paper's few-shot morphology task (section 5.2), drawn from a SIGMORPHON 2018 file as the authors drew it.

A split has 1000 training word forms, exactly ``hints`` of them past and ``hints`` future, and three test sets of 100.

The authors drew all 15 splits of a language in one process, so a split rests on every draw before it: the last costs
about two seconds. Two generators were at work, and how far each is known to be the authors' differs:

- ``RandomState(1)`` chose the past and future forms. Confirmed by the one published trace: of the test forms of the
  Spanish split 0 with 16 hints, 64 future and 86 past ones have tags that split 0 with 4 hints did not train on.
- ``RandomState(0)`` chose all other forms, and shuffled neighbor lists after each split (``sigmorphon_draws``). It is
  replayed from a description of the authors' code. Split 0 with 8 hints is confirmed by the paper's samples (appendix
  G.3): its training sets have 10 of their 12 Spanish and 10 of their 13 Turkish lemmas; other splits have 2 to 6.

Records come out as they went in: casing is not normalised, as the authors' loader did afterwards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from recombine.data.sigmorphon_draws import replay_neighbor_draws
from recombine.data.sigmorphon_files import fetch, is_official, locate
from recombine.errors import RecombineError
from recombine.example import Tokens
from recombine.inflection import Inflection

__all__ = ["HINTS", "SPLITS", "FewShot", "fetch", "few_shot", "few_shots", "is_official", "locate"]

HINTS = (4, 8, 16)
"""How many past, and how many future, forms there may be in a training set."""
SPLITS = (0, 1, 2, 3, 4)
"""The numbers of the splits for each of the HINTS."""

_TRAIN, _TEST, _PER_TYPE = 1000, 100, 20

_Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FewShot:
    """One split of the few-shot task; no word form is in two of its sets.

    Attributes:
        train: 1000 word forms: others, then the past hints, then the future hints.
        past: 100 word forms whose tags include PST.
        future: 100 word forms whose tags include FUT, and not PST.
        other: 100 word forms of any other kind.
    """

    train: tuple[Inflection, ...]
    past: tuple[Inflection, ...]
    future: tuple[Inflection, ...]
    other: tuple[Inflection, ...]


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The word forms by kind, as places in the sorted list; past and future ones grouped by type, their tag tuple."""

    past: list[_Indices]
    future: list[_Indices]
    other: _Indices


def few_shot(inflections: Sequence[Inflection], *, hints: int, split: int) -> FewShot:
    """Returns one of the authors' splits.

    Args:
        inflections: All word forms of the language, in the order of its file; repeated ones count once.
        hints: How many past, and how many future, forms to train on: 4, 8 or 16.
        split: Which of the five splits, 0 to 4.

    Raises:
        RecombineError: If there is no such split, or the language has too few forms of some kind.
    """
    if hints not in HINTS:
        raise RecombineError(f"there are no splits with {hints} hints.", hint=f"Choose from {_listed(HINTS)}.")
    if split not in SPLITS:
        raise RecombineError(f"there is no split {split}.", hint=f"Choose from {_listed(SPLITS)}.")
    return next(islice(few_shots(inflections), drawn_before(hints, split), None))


def drawn_before(hints: int, split: int) -> int:
    """Returns how many splits the authors drew before one."""
    return HINTS.index(hints) * len(SPLITS) + split


def few_shots(inflections: Sequence[Inflection]) -> Iterator[FewShot]:
    """Yields the authors' 15 splits in the order in which they drew them: all with 4 hints, with 8, with 16.

    Args:
        inflections: All word forms of the language, in the order of its file; repeated ones count once.

    Raises:
        RecombineError: When it comes to a split for which the language has too few forms of some kind.
    """
    forms = _sorted_by_token_ids(list(dict.fromkeys(inflections)))
    kinds = _by_kind(forms)
    rng_other, rng_hints = np.random.RandomState(0), np.random.RandomState(1)

    def at(places: _Indices) -> tuple[Inflection, ...]:
        return tuple(forms[place] for place in places)

    for hints, _ in product(HINTS, SPLITS):
        _check_counts(kinds, hints)
        past, future = _capped(kinds.past, rng_hints), _capped(kinds.future, rng_hints)
        past, future = rng_hints.permutation(past), rng_hints.permutation(future)
        other = rng_other.permutation(kinds.other)
        drawn = FewShot(
            train=at(np.concatenate([other[: _TRAIN - 2 * hints], past[:hints], future[:hints]])),
            past=at(past[hints:][:_TEST]),
            future=at(future[hints:][:_TEST]),
            other=at(other[_TRAIN + _TEST :][:_TEST]),
        )
        yield drawn
        development = at(other[_TRAIN:][:_TEST])
        replay_neighbor_draws(rng_other, drawn.train, held_out=(*development, *drawn.past, *drawn.other, *drawn.future))


def _sorted_by_token_ids(inflections: Sequence[Inflection]) -> list[Inflection]:
    """Sorts by lemma, tags, separator, form, where a token counts for its place in the order of first sight."""
    ids: dict[str, int] = {}
    for record in inflections:
        for token in (*record.form, *record.lemma, *record.tags):
            ids.setdefault(token, len(ids) + 1)
    separator = 0

    def token_ids(record: Inflection) -> tuple[int, ...]:
        analysis = (ids[token] for token in (*record.lemma, *record.tags))
        return (*analysis, separator, *(ids[token] for token in record.form))

    return sorted(inflections, key=token_ids)


def _by_kind(forms: Sequence[Inflection]) -> _Kinds:
    types: dict[Tokens, list[int]] = {}
    for place, record in enumerate(forms):
        types.setdefault(record.tags, []).append(place)
    past = [tags for tags in sorted(types) if "PST" in tags]
    future = [tags for tags in sorted(types) if "FUT" in tags and "PST" not in tags]
    other = [place for place, record in enumerate(forms) if not {"PST", "FUT"}.intersection(record.tags)]
    return _Kinds(
        past=[np.array(types[tags]) for tags in past],
        future=[np.array(types[tags]) for tags in future],
        other=np.array(other),
    )


def _check_counts(kinds: _Kinds, hints: int) -> None:
    """Raises the error that says of which kind there are too few forms."""
    for tag, types in (("PST", kinds.past), ("FUT", kinds.future)):
        usable = sum(min(len(forms), _PER_TYPE) for forms in types)
        if usable < hints + _TEST:
            raise RecombineError(
                f"the language has too few {tag} forms: {usable} usable of {sum(map(len, types))}, at most {_PER_TYPE} "
                f"for each tag combination; {hints} hints and {_TEST} tests need {hints + _TEST}."
            )
    needed = _TRAIN + 2 * _TEST
    if len(kinds.other) < needed:
        raise RecombineError(
            f"the language has too few forms that are neither PST nor FUT: {len(kinds.other)}, and {needed} are needed."
        )


def _capped(types: Sequence[_Indices], rng: np.random.RandomState) -> _Indices:
    """Returns a random choice of at most 20 forms of each type, type after type."""
    return np.concatenate([rng.permutation(forms)[:_PER_TYPE] for forms in types])


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
