"""``recombine train``, and going on after an interruption."""

import subprocess
import sys
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence, failing

from recombine.cli.files import Reading
from recombine.cli.train import read_new
from recombine.data import files
from recombine.data.output import locked
from recombine.example import Example
from recombine.prediction.predictor import Predictor

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


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import torch
import tiny_networks
from recombine.training import resume

torch.set_num_threads(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background has its children ignore it
tiny_networks.make_small_tiny()
resume.EVERY = 0.0
saves, save = [], resume.Checkpoint.save

def save_and_die(self, trainer, *, now=False):
    save(self, trainer, now=now)
    saves.append(1)
    if len(saves) == {saves}:
        os.kill(os.getpid(), {signal})

resume.Checkpoint.save = save_and_die
from recombine.cli import main
main(sys.argv[1:])
"""


def stopped(arguments: list[object], *, after: int, signal: str = "signal.SIGKILL") -> subprocess.CompletedProcess[str]:
    """Runs a command in a process that gets a signal after so many epochs."""
    program = KILLED.format(tests=str(Path(__file__).parent.parent), saves=after, signal=signal)
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_interrupt_says_how_to_go_on(train: Path, tmp_path: Path) -> None:
    arguments = ["train", train, "--device", "cpu", "-o", tmp_path / "model"]
    done = stopped(arguments, after=3, signal="signal.SIGINT")
    assert done.returncode == 130
    state = tmp_path / "model.training"
    assert done.stderr.splitlines()[-1] == f"Error: interrupted; the same command goes on from {state}."
    assert state.exists()
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_state_of_another_training_is_not_gone_on_from(
    run: Run, train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["train", train, "--augmented", train, "--device", "cpu", "--epochs", 4]
    assert run(*arguments, "--p-aug", "0.2", "-o", tmp_path / "whole").code == 0
    assert stopped([*arguments, "--p-aug", "0.1", "-o", tmp_path / "model"], after=2).returncode == -9
    state = tmp_path / "model.training"
    before = state.read_bytes()
    other = stopped([*arguments, "--p-aug", "0.2", "-o", tmp_path / "model"], after=2)
    assert f"{state} is of an unfinished run with other settings or data" in other.stderr
    (aside,) = tmp_path.glob("model.training.old-*")
    assert str(aside) in other.stderr
    assert aside.read_bytes() == before  # so that one can go back
    again = stopped([*arguments, "--p-aug", "0.2", "-o", tmp_path / "model"], after=1)
    assert again.returncode == -9
    assert aside.read_bytes() == before
    assert len(list(tmp_path.glob("model.training.old-*"))) == 2  # that one's, and this one's before it was killed
    done = run(*arguments, "--p-aug", "0.2", "-o", tmp_path / "model").ok
    assert "other settings" not in done.err
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "model")]
    assert weights[0] == weights[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "train.tsv", "whole"]


@pytest.mark.parametrize("command", ["train", "augment"])
def test_a_run_that_ended_between_its_result_and_its_last_step_can_be_given_again(
    run: Run, train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """What it wrote itself is in nobody's way; once it is over, nothing is overwritten unasked."""
    options = ["-n", 5, "--no-resample", "--temperature", 1, "--seeds", 2] if command == "augment" else []
    arguments = [command, train, "--epochs", 8, *options, "-o", tmp_path / "out"]
    with monkeypatch.context() as patched:
        patched.setattr("recombine.own_data.settings.forget_state", failing(KeyboardInterrupt()))
        assert run(*arguments).code == 130
    assert (tmp_path / "out.training").exists()
    assert run(*arguments).ok
    assert not (tmp_path / "out.training").exists()
    assert_is_sentence(run(*arguments), ["already", "--force"])
