"""Which word of an input calls for which token of the output, and which words are used alike."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from recombine.example import Example, Tokens

DICE, OFTEN_WITH = 0.4, 0.75
"""A word calls for a token if both are mostly in the same examples (Dice's coefficient), or if the token is in nearly
all examples with the word and in few others."""

BEYOND_CHANCE = 0.2
"""What is frequent is often together by chance: of the way from there to always, they must go so far."""

NEARLY = 0.8
"""Of words in one input any may have called for a token if its score is this share of the surest's."""

COMMON = 0.5
"""What more than this share of the other examples have, too, no word calls for."""

ROUNDS = 3
"""How often words are sorted into classes, each time by the classes of their neighbors."""

ALIKE, SEEN_BEFORE, FEW = 0.35, 0.6, 3
"""Words are of a class if their neighbors are alike to this degree (a cosine); a word in so FEW examples, if this share
of its neighbors are neighbors of the class."""

COMPARED = 150
"""How many classes a word is compared with, those of the most frequent words: more would take too long."""

Feature = tuple[str, ...]

Neighbors = tuple[Counter[Feature], Counter[Feature]]
"""How often what stands beside a word, or words of a class; and the same of what they call for."""


class Alignment:
    """Aligns words of inputs with tokens of outputs by how often they occur together, and sorts words into classes.

    Args:
        examples: The training examples, all different.
        ignored: Tokens of outputs that no word calls for.

    Attributes:
        meanings: The output token that a word mostly calls for; words that call for nothing have none.
    """

    def __init__(self, examples: Sequence[Example], ignored: frozenset[str] = frozenset()) -> None:
        self._examples = examples
        self._scores = _association(examples, ignored)
        self._surely = {  # what is called alike is surer
            word: {token: score + (_letters(word) == _letters(token) != "") for token, score in scores.items()}
            for word, scores in self._scores.items()
        }
        called: dict[str, Counter[str]] = defaultdict(Counter)
        for example in examples:
            for token, word in self.pairs(example.x, example.y).items():
                called[word][token] += 1
        self.meanings = {word: tokens.most_common(1)[0][0] for word, tokens in called.items()}

    @cached_property
    def classes(self) -> dict[str, str]:
        """For each word that has a meaning the name of its class.

        Words of a class have like neighbors in inputs, as have the tokens that they call for in outputs.
        """
        return _classes(self._examples, self.meanings)

    def scores(self, word: str) -> Mapping[str, float]:
        """Returns how surely a word calls for tokens, of those that it may call for."""
        return self._surely.get(word, {})

    def callers(self, token: str, x: Iterable[str]) -> set[str]:
        """Returns the words of an input that may have called for a token: the surest, and others nearly as sure."""
        scores = {word: self._scores.get(word, {}).get(token, 0.0) for word in x}
        least = NEARLY * max(scores.values(), default=0.0)
        return {word for word, score in scores.items() if score and score >= least}

    def pairs(self, x: Tokens, y: Tokens) -> dict[str, str]:
        """Returns for tokens of an output the words of the input that call for them, the surest first, each once."""
        found: dict[str, str] = {}
        taken: set[str] = set()
        tokens = set(y)
        scored = ((word, self.scores(word)) for word in set(x))
        called = ((-scores[token], word, token) for word, scores in scored for token in scores.keys() & tokens)
        for _, word, token in sorted(called):
            if token not in found and word not in taken:
                found[token] = word
                taken.add(word)
        return found

    def places(self, x: Tokens, y: Tokens, pairs: Mapping[str, str] | None = None) -> list[tuple[int, ...]]:
        """Returns for each token of an output all places of the words that may have called for it, by the `pairs`."""
        found: dict[str, tuple[int, ...]] = {}
        for token, word in (self.pairs(x, y) if pairs is None else pairs).items():
            may = {word, *self.callers(token, x)}
            found[token] = tuple(place for place, one in enumerate(x) if one in may)
        return [found.get(token, ()) for token in y]


def _association(examples: Sequence[Example], ignored: frozenset[str]) -> dict[str, dict[str, float]]:
    """Returns, by word, how surely it calls for each of the tokens that it may call for.

    The same letters on both sides decide; if two tokens suit a word equally well, it is not known which it calls for.
    """
    words, tokens, both = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    sides = [(set(example.x), set(example.y) - ignored) for example in examples]
    for x, y in sides:
        words.update(x)
        tokens.update(y)
    bounds = {word: _bounds(often, len(examples)) for word, often in words.items()}
    for x, y in sides:  # only what may be together often enough is counted: pairs of long examples are many
        by_count = sorted(y, key=tokens.__getitem__)
        counts = [tokens[token] for token in by_count]
        for word in x:
            least, most = bounds[word]
            both.update((word, token) for token in by_count[bisect_left(counts, least) : bisect_right(counts, most)])
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for (word, token), count in both.items():
        others = len(examples) - words[word]
        elsewhere = (tokens[token] - count) / others if others else 1.0
        if elsewhere > COMMON:
            continue
        mean = (words[word] + tokens[token]) / 2
        by_chance = words[word] * tokens[token] / len(examples)
        surplus = (count / words[word] - elsewhere) * (1 - 1 / (1 + words[word]))
        is_chance = count - by_chance < BEYOND_CHANCE * (mean - by_chance)
        if (count >= DICE * mean and not is_chance) or surplus >= OFTEN_WITH:
            found[word][token] = max(count / mean, surplus)
    for word, scores in found.items():
        best = max(scores.values())
        equal = [token for token, score in scores.items() if score == best]
        for token in equal if len(equal) > 1 else ():
            if not _letters(word) or _letters(token) != _letters(word):
                del scores[token]
    return found


def _bounds(often: int, examples: int) -> tuple[float, float]:
    """Returns in how many examples a token is, at least and at most, that a word in so many may call for."""
    others, sure = examples - often, 1 - 1 / (1 + often)
    of_dice = often * (2 / DICE - 1)
    of_surplus = often + others * max(1 - OFTEN_WITH / sure, 0.0)
    return often * min(DICE / (2 - DICE), OFTEN_WITH), min(max(of_dice, of_surplus), often + COMMON * others) + 1e-6


def _letters(word: str) -> str:
    """Returns what names are compared by: ``Ann`` in an input may be ``ann,`` in an output."""
    return "".join(filter(str.isalnum, word)).casefold()


def _classes(examples: Sequence[Example], meanings: Mapping[str, str]) -> dict[str, str]:
    """Sorts words into classes, the most frequent first: each goes to the class that is most like it, or begins one."""
    count = Counter(word for example in examples for word in set(example.x) if word in meanings)
    of_words: dict[str, str] = {}
    of_tokens: dict[str, str] = {}
    for _ in range(ROUNDS):
        x = _neighbors((example.x for example in examples), meanings.keys(), of_words)
        y = _neighbors((example.y for example in examples), set(meanings.values()), of_tokens)
        classes: list[Neighbors] = []
        found: dict[str, str] = {}
        for word, often in sorted(count.items(), key=lambda each: (-each[1], each[0])):
            one = x[word], y[meanings[word]]
            best, most = None, 0.0
            for number, other in enumerate(classes[:COMPARED]):
                likeness = _likeness(one, other, rare=often <= FEW)
                if likeness > most:
                    best, most = number, likeness
            if best is None:
                best = len(classes)
                classes.append((Counter(), Counter()))
            for of_class, own in zip(classes[best], one, strict=True):
                of_class.update(own)
            found[word] = f"‹{best}›"
        of_words, of_tokens = found, {meanings[word]: name for word, name in found.items()}
    return of_words


def _neighbors(
    sequences: Iterable[Tokens], of: Iterable[str], classes: Mapping[str, str]
) -> dict[str, Counter[Feature]]:
    """Counts what stands before, after and around tokens; tokens that have a class go by its name."""
    wanted = set(of)
    found: dict[str, Counter[Feature]] = defaultdict(Counter)
    for tokens in sequences:
        padded = ("", *(classes.get(token, token) for token in tokens), "")
        for token, before, after in zip(tokens, padded, padded[2:], strict=False):
            if token in wanted:
                found[token].update((("before", before), ("after", after), ("around", before, after)))
    return found


def _likeness(one: Neighbors, other: Neighbors, *, rare: bool) -> float:
    """Returns how alike the neighbors are on both sides; 0: they are not alike enough."""
    sides = tuple(zip(one, other, strict=True))
    if not rare:
        least = min(_cosine(*side) for side in sides)
        return least if least >= ALIKE else 0.0
    seen = min(sum(mine[feature] for feature in mine if feature in its) / mine.total() for mine, its in sides)
    return sum(_cosine(*side) for side in sides) if seen >= SEEN_BEFORE else 0.0


def _cosine(one: Counter[Feature], other: Counter[Feature]) -> float:
    """Returns the cosine of the square roots of counts, so that no single neighbor decides."""
    shared = sum(math.sqrt(count * other[feature]) for feature, count in one.items() if feature in other)
    return shared / math.sqrt(one.total() * other.total()) if shared else 0.0
