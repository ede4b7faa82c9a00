"""The examples prepared for search: duplicates removed, tokens renamed, tables of who holds which token.

Everything here is linear in the size of the data: a table of data by token, one of data by token set, one of token sets
that differ by one token.
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recombine.data.vocabulary import check_vocabulary
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example

Integers = NDArray[np.int32]
Strings = NDArray[np.object_]
Places = NDArray[np.int64]

SEPARATOR_NAME = chr(0)
BITS = 64
FIRST_LOOK, BATCH = 512, 512
NOTHING = np.empty(0, np.int32)
WORDS = 2
BAG_BITS = 64 * WORDS


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """A table whose row i is ``values[starts[i]:starts[i + 1]]``.

    Attributes:
        values: All rows, one after the other.
        starts: Where each row starts, and where the last one ends.
    """

    values: Integers
    starts: NDArray[np.int64]

    @classmethod
    def grouped(cls, rows: Integers, values: Integers, *, size: int) -> Self:
        """Collects the values that belong to each row, in the order in which they come.

        Args:
            rows: The row of each value.
            values: The values.
            size: The number of rows.
        """
        starts = np.zeros(size + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=size), out=starts[1:])
        return cls(values[np.argsort(rows, kind="stable")], starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> Integers:
        return self.values[self.starts[row] : self.starts[row + 1]]

    def together(self, rows: Sequence[int] | Integers) -> Integers:
        """Returns the values of several rows, one row after the other."""
        chosen = np.asarray(rows, np.int64)
        starts, ends = self.starts[chosen], self.starts[chosen + 1]
        sizes = ends - starts
        # Where a value is, less its place in the result, is the same all along a row.
        shifts = ends - np.cumsum(sizes)
        together: Integers = self.values[np.arange(sizes.sum()) + np.repeat(shifts, sizes)]
        return together


class Bags:
    """A mask per sequence, with a bit for each token and its first, second, ... occurrence.

    Bits may be shared, so masks may look more alike than their bags are, never less: where they differ in k bits on one
    side, at least k tokens are without a partner, and the edit distance is at least k.

    Args:
        sequences: The sequences.
        lengths: Their lengths.
    """

    def __init__(self, sequences: Iterable[str], lengths: Integers) -> None:
        masks = b"".join([_bag_mask(sequence).to_bytes(8 * WORDS, "little") for sequence in sequences])
        bags = np.frombuffer(masks, np.uint64).reshape(-1, WORDS)
        # Mask, number of ones and length stand side by side: what is looked up together is found in one place.
        self._table: NDArray[np.uint64] = np.column_stack([bags, _ones(bags), lengths.astype(np.uint64)])

    def plausible(self, sequence: str, data: Integers, *, delta: float) -> Integers:
        """Returns the data, by number, whose bags do not rule out lev < delta from a sequence."""
        mask = _bag_mask(sequence)
        found: NDArray[np.uint64] = self._table.take(data, axis=0)
        common = _ones(found[:, :WORDS] & np.frombuffer(mask.to_bytes(8 * WORDS, "little"), np.uint64))
        larger = np.maximum(found[:, WORDS], np.uint64(mask.bit_count()))
        longer = np.maximum(found[:, WORDS + 1], np.uint64(max(len(sequence), 1)))
        plausible: Integers = data[(larger - common) / longer < delta]
        return plausible


def _ones(masks: NDArray[np.uint64]) -> NDArray[np.uint8]:
    counts = np.bitwise_count(masks)
    ones: NDArray[np.uint8] = counts[:, 0] + counts[:, 1]
    return ones


def _bag_mask(sequence: str) -> int:
    mask = 0
    for token, count in Counter(sequence).items():
        mask |= _occurrences(ord(token), count)
    return mask


@lru_cache(maxsize=1 << 16)
def _occurrences(token: int, count: int) -> int:
    """The bits of the first occurrences of a token: consecutive ones, from a place that is the token's own."""
    start = token * 0x9E3779B1 % 2**32 % BAG_BITS
    mask = 0
    for place in range(count):
        mask |= 1 << (start + place) % BAG_BITS
    return mask


