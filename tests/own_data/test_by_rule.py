"""GECA and oversampling for one's own data, beyond the contract of all augmenters."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from kinds_of_data import dataset

from recombine import Oversampler
from recombine.cli.methods import Plan, augment
from recombine.data import files
from recombine.errors import NothingMade
from recombine.example import Example
from recombine.own_data import choices

FEW = [Example((word,), (word.upper(),)) for word in "abcdef"]  # each token is in 17 % of the examples
PAIRS = [Example((a, b), (b.upper(), a.upper())) for a, b in product("abcd", repeat=2) if a != b]
MANY = [Example((f"w{n}", "often"), (f"W{n}",)) for n in range(60)] + [Example(("often",), ("A", str(n))) for n in "01"]


@pytest.mark.parametrize(
    ("examples", "rare", "made"),
    [
        (FEW, choices.NOTHING, 0),
        (PAIRS, choices.PAIRS, 0),
        (MANY, choices.NOTHING, 7),
        (dataset("jump"), choices.TOKENS, 7),
        (dataset("morphology"), choices.TOKENS, 7),
    ],
    ids=["few", "pairs", "many", "jump", "morphology"],
)
def test_the_command_repeats_the_same(examples: Sequence[Example], rare: str, made: int) -> None:
    assert choices.rarity(examples).name == rare
    here = Oversampler(seed=0).fit(examples).sample(7)
    assert len(here) == made
    if made:
        (there,) = augment(examples, Plan("oversample", 7))
        assert list(there) == list(here)
    else:
        with pytest.raises(NothingMade) as caught:
            augment(examples, Plan("oversample", 7))
        assert here.account == caught.value.message
        assert "No original is rare at epsilon = 0.02" in here.shortfall


def test_where_nothing_is_rare_all_are_repeated_if_asked_for() -> None:
    assert set(Oversampler(rarity=None).fit(FEW).sample(6)) == set(FEW)


def test_the_report_says_that_nothing_is_rare() -> None:
    report = Oversampler().fit(FEW).report_
    assert report is not None
    assert str(report.choices["rarity"]) == "nothing: 0 tokens in fewer than 2.00% of the examples"


def test_what_was_saved_repeats_as_little(tmp_path: Path) -> None:
    Oversampler().fit(FEW).save(tmp_path / "model")
    assert files.read(tmp_path / "model" / "examples.jsonl") == FEW
    assert not Oversampler.load(tmp_path / "model").sample(3)
