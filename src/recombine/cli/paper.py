"""``recombine paper``: runs the paper's experiments anew, and shows the figures beside the published ones."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from typer import echo

from recombine.cli.options import AUTO, SERIAL, chosen_executor, device_of
from recombine.cli.printing import MatrixProgress, print_json, print_table, say
from recombine.cli.training import Interrupted, use_threads
from recombine.data.output import locked, sweep
from recombine.errors import RecombineError

if TYPE_CHECKING:
    from recombine.paper.rows import Row, Table
    from recombine.paper.scale import Scale, Size
    from recombine.paper.tables import Metric, Records

TABLE1, TABLE2 = Path("results/table1"), Path("results/table2")
"""Where the figures of each table are kept."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """How a table is run and shown: the options that both tables have.

    Options:
        rows A,B: Which rows of the table (default: all).
        output DIR: Where the figures are kept (default: results/table1 or results/table2).
        cache DIR: Where finished stages are kept (default: .cache in -o).
        population R: How many predictors are trained as one (default: 100, in Table 2 60).
        experiments DIR: Files of further rows, in the form of the shipped ones.
        show: Print the table from existing figures; run nothing.
        graphs: Capture training steps as CUDA graphs on a GPU.
        tiny: Rehearse on a part of the data with tiny networks.
    """

    rows: str | None = None
    device: str = AUTO
    threads: int | None = None
    output: Path | None = None
    cache: Path | None = None
    population: int | None = None
    experiments: Path | None = None
    show: bool = False
    markdown: bool = False
    graphs: bool = True
    executor: str = SERIAL
    address: str | None = None
    force: bool = False
    tiny: bool = False
    json: bool = False

    def folder(self, results: Path, *, size: str) -> Path:
        """Returns where figures are kept; only those at the paper's size belong among the results."""
        output = self.output or results
        is_rehearsal = size != "paper" and output.resolve() == results.resolve()
        return Path(f"runs/{size}-{results.name}") if is_rehearsal else output

    def records(
        self, table: "Table", columns: list[str], seeds: Sequence[int], *, scale: "Scale", output: Path, population: int
    ) -> "tuple[list[dict[str, Any]], list[Row]]":
        """Runs what is to be run of a table, and returns the records of the columns and all rows there are."""
        from recombine.paper.records import expect_all_seeds, recorded
        from recombine.paper.rows import chosen, read_rows

        known = read_rows(self.experiments, table)
        rows = chosen(known, None if self.rows is None else _listed(self.rows), columns, table)
        if self.show:
            return recorded(output, columns, None if self.rows is None else [row.name for row in rows]), known
        import torch

        from recombine.paper.matrix import Matrix
        from recombine.paper.stages import Cache

        use_threads(self.threads)
        executor = chosen_executor(self.executor, self.address, workers=self.threads)
        cache = self.cache or output / ".cache"
        for folder in (output, cache):
            if folder.exists() and not folder.is_dir():
                raise RecombineError("this is no folder.", place=str(folder), hint="Name one that is, or a new one.")
        if not self.force:
            expect_all_seeds(output, [(row.name, column) for row in rows for column in columns], seeds)
        progress = MatrixProgress()
        try:
            with locked(cache, say=progress.say):
                sweep(cache, within=True)
                matrix = Matrix(
                    rows,
                    columns,
                    seeds,
                    output=output,
                    cache=Cache(cache, progress.say),
                    device=torch.device(device_of(executor, self.device)),
                    progress=progress,
                    expect=progress.expect,
                    elsewhere=progress.elsewhere,
                    scale=scale,
                    known=known,
                    command=sys.argv[1:],
                    population=self.population or population,
                    graphs=self.graphs,
                    executor=executor,
                )
                with progress.bar or nullcontext():
                    matrix.run()
        except KeyboardInterrupt:
            raise Interrupted("interrupted; the same command goes on with the stage that was under way.") from None
        return recorded(output, columns), known


