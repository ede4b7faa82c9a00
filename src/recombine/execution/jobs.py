"""A list of jobs, each of which fails alone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

from recombine.errors import RecombineError
from recombine.execution.executor import Executor, Result


@dataclass(frozen=True, slots=True)
class Job(Generic[Result]):
    """Something to do that needs nothing from the other jobs of its list.

    Attributes:
        name: What it is, for people.
        do: Does it.
    """

    name: str
    do: Callable[[], Result]


def finished(jobs: Sequence[Job[Result]], executor: Executor) -> Iterator[Result]:
    """Yields the results of the jobs that succeed, in order; those that fail leave the others alone.

    Args:
        jobs: What to do.
        executor: Who does it.

    Raises:
        RecombineError: When all are over, if jobs failed: with the name and the error of each.
        Exception: What a single failed job raised, if that was no error of the user's.
    """
    failures: list[tuple[str, Exception]] = []
    outcomes = executor.outcomes(lambda number: jobs[number].do(), range(len(jobs)))
    for job, outcome in zip(jobs, outcomes, strict=True):
        if outcome.error is None:
            yield outcome.value  # type: ignore[misc]
        else:
            failures.append((job.name, outcome.error))
    if len(failures) == 1:
        raise _named(*failures[0])
    if failures:
        listed = "".join(f"\n{name}: {_described(error)}" for name, error in failures)
        causes = ExceptionGroup("failed jobs", [error for _, error in failures])
        raise RecombineError(f"{len(failures)} of {len(jobs)} jobs failed; the others are done.{listed}") from causes


def _named(name: str, error: Exception) -> Exception:
    if isinstance(error, RecombineError):
        return RecombineError(f"{name}: {error.message}", place=error.place, hint=error.hint)
    error.add_note(f"The job that failed: {name}.")
    return error


def _described(error: Exception) -> str:
    return str(error) if isinstance(error, RecombineError | OSError) else f"{type(error).__name__}: {error}"
