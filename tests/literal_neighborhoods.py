"""The neighborhood rules as the paper writes them, over all pairs: slow, literal, sharing no code with the package."""

from collections import Counter
from itertools import product

from hypothesis import strategies as st

from recombine.example import Example, Tokens
from recombine.inflection import Inflection

Rows = set[tuple[int, ...]]

BOUNDS = st.sampled_from([0.3, 0.5, 0.7, 1.0])
WORDS = [
    Inflection(lemma, tags, lemma).for_generation
    for lemma in ("ab", "cd")
    for tags in (("V", "PST"), ("V", "FUT"), ("N",), ("V", "PST", "SG"))
]


def lev(a: Tokens, b: Tokens) -> float:
    """Edit distance by its recurrence, over the length of the longer one."""
    if not a and not b:
        return 0.0
    row = list(range(len(b) + 1))
    for i, token in enumerate(a, start=1):
        above, row = row, [i]
        for j, other in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (token != other)))
    return row[-1] / max(len(a), len(b))


def left_over(d: Tokens, *others: Tokens) -> Tokens:
    """[d \\ d1 \\ ...]: d without the tokens of the others."""
    return tuple(token for token in d if not any(token in other for other in others))


def data(examples: list[Example]) -> dict[int, Tokens]:
    """Maps the first index of each distinct example to its sequence."""
    return {examples.index(example): example.d for example in examples}


def one_prototype(examples: list[Example], *, alpha: float, beta: float, delta: float) -> Rows:
    all_of = data(examples)
    return {
        (i, j)
        for (i, d), (j, d1) in product(all_of.items(), repeat=2)
        if i != j and alpha * len(set(d) ^ set(d1)) + beta * lev(d, d1) < delta
    }


def long_short(examples: list[Example], *, delta: float, covering: bool = True, distinct: bool = False) -> Rows:
    all_of = data(examples)
    rows = set()
    for (i, d), (j, d1) in product(all_of.items(), repeat=2):
        rest = left_over(d, d1)
        sequence = tuple(dict.fromkeys(rest)) if distinct else rest
        if i == j or not lev(d, d1) < delta or not rest:
            continue
        for k, d2 in all_of.items():
            if k not in (i, j) and lev(sequence, d2) < delta and not (covering and left_over(d, d1, d2)):
                rows.add((i, j, k))
    return rows


def long_long(examples: list[Example], *, delta: float, one_sided: bool = False) -> Rows:
    all_of = data(examples)
    near = {(i, j) for (i, d), (j, e) in product(all_of.items(), repeat=2) if i != j and lev(d, e) < delta}
    rows = set()
    for i, j in near:
        d, d1 = all_of[i], all_of[j]
        if len(set(d) - set(d1) if one_sided else set(d) ^ set(d1)) != 1:
            continue
        for k, d2 in all_of.items():
            compatible = one_sided or len(set(d1) ^ set(d2)) == 1
            if k != j and (i, k) in near and compatible and not left_over(d, d1, d2):
                rows.add((i, j, k))
    return rows


def jaccard(a: str, b: str) -> float:
    """Jaccard distance of two bags of characters."""
    common, union = Counter(a) & Counter(b), Counter(a) | Counter(b)
    return 1 - common.total() / max(union.total(), 1)


def tagged_firsts(words: list[Inflection], *, first: int, similar: bool = True, parity: bool = False) -> Rows:
    """Targets with their first prototypes; with parity, every second target does without those with its own tags."""
    rows = set()
    own = {words.index(word): word for word in words}
    tags = {i: set(word.tags) for i, word in own.items()}
    for i, word in own.items():
        distance = {j: jaccard(word.lemma, other.lemma) * (1 if similar else -1) for j, other in own.items()}
        others = [j for j in own if j != i and not (parity and i % 2 == 0 and tags[i] == tags[j])]
        rows |= {(i, j) for j in sorted(others, key=lambda j: (len(tags[i] ^ tags[j]), distance[j], j))[:first]}
    return rows


def tagged(words: list[Inflection], *, first: int, second: int) -> Rows:
    rows = set()
    own = {words.index(word): word for word in words}
    tags = {i: set(word.tags) for i, word in own.items()}
    for i, j in tagged_firsts(words, first=first):
        allowed = [k for k in own if k not in (i, j) and tags[j] != tags[k] and not tags[i] - tags[j] - tags[k]]
        seconds = sorted(allowed, key=lambda k: (tags[i] != tags[k], len(tags[j] ^ tags[k]), k))
        rows |= {(i, j, k) for k in seconds[:second]}
    return rows


@st.composite
def corpora(draw: st.DrawFn) -> list[Example]:
    """Small corpora, rich in neighbors and duplicates."""
    side = st.lists(st.sampled_from("abcde"), min_size=1, max_size=5).map(tuple)
    return draw(st.lists(st.builds(Example, side, side), min_size=1, max_size=14))


@st.composite
def inflections(draw: st.DrawFn) -> list[Inflection]:
    """Small sets of word forms with few tags."""
    letters = st.text("abc", min_size=1, max_size=4)
    tags = st.lists(st.sampled_from(["V", "PST", "FUT", "1", "SG"]), min_size=1, max_size=4, unique=True).map(tuple)
    return draw(st.lists(st.builds(Inflection, letters, tags, letters), min_size=1, max_size=12))
