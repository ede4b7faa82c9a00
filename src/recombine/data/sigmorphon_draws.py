"""The random draws that the authors' neighborhoods took from the generator that also drew their splits.

After each split the authors gave every word form of it four pairs of prototypes, and drew from the same generator as
they went: one shuffle of the form's candidates, whose number is all that matters, and one coin for each pair whose
second prototype was missing. Whoever wants their next split must take the same draws. Here the numbers of candidates
and of missing prototypes are computed for all word forms at once; the neighborhoods proper are elsewhere.

Axes: n word forms (the training ones first), m training forms, t tags, u tag sets of training forms.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recombine.inflection import Inflection

_PAIRS = 4  # prototype pairs per word form

_Matrix = NDArray[np.float64]


def replay_neighbor_draws(
    rng: np.random.RandomState, train: Sequence[Inflection], *, held_out: Sequence[Inflection]
) -> None:
    """Advances a generator as the authors' neighborhoods for one split did.

    Args:
        rng: The generator.
        train: The training forms, candidates for being prototypes.
        held_out: The other forms in the authors' order, an even number in each set: other development forms, past,
            other, future.
    """
    forms = [*train, *held_out]
    tags = np.minimum(_counts([form.tags for form in forms]), 1)
    lemmas = _counts([form.lemma for form in forms])
    distances = _symmetric_differences(tags, tags[: len(train)])
    candidates = _candidates(distances)
    similarities = _jaccard_similarities(lemmas, lemmas[: len(train)])
    # Smaller distance first, then the less similar lemma, then (argmin) the earlier form; infinity is no candidate.
    ranking = np.where(candidates, distances + similarities / 2, np.inf)
    missing = _missing_second_prototypes(ranking, tags)
    candidate_list = np.arange(len(train))
    for length, coins in zip(candidates.sum(axis=1).tolist(), missing.tolist(), strict=True):
        rng.shuffle(candidate_list[:length])
        for _ in range(coins):
            rng.permutation(2)


def _counts(sequences: Sequence[Sequence[str]]) -> _Matrix:
    """Returns how often each symbol is in each sequence: one row per sequence, one column per symbol."""
    columns: dict[str, int] = {}
    cells = [
        (row, columns.setdefault(symbol, len(columns))) for row, symbols in enumerate(sequences) for symbol in symbols
    ]
    counts = np.zeros((len(sequences), len(columns)))
    np.add.at(counts, tuple(np.array(cells).T), 1)
    return counts


def _symmetric_differences(tags: _Matrix, train_tags: _Matrix) -> _Matrix:
    common: _Matrix = tags @ train_tags.T  # n x m
    sizes: _Matrix = tags.sum(axis=1)[:, None] + train_tags.sum(axis=1)
    return sizes - 2 * common


def _candidates(distances: _Matrix) -> NDArray[np.bool_]:
    """Tells which training forms may be first prototypes: not the form itself, for even forms also none of its tags."""
    candidates = np.ones(distances.shape, dtype=bool)  # n x m
    np.fill_diagonal(candidates[: distances.shape[1]], False)
    candidates[::2] &= distances[::2] > 0
    return candidates


def _jaccard_similarities(lemmas: _Matrix, train_lemmas: _Matrix) -> _Matrix:
    """Returns the Jaccard similarity of the lemmas as multisets of characters."""
    common = np.zeros((len(lemmas), len(train_lemmas)), dtype=np.int16)  # n x m
    for counts, train_counts in zip(lemmas.T.astype(np.int16), train_lemmas.T.astype(np.int16), strict=True):
        common += np.minimum.outer(counts, train_counts)
    all_characters: _Matrix = lemmas.sum(axis=1)[:, None] + train_lemmas.sum(axis=1) - common
    return common / all_characters


def _missing_second_prototypes(ranking: _Matrix, tags: _Matrix) -> NDArray[np.int64]:
    """Returns, for each form, how many of its first prototypes have no second one to go with them.

    A second prototype has every tag of the form that the first lacks, and the tags of neither.
    """
    rows, m = np.arange(len(tags)), ranking.shape[1]
    tag_sets, set_of = np.unique(tags, axis=0, return_inverse=True)
    set_of = set_of.reshape(-1)
    train_sets = np.unique(set_of[:m])
    missing = np.zeros(len(tags), dtype=np.int64)
    for _ in range(_PAIRS):
        first = ranking.argmin(axis=1)
        ranking[rows, first] = np.inf
        lacking = tags * (1 - tags[first])  # n x t
        fits = lacking @ tag_sets[train_sets].T == lacking.sum(axis=1, keepdims=True)  # n x u
        fits &= (train_sets != set_of[:, None]) & (train_sets != set_of[first][:, None])
        missing += ~fits.any(axis=1)
    return missing
