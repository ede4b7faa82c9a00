"""What all estimators have in common: settings, how their work is shown, and what is left of unfinished work."""

import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, fields
from glob import escape
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self, get_type_hints

from recombine.augmentation.frames import RULES
from recombine.augmentation.protocol import Samples
from recombine.augmentation.resample import Resampler
from recombine.augmentation.sampler import SamplingSettings
from recombine.data.untrusted import typed
from recombine.errors import RecombineError, unknown
from recombine.execution.executor import Executor
from recombine.execution.progress import Progress, Report, Say, no_progress
from recombine.execution.terminal import by_default
from recombine.inflection import is_tag
from recombine.neighborhoods import ALONE, Effort
from recombine.own_data.choices import Choice
from recombine.training.fitted import History
from recombine.training.recipe import Recipe
from recombine.training.stored import damaged, read_tensors

_KINDS: dict[str, Any] = {"recipe": Recipe, "sampling": SamplingSettings, **RULES}
"""Settings that are records, by the name that says in a file what they are."""

CHOICES = "choices"
"""The note that says what was chosen."""

ASIDE = ".old-"
"""Stands in the name of the state that another run left, between that of the file and a name of the run."""

_RESAMPLER, _FUNCTION = "resampler", "function"

TRAINING = "Training"
"""Begins the names of stages in which networks are trained."""


@dataclass(frozen=True, kw_only=True)
class Display:
    """Shows how work goes; by default, nothing is shown.

    Attributes:
        say: Is told in words what has been done.
        progress: Shows how far training and drawing are.
        searching: Called with what is searched for, the number of examples, and who is to search; gives, as a context,
            how the search is carried out.
    """

    say: Say = lambda _: None
    progress: Progress = no_progress
    searching: Callable[[str, int, Executor | None], AbstractContextManager[Effort]] = lambda _, __, executor: (
        nullcontext(ALONE if executor is None else Effort(executor=executor))
    )


SILENT = Display()


def check_function(name: str, value: object) -> None:
    """Raises the error for a setting that is neither a function nor None."""
    if value is not None and not callable(value):
        raise RecombineError(f"the {name} is {value!r}, expected a function or None.")


def shown(progress: Report | Display | bool | None) -> Display:
    """Returns what a user's setting of ``progress`` stands for; a function is told how training goes.

    None shows people at a terminal or notebook how far work is, and False nothing.
    """
    if isinstance(progress, Display):
        return progress
    if progress is None or isinstance(progress, bool):
        return SILENT if progress is False else Display(progress=by_default())
    check_function("progress", progress)
    return Display(progress=lambda what, *_: nullcontext(progress if what.startswith(TRAINING) else None))


@dataclass(frozen=True, slots=True, repr=False)
class Account:
    """What was done; ``print`` shows it line by line, and so does a notebook.

    Attributes:
        examples: How many different examples there were to learn from; None if unknown.
        choices: What was chosen from the data, by what it was chosen for.
        history: How training went; None if nothing was trained here.
        samples: What the last call gave; None before the first, and for a predictor.
    """

    examples: int | None
    choices: Mapping[str, Choice[object]] = field(default_factory=dict)
    history: History | None = None
    samples: Samples | None = None

    @property
    def tried(self) -> int:
        """How many candidates there were."""
        return self.kept + sum(self.rejected.values())

    @property
    def kept(self) -> int:
        """How many of them became samples."""
        return len(self.samples) if self.samples else 0

    @property
    def rejected(self) -> Mapping[str, int]:
        """How many were turned down, by reason."""
        return self.samples.rejected if self.samples else {}

    def __str__(self) -> str:
        lines = [] if self.examples is None else [f"{self.examples:,} different examples"]
        lines += [f"{what}: {choice.name} ({choice.reason})" for what, choice in self.choices.items()]
        if self.samples is not None:
            lines.append(self.samples.account)
        return "\n".join(lines)

    __repr__ = __str__


