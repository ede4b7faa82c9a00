import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recombine.data import output
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.neighborhood import Neighborhoods

ROWS = np.array([[0, 1, 2], [0, 1, 3], [2, 0, 1]], np.int32)
FOUND = Neighborhoods(ROWS, "long-short", {"delta": 0.5, "first": None, "seed": 3}, {"distinct examples": 4})


def same(a: Neighborhoods, b: Neighborhoods) -> bool:
    return (
        np.array_equal(a.rows, b.rows)
        and a.rows.dtype == b.rows.dtype
        and (a.rule, a.settings, a.passed) == (b.rule, b.settings, b.passed)
    )


def test_what_was_saved_is_what_is_loaded_even_if_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MAX_WHOLE", 8)
    path = tmp_path / "found.npz"
    FOUND.save(path)
    assert same(Neighborhoods.load(path), FOUND)
    first = path.read_bytes()
    with pytest.raises(RecombineError, match="exists"):
        FOUND.save(path)
    FOUND.save(path, force=True)
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
def test_an_altered_file_never_passes_for_another_nor_a_cut_one_for_it(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "found.npz"
    FOUND.save(path, force=True)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    with contextlib.suppress(RecombineError):
        assert same(Neighborhoods.load(path), FOUND)  # dates and the like, which say nothing about the content
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(RecombineError, match="not an intact file"):
        Neighborhoods.load(path)


def test_another_kind_of_file_is_an_error(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", rows=ROWS)
    np.save(tmp_path / "other.npy", ROWS)
    FOUND.save(tmp_path / "found.npz")
    with np.load(tmp_path / "found.npz") as file:
        np.savez_compressed(tmp_path / "packed.npz", **file)  # which may unpack to more than the memory holds
    for name in ("other.npz", "other.npy", "packed.npz"):
        with pytest.raises(RecombineError, match="not an intact file"):
            Neighborhoods.load(tmp_path / name)
    with pytest.raises(RecombineError, match="no such file"):
        Neighborhoods.load(tmp_path / "absent.npz")


def test_coverage_is_among_distinct_examples_and_prototypes_may_be_fewer() -> None:
    examples = [Example((name,), (name,)) for name in ("a", "b", "c", "d", "a")]
    assert FOUND.coverage(examples) == 2 / 4
    assert FOUND.with_prototypes(1).rows.tolist() == [[0, 1], [2, 0]]
    assert FOUND.with_prototypes(0).rows.tolist() == [[0], [2]]
    assert FOUND.with_prototypes(1).prototypes == 1
    with pytest.raises(RecombineError, match="3 prototypes"):
        FOUND.with_prototypes(3)
    assert FOUND.require_rows() is FOUND
    none = Neighborhoods(ROWS[:0], "long-short", {}, {"distinct examples": 4, "with tokens left over": 1})
    with pytest.raises(RecombineError, match="4 distinct examples, 1 with tokens left over"):  # where the search ended
        none.require_rows()