@dataclass(frozen=True, eq=False)
class Index:
    """Distinct examples, in order of first occurrence, as strings of one code point a token.

    Attributes:
        originals: Where in the sequence of examples each datum first occurs.
        strings: The datum d of each, tokens renamed.
        lengths: The number of tokens of each.
        sets: The distinct token sets, each as its tokens in sorted order.
        set_of: The number of each datum's token set.
    """

    originals: Integers
    strings: Strings
    lengths: Integers
    sets: list[str]
    set_of: Integers

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Self:
        """Prepares examples for search.

        Raises:
            RecombineError: If there are none, or too many distinct tokens.
        """
        if not examples:
            raise RecombineError("there are no examples, so there are no neighborhoods.")
        names = {SEPARATOR: SEPARATOR_NAME}
        originals: dict[str, int] = {}
        for position, example in enumerate(examples):
            for token in example.d:
                if token not in names:
                    names[token] = _name(len(names))
            originals.setdefault("".join([names[token] for token in example.d]), position)
        sets: dict[str, int] = {}
        set_of = [sets.setdefault("".join(sorted(set(string))), len(sets)) for string in originals]
        return cls(
            originals=np.fromiter(originals.values(), np.int32, len(originals)),
            strings=np.array(list(originals), np.object_),
            lengths=np.fromiter(map(len, originals), np.int32, len(originals)),
            sets=list(sets),
            set_of=np.array(set_of, np.int32),
        )

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def postings(self) -> Ragged:
        """The data that hold each token, shortest first."""
        tokens = _code_points("".join([self.sets[number] for number in self.set_of.tolist()]))
        sizes = np.fromiter(map(len, self.sets), np.int32, len(self.sets))[self.set_of]
        data = np.repeat(np.arange(len(self), dtype=np.int32), sizes)
        by_length = np.argsort(self.lengths[data], kind="stable")
        return Ragged.grouped(tokens[by_length], data[by_length], size=int(tokens.max()) + 1)

    @cached_property
    def members(self) -> Ragged:
        """The data with each token set."""
        return Ragged.grouped(self.set_of, np.arange(len(self), dtype=np.int32), size=len(self.sets))

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
        return Ragged.grouped(rows, values, size=len(self.sets))

    @cached_property
    def _longest(self) -> int:
        return int(self.lengths.max())

    @cached_property
    def _frequencies(self) -> list[int]:
        return list(np.diff(self.postings.starts).tolist())

    @cached_property
    def _posting_keys(self) -> Places:
        """The token and length of each posting, as one number: they are sorted by it."""
        tokens = np.repeat(np.arange(len(self.postings)), np.diff(self.postings.starts))
        keys: Places = tokens * (self._longest + 1) + self.lengths[self.postings.values]
        return keys

    def similar(self, sequence: str, *, delta: float, budget: int, rng: np.random.Generator) -> Iterator[Integers]:
        """Yields the data that could be within lev < delta of a sequence, in random order and in batches.

        The first batch is drawn from all data of a suitable length, and is enough where near data abound. The others
        hold certain tokens of the sequence.

        Args:
            sequence: The sequence, which need not be a datum.
            delta: The bound on lev.
            budget: If there are more, about as many as this are chosen at random, evenly over the tokens looked up.
            rng: Where randomness comes from.
        """
        (everyone,) = self._shelves([SEPARATOR_NAME], len(sequence), delta)
        look = sampled([everyone], min(FIRST_LOOK, budget), rng)
        yield rng.permutation(self._bags.plausible(sequence, look, delta=delta))
        if len(everyone) > len(look):
            shelves = self._shelves(self._telling_tokens(sequence, delta), len(sequence), delta)
            more = self._distinct(sampled(shelves, budget, rng), but=look)
            yield from in_batches(self._bags.plausible(sequence, more, delta=delta), rng)

    def _telling_tokens(self, sequence: str, delta: float) -> list[str]:
        """Returns tokens of a sequence such that whatever is within lev < delta of it holds at least one of them.

        If lev(a, b) < delta, then fewer than delta * len(a) tokens of a are without a partner in b. So b holds one of
        any choice of tokens that make up that much of a: here, tokens that few data hold and that recur in a.
        """
        counts = Counter(sequence)
        needed = delta * len(sequence)
        tokens = []
        for token in sorted(counts, key=lambda token: (self._holders(token) / counts[token], token)):
            tokens.append(token)
            needed -= counts[token]
            if needed <= 0:
                break
        return tokens

    def covering(self, sequence: str, *, delta: float, budget: int, rng: np.random.Generator) -> Iterator[Integers]:
        """Yields the data that could hold all tokens of a sequence and be within lev < delta of it, like ``similar``.

        Args:
            sequence: The sequence, at least one token; all data that hold its rarest are looked up.
            delta: The bound on lev.
            budget: If there are more, this many are chosen at random.
            rng: Where randomness comes from.
        """
        if max([self._shortest_with[ord(token)] for token in sequence]) > self._longest_near(len(sequence), delta):
            return  # a token that only longer data hold: the common case where there are many tokens
        rarest = min(sequence, key=lambda token: (self._holders(token), token))
        shelf = sampled(self._shelves([rarest], len(sequence), delta), budget, rng)
        wanted = np.uint64(_mask(sequence))
        yield shelf[self._masks[shelf] & wanted == wanted]

    def lacks(self, target: int, data: Integers) -> list[int]:
        """Returns, for each of the data, a key to what it lacks of the target: equal keys, equal lacks."""
        if len(self.postings) <= BITS:
            return list((self._masks[target] & ~self._masks[data]).tolist())
        sets = self.set_of[data]
        own = self._set_tokens[self.set_of[target]]
        if len(own) > BITS:
            return list(sets.tolist())
        # A bit for each token of the target, for as long as it takes.
        self._bits[own] = np.left_shift(np.uint64(1), np.arange(len(own), dtype=np.uint64))
        starts = np.cumsum(self._set_sizes[sets]) - self._set_sizes[sets]
        held = np.bitwise_or.reduceat(self._bits[self._set_tokens.together(sets)], starts) if len(sets) else sets
        self._bits[own] = 0
        return list(held.tolist())

    def lack_one(self, first: Integers, second: Integers) -> NDArray[np.bool_]:
        r"""Tells of data, pair by pair, whether the second lacks exactly one token of the first."""
        seems_to_lack = np.bitwise_count(self._masks[first] & ~self._masks[second])
        lack_one: NDArray[np.bool_] = seems_to_lack == 1
        if len(self.postings) > BITS:  # what shares a bit may lack more than it seems to
            first, second = self.set_of[first], self.set_of[second]
            for pair in np.flatnonzero(seems_to_lack <= 1).tolist():
                lack_one[pair] = len({*self.sets[first[pair]]} - {*self.sets[second[pair]]}) == 1
        return lack_one

    @cached_property
    def _set_tokens(self) -> Ragged:
        """The tokens of each token set, by number."""
        return Ragged(_code_points("".join(self.sets)), np.cumsum([0, *map(len, self.sets)]))

    @cached_property
    def _set_sizes(self) -> Places:
        return np.diff(self._set_tokens.starts)

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        return np.zeros(len(self.postings), np.uint64)

    @cached_property
    def _masks(self) -> NDArray[np.uint64]:
        """A bit mask of each datum's tokens; tokens share bits if there are more of them than bits."""
        return np.fromiter(map(_mask, self.sets), np.uint64, len(self.sets))[self.set_of]

    @cached_property
    def _bags(self) -> Bags:
        return Bags(self.strings, self.lengths)

    @cached_property
    def _places(self) -> Integers:
        return np.empty(len(self), np.int32)

    def _distinct(self, data: Integers, *, but: Integers = NOTHING) -> Integers:
        """Returns the data, each once, less some. Writing down the last place of each is cheaper than sorting them."""
        everything = np.concatenate([data, but])
        places = np.arange(len(everything), dtype=np.int32)
        self._places[everything] = places
        distinct: Integers = data[self._places[data] == places[: len(data)]]
        return distinct

    def _holders(self, token: str) -> int:
        return self._frequencies[ord(token)]

    @cached_property
    def _shortest_with(self) -> list[int]:
        """The length of the shortest datum that holds each token."""
        return list(self.lengths[self.postings.values[self.postings.starts[:-1]]].tolist())

    def _longest_near(self, length: int, delta: float) -> int:
        """Returns how long data are at most that are within lev < delta of a sequence of a length."""
        return min(math.ceil(length / (1 - delta)), self._longest) if delta < 1 else self._longest

    def _shelves(self, tokens: Sequence[str], length: int, delta: float) -> list[Integers]:
        """Returns the data that hold each token, of lengths that allow lev < delta: it is at least their difference."""
        shortest = math.floor(length * (1 - delta))
        longest = self._longest_near(length, delta)
        keys = np.array([ord(token) for token in tokens]) * (self._longest + 1)
        starts = self._posting_keys.searchsorted(keys + shortest).tolist()
        ends = self._posting_keys.searchsorted(keys + longest, side="right").tolist()
        return [self.postings.values[start:end] for start, end in zip(starts, ends, strict=True)]


def sampled(shelves: Sequence[Integers], budget: int, rng: np.random.Generator) -> Integers:
    """Returns what is on the shelves: all if the budget allows, else random data, spread evenly.

    Every shelf gets an equal part of the budget, and what short ones leave over goes to the longer ones. Of a shelf
    that is too long, one datum is drawn from each of as many equal stretches as its part allows.

    Args:
        shelves: At least one array of data.
        budget: How many data to return at most.
        rng: Where randomness comes from.
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


def _name(number: int) -> str:
    check_vocabulary(number)  # there are more code points than that
    return chr(number)


def _mask(tokens: str) -> int:
    mask = 0
    for token in tokens:
        mask |= 1 << ord(token) % BITS
    return mask


def _code_points(text: str) -> Integers:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)
