"""GECA and oversampling for one's own data: augmenters that train nothing, behind the same calls as the learned one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

from recombine.augmentation import oversample
from recombine.augmentation.drawing import distinct_examples, unfitted
from recombine.augmentation.protocol import Novelty
from recombine.augmentation.resample import Resampler
from recombine.data.files import read, write
from recombine.data.untrusted import fitting
from recombine.example import Example
from recombine.inflection import are_inflections, is_tag
from recombine.own_data import choices
from recombine.own_data.choices import Choice
from recombine.own_data.contract import Learned, OwnDataAugmenter
from recombine.own_data.settings import given_again
from recombine.own_data.validators import Judge, Rarity, rarity_rule
from recombine.training.folder import read_settings, writing

EXAMPLES = "examples.jsonl"


@dataclass(eq=False, kw_only=True)
class _ByRule(OwnDataAugmenter):
    """Is learned again from the examples when it is loaded, since that takes no training."""

    kind: ClassVar[str]

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the examples and the settings, but for functions, to a folder.

        Args:
            path: The folder.
            force: Whether what was saved there before may be replaced.
        """
        if self._learned is None:
            raise unfitted(type(self).__name__)
        with writing(Path(path), self.kind, self._saved(), force=force) as folder:
            write(self.examples_, folder / EXAMPLES)

    @classmethod
    def load(
        cls, path: str | Path, *, rarity: Rarity | Literal["saved"] = "saved", validator: Judge | None = None
    ) -> Self:
        """Reads what ``save`` wrote; functions, which are not saved, are given again, or a warning says what is there.

        Args:
            path: The folder.
            rarity: Which samples have something rare in them; ``"saved"``: as when it was saved.
            validator: Which samples are turned down; likewise.
        """
        settings = read_settings(Path(path), cls.kind, needed=[EXAMPLES])
        with fitting(Path(path)):
            found = cls._restored(settings, place=Path(path), given=given_again(rarity=rarity, validator=validator))
            return found.fit(read(Path(path) / EXAMPLES))


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
        suited = choices.geca(distinct)
        augmenter = replace(
            suited.value,
            fragment_size=suited.value.fragment_size if self.fragment_size is None else self.fragment_size,
            gaps=suited.value.gaps if self.gaps is None else self.gaps,
            novel=self.novel,
        )
        if self.fragment_size is not None or self.gaps is not None:
            suited = Choice(f"gaps={augmenter.gaps}, fragment_size={augmenter.fragment_size}", augmenter, "as given")
        rule = rarity_rule(self.rarity, distinct, choices.rarity(distinct))
        return Learned(augmenter.fit(distinct), rule.value, {"fragments": suited, "rarity": rule})


@dataclass(eq=False, kw_only=True)
class Oversampler(_ByRule):
    """Repeats the training examples that have something rare in them: what resampling alone gives.

    Attributes:
        rarity: Which examples are rare; see ``validators.Rarity``. ``"auto"`` does as ``recombine augment --method
            oversample``: rare are the tokens that ``choices.rarity`` names or, where it names none, those in fewer than
            2 % of the examples. If there are none either, there is nothing to repeat, and no samples. None repeats all.
    """

    kind: ClassVar[str] = "oversampler"
    rarity: Rarity = "auto"

    def _learn(self, examples: Sequence[Example]) -> Learned:
        distinct = distinct_examples(examples, least=1, who="an Oversampler")
        choice = rarity_rule(self.rarity, distinct, _rare_tokens(distinct))
        rule = choice.value
        # Of a function the examples are asked one by one; until then, any may be rare.
        resampler, accept = (rule, None) if isinstance(rule, Resampler) else (None, rule)
        return Learned(oversample.Oversampler(resampler).fit(distinct), accept, {"rarity": choice})


def _rare_tokens(distinct: Sequence[Example]) -> Choice[Resampler | None]:
    """Chooses what is rare in originals; no unseen pairs, of which they have none."""
    chosen = choices.rarity(distinct)
    if chosen.name == choices.TOKENS:
        return chosen
    usual = Resampler(relevant=is_tag if are_inflections(distinct) else None).fit(distinct)
    return Choice(choices.TOKENS if usual.rare_ else choices.NOTHING, usual, choices.what_is_rare(usual))
