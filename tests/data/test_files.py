import io
import os
import re
import sys
from itertools import product
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recombine.data import code, files
from recombine.data.text import MAX_LINE
from recombine.errors import RecombineError
from recombine.example import Example, Provenance, Tokens
from recombine.inflection import Inflection

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r")
words = st.text(characters.filter(lambda character: character != " "), min_size=1, max_size=6)


def sides(token: st.SearchStrategy[str]) -> st.SearchStrategy[Tokens]:
    return st.lists(token, min_size=1, max_size=5).map(tuple)


def examples(token: st.SearchStrategy[str]) -> st.SearchStrategy[list[Example]]:
    return st.lists(st.builds(Example, sides(token), sides(token)), min_size=1, max_size=4)


@st.composite
def sampled(draw: st.DrawFn) -> Example:
    x, y = draw(sides(words)), draw(sides(words))
    source = st.one_of(st.just("written"), st.from_regex(r"(own|[1-9]):[1-9][0-9]?", fullmatch=True))
    length = len(x) + len(y)
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    provenance = st.builds(
        Provenance,
        method=words,
        prototypes=st.lists(st.builds(Example, sides(words), sides(words)), max_size=2).map(tuple),
        log_probability=st.none() | numbers,
        sources=st.just(()) | st.lists(source, min_size=length, max_size=length).map(tuple),
        details=st.dictionaries(words, words | numbers | st.integers(-(10**9), 10**9), max_size=2),
    )
    return Example(x, y, draw(st.none() | provenance))


tag = st.text(characters.filter(lambda character: character != ";"), min_size=1, max_size=5)
inflections = st.lists(
    st.builds(
        Inflection,
        lemma=st.text(characters, min_size=1, max_size=6),
        tags=st.lists(tag, min_size=1, max_size=3).map(tuple),
        form=st.text(characters, min_size=1, max_size=6),
    ),
    min_size=1,
    max_size=4,
)


def starts_with_mark(example: Example) -> bool:
    """A byte-order mark at the start of a file is dropped by readers, so writers refuse one there."""
    return example.x[0].startswith("\ufeff")


def round_trip(tmp_path: Path, items: list[Example], **how: str) -> list[Example]:
    target = tmp_path / "file"
    assert files.write(items, target, force=True, **how) == len(items)
    return files.read(target, **how)


READERS = (files.read, files.iterate, files.read_inputs, files.read_inflections)
whatever = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)


FORMATS = {
    ("tsv", "words"): words,
    ("tsv", "characters"): characters,
    ("csv", "words"): words,
    ("csv", "characters"): characters,
    ("scan", "words"): words.filter(lambda word: word not in ("IN:", "OUT:")),
}


@pytest.mark.parametrize(("format", "tokens"), FORMATS)
def test_examples_round_trip(tmp_path: Path, format: str, tokens: str) -> None:
    @whatever
    @given(items=examples(FORMATS[format, tokens]).filter(lambda items: not starts_with_mark(items[0])))
    def check(items: list[Example]) -> None:
        assert round_trip(tmp_path, items, format=format, tokens=tokens) == items

    check()


@whatever
@given(
    items=examples(words.filter(lambda word: word[0] not in "␣⁀")).filter(lambda items: not starts_with_mark(items[0]))
)
def test_code_round_trips_as_texts(tmp_path: Path, items: list[Example]) -> None:
    back = round_trip(tmp_path, items, format="tsv", tokens="code")
    assert [(code.join(each.x), code.join(each.y)) for each in back] == [
        (code.join(e.x), code.join(e.y)) for e in items
    ]


@whatever
@given(items=inflections.filter(lambda items: not items[0].lemma.startswith("\ufeff")))
def test_word_forms_round_trip(tmp_path: Path, items: list[Inflection]) -> None:
    generated = [item.for_generation for item in items]
    assert files.write(generated, tmp_path / "f.csv", force=True) == len(items)
    assert files.read(tmp_path / "f.csv") == generated
    assert files.detect(tmp_path / "f.csv") == "sigmorphon"
    assert round_trip(tmp_path, generated, format="sigmorphon") == generated
    assert files.read_inflections(tmp_path / "file") == items


@whatever
@given(items=st.lists(sampled(), min_size=1, max_size=4))
def test_jsonl_round_trips_with_provenance(tmp_path: Path, items: list[Example]) -> None:
    back = round_trip(tmp_path, items, format="jsonl")
    assert back == items
    assert [item.provenance for item in back] == [item.provenance for item in items]


