"""The data of Table 2: a task for each language, number of hints and split, drawn when it is first asked for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from recombine.data import files, sigmorphon
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import is_inflection, is_tag, reordered, split_analysis
from recombine.paper.error_classes import Attested
from recombine.paper.tasks import Task

SETS = ("PST", "FUT", "OTHER")
"""The test sets, in the order in which they stand in a task's test examples."""


@dataclass(frozen=True, kw_only=True)
class WordFormTask(Task):
    """One split of the few-shot task, in the generator's order.

    Attributes:
        sets: How many test examples each of `SETS` has.
        attested: All word forms of the language's file, those of the split among them.
    """

    sets: tuple[int, ...]
    attested: Attested

    @classmethod
    def of(cls, split: sigmorphon.FewShot, attested: Attested) -> "WordFormTask":
        """Makes a task of a split.

        Args:
            split: The split.
            attested: All word forms of the language's file.
        """
        tests = (split.past, split.future, split.other)
        return cls(
            train=[form.for_generation for form in split.train],
            test=[form.for_generation for forms in tests for form in forms],
            relevant=is_tag,
            reject=no_word_form,
            as_predicted=reordered,
            sets=tuple(map(len, tests)),
            attested=attested,
        )


def no_word_form(sample: Example) -> str | None:
    """Says why a sample cannot be a word form with its analysis, or None if it can."""
    if not is_inflection(sample):
        return "no word form"
    tags = split_analysis(sample.x)[1]
    return "with a tag twice" if len(set(tags)) < len(tags) else None


class WordFormTasks:
    """Gives the task of a language and number of hints, such as ``spanish-8``, for a seed: seeds take splits in turn.

    Args:
        source: A folder with the shared task's files; None to download them.
        part: What of each split is wanted.
    """

    def __init__(
        self, source: Path | None, part: Callable[[sigmorphon.FewShot], sigmorphon.FewShot] = lambda split: split
    ) -> None:
        self.source, self.part = source, part
        self._drawn: dict[str, tuple[list[WordFormTask], Iterator[WordFormTask]]] = {}  # by language: so far, the rest

    def __call__(self, column: str, seed: int) -> WordFormTask:
        """Returns the task, the same object whenever it is asked for again."""
        language, hints = column.rsplit("-", 1)
        if language not in self._drawn:
            self._drawn[language] = [], self._draw(language)
        tasks, rest = self._drawn[language]
        place = sigmorphon.drawn_before(int(hints), seed % len(sigmorphon.SPLITS))
        try:
            tasks += islice(rest, max(0, place + 1 - len(tasks)))
        except BaseException:  # what failed has ended: who asks again has it drawn again
            self._drawn[language] = tasks, islice(self._draw(language), len(tasks), None)
            raise
        return tasks[place]

    def _draw(self, language: str) -> Iterator[WordFormTask]:
        """Yields the tasks of a language in the order in which splits are drawn: each takes a while, few are wanted."""
        path = sigmorphon.locate(language, self.source)
        words = files.read_inflections(path)
        attested = Attested(words)
        try:
            for split in sigmorphon.few_shots(words):
                yield WordFormTask.of(self.part(split), attested)
        except RecombineError as error:
            raise RecombineError(error.message, place=str(path), hint=error.hint) from None
