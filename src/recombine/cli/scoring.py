"""``recombine predict``, ``evaluate``, ``score`` and ``audit``: outputs and samples, and how good they are."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli import direction
from recombine.cli.files import (
    ModelReading,
    Reading,
    check_free,
    check_one_standard_input,
    is_unfinished,
    name_of,
    numbered,
    warn_of_strange_tokens,
    working_on,
)
from recombine.cli.options import (
    AUTO,
    STANDARD,
    Beam,
    Device,
    Force,
    Json,
    Model,
    OutputFile,
    Test,
    Threads,
    check_json,
)
from recombine.cli.printing import counted, percent, print_json, print_table, say, say_next, working
from recombine.cli.training import enough_memory, use_threads
from recombine.data.output import all_or_none
from recombine.errors import RecombineError, unknown
from recombine.example import SEPARATOR, Example, Provenance
from recombine.example import Tokens as TokenTuple
from recombine.inflection import ANALYSIS, INFLECTION, are_of_word_forms, are_word_forms, directed, is_tag

if TYPE_CHECKING:
    from recombine.evaluation.significance import Summary
    from recombine.prediction.predictor import Prediction, Predictor

NOTHING = "<nothing>"
"""Stands in a file for a predicted output without tokens, which no file can hold; no gold output equals it."""

GOLD = ("scan",)
"""The names of gold functions."""

_SHOWN = 10
"""How many unseen tokens are named."""

Inputs = Annotated[
    str, typer.Argument(metavar="INPUT", help="Inputs, one a line, or examples, whose outputs are ignored.")
]
AllSeeds = Annotated[
    bool,
    typer.Option("--all-seeds", help="Ask every network, not only the first."),
]
Tests = Annotated[str, typer.Argument(metavar="TEST", help="Test examples; - is standard input.")]
GoldFile = Annotated[str, typer.Option("--gold", metavar="FILE", help="Inputs with the right outputs.")]
Predicted = Annotated[
    str, typer.Option("--predicted", metavar="FILE", help="The same inputs in the same lines, with predicted outputs.")
]
TrainForms = Annotated[
    str | None,
    typer.Option("--train", metavar="FILE", help="Training word forms, to score those with unseen tags (NOVEL) too."),
]
Samples = Annotated[str, typer.Argument(metavar="SAMPLES", help="What an augmenter wrote; - is standard input.")]
FittedTo = Annotated[str, typer.Option("--train", metavar="FILE", help="What it was fitted to.")]
GoldName = Annotated[
    str | None, typer.Option("--gold", metavar="NAME", help="What knows the right outputs: scan, SCAN's interpreter.")
]

_PHRASES = {
    "n": "samples",
    "novel": "no training pair",
    "duplicates": "equal to an earlier sample",
    "contradicted": "contradicted by another sample",
    "well_formed": "with a well-formed input",
    "right": "exactly right",
    "right_and_novel": "exactly right and no training pair",
    "inputs_in_test": "with an input of the test set",
    "pairs_in_test": "equal to a test pair",
}


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

    @classmethod
    def of(cls, gold: Sequence[TokenTuple], predicted: Sequence[TokenTuple]) -> "Score":
        """Scores predicted outputs beside the right ones, of which there is at least one."""
        from recombine.evaluation.metrics import exact_match, micro_f1

        return cls(len(gold), exact_match(gold, predicted), micro_f1(gold, predicted))


def predict_cli(
    model: Model,
    inputs: Inputs,
    *,
    output: OutputFile = STANDARD,
    beam: Beam = 1,
    all_seeds: AllSeeds = False,
    device: Device = AUTO,
    threads: Threads = None,
    files: ModelReading,
    force: Force = False,
    json: Json = False,
) -> None:
    """Writes each input with the output that a predictor gives for it (default: the predictor of the first seed).

    Example:
      recombine predict predictor scan/test.tsv -o predicted.tsv

    In files of lemma, form, tags, the input is what was the input in training.
    """
    from recombine.training.stored import direction_of

    check_json(json, output, "predictions")
    predictor = _load(model, device)
    targets = numbered(output, len(predictor.seeds) if all_seeds else 1)
    check_free(targets, force=force or is_unfinished(output))
    reading = files.for_model(model, predictor.notes)
    asked = reading.read_inputs(inputs, direction_of(predictor.notes))
    if predictor.vocabulary_ is not None and are_of_word_forms(predictor.vocabulary_.tokens):
        asked = asked if files.tokens else _in_characters(asked)
        sentence = direction.INFLECTION if any(is_tag(token) for x in asked for token in x) else direction.ANALYSIS
        say(sentence)
        direction.warn_of_direction(model, predictor.notes, sentence)
    use_threads(threads)
    predictions = _predict(predictor, asked, beam)[: len(targets)]
    with working_on(output, targets) as goes_on, all_or_none(targets):
        for target, each in zip(targets, predictions, strict=True):
            _write(asked, each, target, tokens=reading.tokens, force=force or goes_on)
    unseen = _unseen_tokens(predictor, [Example(x, ()) for x in asked])
    if json:
        print_json({"outputs": targets, "inputs": len(asked), "unseen_tokens": unseen})
    empty = sum(_writable(prediction.y) == (NOTHING,) for each in predictions for prediction in each)
    about_empty = f" {empty:,} of them have no tokens, written as {NOTHING}." if empty else ""
    say(f"Predicted {counted(len(asked), 'output')}.{about_empty}{_about_unseen(unseen)}")
    say_next("score", "--gold", None, "--predicted", targets[0], *reading.beside(targets[0]).options)


def evaluate_cli(
    model: Model,
    test: Tests,
    *,
    beam: Beam = 1,
    device: Device = AUTO,
    threads: Threads = None,
    files: ModelReading,
    json: Json = False,
) -> None:
    """Scores predictors on a test set by exact match and micro-F1, for each seed and over all of them.

    Example:
      recombine evaluate predictor scan/test.tsv

    Word forms are read in the direction that was trained, analysis or inflection.
    """
    from recombine.evaluation.significance import summarize
    from recombine.training.stored import direction_of

    predictor = _load(model, device)
    reading = files.for_model(model, predictor.notes)
    examples = reading.read_for_prediction(test, None if files.columns else direction_of(predictor.notes))
    direction.say_direction(examples)
    direction.warn_of_direction(model, predictor.notes, direction.direction(examples))
    use_threads(threads)
    predictions = _predict(predictor, [example.x for example in examples], beam)
    gold = [example.y for example in examples]
    scores = {
        seed: Score.of(gold, [prediction.y for prediction in each])
        for seed, each in zip(predictor.seeds, predictions, strict=True)
    }
    over_all = {
        "exact_match": summarize([score.exact_match for score in scores.values()]),
        "micro_f1": summarize([score.micro_f1 for score in scores.values()]),
    }
    unseen = _unseen_tokens(predictor, examples)
    with_unseen = sum(not {*unseen}.isdisjoint((*example.x, *example.y)) for example in examples) if unseen else 0
    if json:
        by_seed = {seed: asdict(score) for seed, score in scores.items()}
        summaries = {name: asdict(summary) for name, summary in over_all.items()}
        print_json({"scores": by_seed, **summaries, "unseen_tokens": unseen, "with_unseen": with_unseen})
    else:
        rows = [(f"seed {seed}", f"{s.exact_match:.4f}", f"{s.micro_f1:.4f}") for seed, s in scores.items()]
        mean = ("mean", *map(_shown, over_all.values()))
        print_table([*rows, mean] if len(rows) > 1 else rows, header=("", "exact match", "micro-F1"))
    if unseen:
        say(f"{_about_unseen(unseen).strip()} They are in {with_unseen:,} of {counted(len(gold), 'test example')}.")
    predicted = "predicted.tsv" if reading.beside("predicted.tsv") == reading else "predicted.jsonl"
    say_next("predict", model, test, *reading.options, "-o", predicted)


def score_cli(
    gold: GoldFile,
    predicted: Predicted,
    *,
    train: TrainForms = None,
    reading: Reading,
    json: Json = False,
) -> None:
    """Scores predictions by exact match and micro-F1.

    Example:
      recombine score --gold test.tsv --predicted predictions.tsv

    Files of lemma, form, tags are scored as analyses: the form is the input, lemma and tags are the output. Micro-F1
    asks of each token whether the other output has it: order and number of repetitions do not count.
    """
    check_one_standard_input(gold, predicted, train)
    guessed, right = reading.read(predicted), reading.read_for_prediction(gold)
    if are_word_forms(right):  # predictions, which may be no word forms, have their inputs' direction
        guessed = directed(guessed, ANALYSIS) if reading.names_word_forms(predicted) else guessed
        analysed = not any(is_tag(token) for example in guessed for token in example.x)
        right = directed(right, ANALYSIS if analysed else INFLECTION)
    _check_aligned(right, guessed, gold=name_of(gold), predicted=name_of(predicted))
    direction.say_direction(right)
    pairs = [(one.y, other.y) for one, other in zip(right, guessed, strict=True)]
    scores: dict[str, Score | None] = {"all": _score(pairs)}
    if train is not None:
        from recombine.evaluation.metrics import novel

        is_novel = novel(right, reading.read(train))
        scores["novel"] = _score([pair for pair, new in zip(pairs, is_novel, strict=True) if new])
    if json:
        print_json({name: score and asdict(score) for name, score in scores.items()})
    else:
        names = ("items", "n", "exact match", "micro-F1")
        rows = ((name, f"{s.n:,}", f"{s.exact_match:.4f}", f"{s.micro_f1:.4f}") for name, s in scores.items() if s)
        print_table(rows, header=names)


def audit_cli(
    samples: Samples,
    train: FittedTo,
    *,
    test: Test = None,
    gold: GoldName = None,
    reading: Reading,
    json: Json = False,
) -> None:
    """Counts how many samples are right, well formed, novel, repeated, or in the test set.

    Example:
      recombine audit augmented.jsonl --train scan/train.tsv --gold scan
    """
    from recombine.data.scan import interpret
    from recombine.evaluation.metrics import audit

    check_one_standard_input(samples, train, test)
    if gold is not None and gold not in GOLD:
        raise unknown("gold function", gold, GOLD)
    made, examples = reading.read(samples), reading.read(train)
    warn_of_strange_tokens(examples, made)
    found = audit(made, gold=interpret if gold else None, train=examples, test=reading.read_optional(test))
    if json:
        print_json({**asdict(found), "shares": found.shares})
    else:
        shares: dict[str, float | None] = {"n": 1.0, **found.shares}
        counts = {name: count for name, count in asdict(found).items() if count is not None}
        print_table((_PHRASES[name], f"{count:,}", percent(shares[name] or 0.0)) for name, count in counts.items())
    say_next("train", train, "--augmented", samples, *reading.options, "-o", "predictor")


def _in_characters(forms: Sequence[TokenTuple]) -> list[TokenTuple]:
    """Returns what was read as words, to a predictor of word forms, as the characters that it knows.

    Where all words have one character, as in what was written before, they are tokens already; and so are tags.
    """
    from recombine.data.text import split

    words = {token for x in forms for token in x}
    if any(map(is_tag, words)) or all(len(word) == 1 for word in words):
        return list(forms)
    return [split(" ".join(x), "characters") for x in forms]


def _load(model: str, device: str) -> "Predictor":
    from recombine.prediction.predictor import Predictor

    with enough_memory():
        return Predictor.load(model, device=device)


def _predict(predictor: "Predictor", inputs: Sequence[TokenTuple], beam: int) -> "list[list[Prediction]]":
    """Returns each network's predictions, by beam search if the beam is wider than 1."""
    from recombine.decoding.generate import Decoding

    with enough_memory(), working(f"Predicting {len(inputs):,} outputs"):
        return predictor.predict(inputs, Decoding("beam", width=beam) if beam > 1 else Decoding("greedy"))


