"""The files that commands read and write: how they are read, warnings of what they hold, and checks before writing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from recombine.cli.options import AUTO, STANDARD
from recombine.cli.printing import say
from recombine.data import files, output
from recombine.data.code import NO_SPACE, glued
from recombine.data.files import names_columns
from recombine.data.output import lock_of, locked
from recombine.data.vocabulary import ONLY_IN_OUTPUTS, are_unlike, only_in_outputs, strange_tokens, told_swapped
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.inflection import ANALYSIS, INFLECTION, are_inflections, are_word_forms, directed

JSONL = ".jsonl"
"""Ends the names of files that are JSONL whatever --format says."""

STATE = ".training"
"""Ends the name of the file that holds the state of training until it is over, beside what is being made."""

DIRECTIONS = {
    ANALYSIS: "Word forms, as analysis: the form is the input, lemma and tags are the output.",
    INFLECTION: "Word forms, as inflection: lemma and tags are the input, the form is the output.",
}
"""Says which side of word forms is the input: commands and formats differ in it, and nobody could guess it."""


@dataclass(frozen=True)
class Reading:
    """How files are to be read.

    A command may read both a TSV file and what was made of it, so a name that ends in .jsonl means JSONL whatever
    --format says, numbers of columns do not apply to it, and names do only where they are found.

    Options:
        format FORMAT: Of the files: tsv, csv, jsonl, scan, sigmorphon, parallel or auto.
        tokens KIND: What a token is: words, characters, or code (words, numbers, brackets, quotes, …). Default: code if
            that suits the outputs, else words; with a model, as in its training.
        columns X,Y[,TAGS]: Which columns or JSONL keys are input, output and tags, if any: by name, as in the first
            line; or by number, from 1, if no line names them.
    """

    format: str = AUTO
    tokens: str | None = None
    columns: str | None = None

    @property
    def kind(self) -> str:
        """What a token is: ``"words"``, ``"characters"`` or ``"code"``."""
        return self.tokens or "words"

    @property
    def options(self) -> list[str]:
        """The options as words of a command, without those that need not be given."""
        given = {"--tokens": self.tokens, "--format": self.format, "--columns": self.columns}
        return [word for name, value in given.items() if value not in (None, AUTO) for word in (name, str(value))]

    def beside(self, written: str) -> "Reading":
        """Returns how a file that a command wrote can be read: as TSV and CSV it has two columns."""
        return self if written.endswith(JSONL) else Reading(tokens=self.tokens)

    def for_model(self, model: str, notes: Mapping[str, Any], train: str | None = None) -> "Reading":
        """Returns how files are read for the model of a folder, with which these notes are kept.

        If other commands would read the training file as code, the tokens of a model of words are told to them, too.
        """
        from recombine.training.stored import kind_of_tokens

        known = kind_of_tokens(notes)
        if self.tokens is not None and known not in (None, self.tokens):
            say(f"Warning: {model} was trained with --tokens {known}, not {self.tokens}.")
        as_others = known == "words" and (train is None or self._why_code(train) is None)
        return self if self.tokens or as_others else replace(self, tokens=known)

    def settled(self, source: str) -> "Reading":
        """Returns how files are read by the side of one whose outputs tell what a token is, if no option does."""
        if self.tokens or (why := self._why_code(source)) is None:
            return self
        say(f"{why[0].upper()}{why[1:]}: tokens are words, numbers and marks, as with --tokens code.")
        return replace(self, tokens="code")

    def _why_code(self, source: str) -> str | None:
        format = AUTO if source.endswith(JSONL) else self.format
        return files.why_code(source, format=format, columns=self.columns)

    def suggested(self, examples: Sequence[Example]) -> "Reading":
        """Returns how examples had better be read: they are of words, but have more in common in other tokens."""
        if self.tokens is None and glued(examples):
            return replace(self, tokens="code")
        return replace(self, tokens="characters") if self.kind == "words" and are_unlike(examples) else self

    def read(self, source: str) -> list[Example]:
        """Returns the examples of a file, or of standard input for ``-``; warns of what may be a header."""
        how = self._applied(source)
        examples = files.read(source, **how)
        if self.tokens is None and any(NO_SPACE in token for example in examples for token in example.y):
            message = "outputs have tokens of code, which are no words."
            hint = "Add --tokens code (or --tokens words, if they are meant)."
            raise RecombineError(message, place=name_of(source), hint=hint)
        if source.endswith(JSONL) or self.format not in (AUTO, "tsv", "csv", "sigmorphon"):
            return examples
        if self.columns is not None and how["columns"] is None:
            say(f"{name_of(source)} does not name the columns {self.columns}: it is read without --columns.")
        named = self._by_name and how["columns"] is not None
        for doubt in files.doubts(examples, name_of(source), tokens=self.kind, named=named):
            say(f"Warning: {doubt}")
        return examples

    def first(self, source: str) -> list[Example]:
        """Returns the first example of a file; none of a pipe, which can be read only once."""
        return list(islice(files.iterate(source, **self._applied(source)), 1)) if Path(source).is_file() else []

    def read_with_test(self, train: str, test: str | None) -> tuple[list[Example], list[Example] | None]:
        """Returns training examples and test examples, if there are any; warns if either are of little use."""
        check_one_standard_input(train, test)
        examples, tests = self.read(train), None if test is None else self.read(test)
        better = self.suggested(examples).kind
        if better == "code" != self.kind:
            say(
                f"Warning: outputs have brackets or quotes in one token with words, such as {glued(examples)!r}, so "
                "there is less to recombine. To take them apart, and write them together again, give --tokens code."
            )
        elif better != self.kind:
            say(
                f"Warning: nearly every output has only tokens of its own, such as {examples[0].y[0]!r}, so there is "
                "little to recombine. If outputs share parts of words, give --tokens characters."
            )
        if tests is not None and test is not None:
            self.warn_of_swapped(test, [each.x for each in tests], {ONLY_IN_OUTPUTS: only_in_outputs(examples)}, False)
        if tests is not None and {*tests} == {*examples}:
            say(f"Warning: {test} has the same examples as the training file, so it tests nothing.")
        return examples, tests

    def warn_of_swapped(self, file: str, asked: Sequence[Tokens], notes: Mapping[str, Any], alone: bool = True) -> None:
        """Warns if most tokens of a file's inputs were outputs in training, as the notes that are kept of it say."""
        if told := told_swapped(asked, notes, self.columns, alone):
            say(f"Warning: {name_of(file)}: {told}")

    def read_for_prediction(self, source: str, direction: str | None = None) -> list[Example]:
        """Returns the examples as predictors of a direction see them; see ``directed``.

        Without a direction word forms are analyses, unless columns were named: then all is taken as it is.
        """
        examples = self.read(source)
        if (direction is None and self.columns is not None) or not are_word_forms(examples):
            return examples
        return directed(examples, direction or ANALYSIS)

    def names_word_forms(self, source: str) -> bool:
        """Tells whether a file has the three columns lemma, form, tags."""
        how = self._applied(source)
        if how["format"] != AUTO or source == STANDARD:
            return bool(how["format"] == "sigmorphon")
        return how["columns"] is None and files.detect(source) == "sigmorphon"

    def read_inputs(self, source: str, direction: str | None = None) -> list[Tokens]:
        """Returns the inputs of a file, which may have nothing else; of word forms by direction (None: forms)."""
        if direction == INFLECTION and self.names_word_forms(source):
            return [example.x for example in directed(self.read(source), INFLECTION)]
        return files.read_inputs(source, **self._applied(source))

    def _applied(self, source: str) -> dict[str, Any]:
        """Returns the options that apply to a file, as ``recombine.data.files`` takes them."""
        is_json = source.endswith(JSONL)
        format, columns = AUTO if is_json else self.format, self.columns
        if (is_json and not self._by_name) or not names_columns(source, columns, format=format):
            columns = None
        return {"format": format, "tokens": self.kind, "columns": columns}

    @property
    def _by_name(self) -> bool:
        return self.columns is not None and not self.columns.replace(",", "").isdecimal()


