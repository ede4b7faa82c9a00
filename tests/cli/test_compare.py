"""``recombine compare``."""

from pathlib import Path

import pytest
from commands import Run, assert_is_sentence, failing

from recombine.data import files
from recombine.prediction.predictor import Predictor
from recombine.report.run import read_run

pytestmark = pytest.mark.usefixtures("tiny")

QUICK = ("--epochs", 2, "-n", 5, "--seeds", 2)


def test_a_table_a_sentence_and_a_run(run: Run, train: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = run("compare", train, *QUICK, "--methods", "geca, oversample, auto", "-o", folder).ok
    table, verdict = done.out.rstrip().split("\n\n")
    assert [line.split()[0] for line in table.splitlines()[1:]] == ["plain", "auto", "oversample", "geca"]
    network, _, verdict = verdict.partition("\n")
    assert network == f"Predictors: {read_run(folder).network}."
    assert verdict == read_run(folder).verdict
    assert read_run(folder).title == "train.tsv"
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == {
        "run.json",
        *(f"samples/{method}.{seed}.jsonl" for method in ("geca", "oversample", "auto") for seed in (0, 1)),
    }
    assert len(files.read(folder / "samples/geca.1.jsonl")) == 5
    assert "Training 8 predictors: 100 %" in done.err
    assert f"recombine report {folder} -o report.html" in done.err
    assert verdict.startswith("It takes more to tell: about 63 test examples. ")
    again = f"--methods 'geca, oversample, auto' --seeds 2 --count 5 --epochs 2 --test FILE -o {folder}-2"
    assert done.last == f"Next: recombine compare {train} {again}"
    assert_is_sentence(run("compare", train, *QUICK, "-o", folder), ["exists already", "--force"])


def test_what_was_drawn_before_an_interruption_is_gone_on_from(
    run: Run, train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("compare", train, *QUICK, "--methods", "geca", "-o", tmp_path / "run")
    with monkeypatch.context() as patched:
        patched.setattr(Predictor, "fit_each", failing(KeyboardInterrupt()))
        done = run(*words)
    assert (done.code, done.last) == (
        130,
        f"Error: interrupted; the same command goes on from {tmp_path}/run/geca.drawn.",
    )
    assert run(*words).ok
    assert not (tmp_path / "run" / "geca.drawn").exists()


def test_recombination_on_a_test_set_of_ones_own(run: Run, train: Path, tmp_path: Path) -> None:
    test = tmp_path / "test.tsv"
    test.write_text("jump twice\tI_JUMP I_JUMP\nwalk\tI_WALK\nwalk thrice\tI_WALK I_WALK I_WALK\n")
    done = run("compare", train, "--test", test, *QUICK, "--methods", "learned", "--json", "-o", tmp_path / "run").ok
    document = done.document
    plain, learned = document["comparison"]
    assert (plain["method"], learned["method"]) == ("plain", "learned")
    assert len(learned["scores"]["rare"]) == 2
    assert learned["p"] == {"all": None, "rare": None, "other": None}  # of three examples nothing can be told
    found = read_run(tmp_path / "run")
    assert (found.data.test, found.data.rare_test, found.data.held_out) == (3, 1, False)
    assert "Training 2 recombination networks: 100 %" in done.err
    assert done.err.count("Rare: ") == done.err.count("tokens in fewer than") == 1
    assert "2 of the test examples are training examples, too." in done.err
    before, _, _ = done.err.partition("Training")
    assert "\nWarning: Test examples with something rare in them: 1; a verdict on the rare takes 8 or more." in before
    assert "fewer than 8" in document["verdict"] or "takes 8 or more" in document["verdict"]  # by what was learned


def test_without_a_folder_or_time_or_further_seeds_it_says_so(run: Run, train: Path, tmp_path: Path) -> None:
    words = ("compare", train, *QUICK, "--methods", "oversample", "--test", train, "--max-time", 0.001)
    kept, without = run(*words, "-o", tmp_path / "run").ok, run(*words, "--seeds", 1).ok
    assert all("cut short" in done.out for done in (kept, without))
    assert ("±" in kept.out, "±" in without.out) == (True, False)
    before, _, _ = without.err.partition("Training")
    assert "give -o RUN" in before  # nothing is kept
    assert "By --max-time, training and drawing take 0 s at most, with the choice of networks." in before
    assert "-o RUN" not in kept.err
    assert f"Warning: {train} has the same examples as the training file" in before
    assert without.last.endswith(f"--max-time 0.003 --test {train} -o run-2")
