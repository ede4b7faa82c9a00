"""``recombine train``: predictors, from training examples and perhaps new ones."""

from pathlib import Path
from statistics import fmean

from recombine.cli import files
from recombine.cli.options import AUTO, STANDARD
from recombine.cli.printing import counted, print_json, say, say_next
from recombine.cli.training import enough_memory, on_terminal, outcome, resumable, use_threads
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.execution.terminal import explain
from recombine.inflection import ANALYSIS, INFLECTION, are_inflections, are_word_forms, directed


def train_cli(
    train: str,
    *,
    output: str,
    augmented: str | None = None,
    p_aug: float | None = None,
    direction: str | None = None,
    seed: int = 0,
    seeds: int | None = None,
    size: str | None = None,
    epochs: int | None = None,
    max_time: float | None = None,
    device: str = AUTO,
    threads: int | None = None,
    reading: files.Reading,
    force: bool = False,
    json: bool = False,
) -> None:
    """Trains predictors, which write an output for an input, on examples and perhaps new ones.

    Example:
      recombine train scan/train.tsv --augmented augmented.jsonl --p-aug 0.01 -o predictor

    Some networks are tried on held-out training examples first, for about two minutes; the best is trained until
    held-out accuracy no longer rises, or its epochs are over. Repeated examples count once. For word forms, the form is
    the input, lemma and tags are the output; with --direction inflection it is the other way round.

    While networks are trained, DIR.training holds the state: after an interruption the same command goes on.

    Options:
      augmented FILE: New examples; if there is FILE.0.jsonl, … instead of FILE.jsonl, each network gets its own.
      p_aug P: How often a training step sees a new example (default: their share, but between 0.01 and 0.2).
      max_time SECONDS: Stop training after this time.
    """
    from recombine.data.store import check_free_model
    from recombine.own_data.predictor import Predictor
    from recombine.own_data.settings import forget_state

    if p_aug is not None and augmented is None:
        raise RecombineError("--p-aug says how often new examples are seen.", hint="Give them with --augmented.")
    files.check_one_standard_input(train, augmented)
    if output == STANDARD:
        raise RecombineError("a model is a folder and cannot be standard output.", hint="Name a folder with -o.")
    check_free_model(Path(output), force=force or files.is_unfinished(output))
    reading = reading.settled(train)
    examples = reading.read_for_prediction(train, direction)
    new = read_new(augmented, examples, reading, networks=seeds or 1)
    files.check_direction(direction, examples, place=train)
    files.warn_of_strange_tokens(examples, [example for each in new for example in each])
    learned = files.say_direction(examples, otherwise=" For the other direction, give --direction inflection.")
    use_threads(threads)
    state = files.state_of_training(output)
    predictor = Predictor(
        seed=seed,
        seeds=seeds or 1,
        network=size or AUTO,
        epochs=epochs,
        max_time=max_time,
        tokens=reading.kind,
        direction=learned or ANALYSIS,
        device=device,
        progress=on_terminal(judged="held-out accuracy"),
    )
    with files.working_on(output) as goes_on:
        with enough_memory(), resumable(state):
            predictor.fit(examples, augmented_each=new, p_aug=p_aug, checkpoint=state)
        predictor.save(output, force=force or goes_on)
        forget_state(state)
    networks, told = predictor.networks_, predictor.report_
    assert told is not None
    explain(told)
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


def read_new(
    augmented: str | None, examples: list[Example], reading: files.Reading, *, networks: int
) -> list[list[Example]]:
    """Returns the new examples of each network, in the direction of the training examples.

    If there is no file of this name, each network has one of its own, with a number in its name.
    """
    if augmented is None:
        return [[]] * networks
    own = files.numbered(augmented, networks) if networks > 1 else [augmented]
    alike = Path(augmented).exists() or not Path(own[0]).exists()
    every = [reading.read(path) for path in ([augmented] if alike else own)]
    if are_word_forms(examples):  # augment writes inflections
        every = [directed(new, INFLECTION if are_inflections(examples) else ANALYSIS) for new in every]
    return every * networks if alike else every
