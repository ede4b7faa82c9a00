"""What the arguments of commands mean as options, and the options that choose who does the work.

The function of a command has plain arguments. Those that are keyword-only, and the fields of dataclasses among the
others, become options. Their help stands in the docstring of the command or dataclass under ``Options:``, as ``name
METAVAR: help``; that of options which several commands share stands here, so that one name means one thing everywhere.
"""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, cleandoc, signature
from math import isfinite
from operator import ge, gt, le, lt
from typing import Annotated, Any, get_args, get_type_hints

import typer

from recombine.errors import RecombineError, unknown
from recombine.execution import executor
from recombine.execution.cluster import Ray
from recombine.execution.executor import Executor
from recombine.execution.terminal import VOICE

AUTO = "auto"
"""Leaves a choice to the program."""

STANDARD = "-"
"""Stands for standard input or output."""

EXECUTORS = SERIAL, PROCESSES, RAY = ("serial", "processes", "ray")
SIZES = ("small", "paper")
NOVELTIES = ("pair", "input", "both")

SHARED = """What several commands share.

Options:
address HOST:PORT: With --executor ray: the cluster (default: $RAY_ADDRESS, else this machine).
beam W: The width of beam search; 1 is greedy.
device NAME: Where networks run: auto, cpu or cuda.
direction NAME: For word forms: analysis (form → lemma, tags; default) or inflection (lemma, tags → form).
epochs N: Passes over the data (default: by size).
executor NAME: Who works, with the same results: serial, processes or ray (many machines).
force: Replace files that exist.
json: Print one JSON document for machines instead.
markdown: Print Markdown instead.
max_time SECONDS: Stop training after this time, and drawing samples after as much again (at least a minute).
model DIR: What recombine train wrote.
output DIR: The folder to write to.
quiet: Print only results, warnings and errors.
seed N: The same seed gives the same result.
seeds K: How many networks to train together, with seeds N, N+1, …; files are numbered (default: 1).
size NAME: Networks: small or paper (default: small on a CPU).
source DIR: A folder with LANGUAGE-train-high, instead of the web.
test FILE: Test examples, to count how many recur.
threads N: CPU threads (default: torch's own choice).
train TRAIN: The training examples; - is standard input.
verbose: Tell what was chosen and why, and where an error came from.
"""

ADVANCED = (
    *("agreement", "device", "direction", "epochs", "epsilon", "executor", "address", "gaps", "max_time", "model"),
    *("neighborhood", "ngram", "novelty", "p_aug", "prototypes", "quiet", "rehearse", "resample", "seeds", "size"),
    *("temperature", "threads", "verbose"),
)
"""Options that help shows in a group of their own, after those that one needs first."""


def _existing(given: typer.CallbackParam, value: str | None) -> str | None:
    """Finds a wrong path at once, before what takes seconds to import."""
    if value not in (None, STANDARD) and not os.path.lexists(str(value)):
        hint = f"Check the path. {given.metavar}: {getattr(given, 'help', '')}"
        raise RecombineError("there is no such file or folder.", place=value, hint=hint)
    return value


def _number(option: str, kind: type, bounds: dict[str, Any]) -> Callable[[str], int | float]:
    """Returns what reads the value of an option."""
    told = " and".join(f" {words} {bounds[of]}" for of, (words, _) in _BOUNDS.items() if of in bounds)
    expected = f"a {'whole ' * (kind is int)}number{told and ','}{told}"

    def read(text: str) -> int | float:
        with suppress(ValueError, OverflowError):  # of whole numbers that no float is as large as
            value: int | float = kind(text)
            if isfinite(value) and all(_BOUNDS[of][1](value, bound) for of, bound in bounds.items()):
                return value
        raise RecombineError(f"{option} is {text or 'empty'}, expected {expected}.")

    return read


def _one_of(kind: str, names: tuple[str, ...]) -> dict[str, Any]:
    def check(value: str | None) -> str | None:
        if value is not None and value not in names:
            raise unknown(kind, value, names)
        return value

    return {"callback": check}


NAMES = {"output": ("-o", "--output"), "n": ("-n", "--count"), "open_page": ("--open",)}
"""The options of arguments that have other names."""

_BOUNDS = {"above": ("more than", gt), "min": ("at least", ge), "below": ("less than", lt), "max": ("at most", le)}

