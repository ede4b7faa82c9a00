"""Adam for a population: one step for all, with a learning rate and a gradient norm for each replica."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class PopulationAdam:
    """Adam with per-replica learning rates and gradient clipping.

    Gradients live in fixed buffers, so that a step can be captured in a CUDA graph.

    Args:
        model: Parameters start with an axis of R (or R times a number of) rows.
        replicas: R.
        lr: The initial learning rate.
        clip: Largest gradient norm of a replica; None: gradients stay as they are.
    """

    def __init__(self, model: nn.Module, replicas: int, *, lr: float, clip: float | None) -> None:
        self.parameters = list(model.parameters())
        self.replicas, self.clip = replicas, clip
        device = self.parameters[0].device
        self.lr = torch.full((replicas,), lr, device=device)
        groups = []
        for parameter in self.parameters:
            parameter.grad = torch.zeros_like(parameter)
        for replica in range(replicas):
            rows = []
            for parameter in self.parameters:
                assert parameter.grad is not None
                row = parameter.detach().view(replicas, -1)[replica]
                row.grad = parameter.grad.view(replicas, -1)[replica]
                rows.append(row)
            groups.append({"params": rows, "lr": self.lr[replica]})
        self.adam = torch.optim.Adam(groups, fused=True, capturable=device.type == "cuda")

    def zero_grad(self) -> None:
        """Clears the gradients, keeping their memory."""
        torch._foreach_zero_([_gradient(parameter) for parameter in self.parameters])

    def step(self) -> None:
        """Clips each replica's gradient and updates its parameters."""
        if self.clip is not None:
            self._clip(self.clip)
        self.adam.step()

    def _clip(self, largest: float) -> None:
        gradients = [_gradient(parameter).view(self.replicas, -1) for parameter in self.parameters]
        squares = torch.stack([gradient.square().sum(1) for gradient in gradients]).sum(0)  # (R,)
        scale = (largest / (squares.sqrt() + 1e-6)).clamp(max=1)
        for gradient in gradients:
            gradient.mul_(scale.unsqueeze(1))

    def state(self) -> dict[str, Tensor]:
        """Returns all that is needed to go on: moments, step counts, learning rates."""
        state = {"lr": self.lr}
        for number, row in enumerate(self._rows()):
            for name, value in self.adam.state[row].items():
                state[f"{number}.{name}"] = value
        return state

    def restore(self, state: dict[str, Tensor]) -> None:
        """Goes on from a saved state."""
        self.lr.copy_(state["lr"])
        for number, row in enumerate(self._rows()):
            names = [name for name in state if name.startswith(f"{number}.")]
            self.adam.state[row] = {
                name.partition(".")[2]: state[name].to(row.device if "exp" in name or row.is_cuda else "cpu")
                for name in names
            }

    def _rows(self) -> Sequence[Tensor]:
        return [row for group in self.adam.param_groups for row in group["params"]]


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
