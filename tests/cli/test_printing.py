"""What commands say."""

from recombine.cli.printing import counted
from recombine.cli.training import outcome
from recombine.training.loop import History


def test_one_is_singular() -> None:
    assert [counted(count, "example") for count in (0, 1, 2, 1_000)] == [
        "0 examples",
        "1 example",
        "2 examples",
        "1,000 examples",
    ]


def test_training_of_one_epoch() -> None:
    assert outcome(History(loss=[[1.0]], seconds=2.0)) == "Training: 1 epoch, 2 s."
    assert outcome(History(loss=[[1.0], [0.5]], seconds=2.0)) == "Training: 2 epochs, 2 s."
