"""``recombine picture`` and ``recombine report``."""

from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from commands import Outcome, Run, assert_is_sentence
from sample_run import sample_run, write_run
from tiny_networks import SAMPLING
from toy_task import QUICK_GENERATOR, TASK

from recombine.augmentation.recombination import Recombination
from recombine.cli.views import DRAWN, pick_sample
from recombine.errors import RecombineError
from recombine.neighborhoods import LongShort
from recombine.report.run import read_run, render


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two networks that were trained for a moment."""
    folder = tmp_path_factory.mktemp("generator") / "model"
    recipe = replace(QUICK_GENERATOR, max_steps=60)
    networks = Recombination(LongShort(), recipe, sampling=SAMPLING, seeds=(1, 2), device="cpu")
    networks.fit(TASK.train).save(folder)
    return folder


def draw(run: Run, model: Path, *options: object) -> Outcome:
    return run("picture", model, *options)


def test_the_picture_is_of_the_sample_that_was_picked(run: Run, model: Path, tmp_path: Path) -> None:
    samples = Recombination.load(model, device="cpu").sample(DRAWN, seed=3)
    for pick in (1, 4):
        target = tmp_path / f"{pick}.svg"
        done = draw(run, model, "--pick", pick, "--seed", 3, "-o", target).ok
        svg = fromstring(target.read_text("utf-8"))
        assert svg[0].text == f"How \u2068{samples[pick - 1]}\u2069 was generated"
        for prototype in samples[pick - 1].provenance.prototypes:
            assert str(prototype) in (svg[1].text or "")
            assert str(prototype) in done.err


def test_the_same_seed_gives_the_same_bytes_and_mistakes_of_picture_are_said(
    run: Run, model: Path, predictors: Path, tmp_path: Path
) -> None:
    first, again, other = (draw(run, model, "--pick", 4, "--seed", seed, "-o", "-").out for seed in (0, 0, 1))
    assert first == again
    assert other != first
    assert first.startswith("<svg ")
    (tmp_path / "taken.svg").write_text("mine")
    assert draw(run, model, "-o", tmp_path / "taken.svg", "--force").ok
    assert_is_sentence(draw(run, model, "-o", tmp_path / "taken.svg"), ["taken.svg", "exists already", "--force"])
    assert_is_sentence(draw(run, predictors, "-o", "-"), ["predictor"])


def test_a_sample_that_there_is_not_is_said(model: Path) -> None:
    augmenter = Recombination.load(model, device="cpu")
    augmenter.sampling = replace(augmenter.sampling, patience=1, batch=32)
    with pytest.raises(RecombineError, match=r"no sample 1,000\. \d+ of 1,000 samples.*Stopped at"):
        pick_sample(augmenter, 1000, seed=0)


def test_the_page_of_the_run_is_written(run: Run, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", sample_run())
    (tmp_path / "report.html").write_text("mine")
    done = run("report", folder, "-o", tmp_path / "report.html", "--force").ok
    assert (tmp_path / "report.html").read_text("utf-8") == render(read_run(folder))
    assert "report.html" in done.err
