import pytest
import torch

from recombine.models.packing import Packing

CPU = torch.device("cpu")
COUNTS = (4, 4, 2, 1)


def test_positions_are_numbered_step_by_step() -> None:
    packing = Packing.of(COUNTS, CPU)
    assert (packing.batch, packing.total, packing.steps, packing.full) == (4, 11, 4, False)
    assert packing.starts == packing.offsets.tolist() == [0, 4, 8, 10]
    assert packing.rows.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 0]
    assert packing.step.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3]
    assert packing.spans.tolist() == [4, 3, 2, 2]
    assert packing.places.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12]
    assert packing.before[4:].tolist() == [0, 1, 2, 3, 4, 5, 8]
    assert packing.at(2) == slice(8, 10)
    assert packing.at(1, 2) == slice(4, 6)


@pytest.mark.parametrize("counts", [COUNTS, (3, 3, 3), (1,)])
def test_what_is_packed_can_be_unpacked(counts: tuple[int, ...]) -> None:
    packing = Packing.of(counts, CPU)
    x = torch.randn(2, len(counts) + 1, counts[0], 5)  # with a step more than there is
    packed = packing.pack(x)
    assert packed.shape == (2, sum(counts), 5)
    unpacked = packing.unpack(packed, fill=7.0)
    for t, count in enumerate(counts):
        assert torch.equal(unpacked[:, t, :count], x[:, t, :count])
        assert (unpacked[:, t, count:] == 7).all()
        assert torch.equal(packing.split(packed)[t], x[:, t, :count])


def test_the_whole_packing_has_all_rows_at_every_step_and_is_made_once() -> None:
    packing = Packing.whole(3, 2, CPU)
    assert packing.counts == (2, 2, 2)
    assert packing.full
    assert packing is Packing.of((2, 2, 2), CPU)
