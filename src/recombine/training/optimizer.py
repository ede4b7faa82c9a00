"""Adam for a population: one step for all, with a learning rate and a gradient norm for each replica."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from recombine.models.device import fused
from recombine.training.recipe import Precision


class PopulationAdam:
    """Adam with per-replica learning rates and gradient clipping.

    Args:
        model: Parameters start with an axis of R (or R times a number of) rows.
        replicas: R.
        lr: The initial learning rate.
        clip: Largest gradient norm of a replica; None: gradients stay as they are.
    """

    def __init__(self, model: nn.Module, replicas: int, *, lr: float, clip: float | None) -> None:
        self.parameters = list(model.parameters())
        self.masters = [parameter.detach() for parameter in self.parameters]
        self.replicas, self.clip = replicas, clip
        device = self.parameters[0].device
        self.lr = torch.full((replicas,), lr, device=device)
        self.rows = [
            [parameter.detach().view(replicas, -1)[r] for parameter in self.parameters] for r in range(replicas)
        ]
        groups = [{"params": rows, "lr": self.lr[replica]} for replica, rows in enumerate(self.rows)]
        self.adam = torch.optim.Adam(groups, fused=True, capturable=device.type == "cuda")

    def update(self, gradients: Sequence[Tensor]) -> None:
        """Clips each replica's gradient and updates its parameters; the gradients may be overwritten."""
        gradients = [gradient.view(self.replicas, -1) for gradient in gradients]
        if self.clip is not None:
            each = [torch.linalg.vector_norm(gradient, dim=1) for gradient in gradients]
            scale = _clipping(torch.linalg.vector_norm(torch.stack(each), dim=0), self.clip)
            for gradient in gradients:
                gradient.mul_(scale.unsqueeze(1))
        for replica, rows in enumerate(self.rows):
            for row, gradient in zip(rows, gradients, strict=True):
                row.grad = gradient[replica]
        self.adam.step()

    def state(self) -> dict[str, Tensor]:
        """Returns all that is needed to go on: moments, step counts, learning rates."""
        state = {"lr": self.lr}
        for number, rows in enumerate(zip(*self.rows, strict=True)):
            for name in self.adam.state[rows[0]]:
                state[f"{number}.{name}"] = torch.stack([self.adam.state[row][name] for row in rows])
        return state

    def restore(self, state: dict[str, Tensor]) -> None:
        """Goes on from a saved state."""
        self.lr.copy_(state["lr"])
        for number, rows in enumerate(zip(*self.rows, strict=True)):
            saved = {name.partition(".")[2]: value for name, value in state.items() if name.startswith(f"{number}.")}
            for replica, row in enumerate(rows):
                self.adam.state[row] = {name: value[replica].clone().to(row.device) for name, value in saved.items()}


class KernelAdam:
    """The same by kernels, with float32 parameters that the network computes with a copy of in its own precision.

    Args:
        model: As for `PopulationAdam`; its parameters are turned into the precision.
        replicas: R.
        lr: The initial learning rate.
        clip: Largest gradient norm of a replica; None: gradients stay as they are.
        precision: What the network computes in.
    """

    betas, epsilon = (0.9, 0.999), 1e-8

    def __init__(self, model: nn.Module, replicas: int, *, lr: float, clip: float | None, precision: Precision) -> None:
        self.masters = [parameter.detach().clone() for parameter in model.parameters()]
        model.to(getattr(torch, precision))
        self.parameters = list(model.parameters())
        self.replicas, self.clip = replicas, clip
        device = self.masters[0].device
        self.lr = torch.full((replicas,), lr, device=device)
        self.first = [torch.zeros_like(master) for master in self.masters]
        self.second = [torch.zeros_like(master) for master in self.masters]
        self.steps = torch.zeros((), device=device)
        self._whole = torch.ones(replicas, device=device)

    def update(self, gradients: Sequence[Tensor]) -> None:
        """Clips each replica's gradient and updates its parameters."""
        from recombine.models.kernels.elementwise import adam, norms

        scale = self._whole
        if self.clip is not None:
            scale = _clipping(norms(gradients, self.replicas), self.clip)
        self.steps += 1
        for tensors in zip(self.masters, self.parameters, gradients, self.first, self.second, strict=True):
            adam(*tensors, lr=self.lr, scale=scale, step=self.steps, betas=self.betas, epsilon=self.epsilon)

    def state(self) -> dict[str, Tensor]:
        """Returns all that is needed to go on: parameters, moments, step count, learning rates."""
        lists = {"master": self.masters, "first": self.first, "second": self.second}
        state = {f"{number}.{name}": value for name, values in lists.items() for number, value in enumerate(values)}
        return {"lr": self.lr, "steps": self.steps, **state}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Goes on from a saved state."""
        for name, value in self.state().items():
            value.copy_(state[name])


Optimizer = PopulationAdam | KernelAdam
"""Updates a population's parameters from their gradients. `lr` holds a learning rate for each replica (R,), `masters`
the parameters in the precision in which they are learned."""


def population_adam(
    model: nn.Module, replicas: int, *, lr: float, clip: float | None, precision: Precision = "float32"
) -> Optimizer:
    """Returns Adam for a population; on a GPU with kernels, the model then computes in the precision asked for."""
    if fused(next(model.parameters()).device):
        return KernelAdam(model, replicas, lr=lr, clip=clip, precision=precision)
    return PopulationAdam(model, replicas, lr=lr, clip=clip)


def _clipping(norms: Tensor, largest: float) -> Tensor:
    """Returns what each replica's gradients are to be multiplied by (R,), given their norms (R,)."""
    return (largest / (norms + 1e-6)).clamp(max=1)


def gradients_of(model: nn.Module) -> list[Tensor]:
    """Returns the gradients of all parameters, zero where there are none, and forgets them."""
    found = []
    for parameter in model.parameters():
        gradient, parameter.grad = parameter.grad, None
        found.append(torch.zeros_like(parameter) if gradient is None else gradient.contiguous())
    return found
