"""``recombine report``: what a comparison found, as one page to look at."""

from typing import Annotated

import typer

from recombine.cli.files import check_free, working_on
from recombine.cli.options import Force
from recombine.cli.printing import say

Folder = Annotated[str, typer.Argument(metavar="RUN", help="What recombine compare -o wrote.")]
Output = Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="The HTML file; - is standard output.")]


def report_cli(run: Folder, output: Output, *, force: Force = False) -> None:
    """Writes what a comparison found as one HTML page, which needs no network and works on a phone.

    Example:
      recombine compare mydata.tsv -o run
      recombine report run -o report.html

    The page has the table of scores, learning curves, up to 100 new examples of each method's first seed with the
    source of each token, attention, how often rare tokens occur before and after, and why samples were rejected.
    """
    from recombine.data.output import replacing
    from recombine.report.page import render
    from recombine.report.run import read_run

    check_free([output], force=force)
    page = render(read_run(run))
    with working_on(output), replacing(output, force=force) as stream:
        stream.write(page.encode())
    say(f"Wrote {output}: open it in a browser.")
