"""``recombine export``: original and new examples for the toolkit that one trains with next."""

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.direction import say_direction
from recombine.cli.files import Reading, check_free, check_one_standard_input, is_unfinished, warn_of_strange_tokens
from recombine.cli.options import Columns, Folder, Force, Format, Header, Json, Tokens
from recombine.cli.printing import print_json, print_line, say

Data = Annotated[str, typer.Argument(metavar="DATA", help="The original training examples; - is standard input.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="The new examples, e.g. what recombine augment wrote.")]
Toolkit = Annotated[
    str,
    typer.Option("--to", metavar="TOOLKIT", help="Who is to read them: tsv, jsonl, yoyodyne, fairseq, opennmt, hf."),
]
Rate = Annotated[
    float | None,
    typer.Option(
        "--p-aug",
        metavar="P",
        help="How often training is to see a new example; all examples count alike unless told.",
    ),
]


def export_cli(
    data: Data,
    new: New,
    output: Folder,
    *,
    to: Toolkit = "tsv",
    p_aug: Rate = None,
    format: Format = Reading.format,
    tokens: Tokens = Reading.tokens,
    columns: Columns = None,
    header: Header = False,
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
    reading = Reading(format, tokens, columns, header)
    originals, made = reading.read(data), reading.read(new)
    warn_of_strange_tokens(originals, made)
    say_direction(originals)
    done = export(originals, made, output, to=to, p_aug=p_aug, tokens=tokens, force=force)
    if json:
        files = [str(path) for path in done.files]
        print_json({"to": to, "originals": len(originals), "new": len(made), "files": files, "how": done.how})
        return
    for path in done.files:
        say(f"Wrote {path}.")
    print_line(done.how)