class Settings:
    """The settings of a dataclass, which are its fields that a constructor takes."""

    not_saved: ClassVar[tuple[str, ...]] = ("device", "progress", "executor")
    """What belongs to a machine or a run, not to what was learned."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Returns the settings, as scikit-learn asks for them to make a copy; ``deep`` makes no difference."""
        return {setting.name: getattr(self, setting.name) for setting in fields(self) if setting.init}  # type: ignore[arg-type]

    def set_params(self, **params: object) -> Self:
        """Changes settings, as scikit-learn does in searches."""
        self._check_names(params)
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> object:
        """Returns what scikit-learn asks of an estimator that it meets in a pipeline: that it learns from outputs."""
        utils = import_module("sklearn.utils")  # nobody else asks, so it is there
        return utils.Tags(estimator_type=None, target_tags=utils.TargetTags(required=True))

    @classmethod
    def _check_names(cls, names: Iterable[str]) -> None:
        """Raises the error for a setting that there is not."""
        known = [setting.name for setting in fields(cls) if setting.init]  # type: ignore[arg-type]
        for name in names:
            if name not in known:
                raise unknown("setting", name, known)

    def _saved(self) -> dict[str, Any]:
        """Returns the settings, JSON-friendly; of functions, only that there were some."""
        return {name: _as_json(value) for name, value in self.get_params().items() if name not in self.not_saved}

    @classmethod
    def _restored(cls, saved: Mapping[str, Any], *, place: Path, given: Mapping[str, object]) -> Self:
        """Returns what has the settings that ``_saved`` gave, or the given ones instead; says which functions it lacks.

        Raises whatever goes wrong if the file has an unknown setting, or one of another type; see `fitting`.
        """
        types = get_type_hints(cls)
        kept = {name: value for name, value in saved.items() if name not in given}
        lost = [name for name, value in kept.items() if value == {"kind": _FUNCTION}]
        own = {name: _from_json(value, types[name]) for name, value in kept.items() if name not in lost}
        restored = cls(**own, **given)
        if lost:
            instead = ", ".join(f"{name}={getattr(restored, name)!r}" for name in lost)
            warnings.warn(
                f"{place}: functions are not saved, so there is {instead} where there was one. Give it to load.",
                RuntimeWarning,
                stacklevel=4,
            )
        return restored


def _as_json(value: object) -> Any:  # noqa: ANN401
    if value is None or isinstance(value, str | float | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Resampler) and value.relevant in (None, is_tag):
        settings = {"epsilon": value.epsilon, "ngram": value.ngram, "side": value.side}
        return {"kind": _RESAMPLER, "settings": settings, "tags": value.relevant is is_tag}
    for name, kind in _KINDS.items():
        if type(value) is kind:
            return {"kind": name, "settings": asdict(value)}  # type: ignore[call-overload]
    return {"kind": _FUNCTION}


def _from_json(value: object, hint: Any) -> Any:  # noqa: ANN401
    if not isinstance(value, dict):
        return typed(value, hint)
    if value["kind"] != _RESAMPLER:
        return typed(value["settings"], _KINDS[value["kind"]])
    types = get_type_hints(Resampler)
    settings = {name: typed(each, types[name]) for name, each in value["settings"].items()}
    return Resampler(**settings, relevant=is_tag if value["tags"] else None)


def choices_from_json(saved: object, values: Mapping[str, object]) -> dict[str, Choice[object]]:
    """Returns choices as a file has them: names and reasons, and the values where they are known, else the names."""
    found = typed(saved, dict[str, tuple[str, str]])
    return {what: Choice(name, values.get(what, name), reason) for what, (name, reason) in found.items()}


@contextmanager
def training(what: str, display: Display, state: Path | None) -> Iterator[Report | None]:
    """Gives what training is to report to, so that the state of a run with other settings is neither used nor lost.

    Training goes on only from a state with its own settings and data, and replaces any other at its first save. Which
    of the two it is shows after the first epoch. The state of another run is kept aside until `forget_state`.
    """
    with display.progress(f"{TRAINING} {what}") as report:
        if state is None or not state.exists():
            yield report
            return
        run = read_tensors(state)[1].get("run")
        if not isinstance(run, str) or not run.isalnum():  # it becomes a part of a file's name
            raise damaged(state)
        aside = state.with_name(f"{state.name}{ASIDE}{run[:8]}")
        try:
            aside.unlink(missing_ok=True)  # an earlier state of the same run
            try:
                os.link(state, aside)
            except OSError:  # not all file systems have links
                shutil.copy2(state, aside)
        except OSError as error:
            raise RecombineError(f"the file cannot be written: {error.strerror or error}.", place=str(aside)) from error
        goes_on = True

        def told(steps: int, total: int, history: History) -> None:
            nonlocal goes_on
            if goes_on and len(history.loss) == 1:  # a state is saved after an epoch at the earliest
                goes_on = False
                display.say(
                    f"{state} is of an unfinished run with other settings or data, so training starts over. To go on "
                    f"with that run, stop this one and rename {aside} to {state.name}; it is deleted when this one is "
                    "done."
                )
            if report is not None:
                report(steps, total, history)

        try:
            yield told
        finally:
            if goes_on:
                aside.unlink(missing_ok=True)


def choice_beside(state: Path) -> Path:
    """Returns where it is kept which network was chosen, beside the state of its training."""
    return state.with_name(f"{state.name}.chosen")


def forget_state(state: Path | None) -> None:
    """Removes the state of training, and all that was kept beside it, now that the result is safe."""
    if state is None:
        return
    for path in (choice_beside(state), state, *state.parent.glob(f"{escape(state.name)}{ASIDE}*")):
        path.unlink(missing_ok=True)
