"""The examples prepared for search: duplicates removed, tokens renamed, tables of who holds which token.

A sequence is a string here, one code point a token: rapidfuzz compares strings fastest, and whether a sequence holds a
token is whether a string holds a character. Everything is linear in the size of the data: a table of data by token, one
of data by token set, one of token sets that differ by one token.
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from recombine.data.vocabulary import check_vocabulary
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example
from recombine.inflection import split_analysis

Integers = NDArray[np.int32]
Strings = NDArray[np.object_]

SEPARATOR_NAME = chr(0)
FIRST_LOOK, BATCH = 512, 512
NOTHING = np.empty(0, np.int32)
FARTHER = 2.0
"""More than any lev."""

WORDS = 2
BAG_BITS = 64 * WORDS
"""The bits of a bag: a mask with a bit for each token of a sequence and its first, second, ... occurrence."""


def lev(a: str, b: str) -> float:
    """Returns the edit distance divided by the length of the longer sequence; 0 between empty ones."""
    return Levenshtein.distance(a, b) / max(len(a), len(b), 1)


def remainder(sequence: str, other: str) -> str:
    r"""Returns [a \ b]: the sequence without all tokens that the other one has."""
    return "".join([token for token in sequence if token not in other])


def distinct(sequence: str) -> str:
    """Returns the tokens of the sequence, each once, in the order in which they first come."""
    return "".join(dict.fromkeys(sequence))


def covers(sequence: str, tokens: str) -> bool:
    """Tells whether the sequence has all of the tokens."""
    return all(token in sequence for token in tokens)


class Ragged:
    """A table of rows of different lengths: the values that belong to each row, in the order in which they come.

    `values` are all rows, one after the other; `starts` is where each starts, and where the last one ends.
    """

    def __init__(self, rows: Integers, values: Integers, *, size: int) -> None:
        self.values: Integers = values[np.argsort(rows, kind="stable")]
        self.sizes = np.bincount(rows, minlength=size)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])

    def __getitem__(self, row: int) -> Integers:
        return self.values[self.starts[row] : self.starts[row + 1]]


class Index:
    """Distinct examples, in order of first occurrence, as strings of one code point a token.

    Attributes:
        originals: Where in the sequence of examples each datum first occurs, in increasing order.
        tokens: The token that each code point stands for.
        strings: The datum d of each, tokens renamed.
        lengths: The number of tokens of each.
        sets: The distinct token sets, each as its tokens in sorted order.
        set_of: The number of each datum's token set.
    """

    def __init__(self, examples: Sequence[Example]) -> None:
        if not examples:
            raise RecombineError("there are no examples, so there are no neighborhoods.")
        names = {SEPARATOR: SEPARATOR_NAME}
        originals: dict[str, int] = {}
        for position, example in enumerate(examples):
            for token in example.d:
                if token not in names:
                    check_vocabulary(len(names))  # there are more code points than that
                    names[token] = chr(len(names))
            originals.setdefault("".join([names[token] for token in example.d]), position)
        sets: dict[str, int] = {}
        set_of = [sets.setdefault("".join(sorted(set(string))), len(sets)) for string in originals]
        self.originals: Integers = np.fromiter(originals.values(), np.int32, len(originals))
        self.tokens = list(names)
        self.strings: Strings = np.array(list(originals), np.object_)
        self.lengths: Integers = np.fromiter(map(len, originals), np.int32, len(originals))
        self.sets = list(sets)
        self.set_of: Integers = np.array(set_of, np.int32)
        self._longest = int(self.lengths.max())
        self._places = np.empty(len(originals), np.int32)

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def postings(self) -> Ragged:
        """The data that hold each token, shortest first."""
        held = "".join([self.sets[number] for number in self.set_of.tolist()])
        tokens = np.frombuffer(held.encode("utf-32-le", "surrogatepass"), np.int32)
        sizes = np.fromiter(map(len, self.sets), np.int32, len(self.sets))[self.set_of]
        data = np.repeat(np.arange(len(self), dtype=np.int32), sizes)
        by_length = np.argsort(self.lengths[data], kind="stable")
        return Ragged(tokens[by_length], data[by_length], size=int(tokens.max()) + 1)

    @cached_property
    def members(self) -> Ragged:
        """The data with each token set."""
        return Ragged(self.set_of, np.arange(len(self), dtype=np.int32), size=len(self.sets))

    @cached_property
    def one_apart(self) -> Ragged:
        """The token sets that differ from each by exactly one token, |a Δ b| = 1."""
        number = {tokens: place for place, tokens in enumerate(self.sets)}
        smaller, larger = array("i"), array("i")
        for place, tokens in enumerate(self.sets):
            for gap in range(len(tokens)):
                without = number.get(tokens[:gap] + tokens[gap + 1 :])
                if without is not None:
                    smaller.append(without)
                    larger.append(place)
        rows, values = (np.frombuffer(part, np.int32) for part in (larger + smaller, smaller + larger))
        return Ragged(rows, values, size=len(self.sets))

    @cached_property
    def words(self) -> "WordForms":
        """The data as word forms."""
        return WordForms(self)

    @cached_property
    def _posting_keys(self) -> NDArray[np.int64]:
        """The token and length of each posting, as one number: they are sorted by it."""
        tokens = np.repeat(np.arange(len(self.postings.sizes)), self.postings.sizes)
        keys: NDArray[np.int64] = tokens * (self._longest + 1) + self.lengths[self.postings.values]
        return keys

    @cached_property
    def _bags(self) -> NDArray[np.uint64]:
        """The bag of each datum, its number of ones, and the length: what is looked up together stands together."""
        bags = np.frombuffer(b"".join(map(_bag, self.strings)), np.uint64).reshape(-1, WORDS)
        table: NDArray[np.uint64] = np.column_stack([bags, _ones(bags), self.lengths.astype(np.uint64)])
        return table

    def similar(self, sequence: str, *, delta: float, budget: int, rng: np.random.Generator) -> Iterator[Integers]:
        """Yields the data within lev < delta of a sequence, in random order and in batches.

        The first batch is drawn from all data of a suitable length, and is enough where near data abound. The others
        hold certain tokens of the sequence. If there are more to compare than the budget, about as many are chosen at
        random, evenly over the tokens looked up.
        """
        bound = min(delta, 1.0)
        (everyone,) = self._shelves(SEPARATOR_NAME, len(sequence), bound)
        look = sampled([everyone], min(FIRST_LOOK, budget), rng)
        yield from self.near(sequence, [rng.permutation(self._plausible(sequence, look, bound))], delta=delta)
        if len(everyone) == len(look):
            return
        # If lev(a, b) < delta, then fewer than delta * len(a) tokens of a are without a partner in b. So b holds one of
        # any choice of tokens that make up that much of a: here, tokens that few data hold and that recur in a.
        counts, holders = Counter(sequence), self.postings.sizes
        needed, tokens = bound * len(sequence), ""
        for token in sorted(counts, key=lambda token: (holders[ord(token)] / counts[token], token)):
            if needed > 0:
                tokens += token
                needed -= counts[token]
        found = sampled(self._shelves(tokens, len(sequence), bound), budget, rng)
        # Each once, and none that was looked at: writing down the last place of each is cheaper than sorting them.
        everything = np.concatenate([found, look])
        places = np.arange(len(everything), dtype=np.int32)
        self._places[everything] = places
        more = found[self._places[found] == places[: len(found)]]
        yield from self.near(sequence, in_batches(self._plausible(sequence, more, bound), rng), delta=delta)

    def covering(self, sequence: str, *, delta: float, budget: int, rng: np.random.Generator) -> Integers:
        """Returns the data within lev < delta of a sequence that hold all of its tokens, of which it has at least one.

        If more data than the budget hold its rarest token, as many are chosen at random.
        """
        bound = min(delta, 1.0)
        shortest = max([self.lengths[self.postings[ord(token)][0]] for token in sequence])
        if shortest > self._longest_near(len(sequence), bound):
            return NOTHING  # a token that only longer data hold: the common case where there are many tokens
        rarest = min(sequence, key=lambda token: (self.postings.sizes[ord(token)], token))
        shelf = sampled(self._shelves(rarest, len(sequence), bound), budget, rng)
        wanted = np.frombuffer(_bag(distinct(sequence)), np.uint64)
        shelf = shelf[(self._bags[shelf, :WORDS] & wanted == wanted).all(axis=1)]
        hits = np.concatenate([NOTHING, *self.near(sequence, [shelf], delta=delta)])
        return hits[[covers(datum, sequence) for datum in self.strings[hits]]]

    def near(self, sequence: str, candidates: Iterable[Integers], *, delta: float) -> Iterator[Integers]:
        """Yields those of the candidates, which come in batches, with lev < delta from a sequence, in their order.

        Whoever wants only the first few hits pays for little more: batches are drawn, and distances computed, as
        needed.
        """
        if delta > 1:
            yield from candidates
            return
        for batch in filter(len, candidates):
            longer = np.maximum(self.lengths[batch], max(len(sequence), 1))
            worst = int(delta * longer.max()) + 1
            others = self.strings[batch]
            edits = cdist([sequence], others, scorer=Levenshtein.distance, score_cutoff=worst, dtype=np.int32)[0]
            yield batch[edits / longer < delta]

    def _plausible(self, sequence: str, data: Integers, delta: float) -> Integers:
        """Returns the data, by number, whose bags do not rule out lev < delta from a sequence.

        Tokens may share bits, so bags may look more alike than they are, never less: where they differ in k bits on one
        side, at least k tokens are without a partner, and the edit distance is at least k.
        """
        bag = np.frombuffer(_bag(sequence), np.uint64)
        found: NDArray[np.uint64] = self._bags.take(data, axis=0)
        common = _ones(found[:, :WORDS] & bag)
        larger = np.maximum(found[:, WORDS], np.uint64(_ones(bag)))
        longer = np.maximum(found[:, WORDS + 1], np.uint64(max(len(sequence), 1)))
        plausible: Integers = data[(larger - common) / longer < delta]
        return plausible

    def _longest_near(self, length: int, delta: float) -> int:
        """Returns how long data are at most that are within lev < delta of a sequence of a length."""
        return min(math.ceil(length / (1 - delta)), self._longest) if delta < 1 else self._longest

    def _shelves(self, tokens: str, length: int, delta: float) -> list[Integers]:
        """Returns the data that hold each token, of lengths that allow lev < delta: it is at least their difference."""
        shortest, longest = math.floor(length * (1 - delta)), self._longest_near(length, delta)
        keys = np.array([ord(token) for token in tokens]) * (self._longest + 1)
        starts = self._posting_keys.searchsorted(keys + shortest).tolist()
        ends = self._posting_keys.searchsorted(keys + longest, side="right").tolist()
        return [self.postings.values[start:end] for start, end in zip(starts, ends, strict=True)]


class WordForms:
    """Data in generation order (lemma, tags ▷ form), grouped by their sets of tags.

    Attributes:
        lemmas: Each lemma's characters in sorted order: two share, as bags, their common subsequence.
        tag_sets: The distinct sets of tags.
        tags_of: The number of each datum's set of tags.
        members: The data with each set of tags, in order.
    """

    def __init__(self, index: Index) -> None:
        numbers: dict[frozenset[str], int] = {}
        lemmas, tags_of = [], []
        for string in index.strings:
            x, _, y = string.partition(SEPARATOR_NAME)
            lemma, tags = split_analysis(tuple(index.tokens[ord(name)] for name in x))
            if not tags:
                example = Example(lemma, tuple(index.tokens[ord(name)] for name in y))
                hint = "Tagged neighborhoods need inputs of lemma characters, then tags such as [PST]."
                raise RecombineError(f"{str(example)!r} has no tags at the end of its input.", hint=hint)
            lemmas.append("".join(sorted(x[: len(lemma)])))
            tags_of.append(numbers.setdefault(frozenset(tags), len(numbers)))
        self.lemmas: Strings = np.array(lemmas, np.object_)
        self.tag_sets = list(numbers)
        self.tags_of: Integers = np.array(tags_of, np.int32)
        self.members = Ragged(self.tags_of, np.arange(len(tags_of), dtype=np.int32), size=len(numbers))


def sampled(shelves: Sequence[Integers], budget: int, rng: np.random.Generator) -> Integers:
    """Returns what is on the shelves, of which there is at least one: all if the budget allows, else random data.

    Every shelf gets an equal part of the budget, and what short ones leave over goes to the longer ones. Of a shelf
    that is too long, one datum is drawn from each of as many equal stretches as its part allows.
    """
    chosen = []
    for remaining, shelf in zip(range(len(shelves), 0, -1), sorted(shelves, key=len), strict=True):
        quota = budget // remaining
        if len(shelf) > quota:
            ends = np.arange(quota + 1) * len(shelf) // max(quota, 1)
            shelf = shelf[ends[:-1] + (rng.random(quota) * (ends[1:] - ends[:-1])).astype(np.int64)]
        chosen.append(shelf)
        budget -= len(shelf)
    return np.concatenate(chosen)


def in_batches(data: Integers, rng: np.random.Generator) -> Iterator[Integers]:
    """Yields the data in random order, a batch at a time."""
    shuffled = rng.permutation(data)
    for start in range(0, len(data), BATCH):
        yield shuffled[start : start + BATCH]


def _bag(sequence: str) -> bytes:
    mask = 0
    for token, count in Counter(sequence).items():
        mask |= _occurrences(ord(token), count)
    return mask.to_bytes(8 * WORDS, "little")


@lru_cache(maxsize=1 << 16)
def _occurrences(token: int, count: int) -> int:
    """The bits of the first occurrences of a token: consecutive ones, from a place that is the token's own."""
    start = token * 0x9E3779B1 % 2**32 % BAG_BITS
    return sum(1 << place % BAG_BITS for place in range(start, start + min(count, BAG_BITS)))


def _ones(bags: NDArray[np.uint64]) -> NDArray[np.uint8]:
    counts: NDArray[np.uint8] = np.bitwise_count(bags)
    return np.add(counts[..., 0], counts[..., 1])
