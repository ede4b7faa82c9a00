"""``recombine report``."""

from pathlib import Path

from commands import Run, assert_is_sentence
from sample_run import sample_run, write_run

from recombine.report.page import render
from recombine.report.run import read_run


def test_the_page_of_the_run_is_written(run: Run, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", sample_run())
    done = run("report", folder, "-o", tmp_path / "report.html")
    assert done.code == 0, done.err
    assert (tmp_path / "report.html").read_text("utf-8") == render(read_run(folder))
    assert "report.html" in done.err


def test_mistakes_are_said(run: Run, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", sample_run())
    taken = tmp_path / "taken.html"
    taken.write_text("mine")
    assert_is_sentence(run("report", folder, "-o", taken), ["taken.html", "exists already", "--force"])
    assert taken.read_text() == "mine"
    assert run("report", folder, "-o", taken, "--force").code == 0
    assert_is_sentence(run("report", tmp_path / "nowhere", "-o", "-"), ["nowhere", "recombine compare"])
    write_run(folder, {**sample_run(), "format": 2})
    assert_is_sentence(run("report", folder, "-o", "-"), ["run.json", "format is 2"])
