"""What cannot be written is found out before the work, and said in a sentence that names the place."""

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence
from sample_run import sample_run, write_run

from recombine.augmentation.geca import GECA
from recombine.augmentation.recombination import Recombination
from recombine.prediction.predictor import Predictor
from recombine.report import page

COMMANDS = {
    "augment": ["augment", "TRAIN", "-o", "OUT"],
    "augment by rule": ["augment", "TRAIN", "--method", "geca", "-o", "OUT"],
    "augment --model": ["augment", "TRAIN", "--model", "OUT"],
    "train": ["train", "TRAIN", "-o", "OUT"],
    "compare": ["compare", "TRAIN", "-o", "OUT"],
    "export": ["export", "TRAIN", "TRAIN", "-o", "OUT"],
    "report": ["report", "RUN", "-o", "OUT"],
    "predict": ["predict", "PREDICTORS", "TRAIN", "-o", "OUT"],
    "picture": ["picture", "PREDICTORS", "-o", "OUT"],
    "data": ["data", "scan", "--split", "jump", "-o", "OUT"],
}
FILES = ("augment", "augment by rule", "report", "predict", "picture")


@pytest.fixture
def words(
    train: Path, predictors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, Path], list[object]]:
    """Gives the words of a command that writes to a place, and that must not get to its work."""

    def work(*_: object, **__: object) -> None:
        pytest.fail("this is noticed after the work")

    for owner, name in ((Recombination, "fit_on"), (GECA, "fit"), (Predictor, "fit_each"), (Predictor, "predict")):
        monkeypatch.setattr(owner, name, work)
    monkeypatch.setattr(page, "render", work)
    run = write_run(tmp_path / "run", sample_run())
    paths = {"TRAIN": train, "RUN": run, "PREDICTORS": predictors}
    return lambda command, out: [({**paths, "OUT": out}).get(word, word) for word in COMMANDS[command]]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("below", ["out", "folder/out"])
def test_a_place_below_a_file(
    run: Run, train: Path, words: Callable[[str, Path], list[object]], command: str, below: str
) -> None:
    out = train / below
    assert_is_sentence(run(*words(command, out)), [str(train)])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_nobody_can_write_to(run: Run, words: Callable[[str, Path], list[object]], command: str) -> None:
    if not Path("/proc/self").exists():
        pytest.skip("there is no /proc, where not even root can make files")
    out = Path("/proc/nowhere/out")
    assert_is_sentence(run(*words(command, out)), [str(out), "cannot be written", "another place"])


@pytest.mark.parametrize("command", FILES)
def test_a_folder_in_the_place_of_a_file(
    run: Run, tmp_path: Path, words: Callable[[str, Path], list[object]], command: str
) -> None:
    assert_is_sentence(run(*words(command, tmp_path)), [str(tmp_path), "this is a folder"])
