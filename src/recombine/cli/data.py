"""``recombine data`` and ``recombine export``: the paper's datasets as files, and examples for other toolkits."""

from collections.abc import Callable, Sequence
from pathlib import Path

from typer import echo

from recombine.cli import files
from recombine.cli.printing import counted, print_json, say, say_next, working
from recombine.data.export import README, check_toolkit, export
from recombine.data.files import read_inflections, write
from recombine.data.output import all_or_none
from recombine.example import Example


def scan_cli(*, split: str, output: str, seed: int = 0, force: bool = False, json: bool = False) -> None:
    """Generates SCAN's train.tsv and test.tsv; nothing is downloaded.

    Example:
      recombine data scan --split jump -o scan

    Options:
      split NAME: jump, turn-left, around-right, opposite-right, right, length or simple.
    """

    def generate() -> list[Sequence[Example]]:
        from recombine.data import scan

        dataset = scan.split(split, seed=seed)
        return [dataset.train, dataset.test]

    _write(output, ("train.tsv", "test.tsv"), generate, format="tsv", force=force, json=json)


def sigmorphon_cli(
    *,
    language: str,
    output: str,
    hints: int = 8,
    split: int = 0,
    source: Path | None = None,
    force: bool = False,
    json: bool = False,
) -> None:
    """Draws few-shot train.tsv, past.tsv, future.tsv and other.tsv: lemma, form, tags.

    Example:
      recombine data sigmorphon --language turkish --hints 8 --split 0 -o turkish

    Without --source the official file is downloaded once and kept.

    Options:
      language NAME: For example spanish, swahili, turkish.
      hints N: How many past, and future, forms to train on: 4, 8 or 16.
      split N: Which of the splits 0 to 4.
    """

    def draw() -> list[Sequence[Example]]:
        from recombine.data import sigmorphon

        inflections = read_inflections(sigmorphon.locate(language, source))
        drawn = sigmorphon.few_shot(inflections, hints=hints, split=split)
        parts = (drawn.train, drawn.past, drawn.future, drawn.other)
        return [[inflection.for_generation for inflection in part] for part in parts]

    names = ("train.tsv", "past.tsv", "future.tsv", "other.tsv")
    _write(output, names, draw, format="sigmorphon", force=force, json=json)


def _write(
    folder: str,
    names: Sequence[str],
    make: Callable[[], Sequence[Sequence[Example]]],
    *,
    format: str,
    force: bool,
    json: bool,
) -> None:
    """Makes the parts of a dataset, writes all of their files or none, and says what was written."""
    paths = [str(Path(folder) / name) for name in names]
    files.check_free(paths, force=force or files.is_unfinished(paths[-1]), tell=False)
    with working("Making the dataset"):
        parts = make()
    with files.working_on(paths[-1], paths) as goes_on, all_or_none(paths):
        for path, part in zip(paths, parts, strict=True):
            write(part, path, format=format, force=force or goes_on)
    counts = {path: len(part) for path, part in zip(paths, parts, strict=True)}
    if json:
        print_json({"files": [{"path": path, "examples": count} for path, count in counts.items()]})
    for path, count in counts.items():
        say(f"Wrote {path}: {counted(count, 'example')}.")
    say_next("inspect", paths[0], "--test", paths[1])


def export_cli(
    data: str,
    new: str,
    *,
    output: str,
    to: str = "tsv",
    p_aug: float | None = None,
    reading: files.Reading,
    force: bool = False,
    json: bool = False,
) -> None:
    """Writes original and new examples in the form that a toolkit reads, and says how to train with it.

    Example:
      recombine export train.tsv augmented.jsonl --to yoyodyne --p-aug 0.1 -o for-yoyodyne

    Weights go along where the toolkit takes them (jsonl, opennmt, hf); for the others examples are repeated.
    Word forms are written as inflection: lemma and tags are the input, the form is the output.

    Options:
      data DATA: The original training examples; - is standard input.
      new NEW: The new examples, e.g. what recombine augment wrote.
      to TOOLKIT: The toolkit: tsv, jsonl, yoyodyne, fairseq, opennmt, hf or chat.
      p_aug P: The share of new examples in training (default: all examples count alike).
    """
    check_toolkit(to)
    files.check_one_standard_input(data, new)
    readme = Path(output) / README  # the last file that is written, and the one that is locked
    files.check_free([readme], force=force or files.is_unfinished(str(readme)), tell=False)
    reading = reading.settled(data)
    originals, made = reading.read(data), reading.read(new)
    files.warn_of_strange_tokens(originals, made)
    files.say_direction(originals)
    done = export(originals, made, output, to=to, p_aug=p_aug, tokens=reading.kind, force=force)
    if json:
        written = [str(path) for path in done.files]
        print_json({"to": to, "originals": len(originals), "new": len(made), "files": written, "how": done.how})
        return
    for path in done.files:
        say(f"Wrote {path}.")
    echo(done.how)
