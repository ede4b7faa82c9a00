"""The paper's few-shot morphology task (section 5.2), drawn from a SIGMORPHON 2018 file as the authors drew it.

A language's file is in a folder of the user's, or is downloaded once into the user's cache (`locate`).

A split has 1000 training word forms, exactly ``hints`` of them past and ``hints`` future, and three test sets of 100.

The authors drew all 15 splits of a language in one process, so a split rests on every draw before it: the last costs
about two seconds. Two generators were at work, and how far each is known to be the authors' differs:

- ``RandomState(1)`` chose the past and future forms. Confirmed by the one published trace: of the test forms of the
  Spanish split 0 with 16 hints, 64 future and 86 past ones have tags that split 0 with 4 hints did not train on.
- ``RandomState(0)`` chose all other forms, and shuffled neighbor lists after each split (`replay_neighbor_draws`). It
  is replayed from a description of the authors' code. Split 0 with 8 hints is confirmed by the paper's samples
  (appendix G.3): its training sets have 10 of their 12 Spanish and 10 of their 13 Turkish lemmas; other splits have 2
  to 6.

Records come out as they went in: casing is not normalised, as the authors' loader did afterwards.
"""

import hashlib
import http.client
import os
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recombine.data.output import MAX_WHOLE, read_whole, replacing
from recombine.errors import RecombineError, unknown
from recombine.example import Tokens
from recombine.inflection import Inflection

HINTS = (4, 8, 16)
"""How many past, and how many future, forms there may be in a training set."""
SPLITS = (0, 1, 2, 3, 4)
"""The numbers of the splits for each of the HINTS."""

SHA256 = {
    "spanish": "41cdf10b69e99a0d2b3011d01b823acab2155ec6a4da3a8f3492d8fe35dcd95b",
    "swahili": "e352c183db1b51685a6227f6f3600bcd74569ad4c853f342293448b540d0ac39",
    "turkish": "90cd87bc072a683c1a2b9a8dffeefe4a1690e37154f0912c45ea8e9d525f1f16",
}
"""The languages that can be downloaded, those of the paper, with the hashes of their files."""

_FOLDER = "https://raw.githubusercontent.com/sigmorphon/conll2018/master/task1/all"
_SUFFIX = "-train-high"
_TIMEOUT = 30.0  # seconds without an answer

_TRAIN, _TEST, _PER_TYPE = 1000, 100, 20
_PAIRS = 4  # prototype pairs per word form

_Matrix = NDArray[np.float64]


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


def few_shot(inflections: Sequence[Inflection], *, hints: int, split: int) -> FewShot:
    """Returns one of the authors' splits of a language's word forms, which are in the order of its file."""
    check_split(hints, split)
    return next(islice(few_shots(inflections), drawn_before(hints, split), None))


def check_split(hints: int | str, split: int | str = 0) -> None:
    """Raises the error for a number of hints, or of a split, that there is not."""
    for message, value, choices in (
        (f"there are no splits with {hints} hints.", hints, HINTS),
        (f"there is no split {split}.", split, SPLITS),
    ):
        if str(value) not in map(str, choices):
            raise RecombineError(message, hint=f"Choose from {', '.join(map(str, choices))}.")


def drawn_before(hints: int, split: int) -> int:
    """Returns how many splits the authors drew before one."""
    return HINTS.index(hints) * len(SPLITS) + split


def few_shots(inflections: Sequence[Inflection]) -> Iterator[FewShot]:
    """Yields the authors' 15 splits in the order in which they drew them: all with 4 hints, with 8, with 16.

    Repeated word forms count once.
    """
    forms = _sorted_by_token_ids(list(dict.fromkeys(inflections)))
    places: dict[Tokens, list[int]] = {}  # by tags
    for place, record in enumerate(forms):
        places.setdefault(record.tags, []).append(place)
    past_types = [places[tags] for tags in sorted(places) if "PST" in tags]
    future_types = [places[tags] for tags in sorted(places) if "FUT" in tags and "PST" not in tags]
    others = [place for place, record in enumerate(forms) if not {"PST", "FUT"}.intersection(record.tags)]
    rng_other, rng_hints = np.random.RandomState(0), np.random.RandomState(1)

    def at(places: NDArray[np.int64]) -> tuple[Inflection, ...]:
        return tuple(forms[place] for place in places)

    for hints, _ in product(HINTS, SPLITS):
        for tag, types in (("PST", past_types), ("FUT", future_types)):
            usable = sum(min(len(places), _PER_TYPE) for places in types)
            if usable < hints + _TEST:
                raise RecombineError(
                    f"the language has too few {tag} forms: {usable} usable of {sum(map(len, types))}, at most "
                    f"{_PER_TYPE} for each tag combination; {hints} hints and {_TEST} tests need {hints + _TEST}."
                )
        if len(others) < (needed := _TRAIN + 2 * _TEST):
            raise RecombineError(
                f"the language has too few forms that are neither PST nor FUT: {len(others)}, and {needed} are needed."
            )
        past, future = (
            np.concatenate([rng_hints.permutation(places)[:_PER_TYPE] for places in types])
            for types in (past_types, future_types)
        )
        past, future = rng_hints.permutation(past), rng_hints.permutation(future)
        other = rng_other.permutation(others)
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

    def token_ids(record: Inflection) -> list[int]:
        return [*(ids[token] for token in (*record.lemma, *record.tags)), 0, *(ids[token] for token in record.form)]

    return sorted(inflections, key=token_ids)