@whatever
@given(
    items=examples(st.text(max_size=4)),
    how=st.sampled_from([("tsv", "words"), ("tsv", "characters"), ("scan", "words"), ("jsonl", "words")]),
)
def test_any_tokens_are_written_unchanged_or_refused(
    tmp_path: Path, items: list[Example], how: tuple[str, str]
) -> None:
    format, tokens = how
    (tmp_path / "file").unlink(missing_ok=True)
    refused = None
    try:
        files.write(items, tmp_path / "file", format=format, tokens=tokens)
    except RecombineError as error:
        refused = error
    if refused:
        assert refused.place.startswith(str(tmp_path / "file:"))
        assert not list(tmp_path.iterdir())
    else:
        assert files.read(tmp_path / "file", format=format, tokens=tokens) == items


def test_chosen_columns_mean_tsv_and_the_name_decides_what_is_written(tmp_path: Path) -> None:
    source = tmp_path / "f"
    source.write_text("go\twent\tV;PST\n")
    assert files.read(source, columns=(2, 1)) == [Example(("went",), ("go",))]
    assert files.read_inputs(source, columns=(1, 2)) == [("go",)]
    item = Example(("a",), ("b",), Provenance("geca"))
    files.write([item], tmp_path / "f.jsonl")
    files.write([item], tmp_path / "f.txt")
    assert (tmp_path / "f.txt").read_bytes() == b"a\tb\n"
    assert files.read(tmp_path / "f.jsonl")[0].provenance == Provenance("geca")


def standard_input(monkeypatch: pytest.MonkeyPatch, stream: BinaryIO) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    standard_input(monkeypatch, io.BytesIO("ı\tş\n".encode()))
    assert files.write(files.iterate("-"), "-") == 1
    assert capfdbinary.readouterr().out == "ı\tş\n".encode()
    standard_input(monkeypatch, io.BytesIO(b"a\tb\nc\n"))
    with pytest.raises(RecombineError, match=r"^stdin:2: "):
        files.read("-")


