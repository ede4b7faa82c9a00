"""The options that several commands share, so that one name means one thing everywhere, and who does the work."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from recombine.errors import RecombineError, unknown

if TYPE_CHECKING:
    from recombine.execution.executor import Executor

AUTO = "auto"
"""Leaves a choice to the program."""

STANDARD = "-"
"""Stands for standard input or output."""

EXECUTORS = SERIAL, PROCESSES, RAY = ("serial", "processes", "ray")


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Returns a command that has the fields of each parameter that is a dataclass as options of its own.

    Args:
        command: The function of the command; the fields of such dataclasses are annotated as options.
    """
    groups: dict[str, Any] = {}
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        if not is_dataclass(parameter.annotation):
            parameters.append(parameter)
            continue
        groups[parameter.name] = group = parameter.annotation
        hints = get_type_hints(group, include_extras=True)
        parameters += [
            parameter.replace(name=field.name, default=field.default, annotation=hints[field.name])
            for field in fields(group)
        ]

    def ungrouped(**given: Any) -> None:  # noqa: ANN401
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    ungrouped.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    ungrouped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return ungrouped


def _more_than_0(value: float | None) -> float | None:
    if value is not None and not 0 < value < float("inf"):
        raise typer.BadParameter(f"{value:g} is not more than 0 and finite.")
    return value


Train = Annotated[str, typer.Argument(metavar="TRAIN", help="The training examples; - is standard input.")]

Format = Annotated[
    str,
    typer.Option("--format", metavar="FORMAT", help="The format of the files: tsv, jsonl, scan, sigmorphon, or auto."),
]
Tokens = Annotated[
    str, typer.Option("--tokens", metavar="KIND", help="What a token is in TSV and JSONL strings: words or characters.")
]
ModelTokens = Annotated[
    str | None,
    typer.Option(
        "--tokens",
        metavar="KIND",
        help="What a token is in TSV and JSONL strings: words or characters (default: as in training).",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="X,Y[,TAGS]",
        help="Which TSV columns hold input, output and tags, if any; from 1.",
    ),
]
Header = Annotated[bool, typer.Option("--header", help="The first line of TSV files names the columns: skip it.")]
Test = Annotated[
    str | None,
    typer.Option("--test", metavar="FILE", help="Test examples, to count how many recur."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="The same seed gives the same result.")]
Folder = Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to write to.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for machines instead.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Device = Annotated[str, typer.Option("--device", metavar="NAME", help="Where networks run: auto, cpu or cuda.")]
Threads = Annotated[
    int | None, typer.Option("--threads", metavar="N", min=1, help="CPU threads (default: torch's own choice).")
]
Direction = Annotated[
    str | None,
    typer.Option(
        "--direction",
        metavar="NAME",
        help="For word forms: analysis (form → lemma, tags) or inflection (lemma, tags → form) (default: analysis).",
    ),
]
Size = Annotated[
    str | None,
    typer.Option("--size", metavar="NAME", help="Networks: small or paper (default: small on a CPU)."),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        "--seeds", metavar="K", min=1, help="How many networks to train together, with seeds N, N+1, … (default: 1)."
    ),
]
Epochs = Annotated[
    int | None,
    typer.Option("--epochs", metavar="N", min=1, help="Passes over the data (default: by size)."),
]
MaxTime = Annotated[
    float | None,
    typer.Option("--max-time", metavar="SECONDS", callback=_more_than_0, help="Stop training after this time."),
]
Model = Annotated[str, typer.Argument(metavar="DIR", help="What recombine train wrote.")]
Generator = Annotated[str, typer.Argument(metavar="DIR", help="What recombine augment --model wrote.")]
OutputFile = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Columns if the name ends in .tsv, else JSONL with provenance; - is standard output. Several networks "
        "write one file each: FILE.0.jsonl, FILE.1.jsonl, …",
    ),
]
Beam = Annotated[
    int, typer.Option("--beam", metavar="W", min=1, max=1000, help="The width of beam search; 1 is greedy.")
]
Workers = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="NAME",
        help="Who works, with the same results: serial, processes (on this machine) or ray (on many machines).",
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="With --executor ray: the cluster (default: $RAY_ADDRESS, else this machine alone).",
    ),
]


def check_json(json: bool, output: str, what: str) -> None:
    """Raises an error if a JSON document and what is written are both to go to standard output."""
    if json and output == STANDARD:
        raise RecombineError(f"--json and the {what} cannot both go to standard output.", hint="Name a file with -o.")


def check_executor(name: str | None, address: str | None) -> None:
    """Raises an error for an unknown executor, or an address without a cluster."""
    if name is not None and name not in EXECUTORS:
        raise unknown("executor", name, EXECUTORS)
    if address is not None and name != RAY:
        raise RecombineError(f"--address needs --executor {RAY}.")


def chosen_executor(name: str | None, address: str | None = None, *, workers: int | None = None) -> "Executor":
    """Returns who is to do the work.

    Args:
        name: One of ``EXECUTORS``; None: serial.
        address: A Ray cluster's.
        workers: How many processes; None: one for each processor.

    Raises:
        RecombineError: If there is no such executor, cluster, or package.
    """
    from recombine.execution.cluster import Ray
    from recombine.execution.executor import SERIAL as ONE_BY_ONE
    from recombine.execution.executor import Processes

    check_executor(name, address)
    if name == RAY:
        return Ray(address)
    return Processes(workers) if name == PROCESSES else ONE_BY_ONE


def device_of(executor: "Executor", name: str) -> str:
    """Returns the device that an executor's work is done on.

    Args:
        executor: Who does it; a cluster's GPUs need not be those of this machine.
        name: What was asked for.

    Raises:
        RecombineError: If there is no such device.
    """
    from recombine.execution.cluster import Ray
    from recombine.models.device import resolve

    if not isinstance(executor, Ray) or name.startswith("cpu"):
        return str(resolve(name))
    if name == AUTO:
        return "cuda" if executor.has_gpus else "cpu"
    if name != "cuda":  # the cluster says which of its GPUs it is
        raise unknown("device", name, (AUTO, "cpu", "cuda"))
    executor.on(name)
    return name
