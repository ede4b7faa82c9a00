"""``recombine train``: predictors, from training examples and perhaps new ones."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated

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
    Device,
    Direction,
    Epochs,
    Folder,
    Force,
    Json,
    MaxTime,
    Seed,
    Seeds,
    Size,
    Threads,
    Train,
)
from recombine.cli.printing import counted, print_json, say, say_next
from recombine.cli.training import check_size, enough_memory, on_terminal, outcome, resumable, use_threads
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import ANALYSIS, INFLECTION, are_inflections, are_word_forms, directed

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
    reading: Reading,
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
    from recombine.own_data.predictor import Predictor
    from recombine.own_data.settings import forget_state

    check_size(size)
    _check_mixture(augmented, p_aug)
    check_one_standard_input(train, augmented)
    if output == STANDARD:
        raise RecombineError("a model is a folder and cannot be standard output.", hint="Name a folder with -o.")
    check_model(output, force=force or is_unfinished(output))
    examples, new = read_training(train, augmented, networks=seeds or 1, reading=reading, direction=direction)
    check_direction(direction, examples, place=train)
    warn_of_strange_tokens(examples, [example for each in new for example in each])
    say_direction(examples, otherwise=" For the other direction, give --direction inflection.")
    use_threads(threads)
    state = state_of_training(output)
    predictor = Predictor(
        seed=seed,
        seeds=seeds or 1,
        network=size or AUTO,
        epochs=epochs,
        max_time=max_time,
        tokens=reading.tokens,
        direction=direction_of(examples),
        device=device,
        progress=on_terminal(judged="held-out accuracy", max_time=max_time),
    )
    with working_on(output) as goes_on:
        with enough_memory(), resumable(state):
            predictor.fit(examples, augmented_each=new, p_aug=p_aug, checkpoint=state)
        predictor.save(output, force=force or goes_on)
        forget_state(state)
    networks, told = predictor.networks_, predictor.report_
    assert told is not None
    history, network = networks.fitted_.history, told.choices["network"]
    accuracy = fmean(history.evaluation[-1]) if history.evaluation else None
    if json:
        print_json(
            {
                "output": output,
                "seeds": list(networks.seeds),
                "examples": told.examples,
                "network": {"chosen": network.name, "reason": network.reason},
                "augmented": [len(each) for each in new],
                "held_out_accuracy": accuracy,
                "epochs": len(history.loss),
                "seconds": history.seconds,
                "stopped_by_max_time": history.stopped_early,
            }
        )
    held_out = int(networks.recipe.held_out * len(dict.fromkeys(examples)))
    judged = "" if accuracy is None else f" {accuracy:.3f} of {counted(held_out, 'held-out example')} are right."
    say(f"{outcome(history)}{judged} The predictor is in {output}.")
    say_next("evaluate", output, None, *reading.options)


def read_training(
    train: str, augmented: str | None, *, networks: int, reading: Reading, direction: str | None = None
) -> tuple[list[Example], list[list[Example]]]:
    """Returns the training examples as predictors see them, and the new ones of each network.

    Args:
        train: The path of the training examples, or ``-``.
        augmented: The path of the new ones, or ``-``. If there is no such file, each network has one of its own, with
            a number in its name.
        networks: How many networks there are.
        reading: How to read the files.
        direction: Of word forms; see ``Reading.read_for_prediction``.
    """
    examples = reading.read_for_prediction(train, direction)
    if augmented is None:
        return examples, [[]] * networks

    def as_learned(path: str) -> list[Example]:
        """Returns new examples in the direction of the others: augment writes inflections."""
        new = reading.read(path)
        return directed(new, direction_of(examples)) if are_word_forms(examples) else new

    own = numbered(augmented, networks) if networks > 1 else [augmented]
    if not Path(augmented).exists() and Path(own[0]).exists():
        return examples, list(map(as_learned, own))
    return examples, [as_learned(augmented)] * networks


def direction_of(examples: Sequence[Example]) -> str:
    """Returns the direction in which word forms are given; of other examples it makes no difference."""
    return INFLECTION if are_inflections(examples) else ANALYSIS


def _check_mixture(augmented: str | None, p_aug: float | None) -> None:
    if p_aug is None:
        return
    if augmented is None:
        raise RecombineError("--p-aug says how often new examples are seen.", hint="Give them with --augmented.")
    if not 0 <= p_aug < 1:
        raise RecombineError(f"--p-aug is {p_aug:g}, expected at least 0 and less than 1.")
