"""The predictor for one's own data: strings or tokens in, strings or tokens out."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import Any, Self, overload

from recombine.augmentation.protocol import check_request, distinct_examples, unfitted
from recombine.data.text import Line, join, split
from recombine.data.untrusted import fitting
from recombine.data.vocabulary import ONLY_IN_OUTPUTS, Vocabulary, only_in_outputs, told_unseen
from recombine.errors import RecombineError, unknown
from recombine.example import Example, Tokens
from recombine.execution.progress import Report
from recombine.inflection import (
    ANALYSIS,
    DIRECTIONS,
    are_of_word_forms,
    are_word_forms,
    directed,
    join_text,
    split_text,
)
from recombine.own_data import networks
from recombine.own_data.choices import Choice, mixing_rate, tokens_chosen
from recombine.own_data.inputs import Column, Data, Side, as_column, as_examples, as_tokens
from recombine.own_data.settings import (
    CHOICES,
    Account,
    Display,
    Settings,
    choice_beside,
    choices_from_json,
    shown,
    training,
)
from recombine.prediction import predictor
from recombine.training.recipe import Recipe
from recombine.training.stored import DIRECTION, TOKENS, direction_of, kind_of_tokens


@dataclass(eq=False, kw_only=True)
class Predictor(Settings):
    """Learns to write the output for an input, from training examples and perhaps new ones.

    For word forms, in either order, the form is the input, and lemma and tags are the output;
    ``direction="inflection"`` turns this round.

    Attributes:
        seed: The same seed gives the same predictor on the same kind of machine, if time did not cut anything short,
            and ``max_time`` did not make its rate fall sooner.
        seeds: How many networks to train together, with the seeds ``seed``, ``seed + 1`` and so on; or their seeds.
            The first predicts; ``networks_`` has all.
        network: ``"small"``, ``"paper"``, or a recipe; ``"auto"``: chosen from the data. Unless it is a recipe, some
            networks of that size are tried on held-out training examples, for about two minutes.
        epochs: How many passes over the data; default: chosen.
        max_time: Seconds of choosing and training at most; default: no bound.
        tokens: What a token of a string is: ``"words"``, ``"characters"`` or ``"code"`` (words, numbers and marks);
            default: as in the file that ``read`` gave; else code where that suits the examples, or words.
        direction: What is learned of word forms: ``"analysis"`` or ``"inflection"``.
        device: ``auto``, ``cpu`` or ``cuda``.
        progress: Shows how work goes; a function is told, after every epoch, how training goes. None: shown to people
            at a terminal or notebook; False: not shown.
        report_: What was chosen from the data, and why (``report_.choices``), and how training went.
        tokens_: What a token of a string was in training.
    """

    seed: int = 0
    seeds: int | Sequence[int] = 1
    network: str | Recipe = "auto"
    epochs: int | None = None
    max_time: float | None = None
    tokens: str | None = None
    direction: str = ANALYSIS
    device: str = "auto"
    progress: Report | Display | bool | None = None
    report_: Account | None = field(default=None, init=False, repr=False)
    tokens_: str = field(default="words", init=False, repr=False)
    _fitted: predictor.Predictor | None = field(default=None, init=False, repr=False)

    def fit(
        self,
        X: Data,
        y: Column | None = None,
        *,
        augmented: Data = (),
        augmented_each: Sequence[Data] | None = None,
        p_aug: float | None = None,
        checkpoint: Path | None = None,
    ) -> Self:
        """Learns from training examples and, mixed in, new ones.

        Args:
            X: Examples, pairs, a data frame or a data set (see ``inputs.Data``); or the inputs.
            y: The outputs, if X are the inputs.
            augmented: New examples, e.g. an augmenter's samples.
            augmented_each: New examples of each network's own, instead.
            p_aug: The probability that a training example is a new one; default: chosen by how many there are.
            checkpoint: A file to save the state of training to now and then, and to go on from.
        """
        display = shown(self.progress)
        check_request(1, self.seed)
        if p_aug is not None and not isinstance(p_aug, Real):
            raise RecombineError(f"p_aug is {p_aug!r}, expected a number, at least 0 and less than 1.")
        if isinstance(y, Sequence) and isinstance(next(iter(y), None), Example):
            raise RecombineError("y holds examples, expected outputs.", hint="Give new examples as `augmented`.")
        if self.direction not in DIRECTIONS:
            raise unknown("direction", str(self.direction), DIRECTIONS)
        read = as_examples(X, y, tokens=self.tokens)
        given: list[Example] = read
        kind = read.tokens
        seeds = range(self.seed, self.seed + self.seeds) if isinstance(self.seeds, int) else self.seeds
        if augmented_each is None:
            new: list[list[Example]] = [as_examples(augmented, tokens=kind)] * len(seeds)
        else:
            new = [as_examples(own, tokens=kind) for own in augmented_each]
        if are_word_forms(given):
            given, new = directed(given, self.direction), [directed(own, self.direction) for own in new]
        examples = distinct_examples(given, least=1, who="a Predictor")
        if p_aug is not None and not any(new):
            raise RecombineError(f"p_aug is {p_aug}, but there are no new examples.", hint="Give some, or no p_aug.")
        made = ({} if self.tokens else tokens_chosen(given, kind)) | self._choices(examples, checkpoint)
        asked = None if p_aug is None else Choice(f"{p_aug:g}", p_aug, "as given")
        rates = [(asked or mixing_rate(len(examples), len(own))) if own else None for own in new]
        if any(new):
            made["p_aug"] = next(filter(None, rates))
        found = predictor.Predictor(made["length"].value, seeds=seeds, device=self.device)
        found.notes = {ONLY_IN_OUTPUTS: only_in_outputs([*examples, *chain.from_iterable(new)])}
        what = "the predictor" if len(seeds) == 1 else f"{len(seeds)} predictors"
        with training(what, display, checkpoint) as report:
            p_augs = [None if rate is None else rate.value for rate in rates]
            self._fitted = found.fit_each(examples, new, p_aug=p_augs, report=report, checkpoint=checkpoint)
        made["length"] = networks.taken_length(made["length"], found.fitted_.history)
        self.report_, self.tokens_ = Account(len(examples), made, found.fitted_.history), kind
        return self

    def _choices(self, examples: Sequence[Example], checkpoint: Path | None) -> dict[str, Choice[Any]]:
        bounds: dict[str, Any] = {"epochs": self.epochs, "max_time": self.max_time}
        if isinstance(self.network, Recipe):
            network = Choice("your own", self.network, "as given")
            return {"network": network, "length": networks.length(self.network, **bounds)}
        size = networks.size(self.network, examples, self.device)
        lengths = {
            name: networks.length(recipe, most=networks.PREDICTOR_STEPS, **bounds)
            for name, recipe in networks.predictors(examples, size.value).items()
        }
        network = networks.choose_predictor(
            {name: length.value for name, length in lengths.items()},
            examples,
            seed=self.seed,
            device=self.device,
            say=shown(self.progress).say,
            kept=checkpoint and choice_beside(checkpoint),
        )
        return {"size": size, "network": network, "length": replace(lengths[network.name], value=network.value)}

    @overload
    def predict(self, inputs: str) -> str: ...
    @overload
    def predict(self, inputs: Tokens) -> Tokens: ...
    @overload
    def predict(self, inputs: Iterable[Side]) -> list[Side]: ...
    def predict(self, inputs: str | Iterable[Side]) -> Side | list[Side]:
        """Returns the output for an input, or the outputs for several; a warning names tokens never seen in training.

        The output for a string is a string, for a tuple of tokens a tuple; for several of them in a list, a column or
        an array, it is a list. Of examples, the inputs count. A word form is a string such as ``geldi``, its analysis
        one such as ``gel [V] [PST]``.
        """
        if not isinstance(inputs, Iterable):
            raise RecombineError(f"{inputs!r} is no input.", hint="Give a string, a tuple of tokens, or several.")
        is_one = isinstance(inputs, str | tuple)
        sides = [inputs] if is_one else [x.x if isinstance(x, Example) else x for x in as_column(inputs)]
        words = self._are_word_forms
        inputs = []
        for number, side in enumerate(sides, start=1):
            if isinstance(side, str):
                side = split_text(side) if words else split(side, self._kind(side))
            inputs.append(as_tokens(side, Line("", "inputs", number)))
        found = [
            y if not isinstance(x, str) else join_text(y) if words else join(y, self._kind(x))
            for x, y in zip(sides, self._outputs(inputs), strict=True)
        ]
        return found[0] if is_one else found

    @property
    def _are_word_forms(self) -> bool:
        return are_of_word_forms(self._known.tokens)

    def _kind(self, text: str) -> str:
        """Returns what a token of a string is: as in training, also if that saw tokens and no strings.

        Where all known tokens are characters, a string without spaces is read as characters.
        """
        known = self._known.tokens
        if max(map(len, known)) > 1:
            return self.tokens_
        return "characters" if " " in known or (len(text) > 1 and " " not in text) else self.tokens_

    @property
    def _known(self) -> Vocabulary:
        vocabulary = self.networks_.vocabulary_
        assert vocabulary is not None
        return vocabulary

    def score(self, test: Data, outputs: Column | None = None) -> float:
        """Returns the share of test examples whose output is predicted exactly; it warns as ``predict`` does.

        Test examples are given as for ``fit``: all in one, or the inputs and the outputs.
        """
        examples: list[Example] = as_examples(test, outputs, tokens=self.tokens_)
        if self._are_word_forms:
            examples = directed(examples, self.direction)
        if not examples:
            raise RecombineError("there is nothing to score; expected at least one example.")
        outputs = self._outputs([example.x for example in examples])
        return sum(y == example.y for y, example in zip(outputs, examples, strict=True)) / len(examples)

    def _outputs(self, inputs: Sequence[Tokens]) -> list[Tokens]:
        found = self.networks_
        if unseen := self._known.unseen(Example(x, ()) for x in inputs):
            # The third frame is that of whoever called predict or score.
            warnings.warn(told_unseen(unseen), RuntimeWarning, stacklevel=3)
        return [prediction.y for prediction in found.predict(inputs)[0]] if inputs else []

    @property
    def networks_(self) -> predictor.Predictor:
        """The trained networks."""
        if self._fitted is None:
            raise unfitted("Predictor")
        return self._fitted

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the network to a folder, from which ``recombine predict`` can predict, too; `force` replaces one."""
        fitted = self.networks_
        assert self.report_ is not None
        # The tokens of word forms are known.
        how = {DIRECTION: self.direction} if self._are_word_forms else {TOKENS: self.tokens_}
        told = {what: [choice.name, choice.reason] for what, choice in self.report_.choices.items()}
        fitted.notes = {**fitted.notes, **how, CHOICES: told}
        fitted.save(path, force=force)

    @classmethod
    def load(cls, path: str | Path, *, tokens: str | None = None, device: str = "auto") -> Self:
        """Reads what ``save`` or ``recombine train`` wrote; of several networks, the first predicts.

        A token of a string is what it was in training, unless `tokens` says otherwise.
        """
        found = predictor.Predictor.load(path, device=device)
        kind = tokens or kind_of_tokens(found.notes) or "words"
        loaded = cls(seed=found.seeds[0], seeds=found.seeds, network=found.recipe, tokens=kind, device=device)
        loaded.direction = direction_of(found.notes) or cls.direction
        with fitting(Path(path)):
            known = {"network": found.recipe, "length": found.recipe}
            loaded.report_ = Account(None, choices_from_json(found.notes.get(CHOICES, {}), known))
        loaded._fitted, loaded.tokens_ = found, kind
        return loaded
