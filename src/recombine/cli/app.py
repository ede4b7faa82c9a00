"""Puts the commands together and turns whatever ends them into a sentence and an exit code."""

import re
from collections.abc import Callable, Sequence
from inspect import cleandoc
from typing import Annotated

import typer

from recombine import __version__
from recombine.cli import AGAIN, INTERRUPTED
from recombine.cli.audit import audit_cli
from recombine.cli.augment import augment_cli
from recombine.cli.compare import compare_cli
from recombine.cli.data import scan_cli, sigmorphon_cli
from recombine.cli.env import env_cli
from recombine.cli.evaluate import evaluate_cli
from recombine.cli.explore import explore_cli
from recombine.cli.export import export_cli
from recombine.cli.inspect import inspect_cli
from recombine.cli.paper import table1_cli
from recombine.cli.paper_reports import items_cli, samples_cli
from recombine.cli.paper_table2 import table2_cli
from recombine.cli.picture import picture_cli
from recombine.cli.predict import predict_cli
from recombine.cli.quickstart import quickstart_cli
from recombine.cli.report import report_cli
from recombine.cli.score import score_cli
from recombine.cli.train import train_cli
from recombine.cli.training import Interrupted
from recombine.errors import NothingMade, RecombineError

FAILED, BAD_INPUT = 1, 2
"""Exit codes besides 0 and that of the interrupt key: something failed; the user's input or usage."""

# Typer keeps click's errors in places that change from version to version, but exports this one.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

_ARGUMENT = re.compile(r"`(?P<name>[a-z_]+)(?:=(?P<value>[^`]+))?`")

app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
data = typer.Typer(help="Writes the paper's datasets: SCAN, and few-shot morphology of SIGMORPHON 2018.")


def _add(commands: typer.Typer, name: str, function: Callable[..., None]) -> None:
    """Adds a command whose help is its docstring, the example's lines kept apart."""
    text = cleandoc(function.__doc__ or "")
    commands.command(name, help=text.replace("Example:\n", "\b\nExample:\n"))(function)


paper = typer.Typer(help="Runs the paper's experiments anew, beside the published figures.")
app.add_typer(data, name="data")
app.add_typer(paper, name="paper")
_add(data, "scan", scan_cli)
_add(data, "sigmorphon", sigmorphon_cli)
_add(paper, "table1", table1_cli)
_add(paper, "table2", table2_cli)
_add(paper, "samples", samples_cli)
_add(paper, "items", items_cli)
_add(app, "quickstart", quickstart_cli)
_add(app, "inspect", inspect_cli)
_add(app, "augment", augment_cli)
_add(app, "audit", audit_cli)
_add(app, "compare", compare_cli)
_add(app, "export", export_cli)
_add(app, "picture", picture_cli)
_add(app, "report", report_cli)
_add(app, "explore", explore_cli)
_add(app, "train", train_cli)
_add(app, "predict", predict_cli)
_add(app, "evaluate", evaluate_cli)
_add(app, "score", score_cli)
_add(app, "env", env_cli)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recombine {__version__}")
        raise typer.Exit


HELP = """Makes new training examples by recombining old ones, for sequence-to-sequence data.

\b
Example:
  recombine data scan --split jump -o scan
  recombine inspect scan/train.tsv --test scan/test.tsv
  recombine augment scan/train.tsv -n 400 -o augmented.jsonl
  recombine audit augmented.jsonl --train scan/train.tsv --gold scan
  recombine train scan/train.tsv --augmented augmented.jsonl -o predictor
  recombine evaluate predictor scan/test.tsv
"""


@app.callback(invoke_without_command=True, help=HELP)
def _recombine(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str] | None) -> int:
    """Runs a command and returns the exit code.

    Args:
        arguments: The words after ``recombine``; None for those of the process.
    """
    command = typer.main.get_command(app)
    try:
        status = command.main(arguments, prog_name="recombine", standalone_mode=False)
    except RecombineError as error:
        return _complain(str(_with_options(error)), FAILED if isinstance(error, NothingMade) else BAD_INPUT)
    except _UsageError as error:
        return _complain(_usage_sentence(error), BAD_INPUT)
    except Interrupted as error:
        return _complain(str(error), INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except OSError as error:
        return _complain(str(error), FAILED)
    if status == INTERRUPTED:
        return _complain(AGAIN, INTERRUPTED)
    return status if isinstance(status, int) else 0


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


def _usage_sentence(error: Exception) -> str:
    """Returns what is wrong with the words of a command, the nearest right one, and where to read more."""
    near = getattr(error, "possibilities", None)
    suggestion = f" Did you mean {near[0]}?" if near else ""
    message = str(getattr(error, "message", error)) if near else error.format_message()  # type: ignore[attr-defined]
    stop = "" if message.endswith((".", "?")) else "."
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "recombine"
    return f"{message}{stop}{suggestion} See {path} --help."