LIMITS: dict[str, dict[str, Any]] = {
    **{name: {"min": 1} for name in ("epochs", "n", "ngram", "population", "seeds", "threads")},
    **{name: {"callback": _existing} for name in ("test", "train")},
    "gaps": {"min": 1, "max": 9},
    **{name: {"above": 0} for name in ("max_time", "temperature")},
    **{name: {"above": 0, "max": 1} for name in ("epsilon", "precision")},
    "p_aug": {"min": 0, "below": 1},
    **{name: {"min": 1, "max": 1000} for name in ("beam", "pick")},
    **{name: {"min": 0} for name in ("rehearse", "seed")},
    **{name: _one_of(name, each) for name, each in (("executor", EXECUTORS), ("novelty", NOVELTIES), ("size", SIZES))},
    "port": {"min": 0, "max": 65535},
    "prototypes": {"min": 0, "max": 2},
    "task": {},  # the only argument that is a name and no path
    "tiny": {"hidden": True},
}
"""What values options may have, and which option only tests need."""


def as_command(function: Callable[..., None]) -> tuple[str, Callable[..., None]]:
    """Returns the help of a command, and its function with annotations from which Typer makes the command."""
    text, own = _sections(function.__doc__)
    groups: dict[str, Any] = {}
    parameters: list[Parameter] = []
    for parameter in signature(function).parameters.values():
        group = parameter.annotation
        if not is_dataclass(group):
            parameters.append(_declared(parameter, own))
            continue
        groups[parameter.name] = group
        hints, explained = get_type_hints(group), _sections(group.__doc__)[1] | own
        for field in fields(group):
            option = Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
            parameters.append(_declared(option, explained))
    for name in VOICE:
        parameters.append(_declared(Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=bool), {}))

    def command(**given: Any) -> None:  # noqa: ANN401
        VOICE.update({name: given.pop(name) for name in VOICE})
        if all(VOICE.values()):
            raise RecombineError("--quiet and --verbose contradict each other.", hint="Leave one out.")
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        function(**given)

    command.__signature__ = Signature([each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return text, command


def _sections(docstring: str | None) -> tuple[str, dict[str, tuple[str, str]]]:
    """Returns a docstring up to its options, and the metavar and help of each option."""
    text, _, options = cleandoc(docstring or "").partition("\nOptions:\n")
    found = {}
    for entry in re.split(r"^(?=\S)", cleandoc(options), flags=re.MULTILINE):
        head, _, help = entry.partition(": ")
        name, _, metavar = head.partition(" ")
        found[name] = (metavar, " ".join(help.split()))
    return text, found


_, _SHARED = _sections(SHARED)


def _declared(parameter: Parameter, explained: dict[str, tuple[str, str]]) -> Parameter:
    """Returns a parameter of a command with the option or argument that it is."""
    name = parameter.name
    metavar, help = explained.get(name) or _SHARED.get(name, ("", ""))  # nothing where Python drops docstrings (-OO)
    if parameter.kind is not Parameter.KEYWORD_ONLY:
        declared = typer.Argument(metavar=metavar or None, help=help, **LIMITS.get(name, {"callback": _existing}))
    else:
        is_switch = parameter.annotation in (bool, bool | None) and parameter.default is not False
        names = NAMES.get(name, (f"{_long(name)}/--no-{_long(name)[2:]}" if is_switch else _long(name),))
        panel = "Advanced options" if name in ADVANCED else None
        how, kinds = LIMITS.get(name, {}), {parameter.annotation, *get_args(parameter.annotation)}
        for kind in kinds & {int, float}:
            how = {"parser": _number(names[0], kind, how)}
        declared = typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **how)
    return parameter.replace(annotation=Annotated[parameter.annotation, declared])


def as_words(settings: Mapping[str, object], usual: Mapping[str, object]) -> list[str]:
    """Returns the options for settings as words of a command, without those that are as usual."""
    given = [(name, value) for name, value in settings.items() if value != usual.get(name)]
    return [word for name, value in given for word in (NAMES.get(name, (_long(name),))[-1], f"{value}")]


def _long(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def check_json(json: bool, output: str, what: str) -> None:
    """Raises an error if a JSON document and what is written are both to go to standard output."""
    if json and output == STANDARD:
        raise RecombineError(f"--json and the {what} cannot both go to standard output.", hint="Name a file with -o.")


def chosen_executor(name: str | None, address: str | None = None, *, workers: int | None = None) -> Executor:
    """Returns who is to do the work: by default this process, and of processes one for each processor."""
    if address is not None and name != RAY:
        raise RecombineError(f"--address needs --executor {RAY}.")
    if name == RAY:
        return Ray(address)
    return executor.Processes(workers) if name == PROCESSES else executor.SERIAL


def device_of(executor: Executor, name: str) -> str:
    """Returns the device that an executor works on; a cluster's GPUs need not be those of this machine."""
    from recombine.models.device import resolve

    if not isinstance(executor, Ray) or name.startswith("cpu"):
        return str(resolve(name))
    if name == AUTO:
        return "cuda" if executor.has_gpus else "cpu"
    if name != "cuda":  # the cluster says which of its GPUs it is
        raise unknown("device", name, (AUTO, "cpu", "cuda"))
    executor.on(name)
    return name
