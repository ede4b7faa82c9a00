"""The part of a population that is some of its replicas: of its tensors, or of the whole network."""

from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.models.recombiner import Recombiner


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


def narrowed(model: Recombiner, chosen: Sequence[int]) -> Recombiner:
    """Returns the chosen replicas, by number, as a population of their own, in evaluation mode."""
    with torch.device("meta"):  # no weights are drawn that would be replaced at once
        part = Recombiner(model.architecture, len(chosen))
    weights = {name: of_replicas(each, chosen, model.replicas) for name, each in model.state_dict().items()}
    part.load_state_dict(weights, assign=True)
    return part.eval()