def _unseen_tokens(predictor: "Predictor", examples: Sequence[Example]) -> list[str]:
    return [] if predictor.vocabulary_ is None else predictor.vocabulary_.unseen(examples)


def _about_unseen(unseen: Sequence[str]) -> str:
    if not unseen:
        return ""
    more = f" and {len(unseen) - _SHOWN:,} more" if len(unseen) > _SHOWN else ""
    return f" Tokens never seen in training: {len(unseen):,} ({', '.join(unseen[:_SHOWN])}{more})."


def _write(
    inputs: Sequence[TokenTuple], predictions: "Sequence[Prediction]", target: str, *, tokens: str, force: bool
) -> None:
    from recombine.data import files

    pairs = [
        Example(x, _writable(prediction.y), Provenance("prediction", log_probability=prediction.log_probability))
        for x, prediction in zip(inputs, predictions, strict=True)
    ]
    files.write(pairs, target, format="tsv" if target.endswith(".tsv") else "jsonl", tokens=tokens, force=force)


def _writable(y: TokenTuple) -> TokenTuple:
    """Returns an output as files can hold it: with at least one token, and none of them the separator."""
    return tuple(token for token in y if token != SEPARATOR) or (NOTHING,)


def _shown(summary: "Summary") -> str:
    return f"{summary.mean:.4f} ± {summary.deviation:.4f}"


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


def _score(pairs: Sequence[tuple[TokenTuple, TokenTuple]]) -> Score | None:
    """Returns the score of pairs of right and predicted outputs; None if there are none."""
    return Score.of(*map(list, zip(*pairs, strict=True))) if pairs else None
