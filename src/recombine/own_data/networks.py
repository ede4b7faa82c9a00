"""What "auto" stands for in networks: their size, how they generalise, how long they train, and the best predictor."""

import hashlib
import json
import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from recombine.augmentation.frames import FrameAndSpan
from recombine.augmentation.resample import PAIRS
from recombine.data.output import replacing
from recombine.data.vocabulary import Vocabulary
from recombine.errors import unknown
from recombine.example import Example
from recombine.execution.progress import Say
from recombine.inflection import are_inflections, are_word_forms
from recombine.models.device import resolve
from recombine.own_data.choices import Choice
from recombine.prediction.predictor import Predictor
from recombine.training import presets
from recombine.training.corpus import encoded
from recombine.training.fitted import History
from recombine.training.recipe import Recipe
from recombine.training.renaming import Twins

SMALL, PAPER = SIZES = ("small", "paper")
"""The sizes of networks."""

FEW = 500  # with fewer examples than that, a small network does on a GPU, too
MANY = 2000  # with at least this many examples, a predictor has larger batches and less dropout

ENOUGH = 1 / 8
"""A predictor stops when its rate is down to this share, halved each time held-out accuracy no longer rose."""

FALLS_TO = 0.1
"""What the rate of a predictor that is not averaged falls to: where it stays, what is known changes to the end."""

AVERAGED = 500  # over how many steps the parameters of predictors are averaged
TWIN_NAMES = 8  # how many pairs of names twins go by, as in the row of Table 1

GENERATOR_STEPS, PREDICTOR_STEPS = 10_000, 50_000
"""The most steps of training at the paper's size: a little more than the authors' code takes for SCAN."""

SMALL_STEPS = 5_000
"""The most steps of a small recombination network: 2,500 were not always enough to learn to swap parts of commands."""

FEWEST = 40  # with fewer different examples, too few could be held out to tell candidates apart: the first is taken
HELD_OUT, MOST_HELD_OUT = 0.2, 500  # the share of examples that is held out, and the most
FOLDS = 5  # how often each candidate is tried on a GPU, all at once, with other examples held out; on a CPU, once

TRIED_ON_CPU, TRIED_ON_GPU = 1 / 6, 1 / 2
"""The share of its steps that a candidate is tried for. What learns fast is not always best in the end."""

SECONDS = 120.0  # the longest that all candidates together train while they are tried; then each has to write outputs

TELLING, TELLING_IF_CUT_SHORT = 0.1, 0.5
"""If no candidate has this share right, the trials were too short to tell which will be best: the first is taken."""

OF_TIME = 0.25  # where time is bounded, at most this share of it is for the choice, and the rest for training


def size(asked: str, examples: Sequence[Example], device: str = "auto") -> Choice[str]:
    """Returns the size of networks that a user asked for.

    For ``"auto"``, it is the paper's size where there are a GPU and data for it, else small.
    """
    if asked in SIZES:
        return Choice(asked, asked, "as was asked for")
    if asked != "auto":
        raise unknown("size", asked, ("auto", *SIZES))
    # What is named may be another machine's.
    if not (str(resolve(device)) if device == "auto" else device).startswith("cuda"):
        return Choice(SMALL, SMALL, "they are trained on a CPU")
    count = len(dict.fromkeys(examples))
    if count < FEW:
        return Choice(SMALL, SMALL, f"there are only {count:,} different examples")
    return Choice(PAPER, PAPER, f"there are a GPU and {count:,} different examples")


def generator(
    examples: Sequence[Example], size: str, *, rare: str = "tokens", prototypes: int = 2, rule: str = ""
) -> Choice[Recipe]:
    """Chooses a recombination network.

    Word forms have a network that copies through gates, as in the paper. Frames and spans have one that knows how far
    it is in its prototypes. Else what the data lack decides: uses of single tokens call for stand-ins, pairs of tokens
    for twins, if there are any (docs/method.md describes both). `rare` is the kind of what is rare; see `find_rare`.
    """
    if are_inflections(examples):
        recipe = _sized(size, small=presets.SMALL_WORD_FORM_GENERATOR, paper=presets.WORD_FORM_GENERATOR)
        return Choice("gated copying", recipe, "word forms")
    small = replace(presets.SMALL_GENERATOR, max_steps=SMALL_STEPS)
    recipe = _sized(size, small=small, paper=presets.SCAN_GENERATOR)
    network = recipe.network
    if prototypes < 2:
        return Choice("plain", recipe, "of one prototype, nothing is lacking that another could supply")
    if rule == FrameAndSpan.name:
        recipe = presets.SMALL_SPANS_GENERATOR if size == SMALL else presets.SPANS_GENERATOR
        return Choice("stand-ins, relative positions", recipe, "a sample runs along its frame but for the span")
    twins = 0
    if rare == PAIRS:
        vocabulary = Vocabulary.of(examples)
        table = encoded([example.d for example in examples], vocabulary, torch.device("cpu"))
        twins = len(Twins.of(table, len(vocabulary), TWIN_NAMES).pairs)
    if twins:
        network = replace(network, hide_shared_tokens=True, write_seen_only=False)
        recipe = replace(recipe, network=network, twins=TWIN_NAMES, stand_ins=0.0)
        return Choice("twins", recipe, f"pairs of tokens are missing, and {twins} tokens have a twin in the output")
    recipe = replace(recipe, network=replace(network, write_seen_only=True), stand_ins=0.5)
    return Choice("stand-ins", recipe, "tokens that are seen in few examples must be used as others are")


