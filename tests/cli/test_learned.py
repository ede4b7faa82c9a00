"""The methods of ``recombine augment`` that train networks: learned, and both."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from commands import Outcome, Run, assert_is_sentence, failing

from recombine import Augmenter
from recombine.augmentation.protocol import Samples
from recombine.augmentation.recombination import Recombination
from recombine.data import files

pytestmark = pytest.mark.usefixtures("tiny")

Augment = Callable[..., Outcome]


@pytest.fixture
def augment(run: Run, train: Path) -> Augment:
    """Augments the training examples, keeping samples whether or not they are rare."""

    def invoke(*options: object, source: Path = train) -> Outcome:
        any_will_do = () if "--epsilon" in options else ("--no-resample",)
        return run("augment", source, "-n", 5, *any_will_do, *options)

    return invoke


def test_learned_is_what_happens_unless_told(augment: Augment, train: Path, tmp_path: Path) -> None:
    done = augment("--prototypes", 2, "--epochs", 20, "-o", tmp_path / "new.jsonl", "--json").ok
    made = files.read(tmp_path / "new.jsonl")
    assert done.document["kept"] == len({*made}) == 5
    assert not {*files.read(train)} & {*made}
    assert all(len(sample.provenance.prototypes) == 2 and sample.provenance.log_probability < 0 for sample in made)
    assert "Training the recombination network: 100 %" in done.err
    assert "How many are right is not known" in done.err
    assert not list(tmp_path.glob("*.training"))
    assert done.last == f"Next: recombine audit {tmp_path}/new.jsonl --train {train}"


def test_unless_told_samples_have_something_rare_as_in_python_and_a_model_gives_them_without_training(
    run: Run, train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, model = tmp_path / "new.jsonl", tmp_path / "model"
    words = ("augment", train, "-n", 5, "--model", model, "--force", "-o", new)
    assert "Rare: 2 tokens" in run(*words, "--neighborhood", "swap").ok.err
    made = files.read(new)
    assert all("jump" in sample.x or "I_JUMP" in sample.y for sample in made)
    assert list(Augmenter.load(model, device="cpu").sample(5)) == made
    monkeypatch.setattr(Recombination, "fit_on", None)
    assert run(*words, "--no-resample").ok
    any_will_do = files.read(new)
    assert any_will_do != made
    assert list(Augmenter.load(model, rarity=None, device="cpu").sample(5)) == any_will_do
    otherwise = ("--seed", 1, "--temperature", 2, "--novelty", "both")
    assert "Training" not in run(*words, "--no-resample", *otherwise).ok.err
    assert files.read(new) != any_will_do


def test_a_model_knows_what_its_tokens_are(run: Run, tmp_path: Path) -> None:
    train, model, new = tmp_path / "train.tsv", tmp_path / "model", tmp_path / "new.tsv"
    lines = [f"{a}\t{a.upper()}\n" for a in "wrltj"] + [f"{a}2\t{a.upper() * 2}\n" for a in "wrlt"]
    train.write_text("".join([*lines, *(f"{a}&{b}\t{a.upper()}{b.upper()}\n" for a in "wrlt" for b in "wrlt")]))
    words = ("augment", train, "-n", 3, "--model", model, "-o", new, "--no-resample")
    assert run(*words, "--tokens", "characters", "--epochs", 20).ok
    made = new.read_text()
    assert " " not in made
    assert run(*words, "--force").ok
    assert new.read_text() == made
    assert Augmenter.load(model, device="cpu").tokens == "characters"


def test_a_model_cannot_be_trained_otherwise_afterwards(
    augment: Augment, trained: Path, words: Path, predictors: Path, tmp_path: Path
) -> None:
    same = ("--prototypes", 2, "--neighborhood", "long-short", "--seeds", 1, "--epochs", 12)
    assert augment("--model", trained, *same, "-n", 1, "--temperature", 1).ok
    other = {"prototypes": 1, "neighborhood": "long-long", "seeds": 2, "epochs": 9, "size": "paper"}
    for option, value in other.items():
        done = augment("--model", trained, f"--{option}", value)
        assert_is_sentence(done, [str(trained), f"trained with --{option}", f"not {value}", "another folder"])
    assert_is_sentence(augment("--model", trained, source=words), [str(trained), "other examples"])
    done = augment("--model", predictors)
    assert_is_sentence(done, [str(predictors), "this folder holds a predictor, expected a recombination"])
    assert augment("--model", trained, "-n", 1, "--temperature", 1, "--max-time", 600).ok  # bounds the drawing
    (trained / "examples.jsonl").unlink()
    done = augment("--model", trained, "-o", tmp_path / "new.jsonl")
    assert_is_sentence(done, [str(trained / "examples.jsonl"), "missing", "again"])
    assert not (tmp_path / "new.jsonl").exists()


@pytest.fixture
def trained(augment: Augment, tmp_path: Path) -> Path:
    options = ("--neighborhood", "long-short", "--epochs", 12, "-n", 1, "--temperature", 1)
    assert augment("--model", tmp_path / "model", *options).ok
    return tmp_path / "model"


def test_a_population_writes_a_file_for_each_network(augment: Augment, tmp_path: Path) -> None:
    swap = ("--neighborhood", "swap", "--temperature", 1)
    words = ("-o", tmp_path / "new.jsonl", "--json", *swap, "--model", tmp_path / "model")
    done = augment("--seeds", 2, *words).ok
    first, second = (files.read(tmp_path / f"new.{number}.jsonl") for number in range(2))
    assert len(first) == len(second) == 5
    assert first != second
    assert not (tmp_path / "new.jsonl").exists()
    assert "Kept on average: 5.0 ± 0.0 samples." in done.err
    report = done.document
    assert (report["kept"], report["kept_deviation"], len(report["files"])) == (5, 0, 2)
    assert_is_sentence(augment(*words), ["new.0.jsonl", "exists already"])
    assert "Training" not in augment(*words, "--force").ok.err  # how many networks there are, the model says
    assert files.read(tmp_path / "new.1.jsonl") == second


QUICK = ("-n", 3, "--epochs", 2, "--neighborhood", "swap")


@pytest.fixture
def nothing_rare() -> Iterator[pytest.MonkeyPatch]:
    """Networks, once trained, draw nothing rare; until it is undone."""
    nothing = Samples((), 3, rejected={"without a rare token": 7})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recombination, "sample_each", lambda *_, **__: [nothing])
        yield patch


def test_where_nothing_was_made_advice_follows_from_why(
    run: Run, train: Path, tmp_path: Path, nothing_rare: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    words = ("augment", train, *QUICK, "-o", folder / "new.jsonl")
    done = run(*words, "--epsilon", 0.05, "--model", folder / "model")
    assert done.code == 1, done.err
    assert f"The trained network is kept in {folder / 'model'}: the same command" in done.err
    assert list(folder.iterdir()) == [folder / "model"]
    nothing_rare.setattr(Recombination, "sample_each", lambda *_, **__: [Samples((), 3, rejected={"too long": 7})])
    done = run(*words)
    assert "Train longer (--epochs, --max-time). Or try --method spans or geca" in done.err
    assert "--no-resample" not in done.err


def test_where_nothing_was_made_the_network_is_not_lost(
    run: Run, train: Path, tmp_path: Path, nothing_rare: pytest.MonkeyPatch
) -> None:
    new, state = tmp_path / "new.jsonl", tmp_path / "new.jsonl.training"
    done = run("augment", train, *QUICK, "--epsilon", 0.05, "-o", new)
    assert done.code == 1, done.err
    assert "0 of 3 samples" in done.err
    assert f"The trained network is kept in {state}: the same command with another --epsilon, or" in done.err
    assert not new.exists()
    assert "--max-time" not in done.err
    bounded = run("augment", train, *QUICK, "--epsilon", 0.05, "-o", tmp_path / "bounded.jsonl", "--max-time", 60)
    assert "No file was written. More time (--max-time) may help. The trained network" in bounded.err
    nothing_rare.undo()
    again = run("augment", train, *QUICK, "--no-resample", "-o", new).ok
    assert "Training the recombination network" not in again.err
    assert not state.exists()
    run("augment", train, *QUICK, "--no-resample", "-o", tmp_path / "fresh.jsonl")
    assert new.read_bytes() == (tmp_path / "fresh.jsonl").read_bytes()


@pytest.mark.parametrize("method", ["learned", "geca", "both"])
def test_what_can_make_nothing_is_no_advice(run: Run, tmp_path: Path, method: str) -> None:
    squares = tmp_path / "squares.tsv"
    squares.write_text("".join(f"{number}\t{number**2}\n" for number in range(2, 40)))
    done = run("augment", squares, "--method", method, "-n", 4, "-o", tmp_path / "new.jsonl")
    assert done.code in (1, 2)
    assert "more examples" in done.err
    assert "--method" not in done.err
    assert "--prototypes" not in done.err


@pytest.mark.parametrize(
    "lack",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        MemoryError(),
    ],
    ids=["GPU", "CPU", "Python"],
)
def test_lack_of_memory_is_a_sentence_and_other_errors_of_torch_are_bugs(
    augment: Augment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lack: Exception
) -> None:
    monkeypatch.setattr(Recombination, "fit_on", failing(lack))
    done = augment("-o", tmp_path / "new.jsonl", "--model", tmp_path / "model")
    assert done.code == 2
    assert "Error: the memory does not suffice. Lower --seeds" in done.err
    assert "Traceback" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["train.tsv"]
    monkeypatch.setattr(Recombination, "fit_on", failing(RuntimeError("shapes do not match")))
    with pytest.raises(RuntimeError, match="shapes"):
        augment("--method", "learned")


def test_half_are_gecas_and_networks_make_up_for_what_it_cannot_make(run: Run, train: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.jsonl"
    options = ("--method", "both", "--no-resample", "-n", 30, "--neighborhood", "swap", "--json")
    done = run("augment", train, *options, "-o", new).ok
    assert "geca: 11 of 15 samples. GECA can make only 11 novel pairs" in done.err
    made = files.read(new)
    assert Counter(sample.provenance.method for sample in made) == {"geca": 11, "recombination": 19}
    assert len({sample.x for sample in made}) == 30
    report = done.document
    assert (report["method"], report["requested"], report["kept"], report["shortfall"]) == ("both", 30, 30, "")
    assert report["rejected"]["with an input that GECA has an output for"] > 0  # the network found some of these, too
    assert done.last == f"Next: recombine audit {new} --train {train}"
    assert run("augment", train, "--method", "geca", "-n", 11, "-o", new, "--force").ok
    assert {*made[:11]} == {*files.read(new)}
