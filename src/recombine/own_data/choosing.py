"""Chooses a predictor from training data alone: candidates are tried on examples that are held out in groups."""

import hashlib
import json
import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recombine.data.output import replacing
from recombine.example import Example, Tokens
from recombine.experiment import Say
from recombine.models.device import resolve
from recombine.own_data import networks
from recombine.own_data.choices import Choice
from recombine.prediction.predictor import Predictor
from recombine.training.recipe import Recipe

FEWEST = 40
"""With fewer different examples, too few could be held out to tell candidates apart: the first is taken."""

HELD_OUT, MOST_HELD_OUT = 0.2, 500
"""The share of examples that is held out, and the most."""

FOLDS = 5
"""On a GPU each candidate is tried so many times at once, with other examples held out; on a CPU once."""

TRIED_ON_CPU, TRIED_ON_GPU = 1 / 6, 1 / 2
"""The share of its steps that a candidate is tried for. What learns fast is not always best in the end."""

SECONDS = 120.0
"""All candidates together train for so long at most while they are tried; then each has to write outputs."""

TELLING, TELLING_IF_CUT_SHORT = 0.1, 0.5
"""Where no candidate has so many right, the trials were too short to tell which will be best: the first is taken."""

OF_TIME = 0.25
"""Where time is bounded, at most this share of it is for the choice, and the rest for training."""


def predictor(
    examples: Sequence[Example],
    size: str,
    *,
    epochs: int | None = None,
    max_time: float | None = None,
    seed: int = 0,
    device: str = "auto",
    say: Say = lambda _: None,
    kept: Path | None = None,
) -> dict[str, Choice[Recipe]]:
    """Chooses a predictor and how long it trains: the choices ``network`` and ``length``.

    Args:
        examples: The training examples, as predictors see them.
        size: One of ``networks.SIZES``.
        epochs: Passes over the data; None: chosen.
        max_time: Seconds for choosing and training together; None: no bound.
        seed: See ``choose``, as for the settings below.
        device: Where networks are trained.
        say: Is told what is tried and chosen.
        kept: A file to keep the outcome in.
    """
    lengths = {
        name: networks.asked_length(
            networks.length(recipe, most=networks.PREDICTOR_STEPS), epochs=epochs, max_time=max_time
        )
        for name, recipe in networks.predictors(examples, size).items()
    }
    candidates = {name: length.value for name, length in lengths.items()}
    found = choose(candidates, examples, seed=seed, device=device, say=say, kept=kept)
    return {"network": found, "length": replace(lengths[found.name], value=found.value)}


def choose(
    candidates: Mapping[str, Recipe],
    examples: Sequence[Example],
    *,
    seed: int = 0,
    device: str = "auto",
    say: Say = lambda _: None,
    kept: Path | None = None,
) -> Choice[Recipe]:
    """Returns the first candidate that is as good as the best, within a standard error; the first if none is good.

    Examples whose outputs differ only in what is copied from the input are held out together: outputs of a new shape
    test a network harder, as new inputs will.

    Args:
        candidates: How a predictor might be built and trained, by name; the most promising ones first.
        examples: The training examples.
        seed: Decides what is held out.
        device: Where networks are trained.
        say: Is told how long the choice may take, and what came of it.
        kept: A file to keep the outcome in, so that an interrupted run need not choose again.
    """
    distinct = list(dict.fromkeys(examples))
    first = next(iter(candidates))
    if len(candidates) == 1:
        return Choice(first, candidates[first], "the only candidate for such data")
    if len(distinct) < FEWEST:
        return Choice(first, candidates[first], f"{len(distinct)} different examples are too few to choose by")
    limit = SECONDS
    given = next(iter(candidates.values())).max_time
    if given is not None:
        limit = min(limit, OF_TIME * given)
        candidates = {name: replace(each, max_time=given - limit) for name, each in candidates.items()}
    run = _digest(candidates, distinct, seed, device)
    trial = _read(kept, run)
    if trial is None:
        say(f"Choosing among {len(candidates)} networks on held-out training examples: about {limit:.0f} s at most.")
        began = time.perf_counter()
        folds, share = (FOLDS, TRIED_ON_GPU) if resolve(device).type == "cuda" else (1, TRIED_ON_CPU)
        parts = _folds(distinct, folds, seed)
        held_out, accuracy, cut_short = len(parts) * len(parts[0][1]), [], False
        for name, recipe in candidates.items():
            short = _short(recipe, len(parts[0][0]), share, limit / len(candidates))
            right, stopped = _tried(short, parts, seed, device)
            accuracy.append(right)
            cut_short |= stopped
            say(f"Tried {name}: {right:.2f} of {held_out:,} held-out examples are right.")
        trial = _Trial(held_out, time.perf_counter() - began, cut_short, accuracy)
        _write(kept, run, trial)
    name = list(candidates)[trial.best]
    each = ", ".join(f"{name} {value:.2f}" for name, value in zip(candidates, trial.accuracy, strict=True))
    # Seconds are told, but not stored: the same seed is to give the same bytes.
    say(f"Chosen in {trial.seconds:.0f} s: {name}.")
    cut = ", not to the end for want of time" if trial.cut_short else ""
    reason = f"{len(candidates)} were tried on {trial.held_out:,} held-out examples{cut}: {each}"
    if not trial.tells:
        reason += "; too short to tell, so it is the one that is usually best"
    return Choice(name, candidates[name], reason)