def predictors(examples: Sequence[Example], size: str) -> dict[str, Recipe]:
    """Returns the predictors of a size that `choose_predictor` has to choose from, the most promising ones first.

    Word forms have the paper's predictor, for which copying is penalized. What has some tokens in common on both sides
    may be copied, or not. Few examples have smaller batches than many, and may have more dropout.
    """
    if are_word_forms(examples):
        recipe = _sized(size, small=presets.SMALL_WORD_FORM_PREDICTOR, paper=presets.WORD_FORM_PREDICTOR)
        recipe = replace(recipe, held_out=0.05, patience=3, stop_at_lr=ENOUGH)
        return {"penalized copying": recipe, "copying, with dropout": _varied(recipe, copying="joint", dropout=0.3)}
    plain = replace(_sized(size, small=presets.SMALL_PREDICTOR, paper=presets.SCAN_PREDICTOR), stop_at_lr=ENOUGH)
    copies = any(token in example.x for example in examples for token in example.y)
    if len(dict.fromkeys(examples)) < MANY:
        strong = presets.SMALL_DATA_PREDICTOR if size == SMALL else presets.SMALL_DATA_GPU_PREDICTOR
        light = _varied(strong, dropout=0.2, state_dropout=0.0)
        found = {"no copying, little dropout": light, "no copying, much dropout": strong}
        if copies:
            ways = {"copying, much dropout": strong, "copying, little dropout": light}
            found = {name: _varied(recipe, copying="joint") for name, recipe in ways.items()} | found
        return found
    if not copies:
        return {"no copying": replace(plain, falls_to=FALLS_TO)}
    recipe = replace(plain, patience=3, averaging=AVERAGED) if size == SMALL else presets.LARGE_DATA_GPU_PREDICTOR
    return {"copying": _varied(recipe, copying="joint"), "no copying": recipe}


def _varied(recipe: Recipe, **network: Any) -> Recipe:  # noqa: ANN401
    """Returns a recipe whose network differs in some settings, and whose parameters are averaged."""
    return replace(recipe, network=replace(recipe.network, **network), averaging=AVERAGED)


def length(
    recipe: Recipe, *, most: int | None = None, epochs: int | None = None, max_time: float | None = None
) -> Choice[Recipe]:
    """Chooses how long a network trains: the epochs of its recipe, within bounds, for data of any size.

    What goes by the names of twins is learned late, so with twins the least is twice as much. A recipe without a bound
    of its own has the `most` steps; None: it is a user's, and stays as it is. Users may ask for epochs instead, and
    bound the time, in seconds.
    """
    if epochs is not None:
        recipe = replace(recipe, epochs=epochs, min_steps=0, max_steps=None)
    elif most is not None:
        least = recipe.min_steps * (2 if recipe.twins else 1)
        recipe = replace(recipe, min_steps=least, max_steps=recipe.max_steps or most)
    if max_time is not None:
        recipe = replace(recipe, max_time=max_time)
    recipe.check()
    name, reason = f"{recipe.epochs:,} epochs", "as given"
    if epochs is None and most is not None:
        name = f"{recipe.min_steps:,} to {recipe.max_steps:,} steps"
        reason = f"{recipe.epochs} epochs, or as many as small data need, or as few as large data leave time for"
    limit = "" if max_time is None else f", but not beyond max_time={max_time:g}"
    return Choice(name, recipe, f"{reason}{limit}")