def say_direction(examples: Sequence[Example], *, otherwise: str = "") -> str | None:
    """Says which side of word forms is the input, and returns their direction; None for other examples.

    `otherwise` follows what is said of analyses.
    """
    if not are_word_forms(examples):
        return None
    found = INFLECTION if are_inflections(examples) else ANALYSIS
    say(f"{DIRECTIONS[found]}{otherwise if found == ANALYSIS else ''}")
    return found


def warn_of_direction(model: str, notes: Mapping[str, Any], asked: str | None) -> None:
    """Warns if a model, kept in a folder with these notes, is asked for another direction than it has learned."""
    from recombine.training.stored import direction_of

    learned = direction_of(notes)
    if asked is None or learned is None or learned == asked:
        return
    what, give = "forms were the input", ", or forms"
    if learned == INFLECTION:
        what = "lemma and tags were the input"
        give = " (in predict, any form will do), or inputs like g o l a r [V] [PST]"
    say(f"Warning: {model} was trained for {learned}: {what}. Give lemma, form, tags without --columns{give}.")


def check_direction(direction: str | None, examples: Sequence[Example], *, place: str) -> None:
    """Raises the error for a direction that was asked for of examples that are no word forms."""
    if direction is not None and not are_word_forms(examples):
        raise RecombineError("these are no word forms, which --direction is for.", place=place, hint="Leave it out.")


