"""Which samples are kept; GECA and oversampling for one's own data, beyond the contract of all augmenters."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from kinds_of_data import dataset

from recombine import Oversampler
from recombine.augmentation.resample import NOTHING, PAIRS, TOKENS, find_rare
from recombine.data import files
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.own_data.augmenters import all_of, judged, sample_filter

A, B = Example(("a",), ("A",)), Example(("b",), ("B",))


def test_the_first_reason_counts() -> None:
    no_a, no_b = (lambda sample, x=x: f"has {x}" if x in sample.x else None for x in "ab")
    never = all_of(no_a, None, no_b, lambda _: "whatever it is")
    assert never is not None
    assert [never(sample) for sample in (A, B, Example(("c",), ("C",)))] == ["has a", "has b", "whatever it is"]
    lenient = all_of(no_a, None)
    assert lenient is not None
    assert lenient(B) is None


def test_none_of_none_is_none() -> None:
    assert all_of() is None
    assert all_of(None, None) is None


def test_samples_of_word_forms_are_word_forms() -> None:
    check = sample_filter(dataset("morphology"), None)
    assert check is not None
    word = dataset("morphology")[0]
    assert check(word) is None
    assert check(replace(word, x=word.y)) == "no word form"


def test_where_all_samples_are_kept_they_may_be_anything() -> None:
    assert sample_filter([A, B], None) is None


def short(sample: Example) -> bool:
    return len(sample.x) < 2


LONG = Example(("a", "a"), ("A",))


def test_true_and_none_keep_false_and_reasons_do_not() -> None:
    yes, no = (True, np.True_, None), (False, np.False_)
    said = [*((answer, None) for answer in yes), *((answer, "validator") for answer in no), ("dull", "dull")]
    for answer, reason in said:
        validator = judged(lambda _, answer=answer: answer, "validator")
        assert validator is not None
        assert validator(A) == reason
    assert judged(None, "validator") is None


def test_false_goes_by_the_name_of_the_function() -> None:
    validator = judged(short, "accept")
    assert validator is not None
    assert (validator(A), validator(LONG)) == (None, "short")


@pytest.mark.parametrize("answer", [0, 1, [], 0.5, ("a",)])
def test_other_answers_are_errors(answer: object) -> None:
    validator = judged(lambda _: answer, "rarity")  # type: ignore[arg-type, return-value]
    assert validator is not None
    with pytest.raises(RecombineError, match=r"the rarity function returned .* expected True or None for what is kept"):
        validator(A)


def test_what_a_function_raises_is_told_with_its_name_and_the_sample() -> None:
    def look_up(sample: Example) -> bool:
        return {"b": True}[sample.x[0]]

    validator = judged(look_up, "validator")
    assert validator is not None
    assert validator(B) is None
    with pytest.raises(RecombineError) as caught:
        validator(A)
    assert caught.value.message == "the validator function look_up raised KeyError: 'a', for the sample 'a ▷ A'."
    assert isinstance(caught.value.__cause__, KeyError)


def test_our_own_errors_are_told_as_they_are() -> None:
    def fail(_: Example) -> bool:
        raise RecombineError("this is no time.")

    validator = judged(fail, "validator")
    assert validator is not None
    with pytest.raises(RecombineError, match=r"^this is no time\.$"):
        validator(A)


FEW = [Example((word,), (word.upper(),)) for word in "abcdef"]  # each token is in 17 % of the examples
SWAPS = [Example((a, b), (b.upper(), a.upper())) for a, b in product("abcd", repeat=2) if a != b]
MANY = [Example((f"w{n}", "often"), (f"W{n}",)) for n in range(60)] + [Example(("often",), ("A", str(n))) for n in "01"]


@pytest.mark.parametrize(
    ("examples", "rare", "made"),
    [
        (FEW, NOTHING, 0),
        (SWAPS, PAIRS, 0),
        (MANY, NOTHING, 7),
        (dataset("jump"), TOKENS, 7),
        (dataset("morphology"), TOKENS, 7),
    ],
    ids=["few", "pairs", "many", "jump", "morphology"],
)
def test_rare_originals_are_repeated_or_it_is_said_that_none_are(
    examples: Sequence[Example], rare: str, made: int
) -> None:
    assert find_rare(examples).kind == rare
    samples = Oversampler(seed=0).fit(examples).sample(7)
    assert len(samples) == made
    assert made or "No original is rare at epsilon = 0.02" in samples.shortfall


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
