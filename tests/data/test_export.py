"""Exported files, read back by readers of other kinds than those that this project has."""

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.data import files
from recombine.data.export import TOOLKITS, Mix, export
from recombine.data.text import TOKENS, split
from recombine.errors import RecombineError
from recombine.example import Example, Provenance, Tokens
from recombine.inflection import Inflection

ORIGINALS = [Example(("walk", "twice"), ("WALK", "WALK")), Example(("jump",), ("JUMP",)), Example(('"', "a"), ('""',))]
NEW = [Example(("jump", "twice"), ("JUMP", "JUMP"), Provenance("geca"))]
SPELLED = [Example(tuple("ab c"), tuple("xy")), Example(tuple('"q'), tuple("z "))]
FORMS = [Inflection("gel", ("V", "PST"), "geldi"), Inflection("ad ver", ("V", "FUT"), "ad verecek")]
WORD_FORMS = [form.for_generation for form in FORMS]


def repeated(originals: list[Example], new: list[Example], mix: Mix) -> list[Example]:
    return originals * mix.originals + new * mix.new


@pytest.mark.parametrize("p_aug", [None, 0.05, 0.1, 0.9])
def test_tsv(tmp_path: Path, p_aug: float | None) -> None:
    export(ORIGINALS, NEW, tmp_path, to="tsv", p_aug=p_aug)
    rows = [line.split("\t") for line in (tmp_path / "train.tsv").read_text().splitlines()]
    found = [Example(tuple(x.split(" ")), tuple(y.split(" "))) for x, y in rows]
    assert found == repeated(ORIGINALS, NEW, Mix.of(3, 1, p_aug))
    export(SPELLED, SPELLED[:1], tmp_path / "spelled", to="tsv", tokens="characters")
    assert (tmp_path / "spelled/train.tsv").read_text() == 'ab c\txy\n"q\tz \nab c\txy\n'
    export(WORD_FORMS, WORD_FORMS[:1], tmp_path / "forms", to="tsv")
    first = "gel\tgeldi\tV;PST\n"
    assert (tmp_path / "forms/train.tsv").read_text() == f"{first}ad ver\tad verecek\tV;FUT\n{first}"
    assert "lemma, form and tags" in (tmp_path / "forms/README.md").read_text()


def settings(path: Path) -> dict[str, str]:
    """The settings of a YAML file as flat as ours, without nesting."""
    pairs = (line.strip().split(": ", 1) for line in path.read_text().splitlines() if ": " in line and line[0] != "#")
    return {name: value.strip('"') for name, value in pairs}


def as_yoyodyne_reads(folder: Path) -> list[tuple[list[str], list[str], list[str]]]:
    """What yoyodyne's documentation says that it reads: columns of CSV between tabs, split at separators."""
    told = settings(folder / "data.yaml")
    columns = [int(told[f"{name}_col"]) for name in ("source", "target", "features")]
    separators = [told[f"{name}_sep"] for name in ("source", "target", "features")]
    with (folder / told["train"]).open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    return [
        tuple(
            [] if not column else list(row[column - 1]) if not separator else row[column - 1].split(separator)
            for column, separator in zip(columns, separators, strict=True)
        )
        for row in rows
    ]


@pytest.mark.parametrize(
    ("originals", "tokens"),
    [(ORIGINALS, "words"), (SPELLED, "characters"), (WORD_FORMS, "words")],
    ids=["words", "characters", "word forms"],
)
def test_yoyodyne(tmp_path: Path, originals: list[Example], tokens: str) -> None:
    export(originals, originals[:1], tmp_path, to="yoyodyne", tokens=tokens)
    told = settings(tmp_path / "data.yaml")
    assert {"model_dir", "train"} <= told.keys()  # have no default there
    expected = [(list(each.x), list(each.y), []) for each in originals]
    if originals is WORD_FORMS:
        expected = [(list(form.lemma), list(form.form), list(form.tags)) for form in FORMS]
    assert as_yoyodyne_reads(tmp_path) == [*expected, expected[0]]


@pytest.mark.parametrize(("p_aug", "weights"), [(0.05, [19, 1]), (None, [3, 1])])
def test_opennmt_keeps_the_two_apart_and_weighs_them(tmp_path: Path, p_aug: float | None, weights: list[int]) -> None:
    export(ORIGINALS, NEW, tmp_path, to="opennmt", p_aug=p_aug)
    lines = {path.name: path.read_text().splitlines() for path in tmp_path.glob("*.txt")}
    for name, examples in (("original", ORIGINALS), ("new", NEW)):
        sides = [[tuple(line.split()) for line in lines[f"{side}-{name}.txt"]] for side in ("src", "tgt")]
        assert [Example(x, y) for x, y in zip(*sides, strict=True)] == examples
    config = [line.strip().split(": ") for line in (tmp_path / "config.yaml").read_text().splitlines()]
    assert [int(value) for name, *rest in config if name == "weight" for value in rest] == weights
    assert {rest[0] for name, *rest in config if name.startswith("path_")} == lines.keys()


