"""``recombine predict``, ``evaluate``, ``score`` and ``audit``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Outcome, Run, assert_is_sentence

from recombine.data import files
from recombine.prediction.predictor import Prediction, Predictor

Write = Callable[..., Path]
Predict = Callable[..., Outcome]
INPUTS = ["walk twice", "run", "look and turn"]


@pytest.fixture
def predict(run: Run, predictors: Path) -> Predict:
    return lambda *options, stdin="": run("predict", predictors, *options, stdin=stdin)


def test_predictions_are_those_of_the_first_network_or_of_all(
    predict: Predict, predictors: Path, tmp_path: Path
) -> None:
    (tmp_path / "inputs.txt").write_text("\n".join(INPUTS) + "\n")
    done = predict(tmp_path / "inputs.txt", "-o", tmp_path / "out.jsonl").ok
    expected = Predictor.load(predictors, device="cpu").predict([tuple(line.split()) for line in INPUTS])[0]
    found = files.read(tmp_path / "out.jsonl")
    assert [" ".join(example.x) for example in found] == INPUTS
    assert [example.y for example in found] == [prediction.y for prediction in expected]
    for example, prediction in zip(found, expected, strict=True):
        assert example.provenance.log_probability == pytest.approx(prediction.log_probability, abs=1e-4)
    assert (done.out, done.last) == ("", f"Next: recombine score --gold FILE --predicted {tmp_path}/out.jsonl")
    done = predict(tmp_path / "inputs.txt", "--all-seeds", "-o", tmp_path / "out.tsv", "--json")
    assert done.document["outputs"] == [str(tmp_path / f"out.{number}.tsv") for number in range(2)]
    assert all(len(files.read(tmp_path / f"out.{number}.tsv")) == 3 for number in range(2))
    assert_is_sentence(predict(tmp_path / "inputs.txt", "--all-seeds"), ["2 files", "-o"])
    assert predict(tmp_path / "inputs.txt", "-o", tmp_path / "out.jsonl", "--beam", 2, "--force").ok
    assert_is_sentence(predict(tmp_path / "inputs.txt", "--json"), ["--json", "-o"])


def test_outputs_that_no_file_can_hold_are_told(predict: Predict, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = [Prediction((), -1.0), Prediction(("\t",), -1.0), Prediction(("A", "\t", "B"), -1.0)]
    monkeypatch.setattr(Predictor, "predict", lambda *_: [odd, odd])
    done = predict("-", stdin="\n".join(INPUTS))
    outputs = [json.loads(line)["y"] for line in done.out.splitlines()]
    assert outputs == [["<nothing>"], ["<nothing>"], ["A", "B"]]
    assert "2 of them have no tokens, written as <nothing>" in done.err


def test_tokens_never_seen_are_told(predict: Predict, run: Run, predictors: Path) -> None:
    done = predict("-", stdin="walk zigzag\nwalk\n").ok
    assert "Tokens never seen in training: 1 (zigzag)." in done.err
    done = run("evaluate", predictors, "-", stdin="walk zigzag\tI_ZIG\nrun\tI_RUN\nhop\tI_RUN\n").ok
    assert "Tokens never seen in training: 3 (I_ZIG, hop, zigzag). They are in 2 of 3 test examples." in done.err


def test_swapped_columns_are_told_and_the_right_ones_are_not(
    run: Run, train: Path, tmp_path: Path, write: Write, tiny: None
) -> None:
    model = tmp_path / "model"
    assert run("train", train, "--epochs", 1, "-o", model).ok
    swapped = write("swapped.tsv", "I_WALK I_WALK\twalk twice", "I_RUN\trun", "I_LOOK I_TURN\tlook and turn")
    told = f"Warning: {swapped}: most tokens in the inputs, such as 'I_WALK', were outputs in training and never"
    told = f"{told} inputs. Are its columns swapped? Then give --columns 2,1 (or their names)."
    for command in (("evaluate", model, swapped), ("predict", model, swapped)):
        assert told in run(*command).ok.err
        assert "swapped?" not in run(*command, "--columns", "2,1").ok.err
    for command in (("evaluate", model, train), ("inspect", train, "--test", train, "--neighborhood", "none")):
        assert "swapped?" not in run(*command).ok.err
    told = f"{told.partition('Then')[0]}Then swap them in the file: --columns is for both files."
    assert told in run("inspect", train, "--test", swapped, "--neighborhood", "none").ok.err
    keys = write("swapped.jsonl", '{"out": "walk", "in": "I_WALK"}')
    assert "Then give --columns out,in." in run("evaluate", model, keys, "--columns", "in,out").ok.err


def test_evaluation_agrees_with_scoring_the_predictions_and_is_a_table_by_seed(
    predict: Predict, run: Run, predictors: Path, train: Path, tmp_path: Path
) -> None:
    test = tmp_path / "test.tsv"
    test.write_text("walk twice\tI_WALK I_WALK\njump twice\tI_JUMP I_JUMP\nrun and jump\tI_RUN I_JUMP\nrun\tI_RUN\n")
    predict(test, "--all-seeds", "-o", tmp_path / "out.tsv")
    scores = [scored(run, test, tmp_path / f"out.{number}.tsv")["all"] for number in range(2)]
    found = run("evaluate", predictors, test, "--json").document
    assert found["scores"] == {"3": scores[0], "4": scores[1]}
    for measure in ("exact_match", "micro_f1"):
        first, second = (score[measure] for score in scores)
        assert found[measure]["mean"] == pytest.approx((first + second) / 2)
        assert found[measure]["deviation"] == pytest.approx(abs(first - second) / 2)
    done = run("evaluate", predictors, train)
    assert [line.split()[:2] for line in done.out.splitlines()[1:3]] == [["seed", "3"], ["seed", "4"]]
    assert done.out.splitlines()[3].startswith("mean")
    assert "±" in done.out
    assert "never seen" not in done.err
    assert done.last == f"Next: recombine predict {predictors} {train} -o predicted.tsv"


@pytest.mark.usefixtures("tiny")
def test_a_model_of_word_forms_knows_its_tokens_and_direction(run: Run, words: Path, tmp_path: Path) -> None:
    for name in ("analysis", "inflection"):
        assert run("train", words, "--direction", name, "--epochs", 1, "-o", tmp_path / name).ok
    forms = ["".join(example.y) for example in files.read(words)]
    (tmp_path / "forms.txt").write_text("".join(f"{form}\n" for form in forms))
    (tmp_path / "spaced.txt").write_text("".join(f"{' '.join(form)}\n" for form in forms if " " not in form))
    for source in ("forms.txt", "spaced.txt"):
        done = run("predict", tmp_path / "analysis", tmp_path / source, "-o", tmp_path / f"{source}.jsonl")
        assert "never seen" not in done.err
        found = ["".join(example.x) for example in files.read(tmp_path / f"{source}.jsonl")]
        assert found == [form for form in forms if source == "forms.txt" or " " not in form]
        lines = (tmp_path / f"{source}.jsonl").read_text().splitlines()
        assert [json.loads(line)["input"] for line in lines] == found  # whatever was predicted
    told, inflecting = "was trained for", ("--columns", "1,2,3", "--tokens", "characters")
    for command in ("predict", "evaluate"):
        for name in ("analysis", "inflection"):
            done = run(command, tmp_path / name, words)
            assert told not in done.err
            assert f"as {name}" in done.err
        assert f"{told} analysis" in run(command, tmp_path / "analysis", words, *inflecting).err


def test_a_model_knows_what_its_tokens_are(run: Run, tmp_path: Path, tiny: None) -> None:
    pairs = [("ab", "BA"), ("ba", "AB"), ("a", "A"), ("b", "B"), ("aa", "AA"), ("bb", "BB")]
    train, model = tmp_path / "train.tsv", tmp_path / "model"
    train.write_text("".join(f"{x}\t{y}\n" for x, y in pairs))
    assert run("train", train, "--tokens", "characters", "--epochs", 150, "-o", model).ok
    assert run("predict", model, train, "-o", tmp_path / "out.tsv").ok
    assert (tmp_path / "out.tsv").read_text() == train.read_text()
    assert run("evaluate", model, train, "--json").document["exact_match"]["mean"] == 1.0
    done = run("evaluate", model, train, "--tokens", "words", "--json")
    assert done.document["exact_match"]["mean"] < 1.0
    assert f"Warning: {model} was trained with --tokens characters, not words." in done.err


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def scored(run: Run, gold: Path, predicted: Path, *options: object) -> dict[str, Any]:
    return run("score", "--gold", gold, "--predicted", predicted, *options, "--json").document


def test_exact_match_and_f1(run: Run, write: Write) -> None:
    gold = write("gold.tsv", "a\tX Y", "b\tZ")
    predicted = write("predicted.tsv", "a\tX W", "b\tZ")
    # Tokens: X and Z hit, W is false, Y is missed.
    assert scored(run, gold, predicted) == {"all": {"n": 2, "exact_match": 0.5, "micro_f1": pytest.approx(4 / 6)}}
    done = run("score", "--gold", gold, "--predicted", gold)
    assert done.out.splitlines()[-1].split() == ["all", "2", "1.0000", "1.0000"]
    assert not done.err
    gold, predicted = write("gold.tsv", "jump twice\tJUMP JUMP"), write("predicted.tsv", "jump twice\tJUMP JUMP JUMP")
    assert scored(run, gold, predicted)["all"] == {"n": 1, "exact_match": 0, "micro_f1": 1}
    assert "repetitions do not count" in " ".join(run("score", "--help").out.replace("│", " ").split())


def test_word_forms_are_scored_as_analyses_and_new_tags_apart(run: Run, write: Write) -> None:
    gold = write("gold.tsv", "gel\tgeldi\tV;PST", "bak\tbakar\tV;PRS")
    predicted = write("predicted.tsv", "gel\tgeldi\tV;PRS", "bak\tbakar\tV;PRS")
    train = write("train.tsv", "sor\tsorar\tV;PRS")
    scores = scored(run, gold, predicted, "--train", train)
    # Lemma, V and tense: five of six elements hit.
    assert scores["all"] == {"n": 2, "exact_match": 0.5, "micro_f1": pytest.approx(10 / 12)}
    assert scores["novel"] == {"n": 1, "exact_match": 0.0, "micro_f1": pytest.approx(4 / 6)}
    assert scored(run, gold, predicted, "--train", gold)["novel"] is None
    # An analysis that fits no columns can be JSON, and columns can ask for forms.
    gold = write("gold.tsv", "gel\tgeldi\tV;PST")
    predicted = write("predicted.jsonl", '{"x": ["g", "e", "l", "d", "i"], "y": ["[V]", "[PST]"]}')
    assert scored(run, gold, predicted)["all"]["micro_f1"] == pytest.approx(4 / 5)
    forms = write("predicted.tsv", "gel\tgelir\tV;PST")
    assert scored(run, gold, forms, "--columns", "1,2,3", "--tokens", "characters")["all"]["exact_match"] == 0.0


@pytest.mark.parametrize("lines", [["a\tX", "c\tZ"], ["b\tX"]])
def test_inputs_that_differ_name_the_line(run: Run, write: Write, lines: list[str]) -> None:
    gold, predicted = write("gold.tsv", "a\tX", "b\tZ"), write("predicted.tsv", *lines)
    done = run("score", "--gold", gold, "--predicted", predicted)
    assert (done.code, done.out) == (2, "")
    assert f"{predicted}:{len(lines)}: the input is '{lines[-1][0]}'" in done.err


@pytest.fixture
def samples(write: Write) -> dict[str, Path]:
    made = ["walk\tI_WALK", *["jump twice\tI_JUMP I_JUMP"] * 2, "walk twice\tI_WALK", "twice walk\tI_WALK"]
    return {
        "train": write("train.tsv", "walk\tI_WALK", "jump\tI_JUMP"),
        "test": write("test.tsv", "jump twice\tI_JUMP I_JUMP", "walk twice\tI_WALK I_WALK"),
        "samples": write("samples.tsv", *made),
    }


def test_an_audit_counts_and_shares_and_is_a_table(run: Run, samples: dict[str, Path]) -> None:
    files = (samples["samples"], "--train", samples["train"], "--test", samples["test"])
    found = run("audit", *files, "--gold", "scan", "--json").document
    assert found.pop("shares")["right"] == 0.6
    assert found == {
        **{"n": 5, "novel": 4, "duplicates": 1, "contradicted": 0, "well_formed": 4, "right": 3},
        **{"right_and_novel": 2, "inputs_in_test": 3, "pairs_in_test": 2},
    }
    done = run("audit", samples["samples"], "--train", samples["train"], "--gold", "scan")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert {"samples 5 100.0 %", "exactly right 3 60.0 %"} <= {*lines}
    assert "test" not in done.out
    following = f"train {samples['train']} --augmented {samples['samples']} -o predictor"
    assert done.last == f"Next: recombine {following}"
    done = run("audit", "-", "--train", samples["train"], "--json", stdin=samples["samples"].read_text())
    assert done.document["n"] == 5


def test_audit_tells_the_estimates_that_all_samples_carry(run: Run, tmp_path: Path) -> None:
    train, new = tmp_path / "train.tsv", tmp_path / "new.jsonl"
    train.write_text("a\tA\nb\tB\n")
    lines = [
        {"x": [word], "y": [word], "provenance": {"method": "geca", "prototypes": [], "details": {"right": right}}}
        for word, right in (("c", 0.9), ("d", 0.7))
    ]
    new.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "about 80% of them are right" in run("audit", new, "--train", train).ok.err
    new.write_text(json.dumps(lines[0]) + "\n" + json.dumps({"x": ["e"], "y": ["E"]}) + "\n")
    assert "of them are right" not in run("audit", new, "--train", train).ok.err
