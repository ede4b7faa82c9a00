"""``recombine train``, and going on after an interruption."""

from pathlib import Path

import pytest
from commands import Run, assert_is_sentence, failing

from recombine.cli.files import Reading
from recombine.cli.train import read_new
from recombine.data import files
from recombine.data.output import locked
from recombine.example import Example
from recombine.prediction.predictor import Predictor
from recombine.training import resume
from recombine.training.resume import Checkpoint

pytestmark = pytest.mark.usefixtures("tiny")


def test_what_was_trained_can_be_evaluated(run: Run, train: Path, tmp_path: Path) -> None:
    done = run("train", train, "-o", tmp_path / "model").ok
    assert (done.out, done.last) == ("", f"Next: recombine evaluate {tmp_path}/model FILE")
    assert "Training the predictor: 100 %" in done.err
    assert run("evaluate", tmp_path / "model", train, "--json").document["exact_match"]["mean"] > 0.8
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "train.tsv"]


def test_new_examples_are_learned_from(run: Run, train: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.tsv"
    new.write_text("hop\tI_HOP\nhop twice\tI_HOP I_HOP\n")
    report = run("train", train, "-o", tmp_path / "model", "--augmented", new, "--p-aug", "0.3", "--json").document
    assert (report["examples"], report["augmented"], report["seeds"]) == (29, [2], [0])
    assert report["held_out_accuracy"] is None
    assert run("evaluate", tmp_path / "model", new, "--json").document["exact_match"]["mean"] == 1.0


def test_new_examples_of_another_kind_are_warned_of_and_time_is_bounded(run: Run, train: Path, tmp_path: Path) -> None:
    new, words = tmp_path / "new.jsonl", ("train", train, "-o", tmp_path / "model", "--force")
    options = ("--augmented", new, "--epochs", 1)
    files.write([Example(tuple("walk"), ("I_WALK",))], new)
    err = run(*words, *options).err
    assert "Warning: most tokens in the inputs of the new examples, such as 'w', are in no original." in err
    assert "--tokens characters" in err
    assert "the outputs" not in err
    files.write([Example(("I_WALK",), ("walk",))], new, force=True)
    assert run(*words, *options).err.count("Warning:") == 2
    files.write([Example(("walk", "hop"), ("I_WALK", "I_HOP"))], new, force=True)
    assert "Warning" not in run(*words, *options).err
    done = run(*words, "--epochs", 10**6, "--max-time", "0.3", "--json")
    assert done.document["stopped_by_max_time"]
    assert 0.3 <= done.document["seconds"] < 5
    assert "--max-time" in done.err


def test_each_network_gets_its_own_samples_in_the_direction_of_the_examples(
    train: Path, words: Path, tmp_path: Path
) -> None:
    for number in range(2):
        (tmp_path / f"new.{number}.tsv").write_text(f"x{number}\tY\n")
    new = read_new(str(tmp_path / "new.tsv"), files.read(train), Reading(), networks=2)
    assert [[example.x for example in own] for own in new] == [[("x0",)], [("x1",)]]
    (tmp_path / "new.tsv").write_text("x\tY\n")
    new = read_new(str(tmp_path / "new.tsv"), files.read(train), Reading(), networks=2)
    assert [[example.x for example in own] for own in new] == [[("x",)], [("x",)]]
    files.write(files.read(words)[:2], tmp_path / "new.jsonl")
    examples = Reading().read_for_prediction(str(words))
    assert "".join(examples[0].x) == "gelir"
    assert examples[0].y == ("g", "e", "l", "[V]", "[PRS]", "[SG]")
    assert read_new(str(tmp_path / "new.jsonl"), examples, Reading(), networks=1) == [examples[:2]]


def test_a_model_is_replaced_only_by_force_and_a_population_has_consecutive_seeds(
    run: Run, train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("train", train, "-o", tmp_path / "model", "--epochs", 1)
    with locked(tmp_path / "model"):
        done = run(*arguments)
    assert_is_sentence(done, [str(tmp_path / "model"), "process", "is working on this", "Wait"])
    with monkeypatch.context() as patched:
        patched.setattr(Predictor, "fit_each", failing(KeyboardInterrupt()))
        done = run(*arguments)
    assert (done.code, done.out) == (130, "")
    assert "starts anew" in done.err
    assert not (tmp_path / "model").exists()
    assert run(*arguments).ok
    other = ("--seed", 5, "--seeds", 2)
    assert_is_sentence(run(*arguments, *other), [str(tmp_path / "model"), "already", "--force"])
    assert run(*arguments, *other, "--force", "--json").document["seeds"] == [5, 6]
    assert Predictor.load(tmp_path / "model", device="cpu").seeds == (5, 6)


def test_an_interrupt_says_how_to_go_on(run: Run, train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, state = Checkpoint.save, tmp_path / "model.training"

    def save_and_stop(self: Checkpoint, *words: object, **options: object) -> None:
        save(self, *words, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(resume, "EVERY", 0.0)
    monkeypatch.setattr(Checkpoint, "save", save_and_stop)
    done = run("train", train, "-o", tmp_path / "model")
    assert done.code == 130
    assert done.last == f"Error: interrupted; the same command goes on from {state}."
    assert state.exists()
    monkeypatch.setattr(Checkpoint, "save", failing(KeyboardInterrupt()))  # of another run before it saves anything
    done = run("train", train, "--seed", 1, "-o", tmp_path / "model")
    assert done.last == "Error: interrupted; the same command starts where this one did: nothing was saved since."


@pytest.mark.parametrize("command", ["train", "augment"])
def test_a_run_that_ended_between_its_result_and_its_last_step_can_be_given_again(
    run: Run, train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """What it wrote itself is in nobody's way; once it is over, nothing is overwritten unasked."""
    options = ["-n", 5, "--no-resample", "--neighborhood", "swap", "--seeds", 2] if command == "augment" else []
    arguments = [command, train, "--epochs", 8, *options, "-o", tmp_path / "out"]
    with monkeypatch.context() as patched:
        patched.setattr("recombine.own_data.settings.forget_state", failing(KeyboardInterrupt()))
        assert run(*arguments).code == 130
    assert (tmp_path / "out.training").exists()
    assert run(*arguments).ok
    assert not (tmp_path / "out.training").exists()
    assert_is_sentence(run(*arguments), ["already", "--force"])
