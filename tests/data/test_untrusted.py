"""What files may hold, by the annotations of dataclasses; what else they hold is named with its place."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest

from recombine.data.untrusted import fitting, typed
from recombine.errors import RecombineError


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    count: int = 1
    share: float | None = None
    kind: Literal["one", "two"] = "one"
    pairs: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Outer:
    inner: Inner
    counts: dict[str, int] = field(default_factory=dict)
    either: dict[str, list[Inner] | Literal["-"]] = field(default_factory=dict)


def test_tables_become_dataclasses_and_lists_tuples() -> None:
    found = typed({"inner": {"share": 1, "pairs": [[1, 2]]}, "counts": {"a": 2}}, Outer)
    assert found == Outer(Inner(share=1.0, pairs=((1.0, 2.0),)), {"a": 2})
    assert isinstance(found.inner.share, float)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "the document is a list; expected an object."),
        ({}, "the document lacks 'inner'."),
        ({"iner": {}}, "the document lacks 'inner'; found the keys 'iner'."),
        ({"inner": {"cuont": 1}}, "unknown key of inner 'cuont'. Did you mean 'count'?"),
        ({"inner": {"count": True}}, "inner.count is True; expected a whole number."),
        ({"inner": {"share": "x" * 50}}, f"inner.share is '{'x' * 50}'; expected a number or null."),
        ({"inner": {"share": 10**400}}, "expected a number."),
        ({"inner": {"kind": "three"}}, "inner.kind is 'three'; expected 'one' or 'two'."),
        ({"inner": {"pairs": [[1, 2], [1]]}}, "inner.pairs[1] is a list; expected a list of length 2."),
        ({"inner": {}, "counts": {"a": 1, "b.c": "x"}}, "counts.b.c is 'x'; expected a whole number."),
        ({"inner": {}, "either": {"a": 0.5}}, "either.a is 0.5; expected '-' or a list."),
        ({"inner": {}, "either": {"a": [{"count": "x"}]}}, "either.a[0].count is 'x'; expected a whole number."),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_what_was_expected(value: object, message: str) -> None:
    with pytest.raises(RecombineError, match=re.escape(message)) as error:
        typed(value, Outer, place="file.json")
    assert error.value.place == "file.json"


def test_what_no_annotation_tells_of_is_an_error_too() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value, message in ((deep, "is nested too deeply"), ({"inner": "\ud800"}, "holds half a character")):
        with pytest.raises(RecombineError, match=message):
            typed(value, list[Any] if value is deep else Outer)
    for problem in (KeyError("a"), RecombineError("n is 0.")):
        message = r"model: the settings do not fit the weights.*Train again"
        with pytest.raises(RecombineError, match=message), fitting(Path("model")):
            raise problem


def test_toml_has_words_of_its_own_functions_are_not_for_files_and_further_keys_are_let_be_if_asked_for() -> None:
    class Known(TypedDict):
        a: int

    kind = Literal["auto"] | Callable[[str], bool] | None
    assert typed("auto", kind) == "auto"
    assert typed({"a": 1, "b": 2}, Known, further=True) == {"a": 1}
    with pytest.raises(RecombineError, match='share is True; expected a number or "none"'):
        typed(True, float | None, name="share", toml=True)
    with pytest.raises(RecombineError, match="is 'x'; expected 'auto'"):
        typed("x", kind, name="rarity")
    with pytest.raises(RecombineError, match="unknown key"):
        typed({"a": 1, "b": 2}, Known)
