"""What is held out, and what must stay."""

import math
from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given as with_any
from hypothesis import reject, settings
from hypothesis import strategies as st

from recombine.augmentation.resample import PAIRS, find_rare
from recombine.comparison.splitting import MOST, given, hold_out
from recombine.comparison.verdict import TELLING
from recombine.data import scan
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import Inflection

VERBS = ("walk", "run", "look", "turn", "hop", "crawl", "sit", "fly")
COMMANDS = [
    Example((one, "and", two, often), (one.upper(), *[two.upper()] * times))
    for one, two, (often, times) in product(VERBS, VERBS, (("twice", 2), ("thrice", 3), ("once", 1)))
]
JUMPS = [Example(("jump", often), ("JUMP", *["JUMP"] * times)) for times, often in enumerate(("once", "twice"))]
JUMPS.append(Example(("jump", "and", "walk", "once"), ("JUMP", "WALK")))
DATA = [*COMMANDS, *JUMPS, COMMANDS[0]]  # 195 commands, of which 3 are of jumping; one stands twice


def holders(examples: tuple[Example, ...] | list[Example]) -> Counter[str]:
    """In how many examples each token is, by definition."""
    return Counter(token for example in examples for token in {*example.x, *example.y})


def test_the_rare_is_tested_and_can_be_learned() -> None:
    split = hold_out(DATA)
    assert split.held_out
    assert ("jump",) in split.phenomena
    rare = [example for example, is_rare in zip(split.test, split.rare, strict=True) if is_rare]
    assert [example.x[0] for example in rare] == ["jump"]  # one of three: at least half stays
    assert sum("jump" in example.x for example in split.train) == 2
    assert len(split.test) - len(rare) == len(set(DATA)) // 10
    assert hold_out(DATA, seed=1).test != split.test


tokens = st.sampled_from("abcdefgh")
sides = st.lists(tokens, min_size=1, max_size=4).map(tuple)