@pytest.mark.parametrize("format", ["auto", "tsv"])
def test_the_first_example_does_not_wait_for_the_second(monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as stream, os.fdopen(writer, "wb", buffering=0) as sender:
        standard_input(monkeypatch, stream)
        examples = files.iterate("-", format=format)
        sender.write(b"a\tb\n")
        assert next(examples) == Example(("a",), ("b",))
        sender.write(b"c\td\n")
        assert next(examples) == Example(("c",), ("d",))


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_an_empty_file_and_what_is_no_path(tmp_path: Path, content: str) -> None:
    source = tmp_path / "f"
    source.write_text(content, encoding="utf-8")
    for reader in (files.read, files.read_inflections):
        with pytest.raises(RecombineError, match="empty") as caught:
            reader(source)
        assert caught.value.place == str(source)
    assert list(files.iterate(source)) == []
    for read, no_path in product(READERS, (None, 3, b"train.tsv")):
        with pytest.raises(RecombineError, match="is no path"):
            read(no_path)


@pytest.mark.parametrize(
    ("how", "found"),
    [
        ({"format": "tvs"}, "Did you mean 'tsv'"),
        ({"tokens": "word"}, "Did you mean 'words'"),
        ({"columns": (1,)}, "columns"),
        ({"format": "jsonl", "columns": (2, 1)}, "JSONL has keys"),
        ({"format": "scan", "columns": "a,b"}, "only TSV, CSV and JSONL have columns"),
        ({"format": "scan", "tokens": "characters"}, "are words"),
    ],
)
def test_arguments_are_checked_at_once(how: dict[str, object], found: str) -> None:
    with pytest.raises(RecombineError) as caught:
        files.iterate("never-opened", **how)
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("item", "how", "found"),
    [
        (Example(("turn left",), ("b",)), {}, "['turn left']"),
        (Example(("a", "b"), ("[PST]",)), {"tokens": "characters"}, "['[PST]']"),
        (Example(("a",), ("OUT:",)), {"format": "scan"}, "expected 'IN: "),
        (Example(("a", "b"), ("c",)), {"format": "sigmorphon"}, "no word form with its analysis"),
        (Example(("a", "[V;W]"), ("c",)), {"format": "sigmorphon"}, "['a', '[V;W]']"),
        (Example(("\ud800",), ("c",)), {"format": "jsonl"}, "surrogate"),
        (Example(("a",), ("c",), Provenance("\ud800")), {"format": "jsonl"}, "UTF-8"),
        (Example(("a",), ("c",), Provenance("m", sources=("1:1",))), {"format": "jsonl"}, "1 sources"),
        (Example(("a" * MAX_LINE,), ("c",)), {}, "100,000 characters"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(
    tmp_path: Path, item: Example, how: dict[str, object], found: str
) -> None:
    good = Example((*"a", "[V]"), ("c",)) if how.get("format") == "sigmorphon" else Example(("a",), ("c",))
    target = tmp_path / "out"
    with pytest.raises(RecombineError) as caught:
        files.write([good, item], target, **how)
    assert caught.value.place == f"{target}:2"
    assert found in caught.value.message
    if "read back as" in caught.value.message:
        assert caught.value.hint == "JSONL keeps any tokens: give the file a name that ends in .jsonl."
    assert not list(tmp_path.iterdir())


def test_a_mark_at_the_start_of_the_file_and_what_is_too_long_for_jsonl_are_refused(tmp_path: Path) -> None:
    marked, plain = Example(("\ufeffa",), ("b",)), Example(("a",), ("b",))
    with pytest.raises(RecombineError, match=r"out:1.*\\ufeff"):
        files.write([marked], tmp_path / "out")
    files.write([plain, marked], tmp_path / "out")
    assert files.write(files.iterate(tmp_path / "out"), tmp_path / "out", force=True) == 2  # read while it is replaced
    assert files.read(tmp_path / "out") == [plain, marked]
    long = Example(("a" * (MAX_LINE - 100),), ("b",))
    sample = long.with_provenance(Provenance(method="geca", prototypes=(long,)))
    with pytest.raises(RecombineError, match=r"longer than.*or write TSV"):
        files.write([sample], tmp_path / "new.jsonl")
    assert files.write([sample], tmp_path / "new.tsv") == 1


@pytest.mark.parametrize(
    ("name", "content", "inputs"),
    [
        ("alone.txt", "walk twice\nrun\n", [("walk", "twice"), ("run",)]),
        ("scan.txt", "IN: walk twice OUT: WALK\nIN: run OUT: RUN\n", [("walk", "twice"), ("run",)]),
        ("alone.jsonl", '{"x": ["walk", "twice"]}\n{"x": "run", "y": "RUN"}\n', [("walk", "twice"), ("run",)]),
        ("forms.tsv", "gel\tgeldi\tV;PST\n", [("g", "e", "l", "d", "i")]),
        ("forms.csv", "lemma,form,tags\ngel,geldi,V;PST\n", [("g", "e", "l", "d", "i")]),
        ("pairs.csv", 'input,output\n"run, now",RUN\n', [("run,", "now")]),
        ("alone.CSV", '"walk, twice"\n"run"\n', [("walk,", "twice"), ("run",)]),
        ("alone.src", "walk twice\nrun\n", [("walk", "twice"), ("run",)]),
        ("asked.jsonl", '{"messages": [{"role": "user", "content": "run now"}]}\n', [("run", "now")]),
        ("mixed.tsv", "walk\nrun\tRUN\n", "mixed.tsv:1: found 1 column"),
        ("without.jsonl", '{"y": ["A"]}\n', "without.jsonl:1: the line lacks 'x'"),
        ("broken.jsonl", "{\n", "broken.jsonl:1: found '{', which is no JSON"),
    ],
)
def test_inputs_come_alone_or_in_pairs(tmp_path: Path, name: str, content: str, inputs: list[Tokens] | str) -> None:
    (tmp_path / name).write_text(content)
    if isinstance(inputs, str):
        with pytest.raises(RecombineError, match=re.escape(inputs)):
            files.read_inputs(tmp_path / name)
    else:
        assert files.read_inputs(tmp_path / name) == inputs


@pytest.mark.parametrize(
    ("name", "content"),
    [("f.tsv", "id\tq\n1\ta b\n"), ("f.csv", "q,sql\na b,c\n"), ("f.jsonl", '{"id": 1, "q": "a b"}\n')],
)
def test_named_inputs_need_no_outputs(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert files.read_inputs(tmp_path / name, columns="q,sql") == [("a", "b")]


@pytest.mark.parametrize("names", [("train.src", "train.tgt"), ("src-new.txt", "tgt-new.txt")])
def test_parallel_files_are_read_together(tmp_path: Path, names: tuple[str, str]) -> None:
    x, y = (tmp_path / name for name in names)
    x.write_text("a ▁ b\nc\n")
    with pytest.raises(RecombineError, match="no file of outputs beside"):
        files.read(x, format="parallel")
    y.write_text("A\nC D\n")
    assert files.read(x) == [Example(("a", "▁", "b"), ("A",)), Example(("c",), ("C", "D"))]
    assert files.read(x, format="parallel", tokens="characters")[0].x == ("a", " ", "b")
    assert files.read_inputs(x, tokens="characters") == [("a", " ", "b"), ("c",)]
    y.write_text("A\n")
    with pytest.raises(RecombineError, match="not one output for each input"):
        files.read(x)
    with pytest.raises(RecombineError, match="parallel files are two"):
        files.write([Example(("a",), ("b",))], tmp_path / "f", format="parallel")


def test_the_most_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "data.tsv"
    file.write_text("a\tb\n" * 5)
    monkeypatch.setattr(files, "MAX_EXAMPLES", 5)
    assert len(files.read(file)) == 5
    monkeypatch.setattr(files, "MAX_EXAMPLES", 4)
    with pytest.raises(RecombineError, match="more than 4 examples"):
        files.read(file)
    assert sum(1 for _ in files.iterate(file)) == 5  # what is gone through is not held