def table1_cli(*, splits: str = "jump,around-right", seeds: int = 10, running: Running) -> None:
    """Runs Table 1 (SCAN) at the paper's settings, on a GPU within minutes; finished stages are not repeated.

    Example:
      recombine paper table1
      recombine paper table1 --rows "recomb-2,recomb-2 + resampling" --splits jump --seeds 10
      recombine paper table1 --show

    Options:
      splits A,B: Which splits of SCAN.
      seeds K: How many networks of each kind.
    """
    from recombine.paper.rows import TABLE_1
    from recombine.paper.scale import Scale, tiny_settings, tiny_task
    from recombine.paper.tables import cells, commits, in_order, lines, scan_columns

    output = running.folder(TABLE1, size="tiny" if running.tiny else "paper")
    scale = Scale(lambda split, _: tiny_task(split), tiny_settings) if running.tiny else Scale()
    found, rows = running.records(TABLE_1, _listed(splits), range(seeds), scale=scale, output=output, population=100)
    records = in_order(found, rows)
    columns = scan_columns(records, rows)
    if running.json:
        print_json(cells(records, columns))
        return
    header, shown = lines(records, columns, mark="**" if running.markdown else "*", about_samples=True)
    print_table(shown, header=header, markdown=running.markdown)
    mark = "bold" if running.markdown else "*between asterisks*"
    echo(f"\nExact match, mean ± standard deviation over seeds; {mark}: not significantly worse than the best of its")
    echo("column, of the rows shown (paired tests over seeds and test examples, Bonferroni, p < 0.05).")
    echo("- : all samples were rejected.")
    for column, hashes in commits(records).items():
        if len(hashes) > 1:
            echo(f"The rows of {column} were run with different code: commits {', '.join(hashes)}.")
    for row in rows:
        if row.note and any(row.name == name for name, _ in records):
            echo(f"{row.name}: {row.note}.")


def table2_cli(
    *,
    languages: str = "spanish,swahili,turkish",
    hints: str | None = None,
    splits: str = "0,1,2,3,4",
    seeds: int = 1,
    source: Path | None = None,
    size: str = "paper",
    p_values: bool = False,
    errors: bool = False,
    running: Running,
) -> None:
    """Runs Table 2 (few-shot morphology): each network has a split of its own; finished stages are not repeated.

    Example:
      recombine paper table2
      recombine paper table2 --languages turkish --splits 0 --rows "recomb-1 + resampling" --size small
      recombine paper table2 --show --hints 8

    Options:
      languages A,B: Which languages.
      hints N,M: How many past, and future, forms to train on: 4, 8, 16 (default: 8; with --show, all).
      splits N,M: Which of the splits 0 to 4.
      seeds K: How many networks of each kind a split.
      size NAME: Networks: paper, or small for a CPU.
      p_values: With --show: compare every two rows instead.
      errors: With --show: count what is wrong with samples instead.
    """
    from recombine.data.sigmorphon import HINTS, SPLITS, check_language, check_split, is_official, locate
    from recombine.paper.rows import TABLE_2
    from recombine.paper.scale import word_form_scale
    from recombine.paper.tables import in_order

    show, named = running.show, _listed(languages)
    numbers = _listed(hints or ("4,8,16" if show else "8"))
    for split in _listed(splits):
        check_split(HINTS[0], split)
    different = dict.fromkeys(map(int, _listed(splits)))
    if show and (len(different) != len(SPLITS) or seeds != 1):
        raise RecombineError("--splits and --seeds cannot be combined with --show, which runs nothing.")
    if (p_values or errors) and not show:
        raise RecombineError("--p-values and --errors go with --show, which runs nothing.")
    if p_values and errors:
        raise RecombineError("--p-values and --errors are two tables.", hint="Give one of them at a time.")
    for number in numbers:
        check_split(number)
    for language in named if not show else ():
        if source is None:
            check_language(language)
        elif not is_official(path := locate(language, source), language):
            say(f"Warning: {path} is not the file as it was published: the splits are not the paper's.")
    wanted: Size = "tiny" if running.tiny else cast("Size", size)
    columns = [f"{language}-{number}" for language in named for number in numbers]
    by_split = [split + len(SPLITS) * number for number in range(seeds) for split in different]  # modulo 5, the split
    output = running.folder(TABLE2, size=wanted)
    scale = word_form_scale(source, wanted)
    found, rows = running.records(TABLE_2, columns, by_split, scale=scale, output=output, population=60)
    records = in_order(found, rows, TABLE_2)
    (_print_p_values if p_values else _print_errors if errors else _print_figures)(records, running)


def samples_cli(*, output: Path = TABLE1, markdown: bool = False, json: bool = False) -> None:
    """Shows how many samples of each model are exactly right (section 5.3), and some at random (appendix G.3).

    Example:
      recombine paper samples

    Options:
      output DIR: Where the figures are kept.
    """
    from recombine.paper.records import recorded
    from recombine.paper.rows import read_rows
    from recombine.paper.tables import in_order, sample_lines, sample_reports

    reports = sample_reports(in_order(recorded(output), read_rows()))
    if json:
        print_json(reports)
        return
    header, lines = sample_lines(reports)
    print_table(lines, header=header, markdown=markdown)
    for report in reports:
        shown = [f"{_mark(sample['right'])} {sample['x']} ▷ {sample['y']}" for sample in report["listing"]]
        _print_listing(report, shown, markdown=markdown)


