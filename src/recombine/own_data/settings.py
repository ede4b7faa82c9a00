"""What an estimator can be set to: as scikit-learn asks for it, and as a file holds it."""

import warnings
from collections.abc import Mapping
from dataclasses import asdict, fields
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self, get_type_hints

from recombine.augmentation.resample import Resampler
from recombine.augmentation.settings import SamplingSettings
from recombine.data.untrusted import typed
from recombine.errors import unknown
from recombine.inflection import is_tag
from recombine.neighborhoods import NEIGHBORHOODS
from recombine.own_data.choices import Choice
from recombine.training.recipe import Recipe

_KINDS: dict[str, Any] = {"recipe": Recipe, "sampling": SamplingSettings, **NEIGHBORHOODS}
"""Settings that are records, by the name that says in a file what they are."""

CHOICES = "choices"
"""The note that says what was chosen."""

_RESAMPLER, _FUNCTION = "resampler", "function"


class Settings:
    """The settings of a dataclass, which are its fields that a constructor takes."""

    not_saved: ClassVar[tuple[str, ...]] = ("device", "progress")
    """What belongs to a machine or a run, not to what was learned."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Returns the settings, as scikit-learn asks for them to make a copy; ``deep`` makes no difference."""
        return {setting.name: getattr(self, setting.name) for setting in fields(self) if setting.init}  # type: ignore[arg-type]

    def set_params(self, **params: object) -> Self:
        """Changes settings, as scikit-learn does in searches.

        Raises:
            RecombineError: If there is no setting of a name.
        """
        names = self.get_params()
        for name, value in params.items():
            if name not in names:
                raise unknown("setting", name, names)
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> object:
        """Returns what scikit-learn asks of an estimator that it meets in a pipeline: that it learns from outputs."""
        utils = import_module("sklearn.utils")  # nobody else asks, so it is there
        return utils.Tags(estimator_type=None, target_tags=utils.TargetTags(required=True))

    def _saved(self) -> dict[str, Any]:
        """Returns the settings, JSON-friendly; of functions, only that there were some."""
        return {name: _as_json(value) for name, value in self.get_params().items() if name not in self.not_saved}

    @classmethod
    def _restored(cls, saved: Mapping[str, Any], *, place: Path, given: Mapping[str, object]) -> Self:
        """Returns what has the settings of a file, and says which functions it lacks.

        Args:
            saved: Settings as ``_saved`` gave them.
            place: Where they come from.
            given: Settings to have instead of those.

        Raises:
            LookupError: If there is no such setting.
            TypeError: If a setting is of another type.
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


def given_again(**functions: object) -> dict[str, object]:
    """Returns the settings that ``load`` was given to take the place of saved ones: all but ``"saved"`` and None.

    None is a rarity like others, though.
    """
    return {
        name: value for name, value in functions.items() if value != "saved" and (value is not None or name == "rarity")
    }


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


def choices_as_json(choices: Mapping[str, Choice[object]]) -> dict[str, Any]:
    """Returns what was chosen and why, JSON-friendly."""
    return {what: [choice.name, choice.reason] for what, choice in choices.items()}


def choices_from_json(saved: object, values: Mapping[str, object]) -> dict[str, Choice[object]]:
    """Returns choices as a file has them.

    Args:
        saved: What ``choices_as_json`` gave.
        values: What was chosen, where that is known; else its name stands for it.

    Raises:
        TypeError: If there are no choices.
        ValueError: If one is none.
    """
    if not isinstance(saved, dict):
        raise TypeError(f"{saved!r} are no choices")
    found = {what: typed(told, tuple[str, ...]) for what, told in saved.items()}
    return {what: Choice(name, values.get(what, name), reason) for what, (name, reason) in found.items()}
