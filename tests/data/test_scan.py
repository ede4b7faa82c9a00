"""SCAN's grammar, interpreter and splits, against the published files where they are at hand."""

import hashlib
from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest

from recombine.data import scan
from recombine.example import Example, Tokens

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "scan"

# As the catalogue of Hugging Face's datasets gives them for the files of brendenlake/SCAN: examples and bytes.
PUBLISHED_SIZES = {
    "jump": ((14_670, 7_706), (2_579_619, 1_531_555)),
    "turn-left": ((21_890, 1_208), (3_974_537, 173_679)),
    "around-right": ((15_225, 4_476), (2_558_693, 1_243_177)),
    "opposite-right": ((15_225, 4_476), (2_990_057, 871_363)),
    "right": ((15_225, 4_476), (3_173_282, 729_823)),
    "length": ((16_990, 3_920), (2_723_418, 1_356_970)),
    "simple": ((16_728, 4_182), None),  # another random draw
}
PUBLISHED_SHA256 = {
    "around-right": (
        "d5d35d174d557645fc61f289424afa0d95fde21422c59a9819e2d0fcfa9d419f",
        "fc78a5d1077dc2c206d6c42ed89fb9022867618c3f331179bafd3ec1ca699474",
    ),
    "opposite-right": (
        "b4fe224a2dd636952a90b7e5552017620ab07e0c465db0ee2dddfb0f727feeb6",
        "e7fc129633f82decd39248517a8945385b77009f721f9f4f58df213f73a29a47",
    ),
    "right": (
        "a09e125dc95c59843d087fd50852c57bc4e77997e2cd69aa04a9a934eea9089b",
        "506bed814f8a6ec1eef9c226eb9b2055bc984925902a94d020a23a41080993bb",
    ),
}

GRAMMAR = frozenset(scan.commands())
WORDS = sorted({word for command in GRAMMAR for word in command})


def published(name: str) -> list[Example]:
    path = PUBLISHED / name
    if not path.exists():
        pytest.skip(f"the published SCAN file {path} is not here, so nothing was compared with it")
    lines = path.read_text(encoding="utf-8").splitlines()
    sides = [line.removeprefix("IN: ").split(" OUT: ") for line in lines]
    return [Example(tuple(x.split()), tuple(y.split())) for x, y in sides]


def line(example: Example) -> str:
    return f"IN: {' '.join(example.x)} OUT: {' '.join(example.y)}\n"


def words(text: str) -> Tokens:
    return tuple(text.split())


@pytest.mark.parametrize(
    ("command", "actions"),
    [
        ("jump", "I_JUMP"),
        ("look opposite left", "I_TURN_LEFT I_TURN_LEFT I_LOOK"),
        ("turn opposite right", "I_TURN_RIGHT I_TURN_RIGHT"),
        ("turn around left", "I_TURN_LEFT I_TURN_LEFT I_TURN_LEFT I_TURN_LEFT"),
        ("jump thrice after walk left", "I_TURN_LEFT I_WALK I_JUMP I_JUMP I_JUMP"),
        ("hop left", None),
        ("jump and walk after run", None),
        ("jump around left right", None),
    ],
)
def test_interpreter_by_hand(command: str, actions: str | None) -> None:
    assert scan.interpret(words(command)) == (words(actions) if actions else None)


def test_interpreter_accepts_nothing_but_the_grammar() -> None:
    assert len(list(scan.commands())) == len(GRAMMAR) == 20_910
    for length in range(5):
        for command in product(WORDS, repeat=length):
            assert (scan.interpret(command) is not None) == (command in GRAMMAR)
    rng = Random(0)
    for _ in range(200):
        command = tuple(rng.choices(WORDS, k=rng.randrange(5, 13)))
        actions = scan.interpret(command)
        assert actions is None or (command in GRAMMAR and len(actions) <= 48)
    assert scan.interpret(("jump", "and") * 200_000) is None  # in no time


@pytest.mark.parametrize("name", scan.SPLITS)
def test_split_is_as_published_in_size_and_disjoint(name: str) -> None:
    dataset = scan.split(name)
    examples, size = PUBLISHED_SIZES[name]
    assert (len(dataset.train), len(dataset.test)) == examples
    assert not set(dataset.train) & set(dataset.test)
    assert size in (None, tuple(sum(len(line(each)) for each in side) for side in (dataset.train, dataset.test)))


@pytest.mark.parametrize("name", PUBLISHED_SHA256)
def test_template_split_in_the_order_of_the_published_list_is_the_published_file(name: str) -> None:
    place = {task: place for place, task in enumerate(published("tasks.txt"))}
    dataset = scan.split(name)
    for side, sha256 in zip((dataset.train, dataset.test), PUBLISHED_SHA256[name], strict=True):
        text = "".join(map(line, sorted(side, key=place.__getitem__)))
        assert hashlib.sha256(text.encode()).hexdigest() == sha256


def test_seed_orders_every_split_and_draws_the_simple_one() -> None:
    first, again, other = scan.split("length", seed=1), scan.split("length", seed=1), scan.split("length", seed=2)
    assert first == again != other
    assert Counter(first.train) == Counter(other.train)
    assert set(scan.split("simple", seed=1).test) != set(scan.split("simple", seed=2).test)
