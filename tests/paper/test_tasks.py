"""The data of Table 2, from a made-up language."""

from itertools import islice
from pathlib import Path

import pytest

from recombine.data import files
from recombine.data.sigmorphon import few_shots
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import Inflection, is_tag
from recombine.paper import tasks as kinds
from recombine.paper.tasks import WordFormTask, WordFormTasks, attested, no_word_form


def test_seeds_take_the_splits_in_turn(source: Path, tasks: WordFormTasks) -> None:
    splits = list(islice(few_shots(files.read_inflections(source / "turkish-train-high")), 10))
    for column, seed, place in (("turkish-8", 0, 5), ("turkish-8", 8, 8), ("turkish-4", 1, 1)):
        expected, found = splits[place], tasks(column, seed)
        assert found.train == [word.for_generation for word in expected.train]
        tests = (expected.past, expected.future, expected.other)
        assert found.test == [word.for_generation for test in tests for word in test]
        assert found.sets == (100, 100, 100)
    assert tasks("turkish-8", 3) is tasks("turkish-8", 8)
    assert tasks("turkish-8", 3) is not tasks("turkish-8", 4)
    seen = found.as_predicted(found.train[0])
    assert (seen.x, seen.y) == (found.train[0].y, found.train[0].x)
    assert found.relevant is is_tag
    for _ in range(2):  # what fails is tried again
        with pytest.raises(RecombineError, match="unknown language 'spanish'"):
            tasks("spanish-8", 0)


def test_a_file_that_is_too_short_is_named(source: Path, tmp_path: Path) -> None:
    short = tmp_path / "turkish-train-high"
    short.write_text("".join((source / short.name).read_text("utf-8").splitlines(keepends=True)[:500]), "utf-8")
    with pytest.raises(RecombineError, match="too few") as raised:
        WordFormTasks(tmp_path)("turkish-8", 0)
    assert raised.value.place == str(short)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ("ab [V] [PST]", "abd", None),
        ("ab [V] [V]", "abd", "with a tag twice"),
        ("ab", "abd", "no word form"),
        ("[V] a", "b", "no word form"),
        ("a [V] b [V]", "ab", "no word form"),
        ("a [V]", "a[V]", "no word form"),
    ],
)
def test_what_is_no_word_form(x: str, y: str, reason: str | None) -> None:
    def tokens(text: str) -> tuple[str, ...]:
        parts = text.replace("[", " [").replace("]", "] ").split()
        return tuple(token for part in parts for token in ([part] if is_tag(part) else part))

    assert no_word_form(Example(tokens(x), tokens(y))) == reason


@pytest.mark.parametrize(
    ("sample", "kind"),
    [
        ("gel V;PRS gelir", kinds.KNOWN),
        ("gel PST;V geldi", kinds.RIGHT),
        ("gel V;FUT geldi", kinds.MISMATCH),
        ("gel V;COND geldi", kinds.MISMATCH),
        ("gel V;FUT geldir", kinds.WRONG),
        ("gel V;COND gelse", kinds.UNJUDGED),
        ("bak V;PST baktı", kinds.UNJUDGED),
    ],
)
def test_samples_are_classed_by_what_the_file_has(sample: str, kind: str) -> None:
    known = {"PST": "geldi", "PRS": "gelir", "FUT": "gelecek"}
    words = {tense: Inflection("gel", ("V", tense), form) for tense, form in known.items()}
    train = [words["PRS"].for_generation]
    task = WordFormTask(train=train, test=[], sets=(), attested=attested(words.values()))
    lemma, tags, form = sample.split()
    assert task.class_of(Inflection(lemma, tuple(tags.split(";")), form).for_generation) == kind
