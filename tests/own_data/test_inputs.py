"""What is accepted as data, by what it can do: stand-ins for pandas and datasets, which need not be installed."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from recombine import Oversampler
from recombine.errors import RecombineError
from recombine.example import Example, Provenance
from recombine.own_data.inputs import as_examples, extended

EXPECTED = [Example(("walk", "twice"), ("W", "W")), Example(("run",), ("R",))]
X, Y = ["walk twice", "run"], ["W W", "R"]


class Series:
    """A column as pandas has it, as far as it matters here."""

    ndim = 1

    def __init__(self, values: list[Any], name: str | None = None) -> None:
        self.values, self.name, self.iloc = values, name, None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)


class Frame:
    """A data frame as pandas has it: going through it gives the names of columns."""

    ndim = 2

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns, self.columns = columns, list(columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Series:
        return Series(self._columns[name], name)


class Dataset:
    """A data set as Hugging Face has it: going through it gives rows."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns, self.column_names = columns, list(columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]


class DatasetDict(OrderedDict[str, Dataset]):
    @property
    def column_names(self) -> dict[str, list[str]]:
        return {name: data.column_names for name, data in self.items()}


@pytest.mark.parametrize(
    "data",
    [
        EXPECTED,
        tuple(EXPECTED),
        iter(EXPECTED),
        list(zip(X, Y, strict=True)),
        zip(X, Y, strict=True),
        [["walk twice", "W W"], ["run", "R"]],
        [(["walk", "twice"], ("W", "W")), (("run",), np.array(["R"]))],
        np.array([["walk twice", "W W"], ["run", "R"]]),
        [{"input": "walk twice", "output": "W W"}, {"x": "run", "y": "R", "id": 7}],
        {"input": X, "output": Y},
        Frame({"id": [1, 2], "output": Y, "input": X}),
        Frame({"question": X, "answer": Y}),
        Dataset({"source": X, "target": Y, "split": ["a", "b"]}),
        Dataset({"input": [["walk", "twice"], ["run"]], "output": [["W", "W"], ["R"]]}),
    ],
)
def test_all_of_these_are_the_same_two_examples(data: object) -> None:
    assert as_examples(data) == EXPECTED


@pytest.mark.parametrize("column", [list, tuple, np.array, Series, iter])
def test_two_columns_of_any_kind(column: Callable[[list[str]], object]) -> None:
    assert as_examples(column(X), column(Y)) == EXPECTED


def test_tokens_are_plain_strings_whatever_they_came_in_and_provenance_stays() -> None:
    assert as_examples([("ab c", "A")], tokens="characters") == [Example(("a", "b", " ", "c"), ("A",))]
    (example,) = as_examples([(np.array(["a", "b"]), "c")])
    assert [type(token) for token in example.x] == [str, str]
    sample = Example(("a",), ("b",), Provenance("geca"))
    assert as_examples([sample])[0].provenance == Provenance("geca")
    assert as_examples([]) == as_examples([], []) == []
    with pytest.raises(RecombineError, match="token kind"):
        as_examples([], tokens="syllables")


def test_one_column_of_a_frame_or_an_array_is_a_column() -> None:
    narrow = np.array(X)[:, None], np.array(Y)[:, None]
    frames = Frame({"text": X}), Frame({"parse": Y})
    assert as_examples(*narrow) == as_examples(*frames) == as_examples(X, frames[1]) == EXPECTED
    longer = extended(narrow[0], [("hop",)])
    assert longer.tolist() == [["walk twice"], ["run"], ["hop"]]
    frame = extended(frames[0], [("hop",)])
    assert isinstance(frame, Frame)
    assert list(frame["text"]) == [*X, "hop"]


@pytest.mark.parametrize(
    ("data", "outputs", "words"),
    [
        ("train.tsv", None, ["'train.tsv' is a string", "read(path)"]),
        (7, None, ["'7' is no collection"]),
        (["walk", "run"], None, ["data:1", "'walk' is no pair"]),
        ([("a", "b"), ("a", "b", "c")], None, ["data:2", "is no pair"]),
        ([("a", "")], None, ["data:1", "output is empty"]),
        ([("a", "b"), (" ", "b")], None, ["data:2", "input is empty"]),
        ([("a", 3)], None, ["data:1", "the output is '3'", "string or a sequence of tokens"]),
        ([("a", [["b"]])], None, ["data:1", "the output is"]),
        ([(None, "b")], None, ["data:1", "the input is 'None'"]),
        ([(("a\tb",), "b")], None, ["data:1", "tab"]),
        ([Example((), ("a",))], None, ["data:1", "input is empty"]),
        (["a"], ["b", "c"], ["not one output for each input: 1 and 2"]),
        ({"a"}, ["b"], ["a set has no order"]),
        (["a"], "b", ["'b' is no collection"]),
        (Frame({"input": ["a"], "other": ["c"]}), ["b"], ["one dimension", "frame['input']"]),
        (np.array([["a", "c"]]), ["b"], ["one dimension"]),
        (Frame({"a": [1], "b": [2], "c": [3]}), None, ["a, b, c", "input and output"]),
        (DatasetDict(train=Dataset({"x": X, "y": Y})), None, ["several data sets: train", "data['train']"]),
        ([{"a": "b"}], None, ["which of the columns"]),
    ],
)
def test_what_is_no_data_is_said_in_a_sentence(data: object, outputs: object, words: list[str]) -> None:
    with pytest.raises(RecombineError) as error:
        as_examples(data, outputs)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["a b"], ["a b", "c d"]),
        (("a b",), ("a b", "c d")),
        ([("a", "b")], [("a", "b"), ("c", "d")]),
        ([["a", "b"]], [["a", "b"], ["c", "d"]]),
    ],
)
def test_a_column_grows_in_its_own_type(column: object, expected: object) -> None:
    assert extended(column, [("c", "d")]) == expected


def test_arrays_and_series_grow_as_such() -> None:
    assert extended(np.array(["a"]), [("long", "side")]).tolist() == ["a", "long side"]
    objects = np.empty(2, dtype=object)
    objects[:] = [("a", "b"), ("c", "d")]
    grown = extended(objects, [("e", "f")])
    assert grown.shape == (3,)
    assert grown[2] == ("e", "f")
    series = extended(Series(["ab"], "input"), [("c", "d")], tokens="characters")
    assert isinstance(series, Series)
    assert (series.values, series.name) == (["ab", "cd"], "input")


def test_columns_that_can_be_gone_through_only_once_keep_their_rows() -> None:
    pairs = [("walk", "WALK"), ("run", "RUN"), ("walk twice", "WALK WALK")]
    inputs, outputs = Oversampler(n=2, rarity=None).fit_resample(*(iter(column) for column in zip(*pairs, strict=True)))
    assert list(zip(inputs, outputs, strict=True))[:3] == pairs
    assert len(inputs) == 5
