"""The contract that every neighborhood rule keeps."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.long_long import LongLong
from recombine.neighborhoods.long_short import LongShort
from recombine.neighborhoods.rules import NEIGHBORHOODS, build

MIDDLES = [(), ("t",), ("s",), ("t", "s"), ("s", "t")]
LONG = [Example((v, *m, f"[{v}]"), ("z", v, "z", v, "z")) for v in "abcdefgh" for m in MIDDLES]
EXAMPLES = [*LONG, *LONG[:3], *(Example((v, f"[{v}]"), (v,)) for v in "abcdefgh")]

pytestmark = pytest.mark.parametrize("name", sorted(NEIGHBORHOODS))


def test_rows_are_a_sorted_compact_array(name: str) -> None:
    found = build(name, EXAMPLES)
    assert found.rule == name
    assert found.rows.dtype == np.int32
    assert len(found) > 0
    assert found.rows.tolist() == sorted(found.rows.tolist())
    assert found.settings["seed"] == 0


def test_nobody_is_its_own_prototype_and_only_first_occurrences_count(name: str) -> None:
    rows = build(name, EXAMPLES).rows.tolist()
    assert all(len({EXAMPLES[place] for place in row}) == len(row) for row in rows)
    assert all(EXAMPLES.index(EXAMPLES[place]) == place for row in rows for place in row)


def test_the_seed_alone_decides(name: str) -> None:
    rule = replace(NEIGHBORHOODS[name](), first=1)
    one, again, other = (build(name, EXAMPLES, seed=seed, settings=rule) for seed in (1, 1, 2))
    assert np.array_equal(one.rows, again.rows)
    assert name == "tagged" or not np.array_equal(one.rows, other.rows)


def test_hashes_do_not(name: str) -> None:
    program = (
        "from recombine.example import Example; from recombine.neighborhoods.rules import build; import hashlib\n"
        "from itertools import product\n"
        "e = [Example((*x, f'[{x}]'), y) for x in product('abc', repeat=2) for y in product('abc', repeat=2)]\n"
        f"print(hashlib.sha256(build({name!r}, e).rows.tobytes()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(digests) == 1


def test_a_lone_example_has_no_neighborhood(name: str) -> None:
    found = build(name, EXAMPLES[:1])
    assert found.rows.shape == (0, 2 if name == "one-prototype" else 3)
    with pytest.raises(RecombineError, match="no example has"):
        found.require_rows()


def test_a_budget_of_one_still_gives_valid_rows(name: str) -> None:
    rule = NEIGHBORHOODS[name]()
    limits = (
        {"first": 100, "budget": 10**6} if name == "one-prototype" else {"first": 100, "second": 100, "budget": 10**6}
    )
    whole = set(map(tuple, replace(rule, **limits).build(EXAMPLES).rows.tolist()))
    few = set(map(tuple, replace(rule, budget=1).build(EXAMPLES).rows.tolist()))
    if name != "tagged":  # for which budget changes what the best are
        assert few <= whole


def test_bad_settings_are_errors(name: str) -> None:
    with pytest.raises(RecombineError, match="budget is 0"):
        replace(NEIGHBORHOODS[name](), budget=0)
    with pytest.raises(RecombineError, match="first is -1"):
        replace(NEIGHBORHOODS[name](), first=-1)
    if name.startswith("long"):
        for delta in (0.0, -0.5, 1.5):
            with pytest.raises(RecombineError, match="delta"):
                replace(NEIGHBORHOODS[name](), delta=delta)
    with pytest.raises(RecombineError, match="settings are those"):
        build(name, EXAMPLES, settings=LongLong() if name == "long-short" else LongShort())


def test_an_unknown_name_gets_a_suggestion(name: str) -> None:
    with pytest.raises(RecombineError, match=f"Did you mean '{name}'"):
        build(name + "s", EXAMPLES)
