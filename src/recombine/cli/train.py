"""``recombine train``: predictors, from training examples and perhaps new ones."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.direction import check_direction, say_direction
from recombine.cli.files import (
    Reading,
    check_model,
    check_one_standard_input,
    is_unfinished,
    numbered,
    state_of_training,
    warn_of_strange_tokens,
    working_on,
)
from recombine.cli.options import (
    AUTO,
    STANDARD,
    Columns,
    Device,
    Direction,
    Epochs,
    Folder,
    Force,
    Format,
    Header,
    Json,
    MaxTime,
    Seed,
    Seeds,
    Size,
    Threads,
    Tokens,
    Train,
)
from recombine.cli.printing import counted, print_json, progress, say, say_next
from recombine.cli.training import Training, enough_memory, outcome, resumable, use_threads
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import ANALYSIS, INFLECTION, are_inflections, are_word_forms, directed

if TYPE_CHECKING:
    from recombine.prediction.predictor import Predictor

Augmented = Annotated[
    str | None,
    typer.Option(
        "--augmented",
        metavar="FILE",
        help="New examples; if there is FILE.0.jsonl, … instead of FILE.jsonl, each network gets its own.",
    ),
]
PAug = Annotated[
    float | None,
    typer.Option(
        "--p-aug",
        metavar="P",
        help="How often a training step sees a new example (default: their share, but between 0.01 and 0.2).",
    ),
]


def train_cli(
    train: Train,
    output: Folder,
    *,
    augmented: Augmented = None,
    p_aug: PAug = None,
    direction: Direction = None,
    seed: Seed = 0,
    seeds: Seeds = None,
    size: Size = None,
    epochs: Epochs = None,
    max_time: MaxTime = None,
    device: Device = AUTO,
    threads: Threads = None,
    format: Format = Reading.format,
    tokens: Tokens = Reading.tokens,
    columns: Columns = None,
    header: Header = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Trains predictors, which write an output for an input, on examples and perhaps new ones.

    Example:
      recombine train scan/train.tsv --augmented augmented.jsonl --p-aug 0.01 -o predictor

    Some networks are tried on held-out training examples first, for about two minutes; the best is trained until
    held-out accuracy no longer rises, or its epochs are over. Repeated examples count once. For word forms, the form is
    the input, lemma and tags are the output; with --direction inflection it is the other way round.

    While networks are trained, DIR.training holds the state: after an interruption the same command goes on.
    """
    from recombine.own_data.settings import CHOICES
    from recombine.own_data.unfinished import forget

    training = Training(size=size, epochs=epochs, max_time=max_time, device=device, seed=seed, seeds=seeds)
    training.check()
    _check_mixture(augmented, p_aug)
    check_one_standard_input(train, augmented)
    if output == STANDARD:
        raise RecombineError("a model is a folder and cannot be standard output.", hint="Name a folder with -o.")
    check_model(output, force=force or is_unfinished(output))
    reading = Reading(format, tokens, columns, header)
    networks = len(training.population)
    examples, new = read_training(train, augmented, networks=networks, reading=reading, direction=direction)
    check_direction(direction, examples, place=train)
    warn_of_strange_tokens(examples, [example for each in new for example in each])
    say_direction(examples, otherwise=" For the other direction, give --direction inflection.")
    use_threads(threads)
    state = state_of_training(output)
    with working_on(output) as goes_on:
        predictor = train_predictor(examples, new, training, p_aug=p_aug, state=state)
        predictor.notes = {**reading.notes(examples), **predictor.notes}
        predictor.save(output, force=force or goes_on)
        forget(state)
    history, network = predictor.fitted_.history, predictor.notes[CHOICES]["network"]
    accuracy = fmean(history.evaluation[-1]) if history.evaluation else None
    if json:
        print_json(
            {
                "output": output,
                "seeds": list(predictor.seeds),
                "examples": len(dict.fromkeys(examples)),
                "network": {"chosen": network[0], "reason": network[1]},
                "augmented": [len(each) for each in new],
                "held_out_accuracy": accuracy,
                "epochs": len(history.loss),
                "seconds": history.seconds,
                "stopped_by_max_time": history.stopped_early,
            }
        )
    held_out = int(predictor.recipe.held_out * len(dict.fromkeys(examples)))
    judged = "" if accuracy is None else f" {accuracy:.3f} of {counted(held_out, 'held-out example')} are right."
    say(f"{outcome(history)}{judged} The predictor is in {output}.")
    say_next("evaluate", output, None, *reading.options)


def read_training(
    train: str, augmented: str | None, *, networks: int, reading: Reading, direction: str | None = None
) -> tuple[list[Example], list[list[Example]]]:
    """Returns the training examples as predictors see them, and the new ones of each network.

    Args:
        train: The path of the training examples, or ``-``.
        augmented: The path of the new ones, or ``-``; or what comes of it when each network has a file of its own.
        networks: How many networks there are.
        reading: How to read the files.
        direction: Of word forms; see ``Reading.read_for_prediction``.
    """
    examples = reading.read_for_prediction(train, direction)
    if augmented is None:
        return examples, [[]] * networks

    def as_learned(path: str) -> list[Example]:
        """Returns new examples in the direction of the others: augment writes inflections."""
        read = reading.read(path)
        learned = INFLECTION if are_inflections(examples) else ANALYSIS
        return directed(read, learned) if are_word_forms(examples) else read

    own = numbered(augmented, networks) if networks > 1 else [augmented]
    if not Path(augmented).exists() and Path(own[0]).exists():
        return examples, list(map(as_learned, own))
    return examples, [as_learned(augmented)] * networks


def train_predictor(
    examples: Sequence[Example],
    augmented: Sequence[Sequence[Example]],
    training: Training,
    *,
    p_aug: float | None = None,
    state: Path | None = None,
) -> "Predictor":
    """Returns a trained population of predictors.

    Args:
        examples: The training examples.
        augmented: The new ones of each network.
        training: How.
        p_aug: The probability that a training example is a new one; None: chosen by how many there are.
        state: Where to save the state of training now and then, and to go on from.
    """
    from recombine.own_data import unfinished
    from recombine.own_data.choices import mixing_rate
    from recombine.own_data.settings import CHOICES, choices_as_json
    from recombine.prediction.predictor import Predictor

    originals = len(dict.fromkeys(examples))
    rates = [mixing_rate(originals, len(new)).value if p_aug is None and new else p_aug for new in augmented]
    with enough_memory(), resumable(state):
        made = training.predictor(examples, unfinished.chosen(state))
        recipe = made["length"].value
        predictor = Predictor(recipe, seeds=training.population, device=training.device)
        shown = progress("Training the predictor", judged="held-out accuracy", max_time=recipe.max_time)
        with shown as shows, unfinished.keeping(state, shows, say) as report:
            predictor.fit_each(examples, augmented, p_aug=rates, report=report, checkpoint=state)
    predictor.notes = {CHOICES: choices_as_json(made)}
    return predictor


def _check_mixture(augmented: str | None, p_aug: float | None) -> None:
    if p_aug is None:
        return
    if augmented is None:
        raise RecombineError("--p-aug says how often new examples are seen.", hint="Give them with --augmented.")
    if not 0 <= p_aug < 1:
        raise RecombineError(f"--p-aug is {p_aug:g}, expected at least 0 and less than 1.")