def items_cli(*, output: Path = TABLE1, markdown: bool = False, json: bool = False) -> None:
    """Shows what each row predicts for single test items, beside the samples that it may have learned from.

    Example:
      recombine paper items

    Options:
      output DIR: Where the figures are kept.
    """
    from recombine.paper.records import recorded
    from recombine.paper.rows import read_rows
    from recombine.paper.tables import in_order, item_reports

    items = item_reports(in_order(recorded(output), read_rows()))
    if json:
        print_json(items)
        return
    if not items:
        echo("No record has test items: they are chosen where recomb-2 is among the rows that were run.")
    commits: dict[str, set[str]] = {}
    for item in items:
        commits.setdefault(item["column"], set()).update(item["commits"])
    for item in items:
        column, true, sampled, of = item["column"], item["y"], item["sampled"], item["commits"]
        made = "(not generated)" if sampled is None else f"{_mark(sampled == true)} {sampled}"
        predicted = [(row, f"{_mark(y == true)} {y}") for row, y in item["predicted"].items()]
        lines = [("true output", true), ("in the samples of recomb-2", made), *predicted]
        part = "" if len(of) == len(commits[column]) else f" (rows of {', '.join(of)})"
        echo(f"{'### ' if markdown else ''}{column}: {item['x']}{part}")
        echo("\n" if markdown else "", nl=False)
        print_table(lines, header=("", "output") if markdown else (), justify="left", markdown=markdown)
        echo()


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _print_figures(records: "Records", running: Running) -> None:
    from recombine.data.sigmorphon import HINTS
    from recombine.paper.tables import PARTS, lines, word_form_cells, word_form_columns

    if running.json:
        print_json(word_form_cells(records))
        return
    # As in the paper, novel items by F1 alone; --json has all.
    tables: tuple[tuple[Metric, bool, str], ...] = (
        ("f1", False, "F1"),
        ("f1", True, "F1 of items whose tags were never seen in training"),
        ("f1-notebook", False, "F1 as the authors' notebook counts"),
        ("f1-notebook", True, "F1 as the authors' notebook counts, of items that it takes for novel"),
        ("exact-match", False, "Exact match"),
    )
    mark, marked = ("**", "bold") if running.markdown else ("*", "*between asterisks*")
    for hints in sorted(HINTS, key=lambda hints: hints != 8):  # the paper's Table 2, then its appendix
        for metric, novel_only, title in tables:
            parts = [part for part in PARTS if part.novel_only == novel_only]
            columns = word_form_columns(records, metric=metric, parts=parts, hints=hints)
            header, shown = lines(records, columns, mark=mark)
            if shown:
                _print_title(f"{title}, {hints} hints", markdown=running.markdown)
                print_table(shown, header=header, markdown=running.markdown)
                echo()
    echo(f"Mean ± standard deviation over splits; {marked}: not significantly worse than the best of its column,")
    echo("of the rows shown (paired tests over splits and test items, Bonferroni, p < 0.05). Spanish past was the")
    echo("paper's development set.")


def _print_p_values(records: "Records", running: Running) -> None:
    from recombine.paper.tables import p_value_lines, p_values

    found = {column: p_values(records, column) for column in dict.fromkeys(column for _, column in records)}
    if running.json:
        print_json([{"column": column, **asdict(each)} for column, all_ in found.items() for each in all_])
        return
    for column, comparisons in found.items():
        if not comparisons:
            continue
        _print_title(column, markdown=running.markdown)
        header, lines = p_value_lines(comparisons)
        print_table(lines, header=header, markdown=running.markdown)
        echo()
    echo("p-values of paired tests over splits and the F1 of past and future items, uncorrected as in the paper's")
    echo("appendix; with an asterisk, below 0.05 after Bonferroni correction for all pairs of rows.")


def _print_errors(records: "Records", running: Running) -> None:
    from recombine.paper.tables import class_lines, class_reports

    reports = class_reports(records)
    if running.json:
        print_json(reports)
        return
    header, table = class_lines(reports)
    print_table(table, header=header, markdown=running.markdown)
    for each in reports:
        shown = [f"{sample['x']} ▷ {sample['y']} ({sample['class']})" for sample in each["listing"]]
        _print_listing(each, shown, markdown=running.markdown)
    echo("\nJudged by the language's whole file. Correct: it has the lemma with these tags and this form; wrong:")
    echo("with another form; do not match: it has the form of the lemma, and not with these tags, which may be")
    echo("right all the same. Where it has neither, a sample cannot be judged.")


def _print_listing(report: dict[str, Any], samples: Sequence[str], *, markdown: bool) -> None:
    if samples:
        echo()
        _print_title(f"{report['row']}, {report['column']}", markdown=markdown)
    for sample in samples:
        echo(f"{'- ' if markdown else ''}{sample}")


def _print_title(title: str, *, markdown: bool) -> None:
    echo(f"{'### ' if markdown else ''}{title}\n")


def _mark(right: bool | None) -> str:
    return "?" if right is None else "✓" if right else "✗"
