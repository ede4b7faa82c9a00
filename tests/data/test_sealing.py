import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recombine.data.store import DIGEST, sealed, unseal
from recombine.errors import RecombineError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
ALTERED = "a.json: this is not as it was written. Get it again."
DOCUMENTS = st.dictionaries(st.text().filter(lambda key: key != DIGEST), VALUES, max_size=4)


def problem(document: dict[str, Any]) -> str | None:
    """Takes the checksum out of a document and returns what is wrong with it."""
    try:
        unseal(document, place="a.json", hint="Get it again.")
    except RecombineError as error:
        return str(error)
    return None


@given(DOCUMENTS)
def test_what_was_sealed_is_intact_when_it_is_read(document: dict[str, object]) -> None:
    missing = "a.json: this has no checksum, which should be under 'digest'. Get it again."
    assert problem(dict(document)) == missing
    read = json.loads(json.dumps(sealed(document), indent=1, ensure_ascii=True))
    assert problem(read) is None
    assert read == document


@given(DOCUMENTS, DOCUMENTS)
def test_what_was_altered_is_not(document: dict[str, object], other: dict[str, object]) -> None:
    altered = {**other, DIGEST: sealed(document)[DIGEST]}
    is_same = json.dumps(document, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert problem(altered) == (None if is_same else ALTERED)


def test_odd_documents() -> None:
    """Keys that are numbers become strings; odd checksums are wrong, and so are those of what is too deep."""
    assert problem(json.loads(json.dumps(sealed({"counts": {2: "a", 10: "b"}, "none": None})))) is None
    for odd in (None, 7, [], {}, "", True):
        assert problem({"a": 1, DIGEST: odd}) == ALTERED
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert problem({"a": deep, DIGEST: ""}) == ALTERED
