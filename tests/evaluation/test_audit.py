import pytest

from recombine.errors import RecombineError
from recombine.evaluation.audit import Audit, audit, contradicted
from recombine.example import Example, Provenance, Tokens


def upper(x: Tokens) -> Tokens | None:
    """The right output of letters is their capitals; digits are not well formed."""
    return None if any(token.isdigit() for token in x) else tuple(token.upper() for token in x)


def example(x: str, y: str, method: str | None = None) -> Example:
    return Example(tuple(x), tuple(y), Provenance(method) if method else None)


TRAIN = [example("a", "A"), example("b", "B")]
TEST = [example("ab", "AB"), example("ba", "BA")]
SAMPLES = [
    example("ab", "AB", "geca"),  # right, novel, a test pair
    example("ba", "AB", "geca"),  # wrong, novel, a test input
    example("a", "A", "geca"),  # right, but a training pair
    example("a1", "A1", "geca"),  # malformed
    example("ab", "AB", "other"),  # right, repeated
]


def test_counts_by_hand() -> None:
    assert audit(SAMPLES, gold=upper, train=TRAIN, test=TEST) == Audit(
        n=5,
        novel=4,
        duplicates=1,
        well_formed=4,
        right=3,
        right_and_novel=2,
        inputs_in_test=3,
        pairs_in_test=2,
    )


def test_shares_are_of_all_samples() -> None:
    shares = audit(SAMPLES, gold=upper, train=TRAIN).shares
    assert shares == {
        "novel": 0.8,
        "duplicates": 0.2,
        "contradicted": 0.0,
        "well_formed": 0.8,
        "right": 0.6,
        "right_and_novel": 0.4,
        "inputs_in_test": None,
        "pairs_in_test": None,
    }


def test_what_is_not_asked_for_is_not_counted() -> None:
    assert audit(SAMPLES, gold=None, train=iter(TRAIN)) == Audit(n=5, novel=4, duplicates=1)


def test_a_malformed_input_is_never_right() -> None:
    assert audit([example("1", "1")], gold=upper, train=[]).right == 0


def test_no_samples() -> None:
    with pytest.raises(RecombineError, match="no samples"):
        audit([], gold=None, train=TRAIN)


def test_of_several_outputs_for_one_input_at_most_one_is_right() -> None:
    samples = [example("ab", "AB"), example("ab", "BA"), example("ab", "AB"), example("ba", "BA"), example("ba", "BA")]
    assert contradicted(samples) == 3  # the last two are one sample, twice
    assert audit(samples, gold=None, train=TRAIN).contradicted == 3
