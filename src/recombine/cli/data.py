"""``recombine data``: the paper's datasets as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.files import check_free, is_unfinished, working_on
from recombine.cli.options import Folder, Force, Json, Seed
from recombine.cli.printing import counted, print_json, say, say_next, working
from recombine.data.output import all_or_none
from recombine.example import Example

SCAN_FILES = ("train.tsv", "test.tsv")
SIGMORPHON_FILES = ("train.tsv", "past.tsv", "future.tsv", "other.tsv")

Split = Annotated[
    str,
    typer.Option(
        "--split", metavar="NAME", help="jump, turn-left, around-right, opposite-right, right, length or simple."
    ),
]
Language = Annotated[str, typer.Option("--language", metavar="NAME", help="For example spanish, swahili, turkish.")]
Hints = Annotated[
    int, typer.Option("--hints", metavar="N", help="How many past, and future, forms to train on: 4, 8 or 16.")
]
Number = Annotated[int, typer.Option("--split", metavar="N", help="Which of the splits 0 to 4.")]
Source = Annotated[
    Path | None, typer.Option("--source", metavar="DIR", help="A folder with LANGUAGE-train-high, instead of the web.")
]


def scan_cli(split: Split, output: Folder, seed: Seed = 0, force: Force = False, json: Json = False) -> None:
    """Generates SCAN's train.tsv and test.tsv; nothing is downloaded.

    Example:
      recombine data scan --split jump -o scan
    """
    with working("Generating SCAN"):
        counts = write_scan(Path(output), split, seed=seed, force=force)
    _report(Path(output), counts, json=json)


def sigmorphon_cli(
    language: Language,
    output: Folder,
    *,
    hints: Hints = 8,
    split: Number = 0,
    source: Source = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Draws few-shot train.tsv, past.tsv, future.tsv and other.tsv: lemma, form, tags.

    Example:
      recombine data sigmorphon --language turkish --hints 8 --split 0 -o turkish

    Without --source the official file is downloaded once and kept.
    """
    with working("Drawing the split"):
        counts = write_sigmorphon(Path(output), language, hints=hints, split=split, source=source, force=force)
    _report(Path(output), counts, json=json)


def write_scan(folder: Path, split: str, *, seed: int = 0, force: bool = False) -> dict[str, int]:
    """Writes a split of SCAN and returns the number of examples in each file.

    Args:
        folder: Where to; created if it does not exist.
        split: The name of the split.
        seed: The order of the examples.
        force: Whether existing files may be replaced.
    """
    from recombine.data import scan

    _check_free(folder, SCAN_FILES, force=force)
    dataset = scan.split(split, seed=seed)
    return _write(folder, dict(zip(SCAN_FILES, (dataset.train, dataset.test), strict=True)), format="tsv", force=force)


def write_sigmorphon(
    folder: Path, language: str, *, hints: int, split: int, source: Path | None = None, force: bool = False
) -> dict[str, int]:
    """Writes a few-shot split of a language and returns the number of word forms in each file.

    Args:
        folder: Where to; created if it does not exist.
        language: The language's name in the shared task.
        hints: How many past, and how many future, forms there are to train on.
        split: The number of the split.
        source: A folder with the shared task's file; None to download it.
        force: Whether existing files may be replaced.
    """
    from recombine.data import files, sigmorphon

    _check_free(folder, SIGMORPHON_FILES, force=force)
    inflections = files.read_inflections(sigmorphon.locate(language, source))
    drawn = sigmorphon.few_shot(inflections, hints=hints, split=split)
    parts = {
        name: [inflection.for_generation for inflection in part]
        for name, part in zip(SIGMORPHON_FILES, (drawn.train, drawn.past, drawn.future, drawn.other), strict=True)
    }
    return _write(folder, parts, format="sigmorphon", force=force)


def _check_free(folder: Path, names: Sequence[str], *, force: bool) -> None:
    paths = [folder / name for name in names]
    check_free(paths, force=force or is_unfinished(str(paths[-1])))


def _write(folder: Path, parts: Mapping[str, Sequence[Example]], *, format: str, force: bool) -> dict[str, int]:
    from recombine.data import files

    paths = [str(folder / name) for name in parts]
    with working_on(paths[-1], paths) as goes_on, all_or_none(paths):
        return {
            name: files.write(part, path, format=format, force=force or goes_on)
            for (name, part), path in zip(parts.items(), paths, strict=True)
        }


def _report(folder: Path, counts: Mapping[str, int], *, json: bool) -> None:
    written = {str(folder / name): count for name, count in counts.items()}
    if json:
        print_json({"files": [{"path": path, "examples": count} for path, count in written.items()]})
    else:
        for path, count in written.items():
            say(f"Wrote {path}: {counted(count, 'example')}.")
    train, test = list(written)[:2]
    say_next("inspect", train, "--test", test)
