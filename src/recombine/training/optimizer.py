"""Adam for a population: one step for all, with a learning rate and a gradient norm for each replica."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from recombine.models.device import fused
from recombine.training.recipe import Precision

BETAS, EPSILON = (0.9, 0.999), 1e-8


class PopulationAdam:
    """Adam with per-replica learning rates (R,), which may be changed between steps, and gradient clipping.

    A step is done with a share of the rates, also to be set between steps and no part of what is saved.

    On a GPU with kernels, parameters are learned in float32 (`masters`), and the network computes with a copy of them
    that is rounded to `precision`. Elsewhere torch's own Adam updates the network's parameters themselves, which are
    the masters then. Parameters start with an axis of R, or R times a number of, rows.
    """

    def __init__(
        self, model: nn.Module, replicas: int, *, lr: float, clip: float | None, precision: Precision = "float32"
    ) -> None:
        device = next(model.parameters()).device
        self.replicas, self.clip, self.kernels = replicas, clip, fused(device)
        self.lr = torch.full((replicas,), lr, device=device)
        self.share = torch.ones((), device=device)
        self.masters = [parameter.detach() for parameter in model.parameters()]
        if self.kernels:
            self.masters = [master.clone() for master in self.masters]
            model.to(getattr(torch, precision))
        self.parameters = list(model.parameters())
        self.first, self.second = ([torch.zeros_like(master) for master in self.masters] for _ in range(2))
        # Torch wants a count of steps for every tensor that it updates; the kernels share one.
        shape = () if self.kernels else (len(self.masters), replicas)
        self.steps = torch.zeros(shape, dtype=torch.float32, device=device)

    def update(self, gradients: Sequence[Tensor]) -> None:
        """Clips each replica's gradient and updates its parameters; the gradients may be overwritten."""
        rates = self.lr * self.share
        if self.kernels:
            from recombine.models.kernels import elementwise

            scale = torch.ones_like(rates)
            if self.clip is not None:
                scale = _clipping(elementwise.norms(gradients, self.replicas), self.clip)
            self.steps += 1
            for tensors in zip(self.masters, self.parameters, gradients, self.first, self.second, strict=True):
                elementwise.adam(*tensors, lr=rates, scale=scale, step=self.steps, betas=BETAS, epsilon=EPSILON)
            return
        rows = [gradient.view(self.replicas, -1) for gradient in gradients]
        if self.clip is not None:
            norms = torch.stack([torch.linalg.vector_norm(row, dim=1) for row in rows])
            scale = _clipping(torch.linalg.vector_norm(norms, dim=0), self.clip)
            for row in rows:
                row.mul_(scale.unsqueeze(1))
        for replica in range(self.replicas):
            parameters, first, second = (
                [each.view(self.replicas, -1)[replica] for each in tensors]
                for tensors in (self.masters, self.first, self.second)
            )
            adam(
                parameters,
                [row[replica] for row in rows],
                first,
                second,
                max_exp_avg_sqs=[],
                state_steps=list(self.steps[:, replica]),
                fused=True,
                amsgrad=False,
                beta1=BETAS[0],
                beta2=BETAS[1],
                lr=rates[replica],
                weight_decay=0.0,
                eps=EPSILON,
                maximize=False,
            )

    def go_back(self, which: Tensor, parameters: Sequence[Tensor]) -> None:
        """Gives the replicas that are meant (R,) these parameters, and no momentum.

        How large their gradients were is remembered: after those that led astray, steps are short at first.
        """
        for own, master, first, value in zip(self.parameters, self.masters, self.first, parameters, strict=True):
            rows = which.repeat_interleave(len(master) // self.replicas)
            master[rows], first[rows] = value[rows], 0
            own.detach()[rows] = value[rows].to(own.dtype)

    def state(self) -> dict[str, Tensor]:
        """Returns all that is needed to go on, as it is stored: the tensors themselves, not copies."""
        state = {"lr": self.lr}
        if self.kernels:
            state["steps"] = self.steps
            lists = {"master": self.masters, "first": self.first, "second": self.second}
        else:  # by torch's names
            first, second = ([each.view(self.replicas, -1) for each in part] for part in (self.first, self.second))
            lists = {"step": list(self.steps), "exp_avg": first, "exp_avg_sq": second}
        return state | {f"{number}.{name}": each for name, part in lists.items() for number, each in enumerate(part)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Goes on from a saved state."""
        for name, value in self.state().items():
            value.copy_(state[name])


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
