"""``recombine paper table2``: the experiments on word forms, run anew, and their figures beside the published ones."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from recombine.cli.data import Source
from recombine.cli.options import SERIAL, Address, Device, Force, Json, Threads, Workers, chosen_executor
from recombine.cli.paper import (
    Further,
    Graphs,
    Markdown,
    Population,
    Results,
    Rows,
    Show,
    Stages,
    Tiny,
    listed,
    recorded,
    run_matrix,
)
from recombine.cli.printing import percent, print_json_list, print_line, print_markdown, print_table, say
from recombine.cli.training import SIZES, use_threads
from recombine.errors import RecombineError, unknown

if TYPE_CHECKING:
    from recombine.paper.table2 import Records
    from recombine.paper.word_form_scale import Size
    from recombine.paper.word_form_scores import Metric

Languages = Annotated[str, typer.Option("--languages", metavar="A,B", help="Which languages.")]
Hints = Annotated[
    str | None,
    typer.Option(
        "--hints",
        metavar="N,M",
        help="How many past, and future, forms to train on: 4, 8, 16. Unless told, 8 are run, and all shown.",
    ),
]
Splits = Annotated[str, typer.Option("--splits", metavar="N,M", help="Which of the splits 0 to 4.")]
PerSplit = Annotated[int, typer.Option("--seeds", metavar="K", min=1, help="How many networks of each kind a split.")]
NetworkSize = Annotated[str, typer.Option("--size", metavar="NAME", help="Networks: paper, or small for a CPU.")]
PValues = Annotated[bool, typer.Option("--p-values", help="With --show: compare every two rows instead.")]
Errors = Annotated[bool, typer.Option("--errors", help="With --show: tell what is wrong with samples instead.")]

RESULTS, REHEARSAL, SMALL = Path("results/table2"), Path("runs/tiny-table2"), Path("runs/small-table2")


def table2_cli(
    *,
    languages: Languages = "spanish,swahili,turkish",
    hints: Hints = None,
    rows: Rows = None,
    splits: Splits = "0,1,2,3,4",
    seeds: PerSplit = 1,
    source: Source = None,
    size: NetworkSize = "paper",
    device: Device = "auto",
    threads: Threads = None,
    output: Results = RESULTS,
    cache: Stages = None,
    population: Population = 60,
    experiments: Further = None,
    show: Show = False,
    p_values: PValues = False,
    errors: Errors = False,
    markdown: Markdown = False,
    graphs: Graphs = True,
    executor: Workers = SERIAL,
    address: Address = None,
    force: Force = False,
    tiny: Tiny = False,
    json: Json = False,
) -> None:
    """Runs Table 2 (few-shot morphology): each split is a network's own; what is done already is not done again.

    Example:
      recombine paper table2
      recombine paper table2 --languages turkish --splits 0 --rows "recomb-1 + resampling" --size small
      recombine paper table2 --show --hints 8
    """
    from recombine.data.sigmorphon import SPLITS
    from recombine.paper.rows import TABLE_2, chosen, read_rows
    from recombine.paper.table2 import in_order
    from recombine.paper.word_form_scale import word_form_scale

    if size not in SIZES:
        raise unknown("size", size, SIZES)
    if show and (len(_seeds(listed(splits), seeds)) != len(SPLITS) or seeds != 1):
        raise RecombineError("--splits and --seeds say what is run, and --show runs nothing.", hint="Leave them out.")
    if (p_values or errors) and not show:
        raise RecombineError("--p-values and --errors go with --show, which runs nothing.")
    if p_values and errors:
        raise RecombineError("--p-values and --errors are two tables.", hint="Give one of them at a time.")
    wanted: Size = "tiny" if tiny else cast("Size", size)
    if output == RESULTS and wanted != "paper":
        output = REHEARSAL if tiny else SMALL  # only figures at the paper's size belong among the figures
    known = read_rows(experiments, TABLE_2)
    columns = _columns(listed(languages), listed(hints or ("4,8,16" if show else "8")))
    asked = chosen(known, None if rows is None else listed(rows), columns, TABLE_2)
    if not show:
        if source is not None:
            _warn_of_other_files(source, listed(languages))
        use_threads(threads)
        run_matrix(
            asked,
            columns,
            _seeds(listed(splits), seeds),
            known=known,
            scale=word_form_scale(source, wanted),
            output=output,
            cache=cache or output / ".cache",
            device=device,
            population=population,
            graphs=graphs,
            executor=chosen_executor(executor, address, workers=threads),
            force=force,
        )
    records = in_order(recorded(output, columns, asked if rows is not None and show else None), known)
    kind = _print_p_values if p_values else _print_errors if errors else _print_figures
    kind(records, json=json, markdown=markdown)


def _warn_of_other_files(source: Path, languages: list[str]) -> None:
    from recombine.data.sigmorphon import is_official, locate

    for language in languages:
        path = locate(language, source)
        if not is_official(path, language):
            say(f"Warning: {path} is not the file as it was published: the splits are not the paper's.")


def _columns(languages: list[str], hints: list[str]) -> list[str]:
    from recombine.data.sigmorphon import HINTS
    from recombine.paper.rows import LANGUAGES

    for language in languages:
        if language not in LANGUAGES:
            raise unknown("language", language, LANGUAGES)
    for number in hints:
        if number not in map(str, HINTS):
            raise RecombineError(f"there are no splits with {number} hints.", hint="Choose from 4, 8, 16.")
    return [f"{language}-{number}" for language in languages for number in hints]


def _seeds(splits: list[str], networks: int) -> list[int]:
    """Returns the seeds: seed s is of split s modulo 5."""
    from recombine.data.sigmorphon import SPLITS

    for split in splits:
        if split not in map(str, SPLITS):
            raise RecombineError(f"there is no split {split}.", hint="Choose from 0, 1, 2, 3, 4.")
    return [int(split) + len(SPLITS) * number for number in range(networks) for split in dict.fromkeys(splits)]


def _print_figures(records: "Records", *, json: bool, markdown: bool) -> None:
    from recombine.data.sigmorphon import HINTS
    from recombine.paper.table2 import cells, lines

    if json:
        print_json_list([asdict(cell) for cell in cells(records)])
        return
    # As in the paper, novel items by F1 alone; --json has all.
    tables: tuple[tuple[Metric, bool, str], ...] = (
        ("f1", False, "F1"),
        ("f1", True, "F1 of items whose tags were never seen in training"),
        ("exact-match", False, "Exact match"),
    )
    for hints in sorted(HINTS, key=lambda hints: hints != 8):  # the paper's Table 2, then its appendix
        for metric, novel_only, title in tables:
            mark = "**" if markdown else "*"
            header, shown = lines(records, hints=hints, metric=metric, novel_only=novel_only, mark=mark)
            if shown:
                print_line(f"{'### ' if markdown else ''}{title}, {hints} hints\n")
                _print_rows(shown, header, markdown=markdown)
                print_line()
    mark = "bold" if markdown else "*between asterisks*"
    print_line(f"Mean ± standard deviation over splits; {mark}: not significantly worse than the best of its column,")
    print_line("of the rows shown (paired t-tests over test items, Bonferroni, p < 0.05). Spanish past was the paper's")
    print_line("development set.")


def _print_p_values(records: "Records", *, json: bool, markdown: bool) -> None:
    from recombine.paper.table2 import p_values

    found = {column: p_values(records, column) for column in dict.fromkeys(column for _, column in records)}
    if json:
        print_json_list([{"column": column, **asdict(each)} for column, all_ in found.items() for each in all_])
        return
    for column, comparisons in found.items():
        if not comparisons:
            continue
        rows = list(dict.fromkeys(name for each in comparisons for name in (each.first, each.second)))
        cells = {(each.second, each.first): each for each in comparisons}
        shown = [
            [row, *(_p(cells[row, other].p, cells[row, other].corrected_p) for other in rows[:number])]
            + [""] * (len(rows) - number)
            for number, row in enumerate(rows)
        ]
        print_line(f"{'### ' if markdown else ''}{column}\n")
        _print_rows(shown, ["", *rows], markdown=markdown)
        print_line()
    print_line(
        "p-values of paired t-tests over the F1 of past and future items, uncorrected as in the paper's appendix;"
    )
    print_line("with an asterisk, below 0.05 after Bonferroni correction for all pairs of rows.")


def _p(value: float, corrected: float) -> str:
    return f"{value:.3g}{'*' if corrected < 0.05 else ''}"


def _print_errors(records: "Records", *, json: bool, markdown: bool) -> None:
    from recombine.paper.error_classes import CLASSES
    from recombine.paper.table2 import class_reports

    reports = class_reports(records)
    if json:
        print_json_list([asdict(report) for report in reports])
        return
    header = ["", "column", "samples", "can be judged", *CLASSES]
    shown = [
        [each.row, each.column, f"{each.samples:,}", percent(each.judged), *(f"{n:,}" for n in each.classes.values())]
        for each in reports
    ]
    _print_rows(shown, header, markdown=markdown)
    for each in reports:
        print_line(f"\n{'### ' if markdown else ''}{each.row}, {each.column}\n")
        for sample in each.listing:
            print_line(f"{'- ' if markdown else ''}{sample['x']} ▷ {sample['y']} ({sample['class']})")
    print_line("\nJudged by the language's whole file. Correct: it has the lemma with these tags and this form; wrong:")
    print_line("with another form; do not match: it has the form of the lemma, and not with these tags, which may be")
    print_line("right all the same. Where it has neither, a sample cannot be judged.")


def _print_rows(rows: list[list[str]], header: list[str], *, markdown: bool) -> None:
    if markdown:
        print_markdown(rows, header=header)
    else:
        print_table(rows, header=header)
