"""``recombine evaluate``: how well trained predictors do on a test set."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.direction import direction, say_direction, warn_of_direction
from recombine.cli.files import Reading, tokens_for
from recombine.cli.options import AUTO, Beam, Columns, Device, Format, Header, Json, Model, ModelTokens, Threads
from recombine.cli.predict import about_unseen, load_predictor, predict, unseen_tokens
from recombine.cli.printing import counted, print_json, print_table, say, say_next
from recombine.cli.score import Score, score_outputs
from recombine.cli.training import use_threads
from recombine.example import Example

if TYPE_CHECKING:
    from recombine.evaluation.seeds import Summary
    from recombine.prediction.predictor import Predictor

Tests = Annotated[str, typer.Argument(metavar="TEST", help="Test examples; - is standard input.")]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How well a population of predictors does.

    Attributes:
        scores: The score of each network, by seed.
        exact_match: Mean and deviation over the networks.
        micro_f1: Likewise.
        unseen_tokens: The test set's tokens that no network saw in training.
        with_unseen: How many test examples have one.
    """

    scores: dict[int, Score]
    exact_match: "Summary"
    micro_f1: "Summary"
    unseen_tokens: list[str]
    with_unseen: int


def evaluate_cli(
    model: Model,
    test: Tests,
    *,
    beam: Beam = 1,
    device: Device = AUTO,
    threads: Threads = None,
    format: Format = Reading.format,
    tokens: ModelTokens = None,
    columns: Columns = None,
    header: Header = False,
    json: Json = False,
) -> None:
    """Scores predictors on a test set by exact match and micro-F1, for each seed and over all of them.

    Example:
      recombine evaluate predictor scan/test.tsv

    Word forms are read in the direction that was trained, analysis or inflection.
    """
    from recombine.training.stored import direction_of

    predictor = load_predictor(model, device=device)
    reading = Reading(format, tokens_for(model, predictor.notes, tokens), columns, header)
    examples = reading.read_for_prediction(test, None if columns else direction_of(predictor.notes))
    say_direction(examples)
    warn_of_direction(model, predictor.notes, direction(examples))
    use_threads(threads)
    found = evaluate(predictor, examples, beam=beam)
    if json:
        print_json(asdict(found))
    else:
        rows = [(f"seed {seed}", f"{s.exact_match:.4f}", f"{s.micro_f1:.4f}") for seed, s in found.scores.items()]
        over_all = ("mean", _shown(found.exact_match), _shown(found.micro_f1))
        print_table([*rows, over_all] if len(rows) > 1 else rows, header=("", "exact match", "micro-F1"))
    if found.unseen_tokens:
        some = f"{found.with_unseen:,} of {counted(len(examples), 'test example')}"
        say(f"{about_unseen(found.unseen_tokens).strip()} They are in {some}.")
    predicted = "predicted.tsv" if reading.beside("predicted.tsv") == reading else "predicted.jsonl"
    say_next("predict", model, test, *reading.options, "-o", predicted)


def evaluate(predictor: "Predictor", examples: list[Example], *, beam: int = 1) -> Evaluation:
    """Returns how well a population of predictors does on examples.

    Args:
        predictor: The population.
        examples: Test examples, at least one.
        beam: Hypotheses that decoding keeps; 1 is greedy.
    """
    from recombine.evaluation.seeds import summarize

    predictions = predict(predictor, [example.x for example in examples], beam=beam)
    scores = {
        seed: score_outputs(examples, [Example(example.x, p.y) for example, p in zip(examples, each, strict=True)])
        for seed, each in zip(predictor.seeds, predictions, strict=True)
    }
    unseen = unseen_tokens(predictor, examples)
    strange = frozenset(unseen)
    return Evaluation(
        scores=scores,
        exact_match=summarize([score.exact_match for score in scores.values()]),
        micro_f1=summarize([score.micro_f1 for score in scores.values()]),
        unseen_tokens=unseen,
        with_unseen=sum(not strange.isdisjoint((*example.x, *example.y)) for example in examples),
    )


def _shown(summary: "Summary") -> str:
    return f"{summary.mean:.4f} ± {summary.deviation:.4f}"