def test_hugging_face_and_jsonl_which_weighs_new_examples(tmp_path: Path) -> None:
    def rows(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]

    export(WORD_FORMS, NEW, tmp_path / "mixed", to="hf", p_aug=0.1)
    tokens = [Example(tuple(row["input_tokens"]), tuple(row["output_tokens"])) for row in rows("mixed/original.jsonl")]
    assert tokens == WORD_FORMS
    assert "probabilities=[0.9, 0.1]" in (tmp_path / "mixed/README.md").read_text()
    export(WORD_FORMS, WORD_FORMS[:1], tmp_path / "forms", to="hf")
    (row,) = rows("forms/new.jsonl")
    assert (row["input"], row["output"]) == ("gel [V] [PST]", "geldi")
    export(ORIGINALS, NEW, tmp_path / "weighed", to="jsonl", p_aug=0.2)
    found = rows("weighed/train.jsonl")
    assert [Example(tuple(row["x"]), tuple(row["y"])) for row in found] == ORIGINALS + NEW
    assert [row["method"] for row in found] == [None, None, None, "geca"]
    export(CODE[:1], CODE[:1], tmp_path / "code", to="jsonl", tokens="code")
    assert {"input": "say  hi", "output": 'f( "a", [1] )'}.items() <= rows("code/train.jsonl")[0].items()
    assert found[-1]["weight"] / sum(row["weight"] for row in found) == pytest.approx(0.2)


ODD = [Example(("ß", "▁x", "\u200b\u2028"), ('"a', "b,c", "'", "#{", "é"))]
CODE = [
    Example(split(x, "code"), split(y, "code")) for x, y in (("say  hi", 'f( "a", [1] )'), ("a ▁ b", '{"a":  "b"}'))
]
KINDS = {"words": ORIGINALS + ODD, "characters": SPELLED, "code": CODE, "word forms": WORD_FORMS}
READ_BACK = {
    **{"tsv": (["train.tsv"], {}), "jsonl": (["train.jsonl"], {}), "yoyodyne": (["train.tsv"], {"format": "csv"})},
    **{"fairseq": (["train.src"], {}), "opennmt": (["src-original.txt", "src-new.txt"], {})},
    **{"hf": (["original.jsonl", "new.jsonl"], {}), "chat": (["train.jsonl"], {})},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("to", TOOLKITS)
def test_what_is_exported_reads_back(tmp_path: Path, to: str, kind: str) -> None:
    originals, new = KINDS[kind], KINDS[kind][::-1]
    if kind == "words" and to in ("fairseq", "opennmt"):
        originals = ORIGINALS  # whose tokens have no white space
    given = kind if kind in TOKENS else "words"
    export(originals, new[-1:], tmp_path, to=to, tokens=given)
    names, how = READ_BACK[to]
    own = "characters" if kind == "word forms" else "words" if to == "yoyodyne" and kind == "code" else given
    found = [each for name in names for each in files.read(tmp_path / name, tokens=own, **how)]
    assert found == [*originals, new[-1]]


@pytest.mark.parametrize(
    ("tokens", "kind"), [(("two words",), "words"), (tuple("see [V]"), "characters"), (("ab",), "characters")]
)
def test_conversations_that_would_be_read_otherwise_are_refused(tmp_path: Path, tokens: Tokens, kind: str) -> None:
    originals = ORIGINALS if kind == "words" else SPELLED
    with pytest.raises(RecombineError, match=r"the tokens .* cannot be exported.*try `to='jsonl'`"):
        export(originals, [Example(tokens, ("y",))], tmp_path, to="chat", tokens=kind)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("to", TOOLKITS)
def test_every_toolkit_gets_a_command_and_nothing_is_replaced_unasked(tmp_path: Path, to: str) -> None:
    done = export(ORIGINALS, NEW, tmp_path, to=to)
    assert all(path.exists() for path in done.files)
    assert "Train " in (tmp_path / "README.md").read_text()
    before = {path: path.read_bytes() for path in done.files}
    with pytest.raises(RecombineError, match="exists already"):
        export(ORIGINALS, ORIGINALS, tmp_path, to=to)
    assert {path: path.read_bytes() for path in done.files} == before
    export(ORIGINALS, ORIGINALS, tmp_path, to=to, force=True)
    assert {path: path.read_bytes() for path in done.files} != before


@pytest.mark.parametrize(
    ("to", "token"),
    [
        ("tsv", "two words"),
        ("yoyodyne", "two words"),
        ("yoyodyne", "<unk>"),
        ("yoyodyne", "[V]"),
        ("fairseq", "a b"),
        ("fairseq", "a\u00a0b"),
        ("opennmt", "\u2003"),
        ("fairseq", "</s>"),
        ("fairseq", "▁"),
    ],
)
def test_tokens_that_a_toolkit_would_misread_are_refused(tmp_path: Path, to: str, token: str) -> None:
    originals = SPELLED if token == "▁" else ORIGINALS  # stands for a space, which SPELLED has
    with pytest.raises(RecombineError, match="cannot be exported"):
        export(originals, [Example((token,), ("y",))], tmp_path, to=to)
    assert not list(tmp_path.iterdir())


@given(originals=st.integers(1, 5000), new=st.integers(1, 5000), rate=st.floats(0.01, 0.5))
def test_weights_give_the_rate_and_repetitions_nearly(originals: int, new: int, rate: float) -> None:
    mix = Mix.of(originals, new, rate)
    assert mix.weight * new / (originals + mix.weight * new) == pytest.approx(rate)
    share = Fraction(mix.new * new, mix.originals * originals + mix.new * new)
    odds = float(share / (1 - share)) / (rate / (1 - rate))
    assert 7 / 8 - 1e-9 <= odds <= 8 / 7 + 1e-9  # whole numbers of which the smaller is at most 4 are so near
    first, second = mix.turns()
    assert min(first, second) >= 1
    assert second / (first + second) == pytest.approx(rate, rel=0.2)
    for no_rate in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(RecombineError, match="p_aug"):
            Mix.of(1, 1, no_rate)
