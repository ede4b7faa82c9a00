"""Frames and spans: filled frames are their targets, what is offered makes right new pairs, and networks are saved."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from recombine.augmentation.frames import FrameAndSpan
from recombine.augmentation.recombination import Recombination
from recombine.data import scan
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.explore.explorer import Explorer
from recombine.neighborhoods import HOLE, Effort, LongShort, Neighborhoods, filled
from recombine.own_data import choices
from recombine.paper.tasks import task
from recombine.training.presets import SMALL_GENERATOR
from recombine.training.recipe import Recipe

NETWORK = replace(SMALL_GENERATOR.network, hidden=8, embedding=4, attention=4, reach=4)
TINY = Recipe(network=NETWORK, batch=16, epochs=1, stand_ins=0.5)
CAPITALS = {"Oslo": "norway", "Paris": "france", "Lima": "peru", "Rome": "italy"}
NESTED = [
    Example(tuple(f"{ask} near {city}".split()), tuple(f"answer ( {term} ( near ( {name} ) ) )".split()))
    for (ask, term), (city, name) in product(
        [("towns", "town"), ("the rivers", "river"), ("big towns", "big ( town"), ("lakes", "lake")], CAPITALS.items()
    )
]
NESTED = [Example(example.x, (*example.y, *")" * (example.y.count("(") - example.y.count(")")))) for example in NESTED]


def commands(split: str) -> list[Example]:
    """The commands of a split that are one order, not two."""
    return [example for example in task(split).train if not {"and", "after"} & {*example.x}]


def pairs(found: Neighborhoods, examples: Sequence[Example]) -> Iterator[tuple[Example, Example]]:
    everything = [*examples, *found.parts]
    return ((everything[frame], everything[span]) for frame, span in found.offered)


@pytest.mark.parametrize("examples", [commands("jump"), NESTED], ids=["text", "brackets"])
def test_a_frame_with_its_span_is_the_target(examples: list[Example]) -> None:
    found = FrameAndSpan().build(examples)
    everything = [*examples, *found.parts]
    assert found.coverage(examples) > 0.9
    for target, frame, span in found.rows:
        d, d1, d2 = (everything[place] for place in (target, frame, span))
        assert filled(d1, d2) == d
        assert HOLE in d1.x
        assert HOLE in d1.y
    assert max(np.unique(found.rows[:, 0], return_counts=True)[1]) <= 10
    again = FrameAndSpan().build(examples)
    assert (again.rows.tolist(), again.parts) == (found.rows.tolist(), found.parts)


@pytest.mark.parametrize(("split", "asked"), [("jump", "jump"), ("around-right", "right")])
def test_what_is_offered_makes_right_new_commands(split: str, asked: str) -> None:
    examples = commands(split)
    inputs = {example.x for example in examples}
    made = {filled(frame, span) for frame, span in pairs(FrameAndSpan().build(examples), examples)}
    assert inputs.isdisjoint(example.x for example in made)
    assert sum(asked in example.x for example in made) > 10
    assert all(scan.interpret(example.x) == example.y for example in made)


def test_a_word_that_comes_twice_leaves_one_of_two_halves() -> None:
    """Both are examples themselves; turn left and turn around left would leave it open whose output is whose."""
    examples = [example for example in task("around-right").train if not {"twice", "thrice", "jump"} & {*example.x}]
    words = [pair for pair in pairs(FrameAndSpan().build(examples), examples) if pair[1].x == ("right",)]
    mixed = [filled(*pair) for pair in words if "left" in pair[0].x]
    assert len(mixed) > 50
    assert all(scan.interpret(example.x) == example.y for example in mixed)
    assert not any(" ".join(example.x) == "turn left and turn around right" for example in mixed)


def test_some_data_have_no_frames() -> None:
    word_forms = [Example((*"go", "V", tag), tuple(f"go{end}")) for tag, end in (("[PST]", "ed"), ("[PRS]", "es"))]
    marked = [*commands("jump"), Example((HOLE,), ("I_RUN",))]
    for examples in (word_forms, marked, commands("jump")[:1]):
        found = FrameAndSpan().build(examples)
        assert (len(found), found.parts) == (0, ())
        with pytest.raises(RecombineError, match="no example has a spans neighborhood"):
            found.require_rows()


def test_a_trial_cuts_some_of_many_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = commands("jump")
    monkeypatch.setattr("recombine.augmentation.frames.trial_step", lambda count: 2)
    found = FrameAndSpan().build(examples, effort=Effort(trial=True))
    assert {*found.rows[:, 0]} <= {*range(0, len(examples), 2)}
    assert found.coverage(examples[::2]) > 0.9


def test_networks_learn_from_frames_and_are_saved_with_them(tmp_path: Path) -> None:
    examples = commands("jump")[:60]
    learned = Recombination(FrameAndSpan(offers=50), TINY, device="cpu").fit(examples)
    saved = tmp_path / "model"
    learned.save(saved)
    again = Recombination.load(saved, device="cpu")
    assert again.neighborhoods_.parts == learned.neighborhoods_.parts
    drawn = [each.drawing(0)(50, np.random.default_rng(0)) for each in (learned, again)]
    assert drawn[0].tolist() == drawn[1].tolist()
    assert {*map(tuple, drawn[0].tolist())} <= {*map(tuple, learned.neighborhoods_.offered.tolist())}
    samples = learned.sample(3)
    assert [*samples] == [*again.sample(3)]
    assert HOLE not in {token for sample in samples for token in sample.d}
    frame, span = Explorer(again).draw_prototypes(0)
    assert (HOLE in frame.x, HOLE in frame.y, HOLE in span.x) == (True, True, False)
    assert Explorer(again).find(" ".join(frame.x))[0][0] == frame
    with pytest.raises(RecombineError, match="spans neighborhood"):
        learned.fit_each([examples] * 2, [learned.neighborhoods_] * 2)


def test_prototypes_that_belong_together_are_not_taken_apart() -> None:
    examples = commands("jump")
    found = FrameAndSpan().build(examples)
    with pytest.raises(RecombineError, match="belong together; asked for 1"):
        found.with_prototypes(1)
    assert choices.neighborhoods(examples, [FrameAndSpan(), LongShort()], prototypes=1).name == "long-short"
    assert (found.with_prototypes(0).parts, found.with_prototypes(0).offered) == ((), None)


def test_where_nothing_new_can_be_made_other_rules_are_tried() -> None:
    everything = [Example(tuple(pair), tuple(map(str.upper, pair))) for pair in product("abc", "xyz")]
    found = FrameAndSpan().build(everything)
    assert (len(found) > 0, len(found.offered), found.coverage(everything)) == (True, 0, 0)
    with pytest.raises(RecombineError, match="0 frames with a span of another example"):
        found.require_rows()


def test_a_sentence_begins_with_its_own_first_word() -> None:
    nouns, verbs = ("dog", "cat", "girl", "boy"), ("sees", "likes", "helps")
    sentences = [
        Example((article, *f"{one} {verb} the {other} .".split()), (verb.upper(), one.upper(), other.upper()))
        for article, one, verb, other in product(("The", "A"), nouns, verbs, nouns)
        if one != other
    ]
    found = FrameAndSpan(first=None).build(sentences)
    everything = [*sentences, *found.parts]
    assert all(filled(everything[frame], everything[span]) == everything[d] for d, frame, span in found.rows)
    assert any(everything[span].x[0] == "The" for _, _, span in found.rows)


def test_a_rare_word_comes_as_a_span() -> None:
    examples = commands("jump")
    learned = Recombination(FrameAndSpan(), TINY, device="cpu").fit_on(examples, FrameAndSpan().build(examples))
    learned.focus = lambda example: None if "jump" in example.x else "without jump"
    everything = [*examples, *learned.neighborhoods_.parts]
    drawn = learned.drawing(0)(100, np.random.default_rng(0))
    assert all(everything[span].x == ("jump",) for span in drawn[:, 1])
    assert len({*drawn[:, 0]}) > 10
    pair = {"jump", "twice"}  # no span has both
    learned.focus = lambda example: None if pair <= {*example.x} else "without the pair"
    drawn = learned.drawing(0)(100, np.random.default_rng(0))
    assert all(pair <= {*filled(everything[frame], everything[span]).x} for frame, span in drawn)
