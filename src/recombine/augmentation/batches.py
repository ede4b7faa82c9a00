"""Batches of draws from networks, made one after the other or by many at once, and the same in either case."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any

import numpy as np
import torch

from recombine.data.vocabulary import PAD
from recombine.decoding.generate import Decoding, Generated, generate
from recombine.errors import RecombineError
from recombine.execution.executor import Executor, in_order
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.training.fitted import narrowed
from recombine.training.renaming import Twins, called

Temperatures = tuple[float, ...]
"""One for each replica."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a batch is to be drawn with.

    Attributes:
        number: Which batch it is; its random numbers depend on that, and on nothing drawn before.
        chosen: The prototypes (R, B, n), by their numbers.
        temperatures: How wild.
    """

    number: int
    chosen: np.ndarray
    temperatures: Temperatures


@dataclass(frozen=True, slots=True)
class Batch:
    """What was drawn.

    Attributes:
        chosen: The prototypes (R, B, n), by their numbers.
        width: How many tokens each of them was padded to.
        generated: The sequences.
    """

    chosen: np.ndarray
    width: int
    generated: Generated


@dataclass(frozen=True, slots=True)
class Drawing:
    """Draws batches from a population of networks: all that it takes and no more, since it may have to travel.

    Attributes:
        model: R trained replicas, in evaluation mode.
        table: The examples as token ids (N, T), padded.
        steps: The most tokens a sequence may have.
        decoding: How tokens are chosen, but for the temperatures.
        twins: The names that the model knows twins by, if it does.
        seeds: One for each replica.
        skip_without: Inputs without any of these ids (R, V) get no output; None: all get one. The first batch has all
            outputs nevertheless, for people to look at.
    """

    model: Recombiner
    table: torch.Tensor
    steps: int
    decoding: Decoding
    twins: Twins | None
    seeds: tuple[int, ...]
    skip_without: torch.Tensor | None = None

    def __call__(self, request: Request) -> Batch:
        """Draws a batch.

        Raises:
            RecombineError: If the GPU has not memory enough for it.
        """
        sequences = self._sequences(request.chosen)
        decoding = replace(self.decoding, temperatures=request.temperatures)
        try:
            skip_without = self.skip_without if request.number else None
            generated = self._generated(sequences, decoding, self._noise(request.number), skip_without)
        except torch.OutOfMemoryError as error:
            replicas, batch = request.chosen.shape[:2]
            raise RecombineError(
                f"the GPU's memory does not suffice for {batch} candidates of each of {replicas} networks at a time.",
                hint=f"Lower the batch of sampling, e.g. to {max(1, batch // 4)}.",
            ) from error
        return Batch(request.chosen, sequences.shape[-1], generated)

    def only(self, chosen: Sequence[int]) -> "Drawing":
        """Returns what draws for some of the replicas, by number, as if the others were still there.

        On a GPU the same but for rounding, since products may be computed otherwise for fewer.
        """
        seeds = tuple(self.seeds[number] for number in chosen)
        skip_without = None if self.skip_without is None else self.skip_without[list(chosen)]
        return replace(self, model=narrowed(self.model, chosen), seeds=seeds, skip_without=skip_without)

    def _sequences(self, chosen: np.ndarray) -> torch.Tensor:
        sequences = self.table[torch.from_numpy(chosen).to(self.table.device)]
        longest = int((sequences != PAD).sum(-1).max()) if sequences.numel() else 0
        return sequences[..., :longest]

    def _noise(self, batch: int) -> Noise:
        """Starts anew with every batch: how many numbers the last one took depends on the longest of all replicas."""
        states = [np.random.SeedSequence([4, seed, batch]) for seed in self.seeds]
        return Noise([int(state.generate_state(1)[0]) for state in states], self.table.device)

    def _generated(
        self, sequences: torch.Tensor, decoding: Decoding, noise: Noise, skip_without: torch.Tensor | None
    ) -> Generated:
        if self.twins is None:
            return generate(self.model, sequences, self.steps, decoding, noise, skip_without=skip_without)
        names = self.twins.draw(sequences, noise)  # ids of skip_without are not known by them
        generated = generate(self.model, called(names, sequences), self.steps, decoding, noise)
        return replace(generated, tokens=called(self.twins.undone(names), generated.tokens))


class Batches:
    """Gives batch after batch. Where many draw, they are ahead, and what is not asked for is dropped.

    Args:
        drawing: Draws a batch; a function of the request alone.
        choose: Chooses the prototypes of the next batch for the replicas that are left, whatever the temperature.
        executor: Who draws.
        device: Where batches are wanted.
    """

    def __init__(
        self,
        drawing: Drawing,
        choose: Callable[[], np.ndarray],
        executor: Executor,
        device: torch.device,
    ) -> None:
        self.choose, self.executor, self.device = choose, executor, device
        self._use(drawing)
        self._number = 0
        self._ahead: dict[int, np.ndarray] = {}  # chosen, but not drawn with, or to be drawn with once more
        self._temperatures: Temperatures | None = None
        self._drawn: Generator[Any, None, None] | None = None

    def next(self, temperatures: Temperatures) -> Batch:
        """Returns the next batch."""
        if self._drawn is None or temperatures != self._temperatures:  # what was drawn ahead was drawn with others
            self.close()
            self._temperatures = temperatures
            self._drawn = in_order(self.executor, self._draw, self._requests(self._number, temperatures))
        batch = next(self._drawn)
        chosen = self._ahead.pop(self._number)
        self._number += 1
        return batch if self.executor.here else _unpacked(batch, chosen, self.device)

    def narrow(self, chosen: Sequence[int]) -> None:
        """Goes on for the chosen of the replicas only, by number."""
        self.close()
        self._use(self._drawing.only(chosen))
        self._ahead = {number: prototypes[list(chosen)] for number, prototypes in self._ahead.items()}

    def _use(self, drawing: Drawing) -> None:
        """Makes once what draws: executors know it again, and send it no second time."""
        self._drawing = drawing
        self._draw: Callable[[Request], Any] = drawing if self.executor.here else _Packing(drawing)

    def close(self) -> None:
        """Drops what was drawn ahead."""
        if self._drawn is not None:
            self._drawn.close()
            self._drawn = None

    def _requests(self, first: int, temperatures: Temperatures) -> Iterator[Request]:
        for number in count(first):
            if number not in self._ahead:
                self._ahead[number] = self.choose()
            yield Request(number, self._ahead[number], temperatures)


@dataclass(frozen=True, slots=True)
class _Packing:
    """Draws batches without their prototypes and as arrays, which can be sent as they are."""

    drawing: Drawing

    def __call__(self, request: Request) -> tuple[int, dict[str, Any]]:
        batch = self.drawing(request)
        found = {field.name: getattr(batch.generated, field.name) for field in fields(Generated)}
        return batch.width, {
            name: value.cpu().numpy() if isinstance(value, torch.Tensor) else value for name, value in found.items()
        }


def _unpacked(packed: tuple[int, dict[str, Any]], chosen: np.ndarray, device: torch.device) -> Batch:
    width, found = packed
    tensors: dict[str, Any] = {
        name: torch.from_numpy(value.copy()).to(device) if isinstance(value, np.ndarray) else value
        for name, value in found.items()
    }
    return Batch(chosen, width, Generated(**tensors))
