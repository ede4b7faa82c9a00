"""``recombine predict``: a trained predictor's outputs for inputs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.direction import ANALYSIS, INFLECTION, warn_of_direction
from recombine.cli.files import Reading, check_free, is_unfinished, numbered, tokens_for, working_on
from recombine.cli.options import (
    AUTO,
    STANDARD,
    Beam,
    Columns,
    Device,
    Force,
    Format,
    Header,
    Json,
    Model,
    ModelTokens,
    Threads,
)
from recombine.cli.printing import counted, print_json, say, say_next, working
from recombine.cli.training import enough_memory, use_threads
from recombine.data.output import all_or_none
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example, Provenance
from recombine.example import Tokens as TokenTuple
from recombine.inflection import are_of_word_forms, is_tag

if TYPE_CHECKING:
    from recombine.data.vocabulary import Vocabulary
    from recombine.prediction.predictor import Prediction, Predictor

NOTHING = "<nothing>"
"""Stands in a file for a predicted output without tokens, which no file can hold; no gold output equals it."""

_SHOWN = 10
"""How many unseen tokens are named."""

Inputs = Annotated[
    str, typer.Argument(metavar="INPUT", help="Inputs, one a line, or examples, whose outputs are not looked at.")
]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Columns if the name ends in .tsv, else JSONL with log-probabilities; - is standard output.",
    ),
]
AllSeeds = Annotated[
    bool,
    typer.Option(
        "--all-seeds", help="Ask every network, not only the first; FILE.0.jsonl, FILE.1.jsonl, … if several."
    ),
]


def predict_cli(
    model: Model,
    inputs: Inputs,
    *,
    output: Output = STANDARD,
    beam: Beam = 1,
    all_seeds: AllSeeds = False,
    device: Device = AUTO,
    threads: Threads = None,
    format: Format = Reading.format,
    tokens: ModelTokens = None,
    columns: Columns = None,
    header: Header = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Writes each input with the output that a predictor gives for it: that of the first seed, unless told.

    Example:
      recombine predict predictor scan/test.tsv -o predicted.tsv

    Of lemma, form, tags, that is the input which was the input in training.
    """
    from recombine.training.stored import direction_of

    if json and output == STANDARD:
        raise RecombineError("--json and the predictions both want standard output.", hint="Name a file with -o.")
    predictor = load_predictor(model, device=device)
    targets = numbered(output, len(predictor.seeds) if all_seeds else 1)
    check_free(targets, force=force or is_unfinished(output))
    kind = tokens_for(model, predictor.notes, tokens)
    reading = Reading(format, kind, columns, header)
    word_forms = predictor.vocabulary_ is not None and are_of_word_forms(predictor.vocabulary_.tokens)
    asked = reading.read_inputs(inputs, direction_of(predictor.notes))
    if word_forms:
        asked = asked if tokens else in_characters(asked)
        direction = INFLECTION if any(is_tag(token) for x in asked for token in x) else ANALYSIS
        say(direction)
        warn_of_direction(model, predictor.notes, direction)
    use_threads(threads)
    predictions = predict(predictor, asked, beam=beam)
    with working_on(output, targets) as goes_on, all_or_none(targets):
        for target, each in zip(targets, predictions, strict=False):
            _write(asked, each, target, tokens=kind, force=force or goes_on)
    unseen = unseen_tokens(predictor, [Example(x, ()) for x in asked])
    if json:
        print_json({"outputs": targets, "inputs": len(asked), "unseen_tokens": unseen})
    say(f"Predicted {counted(len(asked), 'output')}.{_about_empty(predictions[: len(targets)])}{about_unseen(unseen)}")
    say_next("score", "--gold", None, "--predicted", targets[0], *reading.beside(targets[0]).options)


def in_characters(forms: Sequence[TokenTuple]) -> list[TokenTuple]:
    """Returns what was read as words, to a predictor of word forms, as the characters that it knows.

    Where all words have one character, as in what was written before, they are tokens already; and so are tags.
    """
    from recombine.data.tokenization import split

    words = {token for x in forms for token in x}
    if any(map(is_tag, words)) or all(len(word) == 1 for word in words):
        return list(forms)
    return [split(" ".join(x), "characters") for x in forms]


def load_predictor(model: str, *, device: str) -> "Predictor":
    """Returns the predictor of a folder."""
    from recombine.prediction.predictor import Predictor

    with enough_memory():
        return Predictor.load(model, device=device)


def predict(predictor: "Predictor", inputs: Sequence[TokenTuple], *, beam: int) -> "list[list[Prediction]]":
    """Returns each network's predictions for the inputs, by beam search if the beam is wider than 1."""
    from recombine.decoding.generate import Decoding

    with enough_memory(), working(f"Predicting {len(inputs):,} outputs"):
        return predictor.predict(inputs, Decoding("beam", width=beam) if beam > 1 else Decoding("greedy"))


def unseen_tokens(predictor: "Predictor", examples: Sequence[Example]) -> list[str]:
    """Returns the tokens of examples that the predictor never saw in training."""
    vocabulary: Vocabulary | None = predictor.vocabulary_
    return [] if vocabulary is None else vocabulary.unseen(examples)


def about_unseen(unseen: Sequence[str]) -> str:
    """Returns a sentence on tokens never seen in training; none if there are none."""
    if not unseen:
        return ""
    more = f" and {len(unseen) - _SHOWN:,} more" if len(unseen) > _SHOWN else ""
    return f" Tokens never seen in training: {len(unseen):,} ({', '.join(unseen[:_SHOWN])}{more})."


def _about_empty(predictions: "Sequence[Sequence[Prediction]]") -> str:
    empty = sum(_writable(prediction.y) == (NOTHING,) for each in predictions for prediction in each)
    return f" Of these, {empty:,} have no tokens, written as {NOTHING}." if empty else ""


def _write(
    inputs: Sequence[TokenTuple], predictions: "Sequence[Prediction]", target: str, *, tokens: str, force: bool
) -> None:
    from recombine.data import files

    def pairs() -> list[Example]:
        return [
            Example(x, _writable(prediction.y), Provenance("prediction", log_probability=prediction.log_probability))
            for x, prediction in zip(inputs, predictions, strict=True)
        ]

    format = "tsv" if target.endswith(".tsv") else "jsonl"
    files.write(pairs(), target, format=format, tokens=tokens, force=force)


def _writable(y: TokenTuple) -> TokenTuple:
    """Returns an output as files can hold it: with at least one token, and none of them the separator."""
    return tuple(token for token in y if token != SEPARATOR) or (NOTHING,)
