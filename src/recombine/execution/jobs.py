"""A list of jobs, each of which fails alone."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic

from recombine.errors import RecombineError
from recombine.execution.executor import Executor, Outcome, Result, let_go
from recombine.execution.processes import Processes


@dataclass(frozen=True, slots=True)
class Job(Generic[Result]):
    """Something to do that needs nothing from the other jobs of its list.

    Attributes:
        name: What it is, for people.
        do: Does it.
    """

    name: str
    do: Callable[[], Result]


class Run:
    """Carries out lists of jobs, of which some may fail, and says at the end which did.

    Attributes:
        failures: The names and errors of the jobs that failed so far.
    """

    def __init__(self) -> None:
        self.failures: list[tuple[str, Exception]] = []
        self._count = 0

    def finished(self, jobs: Sequence[Job[Result]], executor: Executor) -> Iterator[Result]:
        """Yields the results of the jobs that succeed, in order; those that fail leave the others alone.

        Args:
            jobs: What to do.
            executor: Who does it.
        """
        yield from self._succeeded(jobs, executor.outcomes(lambda number: jobs[number].do(), range(len(jobs))))

    @contextmanager
    def started(self, jobs: Sequence[Job[Result]], processes: Processes) -> Iterator[Iterator[Result]]:
        """Starts the jobs, and gives their results as `finished` does, for whoever has something to do meanwhile."""
        with processes.started(lambda number: jobs[number].do(), range(len(jobs))) as outcomes:
            yield self._succeeded(jobs, outcomes)

    def _succeeded(self, jobs: Sequence[Job[Result]], outcomes: Iterable[Outcome[Result]]) -> Iterator[Result]:
        for job, outcome in zip(jobs, outcomes, strict=True):
            self._count += 1
            if outcome.error is None:
                yield outcome.value  # type: ignore[misc]
            else:
                let_go(outcome.error)
                self.failures.append((job.name, outcome.error))

    def check(self) -> None:
        """Raises the error for the jobs that failed, if any did.

        Raises:
            RecombineError: With the name and the error of each.
            Exception: What a single failed job raised, if that was no error of the user's.
        """
        if len(self.failures) == 1:
            raise _named(*self.failures[0])
        if self.failures:
            listed = "".join(f"\n{name}: {_described(error)}" for name, error in self.failures)
            raise RecombineError(
                f"{len(self.failures)} of {self._count} jobs failed; the others are done.{listed}"
            ) from ExceptionGroup("failed jobs", [error for _, error in self.failures])


def _named(name: str, error: Exception) -> Exception:
    if isinstance(error, RecombineError):
        return RecombineError(f"{name}: {error.message}", place=error.place, hint=error.hint)
    error.add_note(f"The job that failed: {name}.")
    return error


def _described(error: Exception) -> str:
    return str(error) if isinstance(error, RecombineError | OSError) else f"{type(error).__name__}: {error}"
