"""Which samples are kept; GECA and oversampling for one's own data, beyond the contract of all augmenters."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from kinds_of_data import dataset

from recombine import GECA, Oversampler, Spans
from recombine.augmentation.resample import NOTHING, PAIRS, TOKENS, find_rare
from recombine.comparison.compare import Plan
from recombine.data import files
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.own_data.augmenters import all_of, judged, sample_filter

A, B = Example(("a",), ("A",)), Example(("b",), ("B",))


def test_the_first_reason_counts() -> None:
    no_a, no_b = (lambda sample, x=x: f"has {x}" if x in sample.x else None for x in "ab")
    never = all_of(no_a, None, no_b, lambda _: "whatever it is")
    assert [never(sample) for sample in (A, B, Example(("c",), ("C",)))] == ["has a", "has b", "whatever it is"]
    lenient = all_of(no_a, None)
    assert lenient(B) is None
    assert all_of() is all_of(None, None) is None


def test_samples_of_word_forms_are_word_forms_and_others_anything() -> None:
    check = sample_filter(dataset("morphology"), None)
    word = dataset("morphology")[0]
    assert check(word) is None
    assert check(replace(word, x=word.y)) == "no word form"
    assert sample_filter([A, B], None) is None


def asked(judge: Callable[[Example], object], sample: Example = A, setting: str = "validator") -> str | None:
    validator = judged(judge, setting)  # type: ignore[arg-type]
    return validator(sample)


def test_true_and_none_keep_false_and_reasons_do_not() -> None:
    def short(sample: Example) -> bool:
        return len(sample.x) < 2

    yes, no = (True, np.True_, None), (False, np.False_)
    for answer, reason in [*((yes, None) for yes in yes), *((no, "validator") for no in no), ("dull", "dull")]:
        assert asked(lambda _, answer=answer: answer) == reason
    assert asked(short) is None
    assert asked(short, Example(("a", "a"), ("A",))) == "short"  # False goes by the name of the function
    assert judged(None, "validator") is None


@pytest.mark.parametrize("answer", [0, 1, [], 0.5, ("a",)])
def test_other_answers_are_errors(answer: object) -> None:
    with pytest.raises(RecombineError, match=r"the rarity function returned .* expected True or None for what is kept"):
        asked(lambda _: answer, setting="rarity")


def test_what_a_function_raises_is_told_with_its_name_and_the_sample_but_our_own_errors_as_they_are() -> None:
    def look_up(sample: Example) -> bool:
        return {"b": True}[sample.x[0]]

    def fail(_: Example) -> bool:
        raise RecombineError("this is no time.")

    assert asked(look_up, B) is None
    with pytest.raises(RecombineError) as caught:
        asked(look_up)
    assert caught.value.message == "the validator function look_up raised KeyError: 'a', for the sample 'a ▷ A'."
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(RecombineError, match=r"^this is no time\.$"):
        asked(fail)


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


def test_where_nothing_is_rare_that_is_said_and_all_are_repeated_if_asked_for(tmp_path: Path) -> None:
    assert set(Oversampler(rarity=None).fit(FEW).sample(6)) == set(FEW)
    nothing = Oversampler().fit(FEW)
    assert str(nothing.report_.choices["rarity"]) == "nothing: 0 tokens in fewer than 2.00% of the examples"
    nothing.save(tmp_path / "model")
    assert files.read(tmp_path / "model" / "examples.jsonl") == FEW
    assert not Oversampler.load(tmp_path / "model").sample(3)


@pytest.mark.parametrize(("augmenter", "count"), [(GECA(), 404), (Spans(rarity=None), 404), (Oversampler(), 400)])
def test_how_many_samples_there_are_by_default(augmenter: GECA | Spans | Oversampler, count: int) -> None:
    words = [f"w{number}" for number in range(101)]
    examples = [Example((word, "now"), (word.upper(), "NOW")) for word in words]
    assert augmenter.fit(examples).sample().requested == count
    assert augmenter.sample(3).requested == 3
    augmenter.n = 7
    assert augmenter.sample().requested == 7


@pytest.mark.parametrize("n", [0, -3, 2.5])
def test_how_many_samples_is_checked_before_anything_is_learned(n: float) -> None:
    with pytest.raises(RecombineError, match=r"samples|whole number"):
        Spans(n=n).fit([A, B])  # type: ignore[arg-type]
    with pytest.raises(RecombineError, match=r"samples|whole number"):
        Plan(n=n).check()  # type: ignore[arg-type]


def test_samples_are_json_with_each_key_once_where_outputs_are() -> None:
    def example(x: str, *y: str) -> Example:
        return Example(tuple(x.split()), y)

    move = [example(f"to {day}", "{", '"', "to", '"', ":", '"', day, '"', "}") for day in ("mon", "tue", "wed")]
    twice = example("to mon to tue", *move[0].y[:-1], ",", *move[1].y[1:])
    keep = sample_filter(move, None)
    assert keep is not None
    assert keep(move[1]) is None
    assert keep(twice) == keep(replace(twice, y=twice.y[:-1])) == "with an output that is not JSON, or has a key twice"
    assert sample_filter([*move, twice], None) is None  # data that have a key twice themselves
