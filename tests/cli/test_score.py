import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Run

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def scored(run: Run, gold: Path, predicted: Path, *options: object) -> dict[str, Any]:
    done = run("score", "--gold", gold, "--predicted", predicted, *options, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_exact_match_and_f1(run: Run, write: Write) -> None:
    gold = write("gold.tsv", "a\tX Y", "b\tZ")
    predicted = write("predicted.tsv", "a\tX W", "b\tZ")
    # Tokens: X and Z hit, W is false, Y is missed.
    assert scored(run, gold, predicted) == {"all": {"n": 2, "exact_match": 0.5, "micro_f1": pytest.approx(4 / 6)}}


def test_table(run: Run, write: Write) -> None:
    gold = write("gold.tsv", "a\tX Y", "b\tZ")
    done = run("score", "--gold", gold, "--predicted", gold)
    assert done.out.splitlines()[-1].split() == ["all", "2", "1.0000", "1.0000"]
    assert not done.err


def test_word_forms_are_scored_as_analyses_and_new_tags_apart(run: Run, write: Write) -> None:
    gold = write("gold.tsv", "gel\tgeldi\tV;PST", "bak\tbakar\tV;PRS")
    predicted = write("predicted.tsv", "gel\tgeldi\tV;PRS", "bak\tbakar\tV;PRS")
    train = write("train.tsv", "sor\tsorar\tV;PRS")
    scores = scored(run, gold, predicted, "--train", train)
    # Lemma, V and tense: five of six elements hit.
    assert scores["all"] == {"n": 2, "exact_match": 0.5, "micro_f1": pytest.approx(10 / 12)}
    assert scores["novel"] == {"n": 1, "exact_match": 0.0, "micro_f1": pytest.approx(4 / 6)}
    assert scored(run, gold, predicted, "--train", gold)["novel"] is None


def test_an_analysis_that_fits_no_columns_can_be_json(run: Run, write: Write) -> None:
    gold = write("gold.tsv", "gel\tgeldi\tV;PST")
    predicted = write("predicted.jsonl", '{"x": ["g", "e", "l", "d", "i"], "y": ["[V]", "[PST]"]}')
    assert scored(run, gold, predicted)["all"]["micro_f1"] == pytest.approx(4 / 5)


def test_reinflection_is_scored_when_the_columns_say_so(run: Run, write: Write) -> None:
    gold = write("gold.tsv", "gel\tgeldi\tV;PST")
    predicted = write("predicted.tsv", "gel\tgelir\tV;PST")
    found = scored(run, gold, predicted, "--columns", "1,2,3", "--tokens", "characters")
    assert found["all"]["exact_match"] == 0.0


@pytest.mark.parametrize("lines", [["a\tX", "c\tZ"], ["b\tX"]])
def test_inputs_that_differ_name_the_line(run: Run, write: Write, lines: list[str]) -> None:
    gold, predicted = write("gold.tsv", "a\tX", "b\tZ"), write("predicted.tsv", *lines)
    done = run("score", "--gold", gold, "--predicted", predicted)
    assert (done.code, done.out) == (2, "")
    assert f"{predicted}:{len(lines)}: the input is '{lines[-1][0]}'" in done.err


def test_files_of_different_lengths(run: Run, write: Write) -> None:
    gold, predicted = write("gold.tsv", "a\tX", "b\tZ"), write("predicted.tsv", "a\tX")
    done = run("score", "--gold", gold, "--predicted", predicted)
    assert done.code == 2
    assert "has 1 examples" in done.err
    assert "has 2" in done.err


def test_new_tags_need_tags(run: Run, write: Write) -> None:
    gold = write("gold.tsv", "a\tX")
    done = run("score", "--gold", gold, "--predicted", gold, "--train", gold)
    assert done.code == 2
    assert "no tags" in done.err


def test_it_is_said_that_repetitions_do_not_count_in_micro_f1(run: Run, tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold.tsv", tmp_path / "predicted.tsv"
    gold.write_text("jump twice\tJUMP JUMP\n")
    predicted.write_text("jump twice\tJUMP JUMP JUMP\n")
    (score,) = json.loads(run("score", "--gold", gold, "--predicted", predicted, "--json").out).values()
    assert (score["exact_match"], score["micro_f1"]) == (0, 1)
    assert "repetitions do not count" in " ".join(run("score", "--help").out.replace("│", " ").split())
