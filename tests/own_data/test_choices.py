"""What "auto" chooses on five kinds of data, against counts made here."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from kinds_of_data import NAMES, dataset, declension, rarity_of

from recombine import GECA
from recombine.augmentation.resample import EPSILONS, NOTHING, PAIRS, TOKENS, Resampler, find_rare
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import is_tag
from recombine.neighborhoods import ALONE, Effort, LongLong, LongShort, Neighborhoods, OnePrototype, search
from recombine.own_data import choices


def shares(name: str) -> dict[str, float]:
    """In which share of the examples each token (of word forms: each tag) is."""
    examples = dataset(name)
    counts = Counter(token for example in examples for token in {*example.x, *example.y})
    return {t: n / len(examples) for t, n in counts.items() if name != "morphology" or is_tag(t)}


def holders(name: str, epsilon: float) -> float:
    """Which share of the examples has a token that fewer than epsilon have."""
    rare = {token for token, share in shares(name).items() if share < epsilon}
    return sum(bool(rare & {*example.x, *example.y}) for example in dataset(name)) / len(dataset(name))


@pytest.mark.parametrize("name", ["jump", "morphology", "geography", "tiny"])
def test_rare_tokens_are_those_that_few_examples_have(name: str) -> None:
    chosen = rarity_of(name)
    assert chosen.kind == TOKENS
    resampler = chosen.resampler
    assert isinstance(resampler, Resampler)
    rare = {token for token, share in shares(name).items() if share < resampler.epsilon}
    assert {rarity.ngram for rarity in resampler.rare_} == {(token,) for token in rare}
    known = {"jump": {"jump", "I_JUMP"}, "morphology": {"[PST]"}, "tiny": {"jump", "JUMP"}}
    assert rare == known.get(name, rare)
    assert 0 < holders(name, resampler.epsilon) <= 0.25
    larger = [epsilon for epsilon in EPSILONS if epsilon > resampler.epsilon]
    assert all(holders(name, epsilon) > 0.25 for epsilon in larger)


def test_where_no_token_is_rare_unseen_pairs_are() -> None:
    chosen = rarity_of("around-right")
    assert chosen.kind == PAIRS
    assert min(shares("around-right").values()) > 0.02
    resampler = chosen.resampler
    seen = {pair for example in dataset("around-right") for pair in pairwise(example.x)}
    assert f"{len(seen)} of 169 were seen" in chosen.reason
    assert resampler(Example(("walk", "around", "right"), ("I_WALK",))) is None
    assert resampler(Example(("walk", "right", "right"), ("I_WALK",))) is None
    assert all(resampler(example) == "without a rare n-gram" for example in dataset("around-right")[::50])


def test_of_few_word_forms_what_is_in_a_few_is_rare() -> None:
    few = declension()
    assert len(few) == 184
    chosen = find_rare(few)
    assert chosen.kind == TOKENS
    assert [str(rarity) for rarity in chosen.resampler.rare_] == ["[INS] (4)"]
    samples = GECA(rarity="auto").fit(few).sample(10)
    assert len(samples) == 10
    assert all(sample.x[-3:] == ("[N]", "[INS]", "[SG]") for sample in samples)


def test_unseen_pairs_of_tags_are_never_what_is_rare() -> None:
    common = declension()[:180]
    chosen = find_rare(common)
    assert (chosen.kind, chosen.resampler, chosen.reason) == (NOTHING, None, "nothing: no tag is rare")


@pytest.mark.parametrize(
    ("examples", "holders", "rare"),
    [(184, 5, True), (184, 6, False), (60, 2, True), (60, 3, False), (10, 1, True), (10, 2, False), (1000, 19, True)],
)
def test_how_many_examples_make_a_token_common(examples: int, holders: int, rare: bool) -> None:
    """Twice as many have "d", so that there is no gap between the rare and the common."""
    data = [
        Example(("a", *"b" * (place < holders), *"d" * (place < 2 * holders), *"c" * place), ("A",))
        for place in range(examples)
    ]
    chosen = find_rare(data)
    found = chosen.resampler.rare_ if chosen.kind == TOKENS else ()
    assert ([rarity.ngram for rarity in found] == [("b",)]) == rare


@pytest.mark.parametrize(
    "examples",
    [
        [Example((f"x{i}",), (f"Y{i}",)) for i in range(200)],
        [Example((a,), (a,)) for a in "ab"],
        [Example((a, b), (a,)) for a in "ab" for b in "ab" for _ in range(3)],
    ],
    ids=["all is rare", "two examples", "every pair is there"],
)
def test_where_rarity_tells_nothing_all_samples_will_do(examples: list[Example]) -> None:
    chosen = find_rare(examples)
    assert (chosen.kind, chosen.resampler) == (NOTHING, None)


def test_the_order_of_rules() -> None:
    orders = {name: choices.rule_names(dataset(name), rarity_of(name)) for name in NAMES}
    assert {name: order[0] for name, order in orders.items()} == {
        name: "tagged" if name == "morphology" else "spans" for name in NAMES
    }
    assert {name: order[1] for name, order in orders.items() if len(order) > 1} == {
        "jump": "long-short",
        "around-right": "long-long",
        "geography": "long-short",
        "tiny": "long-short",
    }
    assert all(order[-1] == "one-prototype" for name, order in orders.items() if name != "morphology")


@pytest.mark.parametrize("name", NAMES)
def test_the_first_rule_that_covers_three_quarters_is_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.augmentation.phrases.STALE", 50)
    # Of SCAN, some short commands: on all of it the search takes ten seconds a rule. Of word forms, the last.
    examples = [example for example in dataset(name) if name not in ("jump", "around-right") or len(example.x) <= 4]
    examples = examples[-200:] if name == "morphology" else examples[:200]
    rules = list(map(choices.rule_named, choices.rule_names(examples, rarity_of(name))))
    chosen = choices.neighborhoods(examples, rules, seed=3)
    found = [rule.build(examples, seed=3) for rule in rules]
    covered = [len({row[0] for row in each.rows.tolist()}) / len(examples) for each in found]
    enough = [each.rule for each, share in zip(found, covered, strict=True) if share >= 0.75]
    best = found[covered.index(max(covered))].rule
    assert chosen.name == chosen.value.rule == (enough[0] if enough else best)
    assert f"{len(chosen.value):,} ways" in chosen.reason


def test_of_many_examples_some_tell_which_rule_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SHARD", 100)
    monkeypatch.setattr(search, "TRIAL", 60)
    examples = dataset("geography")
    asked: list[tuple[str, bool]] = []

    class Counted(OnePrototype):
        def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
            asked.append((str(self.delta), effort.trial))
            return super().build(examples, seed, effort)

    poor, good, unneeded = Counted(delta=0.01), Counted(delta=0.9), Counted(delta=1.0)
    chosen = choices.neighborhoods(examples, [poor, good, unneeded], seed=3)
    assert asked == [("0.01", True), ("0.9", True), ("0.9", False)]
    assert chosen.value.rows.tolist() == OnePrototype(delta=0.9).build(examples, seed=3).rows.tolist()


def test_prototypes_pass_over_rules_with_fewer() -> None:
    assert choices.neighborhoods(dataset("tiny"), [OnePrototype(), LongShort()], prototypes=2).name == "long-short"
    with pytest.raises(RecombineError, match="a one-prototype neighborhood has no 2 prototypes"):
        choices.neighborhoods(dataset("tiny"), [OnePrototype()], prototypes=2)


def test_examples_that_have_nothing_in_common() -> None:
    lonely = [Example((letter, letter.upper()), (letter * 2,)) for letter in "abc"]
    with pytest.raises(
        RecombineError, match=r"no example has a neighborhood .*long-short: .*long-long: .*more examples"
    ):
        choices.neighborhoods(lonely, [LongShort(), LongLong()])


def test_geca_takes_pieces_of_word_forms() -> None:
    sizes = {name: choices.geca(dataset(name)).value.fragment_size for name in NAMES}
    assert sizes == {"jump": 1, "around-right": 1, "morphology": 4, "geography": 1, "tiny": 1}


@pytest.mark.parametrize(
    ("originals", "new", "rate"),
    [
        (13_204, 400, 400 / 13_604),
        (1000, 180, 180 / 1180),
        (900, 100, 0.1),
        (366, 400, 0.2),
        (1, 1_000_000, 0.2),
        (1_000_000, 1, 0.01),
        (10, 0, 0.0),
    ],
)
def test_the_mixing_rate_is_the_share_of_new_examples_within_bounds(originals: int, new: int, rate: float) -> None:
    chosen = choices.mixing_rate(originals, new)
    assert chosen.value == pytest.approx(rate)
    assert ("kept within" in chosen.reason) == (rate in (0.2, 0.01))


@pytest.mark.parametrize(("examples", "samples"), [(1, 400), (100, 400), (101, 404), (2500, 10_000), (10**6, 10_000)])
def test_rules_that_exchange_parts_make_four_samples_for_each_example_within_bounds(
    examples: int, samples: int
) -> None:
    assert choices.how_many(examples) == samples


@pytest.mark.parametrize(("often", "rare"), [(100, {"u"}), (3 * 20 - 1, set()), (3 * 20, {"u"}), (39, {"u", "w"})])
def test_what_is_far_less_frequent_than_all_else_is_rare_beyond_two_percent(often: int, rare: set[str]) -> None:
    """Of 400 examples 20 (5 %) have "u", and `often` have "w"."""
    words = ["u"] * 20 + ["w"] * often + ["v"] * (400 - 20 - often)
    examples = [Example((word, *f"{number:09b}"), ("Y",)) for number, word in enumerate(words)]
    chosen = find_rare(examples)
    found = {rarity.ngram[0] for rarity in chosen.resampler.rare_} if chosen.kind == TOKENS else set()
    assert found == rare