class _Trial(NamedTuple):
    """What came of trying candidates: on how many held-out examples, in which time, and how good each was."""

    held_out: int
    seconds: float
    cut_short: bool
    accuracy: list[float]

    @property
    def best(self) -> int:
        """The place of the first candidate that is as good as the best, within a standard error."""
        most = max(self.accuracy)
        least = most - math.sqrt(most * (1 - most) / self.held_out)
        return next(place for place, accuracy in enumerate(self.accuracy) if accuracy >= least) if self.tells else 0

    @property
    def tells(self) -> bool:
        """Whether the trials were long enough to tell anything: what starts fastest need not end best."""
        return max(self.accuracy) >= (TELLING_IF_CUT_SHORT if self.cut_short else TELLING)


def _short(recipe: Recipe, rows: int, share: float, seconds: float) -> Recipe:
    """Returns a recipe with a share of the steps that it has for so many rows, whose rate stays as it is."""
    steps = max(1, int(share * recipe.duration(rows).steps))
    return replace(
        recipe,
        held_out=0.0,
        max_steps=steps,
        patience=0,
        stop_at_lr=0.0,
        decay_at=0,
        own_epochs=False,
        max_time=seconds,
    )


def _tried(
    recipe: Recipe, parts: Sequence[tuple[list[Example], list[Example]]], seed: int, device: str
) -> tuple[float, bool]:
    """Returns the share of held-out examples that a candidate gets right, and whether time ended its training."""
    predictor = Predictor(recipe, seeds=range(seed, seed + len(parts)), device=device)
    predictor.fit_each([train for train, _ in parts], [()] * len(parts))
    found = predictor.predict_each([[example.x for example in held] for _, held in parts])
    right = [
        guess.y == example.y
        for guesses, (_, held) in zip(found, parts, strict=True)
        for guess, example in zip(guesses, held, strict=True)
    ]
    return sum(right) / len(right), predictor.fitted_.history.stopped_early


def _folds(examples: Sequence[Example], folds: int, seed: int) -> list[tuple[list[Example], list[Example]]]:
    """Returns what to train on and what to judge by, as many examples for all, a fold of whole groups at a time."""
    wanted = min(MOST_HELD_OUT, int(HELD_OUT * len(examples)))
    groups = defaultdict(list)
    for number, example in enumerate(examples):
        groups[_but_for_copies(example)].append(number)
    parts = [group for group in groups.values() if len(group) <= wanted / 2]
    # Where hardly any outputs differ, examples are held out one by one.
    if sum(map(len, parts)) < 2 * wanted:
        parts = [[number] for number in range(len(examples))]
    random = np.random.default_rng([5, seed])
    found = []
    for _ in range(folds):
        held: set[int] = set()
        for place in random.permutation(len(parts)):
            if len(held) + len(parts[place]) <= wanted:
                held.update(parts[place])
        train = [example for number, example in enumerate(examples) if number not in held]
        found.append((train, [examples[number] for number in sorted(held)]))
    least = min(len(held) for _, held in found)
    return [(train, held[:least]) for train, held in found]


def _but_for_copies(example: Example) -> Tokens:
    """Returns an output in which a space, which is no token, stands for all that is in the input, too."""
    copied = set(example.x)
    return tuple(" " if token in copied else token for token in example.y)


def _digest(candidates: Mapping[str, Recipe], examples: Sequence[Example], seed: int, device: str) -> str:
    recipes = {name: asdict(recipe) for name, recipe in candidates.items()}
    what = [recipes, [(example.x, example.y) for example in examples], seed, str(resolve(device))]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def _read(kept: Path | None, run: str) -> _Trial | None:
    """Returns what was kept of the same choice, if anything was; what cannot be read is tried again."""
    try:
        document = json.loads(kept.read_bytes()) if kept is not None else {}
        return _Trial(*document["trial"]) if document.get("run") == run else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _write(kept: Path | None, run: str, trial: _Trial) -> None:
    if kept is not None:
        with replacing(kept, force=True) as stream:
            stream.write(json.dumps({"run": run, "trial": trial}).encode())
