"""``recombine score``: predicted outputs against gold ones."""

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from recombine.cli.direction import say_direction
from recombine.cli.files import Reading, check_one_standard_input, name_of
from recombine.cli.options import Columns, Format, Header, Json, Tokens
from recombine.cli.printing import print_json, print_table
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import ANALYSIS, INFLECTION, are_word_forms, directed, is_tag

Gold = Annotated[str, typer.Option("--gold", metavar="FILE", help="Inputs with the right outputs.")]
Predicted = Annotated[
    str, typer.Option("--predicted", metavar="FILE", help="The same inputs in the same lines, with predicted outputs.")
]
Train = Annotated[
    str | None,
    typer.Option("--train", metavar="FILE", help="Training word forms, to score those with unseen tags (NOVEL) too."),
]


@dataclass(frozen=True, slots=True)
class Score:
    """How good the predictions for some items are.

    Attributes:
        n: How many items.
        exact_match: The share that are right, token by token.
        micro_f1: F1 over the elements of outputs: lemma and tags of an analysis, else tokens.
    """

    n: int
    exact_match: float
    micro_f1: float


def score_cli(
    gold: Gold,
    predicted: Predicted,
    *,
    train: Train = None,
    format: Format = Reading.format,
    tokens: Tokens = Reading.tokens,
    columns: Columns = None,
    header: Header = False,
    json: Json = False,
) -> None:
    """Scores predictions by exact match and micro-F1.

    Example:
      recombine score --gold test.tsv --predicted predictions.tsv

    Files of lemma, form, tags are scored as analyses: the form is the input, lemma and tags are the output. Micro-F1
    asks of each token whether the other output has it: order and number of repetitions do not count.
    """
    scores = score_files(gold, predicted, train=train, reading=Reading(format, tokens, columns, header))
    if json:
        print_json({name: score and asdict(score) for name, score in scores.items()})
    else:
        names = ("items", "n", "exact match", "micro-F1")
        rows = ((name, f"{s.n:,}", f"{s.exact_match:.4f}", f"{s.micro_f1:.4f}") for name, s in scores.items() if s)
        print_table(rows, header=names)


def score_files(gold: str, predicted: str, *, train: str | None = None, reading: Reading) -> dict[str, Score | None]:
    """Returns the score of ``all`` items, and with training examples that of the ``novel`` ones, None if none is.

    Args:
        gold: The path of inputs with right outputs, or ``-``.
        predicted: The path of the same inputs with predicted outputs, or ``-``.
        train: The path of the training examples.
        reading: How to read the files.

    Raises:
        RecombineError: If the two files do not have the same inputs in the same lines.
    """
    check_one_standard_input(gold, predicted, train)
    guessed, right = reading.read(predicted), reading.read_for_prediction(gold)
    if are_word_forms(right):  # predictions, which may be no word forms, have their inputs' direction
        guessed = directed(guessed, ANALYSIS) if reading.names_word_forms(predicted) else guessed
        analysed = not any(is_tag(token) for example in guessed for token in example.x)
        right = directed(right, ANALYSIS if analysed else INFLECTION)
    _check_aligned(right, guessed, gold=name_of(gold), predicted=name_of(predicted))
    say_direction(right)
    scores: dict[str, Score | None] = {"all": score_outputs(right, guessed)}
    if train is not None:
        from recombine.evaluation.metrics import novel

        chosen = [place for place, new in enumerate(novel(right, reading.read(train))) if new]
        subset = ([side[place] for place in chosen] for side in (right, guessed))
        scores["novel"] = score_outputs(*subset) if chosen else None
    return scores


def _check_aligned(right: list[Example], guessed: list[Example], *, gold: str, predicted: str) -> None:
    for number, (one, other) in enumerate(zip(right, guessed, strict=False), start=1):
        if one.x != other.x:
            raise RecombineError(
                f"the input is {' '.join(other.x)!r}, but {' '.join(one.x)!r} in the same line of {gold}.",
                place=f"{predicted}:{number}",
                hint="Both files must have the same inputs in the same order.",
            )
    if len(right) != len(guessed):
        raise RecombineError(
            f"the file has {len(guessed):,} examples, but {gold} has {len(right):,}.",
            place=predicted,
            hint="Expected one prediction for each gold output.",
        )


def score_outputs(right: list[Example], guessed: list[Example]) -> Score:
    """Returns the score of predicted outputs beside the right ones, of which there is at least one."""
    from recombine.evaluation.metrics import exact_match, micro_f1

    gold, predicted = [example.y for example in right], [example.y for example in guessed]
    return Score(n=len(gold), exact_match=exact_match(gold, predicted), micro_f1=micro_f1(gold, predicted))
