"""Checks by name and by command: what they keep, and commands that are missing, fail, hang or talk."""

import pickle
from pathlib import Path

import pytest

from recombine.data.code import split
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.own_data import checks
from recombine.own_data.augmenters import GECA, Oversampler
from recombine.own_data.checks import Check

PAIRS = [(f"say {word}", f'{{"said": "{word}"}}') for word in ("hi", "ho")] + [("hi", '["hi"]'), ("ho", '["ho"]')]


@pytest.mark.parametrize(
    ("name", "output", "kept"),
    [
        ("json", '{"a": [1, 2]}', True),
        ("json", '{"a": [1, 2}', False),
        ("json", "[" * 90_000, False),
        ("brackets", "f(x, [1], {y})", True),
        ("brackets", 'f(")", "a \\" b", Łukasz\'s)', True),
        ("brackets", "SELECT 'O''Brien'", True),
        ("brackets", "f(x]", False),
        ("brackets", "f)x(", False),
        ("brackets", "f(x", False),
        ("brackets", 'say "hi', False),
        ("brackets", 'say "hi\\"', False),
        ("""test "$(cat)" = "$(printf 'x y\\t[1]')" """, "[1]", True),
        ("exit 3", "a", False),
        ("cat; cat; yes | head -c 300000; echo 'nonsense \377' >&2", "a", True),
        ("true", "a" * 300_000, True),  # reads nothing of it
    ],
)
def test_what_is_kept(name: str, output: str, kept: bool) -> None:
    check = pickle.loads(pickle.dumps(Check(name, "code")))
    reason = check(Example(("x", "y"), split(output)))
    assert (reason is None) == kept
    assert kept or isinstance(reason, str)


def test_commands_that_cannot_be_asked_are_errors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sample = Example(("x",), ("y",))
    with pytest.raises(RecombineError, match=r"'jsno' cannot be run: .*not found.*json, brackets or a command"):
        Check("jsno")(sample)
    monkeypatch.setattr(checks, "TIMEOUT", 0.3)
    left = tmp_path / "left"
    with pytest.raises(RecombineError, match=r"took more than 0 s for the sample 'x\\ty\\n'"):
        Check(f"(sleep 1; touch {left}) & sleep 60")(sample)
    assert not left.exists()
    for nothing in ("", " ", None):
        with pytest.raises(RecombineError, match="expected json, brackets or a command"):
            Check(nothing)


def test_augmenters_ask_checks_and_count_what_they_turn_down() -> None:
    samples = Oversampler(rarity=None, validator=Check("grep -q said")).fit(PAIRS).sample(10)
    assert {sample.x for sample in samples} == {("say", "hi"), ("say", "ho")}
    assert samples.rejected["turned down by 'grep -q said'"] > 0
    assert GECA(validator=Check("json")).fit([*PAIRS[:3], ("say him", '{"said": "him"}')]).sample(1)
    for name, said in (("echo no such luck >&2; false", r"\(no such luck\)"), ("brackets", "")):
        with pytest.raises(RecombineError, match=rf"turns down the training examples, too.*{said}"):
            GECA(validator=Check(name)).fit([(x, f"{y} )") for x, y in PAIRS])
    fitted = Oversampler(rarity=None).fit(PAIRS)
    assert {*fitted.sample(10, accept=Check("json"))} == {*fitted.examples_}
