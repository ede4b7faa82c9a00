"""How a search for neighborhoods is carried out, as far as it changes nothing in what is found."""

from dataclasses import dataclass

from recombine.execution.executor import SERIAL, Executor
from recombine.execution.progress import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How a search is carried out.

    Attributes:
        executor: Who searches the parts; the rows are the same for all.
        report: Is told how it goes, after every 32,768 examples or so.
        trial: Whether, of more examples than that, neighborhoods are wanted of only about 4,096, evenly spread, to see
            what a rule finds; all examples can be their prototypes.
    """

    executor: Executor = SERIAL
    report: Report | None = None
    trial: bool = False


ALONE = Effort()
"""One process that goes through all examples."""
