import json

from hypothesis import given
from hypothesis import strategies as st

from recombine.data.sealing import DIGEST, sealed, unseal

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
DOCUMENTS = st.dictionaries(st.text().filter(lambda key: key != DIGEST), VALUES, max_size=4)


@given(DOCUMENTS)
def test_what_was_sealed_is_intact_when_it_is_read(document: dict[str, object]) -> None:
    read = json.loads(json.dumps(sealed(document), indent=1, ensure_ascii=True))
    assert unseal(read)
    assert read == document


@given(DOCUMENTS, DOCUMENTS)
def test_what_was_altered_is_not(document: dict[str, object], other: dict[str, object]) -> None:
    altered = {**other, DIGEST: sealed(document)[DIGEST]}
    assert unseal(altered) == (json.dumps(document, sort_keys=True) == json.dumps(other, sort_keys=True))


def test_keys_that_are_numbers_become_strings_in_files() -> None:
    assert unseal(json.loads(json.dumps(sealed({"counts": {2: "a", 10: "b"}, "none": None}))))


def test_what_has_no_checksum_passes_and_an_odd_one_does_not() -> None:
    assert unseal({"a": 1})
    for odd in (7, [], {}, "", True):
        assert not unseal({"a": 1, DIGEST: odd})
