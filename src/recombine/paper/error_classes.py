"""What is wrong with samples of word forms, as far as the language's official file can tell (appendix G.3).

The paper's authors judged by hand. Here a sample is compared with all word forms of the file, most of which its split
does not train on: a lemma with these tags, or with this form, that the file has tells right from wrong; most samples
have neither, often for a lemma that no file has, and cannot be judged.
"""

from collections import defaultdict
from collections.abc import Iterable

from recombine.example import Example
from recombine.inflection import Inflection

RIGHT, MISMATCH, WRONG, KNOWN, UNJUDGED = (
    "correct and novel",
    "inflection and tags do not match",
    "wrong inflection",
    "also in train",
    "cannot be judged",
)
CLASSES = (RIGHT, MISMATCH, WRONG, KNOWN, UNJUDGED)


class Attested:
    """The word forms of a language's file, to be looked up; splits share them.

    Attributes:
        forms: Those of a lemma with certain tags.
        of_lemma: Those of a lemma.
    """

    def __init__(self, words: Iterable[Inflection]) -> None:
        self.forms: dict[tuple[str, frozenset[str]], set[str]] = defaultdict(set)
        self.of_lemma: dict[str, set[str]] = defaultdict(set)
        for word in words:
            self.forms[word.lemma, frozenset(word.tags)].add(word.form)
            self.of_lemma[word.lemma].add(word.form)


class Judge:
    """Tells the class of a sample.

    Args:
        train: The training examples, in the generator's order.
        attested: All word forms of the language's file.
    """

    def __init__(self, train: Iterable[Example], attested: Attested) -> None:
        self._train, self._attested = frozenset(train), attested

    def __call__(self, sample: Example) -> str:
        """Returns one of `CLASSES`; the order of tags plays no part."""
        if sample in self._train:
            return KNOWN
        word = Inflection.from_fields(sample.x, sample.y)
        forms = self._attested.forms.get((word.lemma, frozenset(word.tags)), set())
        if word.form in forms:
            return RIGHT
        if word.form in self._attested.of_lemma.get(word.lemma, ()):
            return MISMATCH
        return WRONG if forms else UNJUDGED