def name_of(source: str) -> str:
    """Returns what messages call a file."""
    return "stdin" if source == STANDARD else source


def check_one_standard_input(*sources: str | None) -> None:
    """Raises an error if more than one of these files is to come from standard input."""
    if sources.count(STANDARD) > 1:
        raise RecombineError("only one file can come from standard input (-).", hint="Name the others by their paths.")


def warn_of_strange_tokens(originals: Sequence[Example], new: Sequence[Example]) -> None:
    """Warns if most tokens of new examples are in no original, on either side; there may be no new examples."""
    for name, side in (("inputs", "x"), ("outputs", "y")):
        if strange := strange_tokens(*([getattr(each, side) for each in part] for part in (originals, new))):
            kind = "--tokens characters" if all(len(token) == 1 for token in strange) else "other --tokens or --columns"
            say(
                f"Warning: most tokens in the {name} of the new examples, such as {strange[0]!r}, are in no original. "
                f"Were they made with {kind}, or of other examples?"
            )


def check_free(targets: Sequence[str | Path], *, force: bool, tell: bool = True) -> None:
    """Raises an error if a file exists or cannot be written, and tells which folder will be made, before any work."""
    for target in targets:
        output.check_free(target, force=force)
    for folder in {Path(target).parent for target in targets if tell and not Path(target).parent.exists()}:
        say(f"The folder {folder} is new.")


def check_apart(targets: Iterable[str], sources: Iterable[str | None]) -> None:
    """Raises an error if a file to be written is one that is read, which not even --force may replace."""
    read = {Path(source).resolve() for source in sources if source not in (None, STANDARD)}
    for target in targets:
        if target != STANDARD and Path(target).resolve() in read:
            hint = "Choose another name for the output."
            raise RecombineError("this file is also an input.", place=target, hint=hint)


def format_of(target: str, columns: str = "tsv") -> str:
    """Returns the format in which a file is written, by its name: these columns for .tsv, CSV, or else JSONL."""
    return {".tsv": columns, ".csv": "csv"}.get(Path(target).suffix, "jsonl")


def state_of_training(target: str | None) -> Path | None:
    """Returns where the state of training is kept while something is being made; None if that has no name."""
    return None if target in (None, STANDARD) else Path(f"{target}{STATE}")


def is_unfinished(target: str | None) -> bool:
    """Tells whether a run that was making this was killed: what it had written already may be written again."""
    state = state_of_training(target)
    return target is not None and state is not None and (state.exists() or lock_of(target).exists())


@contextmanager
def working_on(target: str | None, files: Iterable[str] = ()) -> Iterator[bool]:
    """Keeps other processes from making a file or folder, and the other files that come of the work.

    Gives whether a run that was making this was killed; see `is_unfinished`. What it left is cleared away.
    """
    state = state_of_training(target)
    path = Path(target or STANDARD)
    if target is None or state is None or (path.exists() and not (path.is_file() or path.is_dir())):  # shared devices
        yield False
        return
    with locked(target) as was_killed:
        for path in (state, *map(Path, files)):
            output.sweep(path)
        yield was_killed or state.exists()


def numbered(output: str, count: int) -> list[str]:
    """Returns the names of one file for each network: OUT.jsonl for one, else OUT.0.jsonl, OUT.1.jsonl and so on."""
    if count == 1:
        return [output]
    if output == STANDARD:
        raise RecombineError(f"{count} networks write {count} files.", hint="Name them with -o.")
    path = Path(output)
    return [str(path.with_name(f"{path.stem}.{number}{path.suffix}")) for number in range(count)]
