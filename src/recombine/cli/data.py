"""``recombine data`` and ``recombine export``: the paper's datasets as files, and examples for other toolkits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.direction import say_direction
from recombine.cli.files import (
    Reading,
    check_free,
    check_one_standard_input,
    is_unfinished,
    warn_of_strange_tokens,
    working_on,
)
from recombine.cli.options import Folder, Force, Json, Seed
from recombine.cli.printing import counted, print_json, print_line, say, say_next, working
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
Data = Annotated[str, typer.Argument(metavar="DATA", help="The original training examples; - is standard input.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="The new examples, e.g. what recombine augment wrote.")]
Toolkit = Annotated[
    str,
    typer.Option("--to", metavar="TOOLKIT", help="The toolkit: tsv, jsonl, yoyodyne, fairseq, opennmt or hf."),
]
Rate = Annotated[
    float | None,
    typer.Option(
        "--p-aug",
        metavar="P",
        help="The share of new examples in training (default: all examples count alike).",
    ),
]


def scan_cli(split: Split, output: Folder, seed: Seed = 0, force: Force = False, json: Json = False) -> None:
    """Generates SCAN's train.tsv and test.tsv; nothing is downloaded.

    Example:
      recombine data scan --split jump -o scan
    """
    from recombine.data import scan

    paths = _free(output, SCAN_FILES, force=force)
    with working("Generating SCAN"):
        dataset = scan.split(split, seed=seed)
    _write(paths, (dataset.train, dataset.test), format="tsv", force=force, json=json)


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
    from recombine.data import files, sigmorphon

    paths = _free(output, SIGMORPHON_FILES, force=force)
    with working("Drawing the split"):
        inflections = files.read_inflections(sigmorphon.locate(language, source))
        drawn = sigmorphon.few_shot(inflections, hints=hints, split=split)
    parts = [
        [inflection.for_generation for inflection in part]
        for part in (drawn.train, drawn.past, drawn.future, drawn.other)
    ]
    _write(paths, parts, format="sigmorphon", force=force, json=json)


def export_cli(
    data: Data,
    new: New,
    output: Folder,
    *,
    to: Toolkit = "tsv",
    p_aug: Rate = None,
    reading: Reading,
    force: Force = False,
    json: Json = False,
) -> None:
    """Writes original and new examples in the form that a toolkit reads, and says how to train with it.

    Example:
      recombine export train.tsv augmented.jsonl --to yoyodyne --p-aug 0.1 -o for-yoyodyne

    Weights go along where the toolkit takes them (jsonl, opennmt, hf); for the others examples are repeated.
    Word forms are written as inflection: lemma and tags are the input, the form is the output.
    """
    from recombine.data.export import README, check_toolkit, export

    check_toolkit(to)
    check_one_standard_input(data, new)
    readme = Path(output) / README  # the last file that is written, and the one that is locked
    check_free([readme], force=force or is_unfinished(str(readme)))
    originals, made = reading.read(data), reading.read(new)
    warn_of_strange_tokens(originals, made)
    say_direction(originals)
    done = export(originals, made, output, to=to, p_aug=p_aug, tokens=reading.tokens, force=force)
    if json:
        files = [str(path) for path in done.files]
        print_json({"to": to, "originals": len(originals), "new": len(made), "files": files, "how": done.how})
        return
    for path in done.files:
        say(f"Wrote {path}.")
    print_line(done.how)


def _free(folder: str, names: Sequence[str], *, force: bool) -> list[str]:
    """Returns the paths of files in a folder, if they may be written."""
    paths = [str(Path(folder) / name) for name in names]
    check_free(paths, force=force or is_unfinished(paths[-1]))
    return paths


def _write(paths: Sequence[str], parts: Sequence[Sequence[Example]], *, format: str, force: bool, json: bool) -> None:
    """Writes all files or none, and says what was written."""
    from recombine.data import files

    with working_on(paths[-1], paths) as goes_on, all_or_none(paths):
        for path, part in zip(paths, parts, strict=True):
            files.write(part, path, format=format, force=force or goes_on)
    counts = {path: len(part) for path, part in zip(paths, parts, strict=True)}
    if json:
        print_json({"files": [{"path": path, "examples": count} for path, count in counts.items()]})
    else:
        for path, count in counts.items():
            say(f"Wrote {path}: {counted(count, 'example')}.")
    say_next("inspect", paths[0], "--test", paths[1])
