"""The predictor for one's own data: strings or tokens in, strings or tokens out."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, Literal, Self, overload

from recombine.augmentation.drawing import check_request, distinct_examples, unfitted
from recombine.data.text import Line, join, split
from recombine.data.untrusted import fitting
from recombine.data.vocabulary import Vocabulary
from recombine.errors import RecombineError, unknown
from recombine.example import Example, Tokens
from recombine.inflection import (
    ANALYSIS,
    DIRECTIONS,
    are_of_word_forms,
    are_word_forms,
    directed,
    join_text,
    split_text,
)
from recombine.own_data import choosing, networks
from recombine.own_data.accounts import Account
from recombine.own_data.choices import Choice, mixing_rate
from recombine.own_data.inputs import Column, Data, Side, as_column, as_examples, as_tokens, holds_strings
from recombine.own_data.settings import CHOICES, Settings, choices_as_json, choices_from_json
from recombine.own_data.validators import check_function
from recombine.prediction import predictor
from recombine.training.loop import Report
from recombine.training.recipe import Recipe
from recombine.training.stored import DIRECTION, TOKENS, direction_of, kind_of_tokens

NAMED = 10
"""How many unseen tokens a warning names."""


@dataclass(frozen=True, slots=True)
class _Text:
    """How strings are read and written."""

    split: Callable[[str], Tokens]
    join: Callable[[Tokens], str]


@dataclass(eq=False, kw_only=True)
class Predictor(Settings):
    """Learns to write the output for an input, from training examples and perhaps new ones.

    For word forms, in either order, the form is the input, and lemma and tags are the output;
    ``direction="inflection"`` turns this round.

    Attributes:
        seed: Same seed, same predictor, on the same kind of machine, if time did not cut anything short.
        network: ``"small"``, ``"paper"``, or a recipe; ``"auto"``: chosen from the data. Unless it is a recipe, some
            networks of that size are tried on held-out training examples, for about two minutes.
        epochs: How many passes over the data; None: chosen.
        max_time: Seconds of choosing and training at most; None: no bound.
        tokens: What a token of a string is: ``"words"`` or ``"characters"``.
        direction: What is learned of word forms: ``"analysis"`` or ``"inflection"``.
        device: ``auto``, ``cpu`` or ``cuda``.
        progress: Is told, after every epoch, how training goes.
        report_: What was chosen from the data, and why: ``report_.choices``.
    """

    seed: int = 0
    network: Literal["auto", "small", "paper"] | Recipe = "auto"
    epochs: int | None = None
    max_time: float | None = None
    tokens: str = "words"
    direction: str = ANALYSIS
    device: str = "auto"
    progress: Report | None = None
    report_: Account | None = field(default=None, init=False, repr=False)
    _fitted: predictor.Predictor | None = field(default=None, init=False, repr=False)

    def fit(self, train: Data, new: Data = (), p_aug: float | None = None) -> Self:
        """Learns from training examples and, mixed in, new ones.

        A column of strings holds no examples. So if one of the two is such a column, they are taken for inputs and
        outputs, which is how scikit-learn calls it: ``fit(X, y)``. Columns of token sequences could be pairs: of them,
        give ``zip(X, y)``.

        Args:
            train: Examples, pairs, a data frame or a data set (see ``inputs.Data``); or a column of inputs.
            new: New examples, e.g. an augmenter's samples; or, beside a column of inputs, that of the outputs.
            p_aug: The probability that a training example is a new one; None: chosen by how many there are.

        Raises:
            RecombineError: If there is nothing to learn from, or p_aug is no probability below 1 or there is nothing
                new that it could be of.
        """
        check_function("progress", self.progress)
        check_request(1, self.seed)
        if p_aug is not None and not isinstance(p_aug, Real):
            raise RecombineError(f"p_aug is {p_aug!r}, expected a number, at least 0 and less than 1.")
        are_columns = holds_strings(new) or (holds_strings(train) and not _is_nothing(new))
        outputs, new = (new, ()) if are_columns else (None, new)
        given = as_examples(train, outputs, tokens=self.tokens)
        augmented = as_examples(new, tokens=self.tokens)
        if self.direction not in DIRECTIONS:
            raise unknown("direction", str(self.direction), DIRECTIONS)
        if are_word_forms(given):
            given, augmented = directed(given, self.direction), directed(augmented, self.direction)
        examples = distinct_examples(given, least=1, who="a Predictor")
        if p_aug is not None and not augmented:
            raise RecombineError(f"p_aug is {p_aug}, but there are no new examples.", hint="Give some, or no p_aug.")
        made = self._choices(examples)
        if augmented:
            chosen = mixing_rate(len(examples), len(augmented))
            made["p_aug"] = chosen if p_aug is None else Choice(f"{p_aug:g}", p_aug, "as given")
            p_aug = made["p_aug"].value
        found = predictor.Predictor(made["length"].value, seeds=(self.seed,), device=self.device)
        self._fitted = found.fit(examples, augmented, p_aug=p_aug, report=self.progress)
        made["length"] = networks.taken_length(made["length"], found.fitted_.history)
        self.report_ = Account(len(examples), made)
        return self

    def _choices(self, examples: Sequence[Example]) -> dict[str, Choice[Any]]:
        if isinstance(self.network, Recipe):
            made: dict[str, Choice[Any]] = {**networks.given(self.network)}
        else:
            size = networks.asked_or_chosen(self.network, examples, self.device)
            chosen = choosing.predictor(
                examples, size.value, epochs=self.epochs, max_time=self.max_time, seed=self.seed, device=self.device
            )
            return {"size": size, **chosen}
        made["length"] = networks.asked_length(made["length"], epochs=self.epochs, max_time=self.max_time)
        return made

    @overload
    def predict(self, inputs: str) -> str: ...
    @overload
    def predict(self, inputs: Tokens) -> Tokens: ...
    @overload
    def predict(self, inputs: Iterable[Side]) -> list[Side]: ...
    def predict(self, inputs: str | Iterable[Side]) -> Side | list[Side]:
        """Returns the output for an input, or the outputs for several; a warning names tokens never seen in training.

        Args:
            inputs: A string, for which the output is a string; a tuple of tokens, for which it is a tuple; or several
                of them in a list, a column or an array, for which it is a list. Of examples, the inputs count. A word
                form is a string such as ``geldi``, its analysis one such as ``gel [V] [PST]``.

        Raises:
            RecombineError: If it was not fitted, or an input is none.
        """
        if not isinstance(inputs, Iterable):
            raise RecombineError(f"{inputs!r} is no input.", hint="Give a string, a tuple of tokens, or several.")
        is_one = isinstance(inputs, str | tuple)
        sides = [inputs] if is_one else [x.x if isinstance(x, Example) else x for x in as_column(inputs)]
        text = self._text([x for x in sides if isinstance(x, str)])
        tokens = [text.split(x) if isinstance(x, str) else x for x in sides]
        outputs = self._outputs([as_tokens(x, line=Line("", "inputs", i)) for i, x in enumerate(tokens, start=1)])
        found = [text.join(y) if isinstance(x, str) else y for x, y in zip(sides, outputs, strict=True)]
        return found[0] if is_one else found

    def _text(self, strings: Sequence[str]) -> _Text:
        """Returns how strings are read and written: as in training, also if that saw tokens and no strings."""
        known = self._known.tokens
        if are_of_word_forms(known):
            return _Text(split_text, join_text)
        # Where all tokens are characters, strings are read so, unless they have them between spaces.
        spaced = " " not in known and (any(" " in x for x in strings) or all(len(x) < 2 for x in strings))
        kind = self.tokens if spaced or max(map(len, known)) > 1 else "characters"
        return _Text(partial(split, tokens=kind), partial(join, tokens=kind))

    @property
    def _known(self) -> Vocabulary:
        vocabulary = self._require_fitted().vocabulary_
        assert vocabulary is not None
        return vocabulary

    def score(self, test: Data, outputs: Column | None = None) -> float:
        """Returns the share of test examples whose output is predicted exactly; it warns as ``predict`` does.

        Args:
            test: Examples, pairs, a data frame or a data set; or a column of inputs.
            outputs: The outputs, if the test data are the inputs only.

        Raises:
            RecombineError: If it was not fitted, or there is nothing to score.
        """
        examples = as_examples(test, outputs, tokens=self.tokens)
        if are_of_word_forms(self._known.tokens):
            examples = directed(examples, self.direction)
        if not examples:
            raise RecombineError("there is nothing to score; expected at least one example.")
        outputs = self._outputs([example.x for example in examples])
        return sum(y == example.y for y, example in zip(outputs, examples, strict=True)) / len(examples)

    def _outputs(self, inputs: Sequence[Tokens]) -> list[Tokens]:
        found = self._require_fitted()
        if unseen := self._known.unseen(Example(x, ()) for x in inputs):
            more = f" and {len(unseen) - NAMED:,} more" if len(unseen) > NAMED else ""
            tokens = f"{len(unseen):,} ({', '.join(unseen[:NAMED])}{more})"
            # The third frame is that of whoever called predict or score.
            warnings.warn(f"Tokens never seen in training: {tokens}.", RuntimeWarning, stacklevel=3)
        return [prediction.y for prediction in found.predict(inputs)[0]] if inputs else []

    def _require_fitted(self) -> predictor.Predictor:
        if self._fitted is None:
            raise unfitted("Predictor")
        return self._fitted

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the network to a folder, from which ``recombine predict`` can predict, too.

        Args:
            path: The folder.
            force: Whether a model that is there may be replaced.
        """
        fitted = self._require_fitted()
        assert self.report_ is not None
        fitted.notes = {TOKENS: self.tokens, CHOICES: choices_as_json(self.report_.choices)}
        if are_of_word_forms(self._known.tokens):
            fitted.notes |= {DIRECTION: self.direction}
        fitted.save(path, force=force)

    @classmethod
    def load(cls, path: str | Path, *, tokens: str | None = None, device: str = "auto") -> Self:
        """Reads what ``save`` or ``recombine train`` wrote; of several networks, the first predicts.

        Args:
            path: The folder.
            tokens: What a token of a string is, if it is not to be what it was in training.
            device: ``auto``, ``cpu`` or ``cuda``.
        """
        found = predictor.Predictor.load(path, device=device)
        kind = tokens or kind_of_tokens(found.notes) or cls.tokens
        loaded = cls(seed=found.seeds[0], network=found.recipe, tokens=kind, device=device)
        loaded.direction = direction_of(found.notes) or cls.direction
        with fitting(Path(path)):
            known = {"network": found.recipe, "length": found.recipe}
            loaded.report_ = Account(None, choices_from_json(found.notes.get(CHOICES, {}), known))
        loaded._fitted = found
        return loaded


def _is_nothing(new: Data) -> bool:
    return isinstance(new, list | tuple) and not new
