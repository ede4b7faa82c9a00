"""The data of the experiments: splits of SCAN, and word forms with what tells right samples of them from wrong ones.

The paper's authors judged samples of word forms by hand (appendix G.3). Here a sample is compared with all word forms
of the language's official file, most of which its split does not train on: a lemma with these tags, or with this form,
that the file has tells right from wrong. Most samples have neither, often for a lemma that no file has, and cannot be
judged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import TypeVar

from recombine.augmentation.protocol import Validator
from recombine.data import files, scan, sigmorphon
from recombine.data.sigmorphon import FewShot
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.inflection import Inflection, is_inflection, is_tag, reordered, split_analysis

SETS = ("PST", "FUT", "OTHER")
"""The test sets, in the order in which they stand in a task's test examples."""

RIGHT, MISMATCH, WRONG, KNOWN, UNJUDGED = (
    "correct and novel",
    "inflection and tags do not match",
    "wrong inflection",
    "also in train",
    "cannot be judged",
)
CLASSES = (RIGHT, MISMATCH, WRONG, KNOWN, UNJUDGED)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is learned and how it is judged.

    Attributes:
        train: Training examples, all different.
        test: Test examples, which nothing but the final score sees.
        gold: Gives the true output of an input, or None for an input that has none; None: nobody knows.
        relevant: Tells of a token whether its rarity counts; None: every token's does.
        reject: Says why a sample cannot be an example of this task, or None; None: every sample can.
        as_predicted: Gives an example in the order in which predictors see it.
    """

    train: Sequence[Example]
    test: Sequence[Example]
    gold: Callable[[Tokens], Tokens | None] | None = None
    relevant: Callable[[str], bool] | None = None
    reject: Validator | None = None
    as_predicted: Callable[[Example], Example] = lambda example: example


Made = TypeVar("Made")


def part_of(task: Task, keep: Callable[[Example], bool]) -> Task:
    """Returns the part of a task, training and test set alike, whose examples are kept."""
    return replace(
        task,
        train=[example for example in task.train if keep(example)],
        test=[example for example in task.test if keep(example)],
    )


@lru_cache(maxsize=2)
def task(split: str) -> Task:
    """Returns a split of SCAN, each training pair once."""
    data = scan.split(split)
    return Task(train=tuple(dict.fromkeys(data.train)), test=data.test, gold=scan.interpret)


def different(tasks: Sequence[Task]) -> list[Task]:
    """Returns the tasks of seeds, those that several seeds share only once."""
    return list({id(task): task for task in tasks}.values())


def of_each(tasks: Sequence[Task], make: Callable[[Task], Made]) -> list[Made]:
    """Returns what is made of each seed's task, made once of those that several seeds share."""
    made = {id(task): make(task) for task in different(tasks)}
    return [made[id(task)] for task in tasks]


Attested = Mapping[str, Mapping[frozenset[str], set[str]]]
"""The word forms of a language's file by lemma and tags; splits share them."""


def attested(words: Iterable[Inflection]) -> Attested:
    """Returns word forms by lemma and tags."""
    found: dict[str, dict[frozenset[str], set[str]]] = {}
    for word in words:
        found.setdefault(word.lemma, {}).setdefault(frozenset(word.tags), set()).add(word.form)
    return found


@dataclass(frozen=True, kw_only=True)
class WordFormTask(Task):
    """One split of the few-shot task, in the generator's order, with the sizes of its `SETS` and all known forms."""

    sets: tuple[int, ...]
    attested: Attested

    @cached_property
    def _known(self) -> frozenset[Example]:
        return frozenset(self.train)

    def class_of(self, sample: Example) -> str:
        """Returns which of `CLASSES` a sample is in; the order of tags plays no part."""
        if sample in self._known:
            return KNOWN
        word = Inflection.from_fields(sample.x, sample.y)
        of_lemma = self.attested.get(word.lemma, {})
        forms = of_lemma.get(frozenset(word.tags), set())
        if word.form in forms:
            return RIGHT
        if any(word.form in each for each in of_lemma.values()):
            return MISMATCH
        return WRONG if forms else UNJUDGED


def no_word_form(sample: Example) -> str | None:
    """Says why a sample cannot be a word form with its analysis, or None if it can."""
    if not is_inflection(sample):
        return "no word form"
    tags = split_analysis(sample.x)[1]
    return "with a tag twice" if len(set(tags)) < len(tags) else None


class WordFormTasks:
    """Gives the task of a language and number of hints, such as ``spanish-8``, for a seed: seeds take splits in turn.

    Files of the shared task are in the folder `source`, or are downloaded. `part` gives what of each split is wanted.
    """

    def __init__(self, source: Path | None, part: Callable[[FewShot], FewShot] = lambda split: split) -> None:
        self.source, self.part = source, part
        self._drawn: dict[str, list[WordFormTask]] = {}  # the splits of each column

    def __call__(self, column: str, seed: int) -> WordFormTask:
        """Returns the task, the same object whenever it is asked for again."""
        if column not in self._drawn:
            self._drawn[column] = self._draw(*column.rsplit("-", 1))
        return self._drawn[column][seed % len(sigmorphon.SPLITS)]

    def _draw(self, language: str, hints: str) -> list[WordFormTask]:
        path = sigmorphon.locate(language, self.source)
        words = files.read_inflections(path)
        all_forms = attested(words)
        first, tasks = sigmorphon.drawn_before(int(hints), 0), []
        try:
            for split in islice(sigmorphon.few_shots(words), first, first + len(sigmorphon.SPLITS)):
                part = self.part(split)
                tests = (part.past, part.future, part.other)
                tasks.append(
                    WordFormTask(
                        train=[form.for_generation for form in part.train],
                        test=[form.for_generation for forms in tests for form in forms],
                        relevant=is_tag,
                        reject=no_word_form,
                        as_predicted=reordered,
                        sets=tuple(map(len, tests)),
                        attested=all_forms,
                    )
                )
        except RecombineError as error:
            raise RecombineError(error.message, place=str(path), hint=error.hint) from None
        return tasks