def taken_length(length: Choice[Recipe], history: History) -> Choice[Recipe]:
    """Returns how long a network was to train, and whether the bound on time ended it."""
    stopped = f"; max_time stopped it after {len(history.loss):,} epochs" if history.stopped_early else ""
    return replace(length, reason=f"{length.reason}{stopped}")


def _sized(size: str, *, small: Recipe, paper: Recipe) -> Recipe:
    # The paper's recipes count epochs only, and an epoch of few data is a few steps.
    return small if size == SMALL else replace(paper, min_steps=max(paper.min_steps, small.min_steps))


def choose_predictor(
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
    test a network harder, as new inputs will. The seed decides what is held out. The file `kept`, if there is to be
    one, keeps the outcome, so that an interrupted run need not choose again.
    """
    distinct = list(dict.fromkeys(examples))
    first = next(iter(candidates))
    if len(candidates) == 1:
        return Choice(first, candidates[first], "the only candidate for such data")
    if len(distinct) < FEWEST:
        return Choice(first, candidates[first], f"{len(distinct)} different examples are too few to choose by")
    limit = SECONDS
    given = candidates[first].max_time
    if given is not None:
        limit = min(limit, OF_TIME * given)
        candidates = {name: replace(each, max_time=given - limit) for name, each in candidates.items()}
    recipes = {name: asdict(recipe) for name, recipe in candidates.items()}
    what = [recipes, [(example.x, example.y) for example in distinct], seed, str(resolve(device))]
    run = hashlib.sha256(json.dumps(what).encode()).hexdigest()
    trial = _kept_trial(kept, run)
    if trial is None:
        say(f"Choosing among {len(candidates)} networks on held-out training examples: about {limit:.0f} s at most.")
        began = time.perf_counter()
        folds, share = (FOLDS, TRIED_ON_GPU) if resolve(device).type == "cuda" else (1, TRIED_ON_CPU)
        parts = _folds(distinct, folds, seed)
        held_out, accuracy, cut_short = len(parts) * len(parts[0][1]), [], False
        unstopped: dict[str, Any] = {"held_out": 0.0, "patience": 0, "stop_at_lr": 0.0, "decay_at": 0}
        for name, recipe in candidates.items():
            steps = max(1, int(share * recipe.duration(len(parts[0][0])).steps))
            short = replace(recipe, **unstopped, own_epochs=False, max_steps=steps, max_time=limit / len(candidates))
            right, stopped = _tried(short, parts, seed, device)
            accuracy.append(right)
            cut_short |= stopped
            say(f"Tried {name}: {right:.2f} of {held_out:,} held-out examples are right.")
        trial = _Trial(held_out, time.perf_counter() - began, cut_short, accuracy)
        if kept is not None:
            with replacing(kept, force=True) as stream:
                stream.write(json.dumps({"run": run, "trial": trial}).encode())
    best = trial.best
    name = list(candidates)[best or 0]
    each = ", ".join(f"{name} {value:.2f}" for name, value in zip(candidates, trial.accuracy, strict=True))
    # Seconds are told, but not stored: the same seed is to give the same bytes.
    say(f"Chosen in {trial.seconds:.0f} s: {name}.")
    cut = ", not to the end for want of time" if trial.cut_short else ""
    reason = f"{len(candidates)} were tried on {trial.held_out:,} held-out examples{cut}: {each}"
    if best is None:
        reason += "; too short to tell, so it is the one that is usually best"
    return Choice(name, candidates[name], reason)


class _Trial(NamedTuple):
    """What came of trying candidates: on how many held-out examples, in which time, and how good each was."""

    held_out: int
    seconds: float
    cut_short: bool
    accuracy: list[float]

    @property
    def best(self) -> int | None:
        """The place of the first candidate that is as good as the best, within a standard error.

        None if the trials were too short to tell anything: what starts fastest need not end best.
        """
        most = max(self.accuracy)
        if most < (TELLING_IF_CUT_SHORT if self.cut_short else TELLING):
            return None
        least = most - math.sqrt(most * (1 - most) / self.held_out)
        return next(place for place, accuracy in enumerate(self.accuracy) if accuracy >= least)


def _kept_trial(kept: Path | None, run: str) -> _Trial | None:
    """Returns what was kept of the same choice, if anything was; what cannot be read is tried again."""
    try:
        document = json.loads(kept.read_bytes()) if kept is not None else {}
        return _Trial(*document["trial"]) if document.get("run") == run else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


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
        copied = set(example.x)
        # A space, which is no token, stands for all that is in the input, too.
        groups[tuple(" " if token in copied else token for token in example.y)].append(number)
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
