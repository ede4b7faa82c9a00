"""The record of what augmenters gave, of one or of several."""

from recombine.augmentation.protocol import Samples, together
from recombine.example import Example

ONE, TWO, THREE = (Example((word,), (word.upper(),)) for word in ("a", "b", "c"))


def test_the_samples_of_several_are_all_there_in_order_and_so_is_their_account() -> None:
    first = Samples((ONE, TWO), 5, {"known": 1, "too long": 2}, "Three are missing.")
    second = Samples((TWO,), 1, {"known": 3}, turned_down=(THREE,), warning="Look at it.")
    found = together([first, second])
    assert list(found) == [ONE, TWO, TWO]  # what both made is there twice
    assert found.requested == 6
    assert found.rejected == {"known": 4, "too long": 2}
    assert list(found.turned_down) == [THREE]
    assert found.account == "3 of 6 samples; rejected: 4 known, 2 too long. Three are missing. Look at it."
    assert together([first]) == first