def replay_neighbor_draws(
    rng: np.random.RandomState, train: Sequence[Inflection], *, held_out: Sequence[Inflection]
) -> None:
    """Advances a generator as the authors' neighborhoods for one split did.

    After each split the authors gave every word form of it four pairs of prototypes, and drew from the same generator
    as they went: one shuffle of the form's candidates, whose number is all that matters, and one coin for each pair
    whose second prototype was missing. The next split takes the same draws. Here the numbers of candidates and of
    missing prototypes are computed for all word forms at once.

    The held-out forms are in the authors' order, an even number in each set: other development forms, past, other,
    future. Axes: n word forms (the training ones first), m training forms, t tags, u training tag sets.
    """
    forms, m = [*train, *held_out], len(train)
    tags = np.minimum(_counts([form.tags for form in forms]), 1)  # n x t
    sizes = tags.sum(axis=1)
    distances = sizes[:, None] + sizes[:m] - 2 * tags @ tags[:m].T  # n x m: how many tags only one of two forms has
    # A first prototype is not the form itself, and for even forms also not one with the same tags.
    candidates = np.ones(distances.shape, dtype=bool)
    np.fill_diagonal(candidates[:m], False)
    candidates[::2] &= distances[::2] > 0
    # The Jaccard similarity of each lemma to each training one, as multisets of characters.
    lemmas = _counts([form.lemma for form in forms])
    common = np.zeros((len(lemmas), m), dtype=np.int16)
    for counts in lemmas.T.astype(np.int16):
        common += np.minimum.outer(counts, counts[:m])
    lengths = lemmas.sum(axis=1)
    similarities = common / (lengths[:, None] + lengths[:m] - common)
    # Smaller distance first, then the less similar lemma, then (argmin) the earlier form; infinity is no candidate.
    ranking = np.where(candidates, distances + similarities / 2, np.inf)
    tag_sets, set_of = np.unique(tags, axis=0, return_inverse=True)
    set_of = set_of.reshape(-1)
    train_sets = np.unique(set_of[:m])
    missing = np.zeros(len(forms), dtype=np.int64)
    for _ in range(_PAIRS):
        first = ranking.argmin(axis=1)
        ranking[np.arange(len(forms)), first] = np.inf
        # A second prototype has every tag of the form that the first lacks, and the tags of neither.
        lacking = tags * (1 - tags[first])  # n x t
        fits = lacking @ tag_sets[train_sets].T == lacking.sum(axis=1, keepdims=True)  # n x u
        fits &= (train_sets != set_of[:, None]) & (train_sets != set_of[first][:, None])
        missing += ~fits.any(axis=1)
    candidate_list = np.arange(m)
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


def locate(language: str, source: Path | None = None) -> Path:
    """Returns the path of a language's file.

    Args:
        language: For example ``"turkish"``; with a source, any language that has a file there.
        source: A folder that holds ``{language}-train-high``. None: the official file, which is downloaded the first
            time, into the user's cache (``recombine`` in ``$XDG_CACHE_HOME``, else in ``~/.cache``).
    """
    if source is None:
        return _fetched(language)
    if not source.is_dir():
        raise RecombineError("there is no such folder.", place=str(source))
    # Only listed files are served, so a language such as "../x" is unknown rather than a way out of the folder.
    paths = {path.name.removesuffix(_SUFFIX): path for path in source.glob(f"*{_SUFFIX}")}
    if not paths:
        hint = "The files are in task1/all of github.com/sigmorphon/conll2018."
        raise RecombineError(f"the folder holds no file called LANGUAGE{_SUFFIX}.", place=str(source), hint=hint)
    if language not in paths:
        raise unknown("language", language, paths)
    return paths[language]


def is_official(path: Path, language: str) -> bool:
    """Tells whether a file is there, and that of the shared task as it was published."""
    return path.is_file() and hashlib.sha256(read_whole(path)).hexdigest() == SHA256.get(language)


def check_language(language: str) -> None:
    """Raises the error for a language that cannot be downloaded."""
    if language not in SHA256:
        strange = unknown("language", language, SHA256)
        others = "For others, name a folder with the language's file: `source`."
        raise RecombineError(strange.message, hint=f"{strange.hint} {others}")


def _fetched(language: str) -> Path:
    """Returns the path of a language's official file, downloading it the first time: all of it or nothing."""
    check_language(language)
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification wants relative paths to be ignored.
    cache = given if given.is_absolute() else Path.home() / ".cache"
    path = cache / "recombine" / "sigmorphon2018" / f"{language}{_SUFFIX}"
    if is_official(path, language):
        return path
    url, hint = f"{_FOLDER}/{path.name}", f"Get {path.name} by other means and name its folder: `source`."
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            content: bytes = response.read(MAX_WHOLE)
    except (OSError, http.client.HTTPException) as error:
        raise RecombineError(f"could not download {url} ({error}).", hint=hint) from error
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[language]:
        message = f"{url} is not the expected file: SHA-256 {found}, expected {SHA256[language]}."
        raise RecombineError(message, hint=hint)
    with replacing(path, force=True) as file:
        file.write(content)
    return path
