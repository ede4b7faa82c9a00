"""Shards: what is found does not depend on who searches, and the work grows with the data, not with its square."""

from collections.abc import Sequence
from dataclasses import replace

import literal_neighborhoods as literal
import numpy as np
import pytest
from hypothesis import given, settings

from recombine.example import Example
from recombine.execution.executor import Processes
from recombine.neighborhoods import (
    NEIGHBORHOODS,
    Effort,
    LongLong,
    LongShort,
    OnePrototype,
    Rule,
    Swap,
    index,
    search,
    trial_step,
)

EVERYTHING = 10**6
RULES: list[Rule] = [OnePrototype(), LongShort(), LongShort(removal="distinct"), LongLong(), Swap()]


def corpus(size: int, *, words: int) -> list[Example]:
    """Different sentences of up to four words, with their meanings."""
    rng = np.random.default_rng(0)
    examples: dict[Example, None] = {}
    while len(examples) < size:
        numbers = rng.integers(words, size=1 + rng.integers(4)).tolist()
        # Half of the words mean the same, so that some examples differ by one token only.
        y = tuple(f"Y{number}" if number % 2 else "Y" for number in numbers)
        examples[Example(tuple(f"w{number}" for number in numbers), y)] = None
    return list(examples)


def words_with_tags(size: int) -> list[Example]:
    rng = np.random.default_rng(0)
    lemmas = ["".join(rng.choice(list("abcde"), 4)) for _ in range(size)]
    tags = [f"[{tag}]" for tag in rng.choice(["PST", "FUT", "PRS"], size)]
    return list(dict.fromkeys(Example((*x, tag, "[V]"), tuple(x[::-1])) for x, tag in zip(lemmas, tags, strict=True)))


@pytest.mark.parametrize("rule", [*RULES, NEIGHBORHOODS["tagged"]()], ids=lambda rule: rule.name)
def test_any_number_of_processes_finds_the_same(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SHARD", 40)
    examples = words_with_tags(200) if rule.name == "tagged" else corpus(200, words=20)
    alone, two, three = (rule.build(examples, 3, Effort(executor=Processes(workers))) for workers in (1, 2, 3))
    assert alone.rows.tobytes() == two.rows.tobytes() == three.rows.tobytes()
    assert alone.passed == two.passed == three.passed
    assert len(alone) > 0


@given(literal.corpora(), literal.BOUNDS)
@settings(max_examples=50)
def test_shards_miss_nothing(examples: list[Example], delta: float) -> None:
    rule = LongShort(delta=delta, first=None, second=None, budget=EVERYTHING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "SHARD", 2)
        found = rule.build(examples)
    assert {*map(tuple, found.rows.tolist())} == {*literal.long_short(examples, delta=delta)}
    assert found.rows.tolist() == sorted(found.rows.tolist())


def test_a_trial_looks_at_some_targets_among_all_data_and_a_search_tells_how_it_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for size in (16_385, 24_155, 1_000_000):  # COGS has 24,155 pairs, each of which takes 20 ms
        assert 500 < len(range(0, size, trial_step(size))) <= 1_024
    assert trial_step(200) == 1  # a trial on few data is the whole
    monkeypatch.setattr(search, "SHARD", 50)
    monkeypatch.setattr(search, "TRIAL", 40)
    examples, told = corpus(200, words=20), []
    rule = LongShort(first=None, second=None, budget=EVERYTHING)
    effort = Effort(report=lambda done, parts, _: told.append((done, parts)), executor=Processes(2))
    whole, trial = rule.build(examples, 0, effort), rule.build(examples, effort=Effort(trial=True))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert trial.rows.tolist() == [row for row in whole.rows.tolist() if row[0] % trial_step(200) == 0]
    assert trial.passed["of 200 distinct examples"] == len(examples[:: trial_step(200)]) == 40
    assert trial.account.startswith("40 of 200 distinct examples, ")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_comparisons_grow_with_the_data_and_not_with_its_square(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    cdist = index.cdist

    def counting(queries: Sequence[str], others: Sequence[str], **options: object) -> object:
        nonlocal compared
        compared += len(others)
        return cdist(queries, others, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(index, "cdist", counting)
    examples, budget = corpus(2_000, words=12), 20
    replace(rule, budget=budget).build(examples)  # type: ignore[type-var]
    # One search for first prototypes, and one for second ones for each of ten; all pairs would be 2,000 for each.
    assert 0 < compared < len(examples) * budget * (1 + 10)
