"""JSON, SQL and logical forms: taken apart on reading, whole again in whatever is written."""

import json
from pathlib import Path

import own_files
import pytest
from commands import Run, assert_is_sentence

from recombine.cli.files import Reading

TOLD = "All outputs are JSON: tokens are words, numbers and marks, as with --tokens code.\n"


def written(folder: Path, kind: str) -> Path:
    path = folder / f"{kind}.tsv"
    path.write_text("".join(f"{x}\t{y}\n" for x, y in own_files.make(kind, 60).train))
    return path


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    return written(tmp_path, "commands")


def test_json_is_read_as_code_and_what_was_settled_for_training_examples_holds_for_samples(
    run: Run, commands: Path, tmp_path: Path
) -> None:
    done = run("inspect", commands, "--neighborhood", "swap")
    assert done.err.startswith(TOLD)
    assert done.err.endswith(f"Next: recombine augment {commands} --tokens code -o augmented.jsonl\n")
    assert '▷ {"intent": "' in done.out
    as_words = run("inspect", commands, "--tokens", "words", "--neighborhood", "none")
    assert as_words.err == f"Next: recombine augment {commands} --tokens words -o augmented.jsonl\n"
    new = tmp_path / "new.tsv"
    assert run("augment", commands, "--method", "geca", "-n", 20, "-o", new).err.startswith(TOLD)
    assert run("export", commands, new, "--to", "tsv", "-o", tmp_path / "out").ok
    assert (tmp_path / "out/train.tsv").read_text() == commands.read_text() + new.read_text()
    with new.open("a") as stream:
        stream.write("play nothing\tno JSON\n")  # so that this file alone would be one of words
    done = run("audit", new, "--train", commands)
    assert done.err.startswith(TOLD)
    assert "Warning" not in done.err


@pytest.mark.parametrize(("kind", "token"), [("questions", "\"'Sunny'\""), ("sentences", "'help(the(girl),'")])
def test_code_is_taken_where_words_of_inputs_have_marks(run: Run, tmp_path: Path, kind: str, token: str) -> None:
    path = written(tmp_path, kind)
    done = run("inspect", path, "--neighborhood", "none")
    assert done.err.startswith(f"Outputs have words of their inputs with marks, such as {token}: tokens are words, nu")
    assert f"augment {path} --tokens code" in done.err
    assert "marks" not in run("inspect", path, "--tokens", "words", "--neighborhood", "none").err


def test_code_is_suggested_where_other_words_have_brackets(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "train.tsv"
    words = ["ein", "zwei", "drei", "vier"]
    path.write_text("".join(f"{one} {other}\tpair(n{one},n{other})\n" for one in words for other in words))
    done = run("inspect", path, "--neighborhood", "none")
    assert done.err.startswith("Warning: outputs have brackets or quotes in one token with words, such as ")
    assert f"augment {path} --tokens code" in done.err


def test_samples_of_code_are_not_taken_for_words(run: Run, tmp_path: Path) -> None:
    path, new = tmp_path / "calls.tsv", tmp_path / "new.jsonl"
    asked = [(ask, name) for ask in ("call", "ring", "phone") for name in ("Ann", "Tom", "Bea")][:-1]
    path.write_text("".join(f'{ask} {name}\tdo_{ask}(to="the_{name}",again=no)\n' for ask, name in asked))
    assert run("augment", path, "--tokens", "code", "--method", "geca", "-n", 1, "-o", new).ok
    for command in (("audit", new, "--train", path), ("export", path, new, "--to", "chat", "-o", tmp_path / "chat")):
        assert_is_sentence(run(*command), ["outputs have tokens of code", "--tokens code"])
        assert run(*command, "--tokens", "code").ok


def test_predictors_remember_code_and_write_texts(run: Run, commands: Path, tmp_path: Path, tiny: None) -> None:
    model, predicted = tmp_path / "model", tmp_path / "predicted.tsv"
    assert TOLD in run("train", commands, "--epochs", 1, "-o", model).ok.err
    assert "never seen" not in run("evaluate", model, commands).err
    assert run("predict", model, commands, "-o", predicted).ok
    asked = [line.split("\t")[0] for line in commands.read_text().splitlines()]
    assert [line.split("\t")[0] for line in predicted.read_text().splitlines()] == asked
    assert run("score", "--gold", commands, "--predicted", predicted).ok


def test_texts_count_in_scores_not_tokens(run: Run, tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold.tsv", tmp_path / "predicted.jsonl"
    gold.write_text('go\t{"a": [1, 2]}\ngo on\t{"a": 3}\n')
    made = [("go", ["{", '"a"', ":", "[1,", "2", "]", "}"]), ("go on", ["{", '"', "b", '"', ":", "3", "}"])]
    predicted.write_text("".join(json.dumps({"x": x, "y": y}) + "\n" for x, y in made))
    assert run("score", "--gold", gold, "--predicted", predicted, "--json").document["all"]["exact_match"] == 0.5


def test_what_a_model_of_words_predicted_is_scored_by_its_texts(run: Run, tmp_path: Path, tiny: None) -> None:
    gold, predicted, model = tmp_path / "gold.tsv", tmp_path / "predicted.jsonl", tmp_path / "model"
    gold.write_text("".join(f"find {name} , now\tfind({name}) , now\n" for name in ("Anna", "Tom", "Bea")))
    assert run("train", gold, "--tokens", "words", "--epochs", 200, "-o", model).ok
    following = run("predict", model, gold, "-o", predicted).last.removeprefix("Next: recombine ").split()
    exact = run("evaluate", model, gold, "--json").document["exact_match"]["mean"]
    done = run(*(gold if word == "FILE" else word for word in following), "--json")
    assert done.document["all"]["exact_match"] == exact == 1.0


def test_commands_after_a_model_of_words_are_told_its_tokens_where_they_would_take_code(commands: Path) -> None:
    notes = {"tokens": "words"}
    assert Reading().for_model("model", notes, str(commands)).options == ["--tokens", "words"]
    assert Reading().for_model("model", notes).options == []
