"""Columns of gappings, beside the gappings themselves."""

from collections import Counter
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from recombine.augmentation.fragments import Code, Gappings, Inventory
from recombine.example import Example

SIDES = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple)


@given(st.lists(st.builds(Example, SIDES, SIDES), min_size=1, max_size=6, unique=True), *[st.integers(1, 3)] * 2)
def test_columns_say_what_a_list_of_gappings_says(examples: list[Example], size: int, gaps: int) -> None:
    code = Code(examples)
    sequences = [code.encode(example) for example in examples]
    inventory = Inventory.of(sequences, fragment_size=size, gaps=gaps)
    each = [inventory.gappings(sequence) for sequence in sequences]
    listed = list(chain.from_iterable(each))
    found = Gappings(sequences, inventory)
    assert found.bases.tolist() == [base for base, own in enumerate(each) for _ in own]
    assert [found[number] for number in range(len(listed))] == listed
    counts = Counter(gapping.template for gapping in listed)
    assert found.repeated() == [number for number, gapping in enumerate(listed) if counts[gapping.template] > 1]
    members = list(dict.fromkeys(gapping.fragments for gapping in listed))[::2]
    places = {fragments: place for place, fragments in enumerate(members)}
    assert found.among(members).tolist() == [places.get(gapping.fragments, -1) for gapping in listed]
