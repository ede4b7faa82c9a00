"""What all commands with networks have in common: size, time, threads, memory, and going on after an interruption."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.options import AUTO
from recombine.cli.printing import counted, say
from recombine.errors import RecombineError, unknown
from recombine.example import Example

if TYPE_CHECKING:
    from recombine.own_data.choices import Choice
    from recombine.training.loop import History
    from recombine.training.recipe import Recipe

SIZES = ("small", "paper")
"""The sizes of networks; small ones are for a CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How networks are to be trained: the options as they were given, None for those that were not.

    Attributes:
        size: One of ``SIZES``; None: small on a CPU or for few examples, else the paper's.
        epochs: Passes over the data; None: as many as the size has.
        max_time: Seconds; None: no bound.
        device: ``auto``, ``cpu`` or ``cuda``.
        seed: The first network's seed.
        seeds: How many networks; None: one.
    """

    size: str | None = None
    epochs: int | None = None
    max_time: float | None = None
    device: str = "auto"
    seed: int = 0
    seeds: int | None = None

    def check(self) -> None:
        """Raises an error for a size that there is not."""
        if self.size is not None and self.size not in SIZES:
            raise unknown("size", self.size, SIZES)

    @property
    def given(self) -> list[str]:
        """The names of the options that were given and that only networks have."""
        options = {"--size": self.size, "--epochs": self.epochs, "--max-time": self.max_time}
        return [name for name, value in options.items() if value is not None] + ["--device"] * (self.device != AUTO)

    @property
    def population(self) -> tuple[int, ...]:
        """The seed of each network."""
        return tuple(range(self.seed, self.seed + (self.seeds or 1)))

    def generator(self, examples: Sequence[Example], *, rare: str, prototypes: int) -> "Recipe":
        """Returns the recipe of recombination networks that suits the examples; see ``networks.generator``."""
        from recombine.own_data import networks

        chosen = networks.generator(examples, self._size(examples), rare=rare, prototypes=prototypes)
        return self._bounded(networks.length(chosen.value, most=networks.GENERATOR_STEPS).value)

    def predictor(self, examples: Sequence[Example], kept: Path | None) -> "dict[str, Choice[Recipe]]":
        """Returns the choices that make the recipe of predictors; see ``choosing.predictor``."""
        from recombine.own_data import choosing

        return choosing.predictor(
            examples,
            self._size(examples),
            epochs=self.epochs,
            max_time=self.max_time,
            seed=self.seed,
            device=self.device,
            say=say,
            kept=kept,
        )

    def _size(self, examples: Sequence[Example]) -> str:
        from recombine.own_data import networks

        return networks.asked_or_chosen(self.size or AUTO, examples, self.device).value

    def _bounded(self, recipe: "Recipe") -> "Recipe":
        from recombine.own_data import networks

        return networks.bounded(recipe, epochs=self.epochs, max_time=self.max_time)


class Interrupted(Exception):
    """The interrupt key, with a sentence on how to go on."""


@contextmanager
def resumable(state: Path | None) -> Iterator[None]:
    """Turns the interrupt key during training into a sentence that says how to go on.

    Args:
        state: Where the state of training is saved now and then.
    """
    try:
        yield
    except KeyboardInterrupt:
        if state is not None and state.exists():
            raise Interrupted(f"interrupted; the same command goes on from {state}.") from None
        raise Interrupted("interrupted; the same command starts anew: nothing was saved yet.") from None


@contextmanager
def enough_memory() -> Iterator[None]:
    """Turns a lack of memory, on a GPU or off it, into a sentence that names the settings to lower."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not _is_lack_of_memory(error):
            raise
        raise RecombineError(
            "the memory does not suffice.",
            hint="Lower --seeds or take --size small; if a GPU is too small, --device cpu.",
        ) from error


def _is_lack_of_memory(error: Exception) -> bool:
    import torch

    # A CPU's allocator has no exception of its own, only this text.
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def use_threads(count: int | None) -> None:
    """Sets how many threads a CPU uses; None leaves it to torch."""
    if count is not None:
        import torch

        torch.set_num_threads(count)


def outcome(history: "History") -> str:
    """Returns how training ended, for people: in which time, and whether the bound on time ended it."""
    ended = f" {counted(len(history.loss), 'epoch')}" if not history.stopped_early else " stopped by --max-time"
    return f"Training:{ended}, {history.seconds:.0f} s."
