"""The data of Table 2: a task for each language, number of hints and split, drawn when it is first asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from recombine.data import files, sigmorphon
from recombine.example import Example
from recombine.experiment import Task
from recombine.inflection import Inflection, is_inflection, is_tag, reordered, split_analysis

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
    attested: Sequence[Inflection]

    @classmethod
    def of(cls, split: sigmorphon.FewShot, attested: Sequence[Inflection]) -> "WordFormTask":
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
        self._tasks: dict[str, list[list[WordFormTask]]] = {}

    def __call__(self, column: str, seed: int) -> WordFormTask:
        """Returns the task, the same object whenever it is asked for again."""
        language, hints = column.rsplit("-", 1)
        if language not in self._tasks:
            self._tasks[language] = self._drawn(language)
        by_split = self._tasks[language][sigmorphon.HINTS.index(int(hints))]
        return by_split[seed % len(by_split)]

    def _drawn(self, language: str) -> list[list[WordFormTask]]:
        """Returns the tasks of a language by number of hints and split."""
        attested = files.read_inflections(sigmorphon.locate(language, self.source))
        splits = iter(sigmorphon.few_shots(attested))
        return [
            [WordFormTask.of(self.part(next(splits)), attested) for _ in sigmorphon.SPLITS] for _ in sigmorphon.HINTS
        ]
