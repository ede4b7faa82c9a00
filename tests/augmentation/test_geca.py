"""GECA: what it makes and says, in data by hand and of the whole of SCAN, where everything that it makes is right."""

import time

import pytest
from texts import pair, pairs

from recombine.augmentation.fragments import Code, Inventory, Proposals
from recombine.augmentation.geca import GECA
from recombine.data.scan import interpret, split
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import Inflection

TEXTBOOK = pairs("walk ▷ WALK", "jump ▷ JUMP", "walk twice ▷ WALK WALK")


def test_recombines_and_says_how() -> None:
    [made] = GECA().fit(TEXTBOOK).sample(1)
    assert made == pair("jump twice ▷ JUMP JUMP")
    assert made.provenance.method == "geca"
    assert made.provenance.prototypes == (pair("walk twice ▷ WALK WALK"), pair("jump ▷ JUMP"))
    assert made.provenance.details == {
        "template": "_1 twice ▷ _2 _2",
        "replaced": "walk | WALK",
        "fragments": "jump | JUMP",
        "support": 1,
    }


def test_support_counts_the_templates_that_were_seen_with_both() -> None:
    more = [*TEXTBOOK, pair("jump twice ▷ JUMP JUMP"), pair("walk thrice ▷ WALK WALK WALK")]
    [made] = GECA().fit(more).sample(1)
    assert made == pair("jump thrice ▷ JUMP JUMP JUMP")
    assert made.provenance.details["support"] == 2


def test_goes_wrong_on_a_language_that_is_not_substitutable() -> None:
    """The paper's footnote: from well-formed aⁿ ▷ bⁿ, GECA makes pairs whose sides differ in length.

    The footnote swaps a single ``a`` for ``aab``; as GECA takes out all occurrences at once, here (a, bb) and
    (aa, bbbb) are seen in ``_1 _1 ▷ _2``, and the latter goes into ``_1 _1 _1 ▷ _2 b``.
    """
    balanced = [Example(("a",) * n, ("b",) * n) for n in range(1, 5)]
    made = GECA(fragment_size=4, gaps=2).fit(balanced).sample(1000)
    assert Example(("a",) * 6, ("b",) * 5) in made
    assert GECA(fragment_size=1, gaps=2).fit(balanced).sample(1000).examples == ()


def test_pairs_with_fewer_gaps_may_come_first() -> None:
    forms = [
        Inflection(stem + ending, ("V", tag), stem + suffix)
        for stem in ("habl", "cant", "salt", "nad")
        for ending, tag, suffix in (("ar", "PST", "é"), ("ar", "FUT", "aré"), ("ear", "PRS", "eo"))
    ]
    examples = [form.for_generation for form in forms[:-2]]
    one, two, sorted_two = (
        GECA(fragment_size=4, gaps=gaps, fewest_gaps_first=first).fit(examples)
        for gaps, first in ((1, False), (2, False), (2, True))
    )
    few, all_of_two, in_order = (set(geca.sample(10_000)) for geca in (one, two, sorted_two))
    assert few < all_of_two == in_order
    for seed in range(3):
        assert set(sorted_two.sample(len(few), seed=seed)) == few
    assert sorted_two.sample(len(few), seed=1).examples != sorted_two.sample(len(few), seed=2).examples
    assert not set(two.sample(len(few))) <= few


def test_tokens_that_look_like_gaps_or_borders_are_tokens() -> None:
    odd = {"walk": "_1", "WALK": "\1", "jump": "\0", "JUMP": "▷", "twice": "_2"}
    examples = [Example(tuple(map(odd.get, e.x)), tuple(map(odd.get, e.y))) for e in TEXTBOOK]
    assert list(GECA().fit(examples).sample(1)) == [Example(("\0", "_2"), ("▷", "▷"))]


def test_draws_among_all_proposals_and_not_in_their_order() -> None:
    verbs = [f"v{i}" for i in range(30)]
    examples = [Example((verb,), (verb.upper(),)) for verb in verbs] + [pair("v0 twice ▷ V0 V0")]
    geca = GECA().fit(examples)
    everything = {pair.x[0] for pair in geca.sample(1000)}
    assert everything == set(verbs[1:])
    firsts = {geca.sample(1, seed=seed)[0].x[0] for seed in range(400)}
    assert firsts == everything  # a given one is missed with probability (28/29)^400, below one in a million


def test_tells_why_there_are_fewer() -> None:
    samples = GECA().fit(TEXTBOOK).sample(5)
    assert samples.shortfall == "GECA can make only 1 novel pair from these 3 different examples."
    turned_down = GECA().fit(TEXTBOOK).sample(5, accept=lambda _: "dull")
    assert turned_down.rejected == {"dull": 1}
    assert turned_down.shortfall.endswith("of which 1 were turned down.")
    assert "gaps=2" in GECA(gaps=1).fit(TEXTBOOK).sample(5).shortfall


@pytest.mark.parametrize(
    ("examples", "found"), [([], "got 0"), (TEXTBOOK[:1], "got 1"), (TEXTBOOK[:1] * 3, "got 1 different among 3")]
)
def test_needs_two_different_examples(examples: list[Example], found: str) -> None:
    with pytest.raises(RecombineError, match=f"at least 2 different examples.*{found}"):
        GECA().fit(examples)


@pytest.mark.parametrize(
    "settings", [{"fragment_size": 0}, {"gaps": 0}, {"gaps": 10}, {"fragment_size": 10**12}, {"novel": "inputs"}]
)
def test_settings_that_make_no_sense(settings: dict[str, int | str]) -> None:
    with pytest.raises(RecombineError, match=str(next(iter(settings.values())))):
        GECA(**settings).fit(TEXTBOOK)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number", "tested"), [("jump", 7706, 7706), ("around-right", 2740, 2272)])
def test_makes_every_pair_it_can_in_seconds_and_all_are_right(name: str, number: int, tested: int) -> None:
    dataset = split(name)
    start = time.process_time()
    geca = GECA().fit(dataset.train)
    geca.sample(400)
    assert time.process_time() - start < 10
    made = geca.sample(20_000)
    assert len(made) == number
    assert all(interpret(pair.x) == pair.y for pair in made)
    assert len(set(made) & set(dataset.test)) == tested


@pytest.mark.parametrize(("size", "gaps", "length"), [(1, 2, 2_000), (1, 9, 40), (32, 2, 100)])
def test_an_example_with_too_many_choices_is_left_out_with_a_sentence(size: int, gaps: int, length: int) -> None:
    tokens = tuple(map(str, range(length)))
    walks = [Example((verb, *times), (verb, *times)) for verb in ("a", "b") for times in ((), ("c",))][:-1]
    geca = GECA(fragment_size=size, gaps=gaps, novel="pair")
    made = geca.fit([*walks, Example(tokens, tokens)]).sample(9)
    assert list(made) == list(geca.fit(walks).sample(9)) != []
    assert "the longest 1 have too many fragments" in made.shortfall


def test_if_there_are_too_many_choices_together_the_longest_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.augmentation.fragments.MAX_TOGETHER", 60)
    examples = [Example(tuple("abcdef"[:length]), ("A",)) for length in (5, 1, 3, 2, 4)]  # 28, 6, 15, 10, 21 choices
    code = Code(examples)
    sequences = [code.encode(example) for example in examples]
    assert Proposals(sequences, Inventory(sequences, fragment_size=1, gaps=2)).left_out == 1