@settings(max_examples=150, deadline=None)
@with_any(
    pairs=st.lists(st.builds(Example, sides, sides), min_size=10, max_size=60, unique_by=str),
    seed=st.integers(0, 5),
    epsilon=st.sampled_from([None, 0.1, 0.3]),
)
def test_whatever_the_data(pairs: list[Example], seed: int, epsilon: float | None) -> None:
    distinct = list(dict.fromkeys(pairs))
    try:
        split = hold_out(pairs, seed=seed, epsilon=epsilon)
    except RecombineError:
        reject()  # nothing can be held out, as a test of its own tells
    assert sorted([*split.train, *split.test], key=str) == sorted(distinct, key=str)
    assert not set(split.train) & set(split.test)
    before, after = holders(distinct), holders(split.train)
    for example in split.test:
        for token in {*example.x, *example.y}:
            assert after[token] >= max(1, math.ceil(before[token] / 2))
        assert sum(other.x == example.x for other in distinct) == 1
    rare = find_rare(split.train, epsilon=epsilon)
    assert list(split.rare) == [rare(example) for example in split.test]
    assert len(split.test) <= 2 * max(1, min(MOST, len(distinct) // 10))
    assert hold_out(pairs, seed=seed, epsilon=epsilon).test == split.test


def test_half_of_the_rare_stays_also_where_one_example_shares_its_rare_tokens_with_all_others() -> None:
    names = tuple("pqrstu")
    rare = [Example(names, ("WALK",)), *(Example((name, "twice"), ("WALK", "WALK")) for name in names)]
    for seed in range(5):  # by tokens alone, six of the seven could go
        assert 0 < sum(hold_out([*COMMANDS, *rare], seed=seed, epsilon=0.02).rare) <= 3


def test_too_few_rare_test_examples_for_a_verdict_are_told_with_what_to_do() -> None:
    few, once = hold_out(DATA), hold_out([*COMMANDS, JUMPS[0]])
    assert 0 < sum(few.rare) < TELLING
    assert ("jump",) in once.phenomena
    assert not any(once.rare)
    for split in (few, once):
        assert split.shortfall.startswith(f"Test examples with something rare in them: {sum(split.rare)}; ")
        assert "--test FILE" in split.shortfall
    train = [*COMMANDS, JUMPS[0]]
    jumps = [Example(("jump", *map(str, range(number))), ("JUMP",)) for number in range(TELLING)]
    assert given(train, [*jumps, *COMMANDS[:3]]).shortfall == ""
    for tests in (jumps[1:], COMMANDS[:3]):
        assert given(train, tests).shortfall.endswith("Add some to the test examples.")
    assert given(train, jumps[1:], epsilon=1e-9).shortfall == ""  # nothing is rare


def test_where_no_token_is_rare_pairs_are() -> None:
    split = hold_out(COMMANDS)
    assert split.phenomena == ()  # 24 of 192 have any one pair of tokens: none is rare
    few = [example for example in COMMANDS if example.x[1:3] != ("and", "sit") or example.x[0] in ("walk", "sit")]
    words = [
        *few,
        *(Example(("sit", *example.x[2:]), ("SIT", *example.y[1:])) for example in few if example.x[0] == "run"),
    ]
    split = hold_out(words)
    assert split.phenomena
    assert all(len(name) == 2 for name in split.phenomena)
    for example, rare in zip(split.test, split.rare, strict=True):
        assert rare == any(pair in split.phenomena for pair in pairwise(example.x))


def test_a_pair_that_is_seen_once_is_rare_in_samples_and_tests() -> None:
    data = scan.split("turn-left")
    train, test = (
        [each for each in part if not {"around", "opposite", "thrice"} & {*each.x}] for part in (data.train, data.test)
    )
    split = given(train, test)
    assert (split.phenomena, split.shortfall) == ((("turn", "left"),), "")
    assert all(split.rare)
    assert [split.rarity.resampler(example) is None for example in split.test] == [*split.rare]
    assert hold_out(train).phenomena == split.phenomena


def test_where_only_pairs_that_no_example_has_are_rare_nothing_rare_can_be_held_out() -> None:
    split = hold_out([example for example in COMMANDS if example.x[1:3] != ("and", "sit")])
    assert (split.rarity.kind, split.phenomena, sum(split.rare)) == (PAIRS, (), 0)
    assert split.shortfall.endswith("No example has any of what is rare. Give test examples of it (--test FILE).")


def test_of_word_forms_tags_are_rare_and_ambiguous_forms_are_not_tested() -> None:
    lemmas = ["".join(each) for each in product("bk", "aeo", "rtl")]
    forms = [
        Inflection(lemma, ("V", tag), lemma + end) for lemma in lemmas for tag, end in (("PRS", "ir"), ("PL", "ler"))
    ]
    forms += [Inflection(lemma, ("V", "SBJV"), lemma + "ir") for lemma in lemmas[:4]]  # like the present
    split = hold_out([form.for_generation for form in forms], epsilon=0.2)
    assert split.phenomena == (("[SBJV]",),)
    asked = [question.x for question in split.questions(split.test, "analysis")]
    written = Counter(tuple(form.form) for form in forms)
    assert asked
    assert all(written[form] == 1 for form in asked)
    assert sum(split.rare) == 0  # every subjunctive looks like a present


def test_a_test_set_is_taken_as_it_is_and_judged_by_training_alone() -> None:
    train, test = [*COMMANDS, JUMPS[0]], [COMMANDS[0], JUMPS[1], Example(("swim",), ("SWIM",))]
    split = given(train, test)
    assert (split.train, split.test, split.held_out) == (tuple(train), tuple(test), False)
    assert split.rare == (False, True, True)
    assert split.phenomena == tuple(rarity.ngram for rarity in find_rare(train).seen)


def test_mistakes() -> None:
    with pytest.raises(RecombineError, match="at least 10"):
        hold_out(COMMANDS[:9])
    with pytest.raises(RecombineError, match="each has something"):
        hold_out([Example((f"x{number}",), ("y",)) for number in range(20)])
    form = Inflection("gel", ("V",), "geldi").for_generation
    with pytest.raises(RecombineError, match="word forms"):
        given([form, Inflection("gel", ("V",), "gelir").for_generation], COMMANDS)
