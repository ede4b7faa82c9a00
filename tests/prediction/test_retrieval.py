from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.augmentation.recombination import Recombination
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.neighborhoods import LongShort
from recombine.prediction.direct import DirectInference
from recombine.training.presets import SMALL_GENERATOR

inputs = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(tuple)
training = st.lists(inputs, min_size=2, max_size=25, unique=True).map(lambda xs: [Example(x, ("y",)) for x in xs])
questions = st.lists(st.lists(st.sampled_from("abcdz"), min_size=1, max_size=6).map(tuple), min_size=1, max_size=5)
deltas = st.sampled_from([0.2, 0.34, 0.5, 0.75, 1.0])


def retrieved(examples: list[Example], xs: list[Tokens], prototypes: int = 2, **settings: float) -> list[np.ndarray]:
    learned = Recombination(LongShort(), SMALL_GENERATOR, prototypes=prototypes, device="cpu")
    learned.examples_ = tuple(examples)
    return DirectInference(learned, **settings).retrieve(xs)


def lev(a: Tokens, b: Tokens) -> float:
    row = list(range(len(b) + 1))
    for i, token in enumerate(a, start=1):
        above, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (token != other))
    return row[-1] / max(len(a), len(b), 1)


def near(tokens: Tokens, examples: list[Example], delta: float) -> list[int]:
    distances = [lev(tokens, example.x) for example in examples]
    return sorted((i for i, d in enumerate(distances) if d < delta), key=lambda i: (distances[i], i))


def lacking(x: Tokens, x1: Tokens) -> Tokens:
    return tuple(dict.fromkeys(token for token in x if token not in x1))


def firsts(x: Tokens, examples: list[Example], delta: float) -> list[int]:
    return [i for i in near(x, examples, delta) if lev(x, examples[i].x) > 0 and lacking(x, examples[i].x)]


@given(training, questions, deltas, st.integers(1, 4), st.integers(1, 4))
def test_two_prototypes_equal_a_comparison_with_everything(
    examples: list[Example], xs: list[Tokens], delta: float, first: int, second: int
) -> None:
    found_tuples = retrieved(examples, xs, first=first, second=second, delta=delta)
    for x, tuples in zip(xs, found_tuples, strict=True):
        by_first: dict[int, list[int]] = {}
        for d1, d2 in tuples.tolist():
            by_first.setdefault(d1, []).append(d2)
        expected = firsts(x, examples, delta)[:first]
        if expected:
            assert list(by_first) == expected
        else:
            assert len(by_first) == min(first, len(examples))
        for d1, found in by_first.items():
            rest = lacking(x, examples[d1].x)
            others = near(rest, examples, delta)[:second] if rest else []
            if others:
                assert found == others
            else:
                assert len(set(found) - {d1}) == len(found) == min(second, len(examples) - 1)


@given(training, questions, deltas)
def test_one_prototype_is_the_first_of_two(examples: list[Example], xs: list[Tokens], delta: float) -> None:
    ones, twos = (retrieved(examples, xs, prototypes, delta=delta) for prototypes in (1, 2))
    for one, two in zip(ones, twos, strict=True):
        assert one.shape[1] == 1
        assert one[:, 0].tolist() == list(dict.fromkeys(two[:, 0].tolist()))


def test_without_prototypes_there_is_one_empty_tuple() -> None:
    found = retrieved([Example(("a",), ("y",)), Example(("b",), ("y",))], [("a",), ("c",)], 0)
    assert [tuples.shape for tuples in found] == [(1, 0), (1, 0)]


@given(training, questions)
def test_an_input_gets_the_same_prototypes_whatever_is_asked_beside_it_and_the_outputs_are(
    examples: list[Example], xs: list[Tokens]
) -> None:
    together = retrieved(examples, xs)
    for x, tuples in zip(xs, together, strict=True):
        assert np.array_equal(retrieved(examples, [x])[0], tuples)
    other_outputs = [Example(example.x, example.x[::-1]) for example in examples]
    assert all(map(np.array_equal, retrieved(other_outputs, xs), together))


def test_random_prototypes_depend_on_the_seed_and_the_input() -> None:
    examples = [Example(x, ("y",)) for x in product("abc", repeat=3)]
    stranger, other = ("z",), ("q", "z")
    drawn = [retrieved(examples, [stranger, other], seed=seed) for seed in (0, 1)]
    different = {tuples.tobytes() for found in drawn for tuples in found}
    assert len(different) == 4


def test_of_scan_like_inputs_the_second_supplies_the_word_that_the_first_lacks() -> None:
    commands = ["jump", "walk", "walk left twice and walk", "run left twice and run", "look right"]
    examples = [Example(tuple(command.split()), ("y",)) for command in commands]
    [tuples] = retrieved(examples, [("jump", "left", "twice", "and", "jump")])
    assert [(commands[d1], commands[d2]) for d1, d2 in tuples] == [(commands[2], "jump"), (commands[3], "jump")]


@pytest.mark.parametrize(
    ("setting", "message"),
    [({"first": 0}, "first is 0"), ({"second": -1}, "second is -1"), ({"delta": 1.5}, r"delta is 1\.5")],
)
def test_settings_out_of_range_are_refused(setting: dict[str, float], message: str) -> None:
    with pytest.raises(RecombineError, match=message):
        retrieved([Example(("a",), ("y",)), Example(("b",), ("y",))], [("a",)], **setting)
