"""The part of a population's tensors that belongs to some of its replicas."""

from collections.abc import Sequence

from torch import Tensor


def of_replicas(tensor: Tensor, chosen: Sequence[int], replicas: int) -> Tensor:
    """Returns the rows that belong to the chosen replicas, by number, of a tensor with R, or R times some, rows.

    What has no rows is all replicas' own.
    """
    if not tensor.dim():
        return tensor
    return tensor.view(replicas, len(tensor) // replicas, *tensor.shape[1:])[list(chosen)].flatten(0, 1)


def put_replicas(tensor: Tensor, chosen: Sequence[int], replicas: int, *, values: Tensor) -> None:
    """Puts the rows of the chosen replicas, and only of those, into a tensor of all."""
    # Cloned, since the values may lie in the tensor itself.
    tensor.view(replicas, -1)[list(chosen)] = values.reshape(len(chosen), -1).clone()
