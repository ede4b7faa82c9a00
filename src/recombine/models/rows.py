"""Rows of a batch, by their places in it."""

from torch import Tensor


def taken(x: Tensor, places: Tensor) -> Tensor:
    """Returns those of x (R, B, ...) that are at places (R, B') of the batch, any number of times."""
    index = places.view(*places.shape, *[1] * (x.dim() - 2)).expand(*places.shape, *x.shape[2:])
    return x.gather(1, index)
