import torch

from recombine.data.vocabulary import SEP, UNK
from recombine.models.noise import Noise
from recombine.training.renaming import unknown

FIRST = SEP + 1
SOURCES = torch.randint(FIRST, FIRST + 8, (2, 50, 1, 6), generator=torch.Generator().manual_seed(0))
TARGET = torch.randint(SEP, FIRST + 12, (2, 50, 9), generator=torch.Generator().manual_seed(1))


def test_a_token_is_unknown_wherever_it_stands_and_nothing_else_is() -> None:
    sources, target = unknown(SOURCES, TARGET, FIRST + 12, 0.3, Noise((1, 2), longest=16), copied=True)
    share = (sources == UNK).float().mean()
    assert 0.2 < share < 0.4
    assert torch.equal(sources[sources != UNK], SOURCES[sources != UNK])
    for replica in range(2):
        for row in range(50):
            gone = {*SOURCES[replica, row][sources[replica, row] == UNK].tolist()}
            left = {*sources[replica, row].flatten().tolist()}
            assert not gone & left
            expected = [UNK if token in gone else token for token in TARGET[replica, row].tolist()]
            assert target[replica, row].tolist() == expected


def test_what_cannot_be_copied_is_still_to_be_written() -> None:
    _, target = unknown(SOURCES, TARGET, FIRST + 12, 0.3, Noise((1, 2), longest=16), copied=False)
    assert target is TARGET


def test_at_rate_zero_all_is_known() -> None:
    sources, target = unknown(SOURCES, TARGET, FIRST + 12, 0.0, Noise((1, 2), longest=16), copied=True)
    assert torch.equal(sources, SOURCES)
    assert torch.equal(target, TARGET)
