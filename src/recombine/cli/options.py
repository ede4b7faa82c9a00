"""The options that several commands share, so that one name means one thing everywhere."""

from typing import Annotated

import typer

AUTO = "auto"
"""Leaves a choice to the program."""

Train = Annotated[str, typer.Argument(metavar="TRAIN", help="The training examples; - is standard input.")]

Format = Annotated[
    str,
    typer.Option(
        "--format", metavar="FORMAT", help="How the files are written: tsv, jsonl, scan, sigmorphon; auto finds out."
    ),
]
Tokens = Annotated[
    str, typer.Option("--tokens", metavar="KIND", help="What a token is in TSV and JSONL strings: words or characters.")
]
Columns = Annotated[
    str,
    typer.Option(
        "--columns", metavar="X,Y[,TAGS]", help="Which TSV columns hold input, output and perhaps tags, from 1."
    ),
]
Test = Annotated[str | None, typer.Option("--test", metavar="FILE", help="Test examples, to count coincidences with.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Same seed, same result.")]
Folder = Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to write to.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for machines instead.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Device = Annotated[str, typer.Option("--device", metavar="NAME", help="Where networks are trained: auto, cpu, cuda.")]
