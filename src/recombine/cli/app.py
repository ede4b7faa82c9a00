"""Registers the commands, and turns errors into a sentence and an exit code; ``recombine env`` is here, too."""

import os
import platform
import re
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, Protocol, runtime_checkable

import typer

from recombine import __version__
from recombine.cli import AGAIN, INTERRUPTED
from recombine.cli.augment import augment_cli
from recombine.cli.benchmark import benchmark_cli
from recombine.cli.compare import compare_cli
from recombine.cli.data import export_cli, scan_cli, sigmorphon_cli
from recombine.cli.inspect import inspect_cli
from recombine.cli.options import as_command
from recombine.cli.paper import items_cli, samples_cli, table1_cli, table2_cli
from recombine.cli.printing import print_json, print_table, say_next
from recombine.cli.quickstart import quickstart_cli
from recombine.cli.scoring import audit_cli, evaluate_cli, predict_cli, score_cli
from recombine.cli.train import train_cli
from recombine.cli.training import Interrupted
from recombine.cli.views import explore_cli, picture_cli, report_cli
from recombine.errors import NothingMade, RecombineError
from recombine.execution.terminal import VOICE

FAILED, BAD_INPUT = 1, 2
"""Exit codes besides 0 and that of the interrupt key: something failed; the user's input or usage."""

PACKAGES = ("numpy", "scipy", "torch", "triton", "rapidfuzz", "rich", "typer", "safetensors")
"""The packages whose versions ``recombine env`` prints."""

_ARGUMENT = re.compile(r"`(?P<name>[a-z_]+)(?:=(?P<value>[^`]+))?`")


@runtime_checkable
class _UsageError(Protocol):
    """What click's errors of usage have, wherever a version of Typer keeps their classes."""

    ctx: Any

    def format_message(self) -> str: ...


app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})
data = typer.Typer(help="Writes the paper's datasets: SCAN, and few-shot morphology of SIGMORPHON 2018.")
paper = typer.Typer(help="Runs the paper's experiments anew, beside the published figures.")


def env_cli(*, json: bool = False) -> None:
    """Prints versions, device and threads, for bug reports.

    Example:
      recombine env
    """
    try:
        from recombine.training.recipe import computing

        device = computing()
    except (ImportError, OSError) as error:
        device = {"device": f"unknown: torch cannot be imported ({error})"}
    packages = dict.fromkeys(PACKAGES, "not installed")
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            packages[package] = version(package)
    python = {"python": platform.python_version(), "platform": platform.platform()}
    found = {"recombine": __version__, **python, **packages, **device, "threads": os.cpu_count() or 1}
    if json:
        print_json(found)
    else:
        print_table([(name, str(value)) for name, value in found.items()], justify="left")
    say_next("--help")


COMMANDS: dict[typer.Typer, tuple[Callable[..., None], ...]] = {
    data: (scan_cli, sigmorphon_cli),
    paper: (table1_cli, table2_cli, samples_cli, items_cli),
    app: (
        *(quickstart_cli, inspect_cli, augment_cli, audit_cli, compare_cli, export_cli, picture_cli, report_cli),
        *(explore_cli, train_cli, predict_cli, evaluate_cli, score_cli, benchmark_cli, env_cli),
    ),
}
app.add_typer(data, name="data")
app.add_typer(paper, name="paper")
for _group, _functions in COMMANDS.items():
    for _function in _functions:
        _help, _command = as_command(_function)
        _help = re.sub(r"(?<=\S)\n(?=\S)", " ", _help).replace("Example:\n", "\b\nExample:\n")  # keeps its lines apart
        _group.command(_function.__name__.removesuffix("_cli"), help=_help)(_command)


HELP = """Makes new training examples by recombining old ones, for sequence-to-sequence data.

\b
Example:
  recombine data scan --split jump -o scan
  recombine inspect scan/train.tsv --test scan/test.tsv
  recombine augment scan/train.tsv -o augmented.jsonl
  recombine audit augmented.jsonl --train scan/train.tsv --gold scan
  recombine train scan/train.tsv --augmented augmented.jsonl -o predictor
  recombine evaluate predictor scan/test.tsv
"""


@app.callback(invoke_without_command=True, help=HELP)
def _recombine(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"recombine {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str] | None) -> int:
    """Runs a command, given as the words after ``recombine`` or by the process, and returns the exit code."""
    command = typer.main.get_command(app)
    try:
        status = command.main(arguments, prog_name="recombine", standalone_mode=False)
    except RecombineError as error:
        if VOICE["verbose"]:
            traceback.print_exc()
        return _complain(str(_with_options(error)), FAILED if isinstance(error, NothingMade) else BAD_INPUT)
    except Interrupted as error:
        return _complain(str(error), INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):
        return _complain(AGAIN, INTERRUPTED)
    except OSError as error:
        return _complain(str(error), FAILED)
    except Exception as error:
        if not isinstance(error, _UsageError):
            raise
        return _complain(_usage_sentence(error), BAD_INPUT)
    return _complain(AGAIN, INTERRUPTED) if status == INTERRUPTED else status or 0


def _complain(sentence: str, code: int) -> int:
    typer.secho("Error: ", fg="red", nl=False, err=True)
    typer.echo(sentence, err=True)
    return code


def _with_options(error: RecombineError) -> RecombineError:
    """Returns the error with the arguments that its hint names as options: `force=True` becomes ``--force``."""

    def option(argument: re.Match[str]) -> str:
        name, value = argument["name"].replace("_", "-"), (argument["value"] or "").strip("'")
        return f"--{name}" if value in ("", "True") else f"--{name} {value}"

    hint = _ARGUMENT.sub(option, error.hint) if error.hint else None
    return RecombineError(error.message, place=error.place, hint=hint)


def _usage_sentence(error: _UsageError) -> str:
    """Returns what is wrong with the words of a command, the nearest right one, and where to read more."""
    near = getattr(error, "possibilities", None)
    suggestion = f" Did you mean {near[0]}?" if near else ""
    message = str(getattr(error, "message", error)) if near else error.format_message()
    stop = "" if message.endswith((".", "?")) else "."
    path = error.ctx.command_path if error.ctx else "recombine"
    return f"{message}{stop}{suggestion} See {path} --help."
