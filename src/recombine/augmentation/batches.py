"""Batches of draws from networks, made one after the other or by many at once, and the same in either case."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count

import numpy as np
import torch

from recombine.data.vocabulary import PAD
from recombine.decoding.generate import Decoding, generate
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
    """What a batch is to be drawn with: prototypes (R, B, n), by their numbers, and a temperature for each replica.

    Its random numbers depend on the number of the batch, and on nothing drawn before.
    """

    number: int
    chosen: np.ndarray
    temperatures: Temperatures


@dataclass(frozen=True, slots=True)
class Batch:
    """What was drawn: `Generated` as arrays on the host, which can be sent as they are.

    Attributes:
        width: How many tokens each prototype was padded to.
        own: How many own tokens the copy entries counted at each step.
    """

    width: int
    own: list[int]
    tokens: np.ndarray
    entries: np.ndarray
    log_probability: np.ndarray
    output_log_probability: np.ndarray
    least_log_probability: np.ndarray
    stopped: np.ndarray


ARRAYS = [each.name for each in fields(Batch) if each.name not in ("width", "own")]


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
        """Draws a batch."""
        sequences = self.table[torch.from_numpy(request.chosen).to(self.table.device)]
        longest = int((sequences != PAD).sum(-1).max()) if sequences.numel() else 0
        sequences = sequences[..., :longest]
        decoding = replace(self.decoding, temperatures=request.temperatures)
        # Noise starts anew with every batch: how many numbers the last one took depends on the longest of all replicas.
        states = [np.random.SeedSequence([4, seed, request.number]) for seed in self.seeds]
        noise = Noise([int(state.generate_state(1)[0]) for state in states], self.table.device)
        try:
            if self.twins is None:
                wanted = self.skip_without if request.number else None
                made = generate(self.model, sequences, self.steps, decoding, noise, skip_without=wanted)
            else:  # ids of skip_without are not known by their names
                names = self.twins.draw(sequences, noise)
                made = generate(self.model, called(names, sequences), self.steps, decoding, noise)
                made = replace(made, tokens=called(self.twins.undone(names), made.tokens))
        except torch.OutOfMemoryError as error:
            replicas, batch = request.chosen.shape[:2]
            raise RecombineError(
                f"the GPU's memory does not suffice for {batch} candidates of each of {replicas} networks at a time.",
                hint=f"Lower the batch of sampling, e.g. to {max(1, batch // 4)}.",
            ) from error
        arrays = {name: getattr(made, name).cpu().numpy() for name in ARRAYS}
        return Batch(width=longest, own=made.own, **arrays)

    def only(self, chosen: Sequence[int]) -> "Drawing":
        """Returns what draws for some of the replicas, by number, as if the others were still there.

        On a GPU the same but for rounding, since products may be computed otherwise for fewer.
        """
        seeds = tuple(self.seeds[number] for number in chosen)
        skip_without = None if self.skip_without is None else self.skip_without[list(chosen)]
        return replace(self, model=narrowed(self.model, chosen), seeds=seeds, skip_without=skip_without)


class Batches:
    """Gives batch after batch. Where many draw, they are ahead, and what is not asked for is dropped.

    `choose` gives the prototypes of the next batch for the replicas that are left, whatever the temperature.
    """

    def __init__(self, drawing: Drawing, choose: Callable[[], np.ndarray], executor: Executor) -> None:
        self.drawing, self.choose, self.executor = drawing, choose, executor
        self._number = 0
        self._ahead: dict[int, np.ndarray] = {}  # chosen, but not drawn with, or to be drawn with once more
        self._temperatures: Temperatures | None = None
        self._drawn: Generator[Batch, None, None] | None = None

    def next(self, temperatures: Temperatures) -> tuple[np.ndarray, Batch]:
        """Returns the prototypes (R, B, n) of the next batch, by their numbers, and the batch."""
        if self._drawn is None or temperatures != self._temperatures:  # what was drawn ahead was drawn with others
            self.close()
            self._temperatures = temperatures
            self._drawn = in_order(self.executor, self.drawing, self._requests(self._number, temperatures))
        batch = next(self._drawn)
        self._number += 1
        return self._ahead.pop(self._number - 1), batch

    def narrow(self, chosen: Sequence[int]) -> None:
        """Goes on for the chosen of the replicas only, by number."""
        self.close()
        self.drawing = self.drawing.only(chosen)
        self._ahead = {number: prototypes[list(chosen)] for number, prototypes in self._ahead.items()}

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
