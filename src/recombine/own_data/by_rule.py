"""GECA and oversampling for one's own data: augmenters that train nothing, behind the same calls as the learned one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, get_type_hints

from recombine.augmentation import oversample
from recombine.augmentation.drawing import distinct_examples, unfitted
from recombine.augmentation.protocol import Novelty, Validator
from recombine.augmentation.resample import Resampler
from recombine.data.files import read, write
from recombine.example import Example
from recombine.own_data import choices
from recombine.own_data.contract import Learned, OwnDataAugmenter
from recombine.own_data.validators import Rarity, rarity_rule
from recombine.training.folder import read_settings, writing
from recombine.training.untrusted import fitting, typed

EXAMPLES = "examples.jsonl"


@dataclass(eq=False, kw_only=True)
class _ByRule(OwnDataAugmenter):
    """Is learned again from the examples when it is loaded, since that takes no training."""

    kind: ClassVar[str]

    def _settings(self) -> Mapping[str, Any]:
        """Returns the settings that go into a file: all but functions."""
        return {"seed": self.seed, "n": self.n, "tokens": self.tokens}

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the settings and the examples to a folder.

        Args:
            path: The folder.
            force: Whether what was saved there before may be replaced.
        """
        if self._learned is None:
            raise unfitted(type(self).__name__)
        with writing(Path(path), self.kind, self._settings(), force=force) as folder:
            write(self.examples_, folder / EXAMPLES)

    @classmethod
    def _load(cls, path: str | Path, given: Mapping[str, Any]) -> Self:
        settings = read_settings(Path(path), cls.kind)
        types = get_type_hints(cls)
        with fitting(Path(path)):
            known = {name: typed(value, types[name]) for name, value in settings.items()}
            return cls(**known, **given).fit(read(Path(path) / EXAMPLES))


@dataclass(eq=False, kw_only=True)
class GECA(_ByRule):
    """Good-enough compositional augmentation: fragments that were seen in one context take each other's place.

    Attributes:
        fragment_size: The most tokens in a fragment; None: chosen, 4 for word forms and else 1.
        gaps: The most fragments that change together; None: chosen, 1 for word forms and else 2.
        novel: What must be new: ``"both"`` sides, the ``"input"`` or the ``"pair"``.
        rarity: Which samples have something rare in them and are kept; see ``validators.Rarity``. Unless told, all are.
    """

    kind: ClassVar[str] = "geca"
    fragment_size: int | None = None
    gaps: int | None = None
    novel: Novelty = "both"
    rarity: Rarity = None

    def _learn(self, examples: Sequence[Example]) -> Learned:
        distinct = distinct_examples(examples, least=2, who="GECA")
        suited, rare = choices.geca(distinct), choices.rarity(distinct)
        augmenter = replace(
            suited.value,
            fragment_size=suited.value.fragment_size if self.fragment_size is None else self.fragment_size,
            gaps=suited.value.gaps if self.gaps is None else self.gaps,
            novel=self.novel,
        )
        accept = rarity_rule(self.rarity, distinct, rare)
        return Learned(augmenter.fit(distinct), accept, {"fragments": suited, "rarity": rare})

    def _settings(self) -> Mapping[str, Any]:
        own = {"fragment_size": self.fragment_size, "gaps": self.gaps, "novel": self.novel}
        return {**super()._settings(), **own}

    @classmethod
    def load(cls, path: str | Path, *, rarity: Rarity = None, validator: Validator | None = None) -> Self:
        """Reads what ``save`` wrote; functions are given again."""
        return cls._load(path, {"rarity": rarity, "validator": validator})


@dataclass(eq=False, kw_only=True)
class Oversampler(_ByRule):
    """Repeats the training examples that have something rare in them: what resampling alone gives.

    Attributes:
        rarity: Which examples are rare; see ``validators.Rarity``. Unseen pairs, of which no example has one, are not
            counted.
    """

    kind: ClassVar[str] = "oversampler"
    rarity: Rarity = "auto"

    def _learn(self, examples: Sequence[Example]) -> Learned:
        distinct = distinct_examples(examples, least=1, who="an Oversampler")
        rare = choices.rarity(distinct)
        rule = rarity_rule(self.rarity, distinct, rare)
        # Of a function the examples are asked one by one; until then, any may be rare.
        resampler = rule if isinstance(rule, Resampler) else Resampler(epsilon=1.0)
        accept = None if isinstance(rule, Resampler) else rule
        return Learned(oversample.Oversampler(resampler).fit(distinct), accept, {"rarity": rare})

    @classmethod
    def load(cls, path: str | Path, *, rarity: Rarity = "auto", validator: Validator | None = None) -> Self:
        """Reads what ``save`` wrote; functions are given again."""
        return cls._load(path, {"rarity": rarity, "validator": validator})
