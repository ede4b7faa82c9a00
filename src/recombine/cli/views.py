"""``recombine picture``, ``report`` and ``explore``: networks, samples and comparisons to look at."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from recombine.cli.files import check_free, working_on
from recombine.cli.options import AUTO
from recombine.cli.printing import counted, say, say_next, working
from recombine.cli.quickstart import explained
from recombine.cli.training import enough_memory, use_threads
from recombine.data.output import replacing
from recombine.errors import RecombineError

if TYPE_CHECKING:
    from recombine.augmentation.recombination import Recombination
    from recombine.example import Example
    from recombine.explore.server import Address

DRAWN = 20
"""How many samples are drawn to pick one from; more if a later one is asked for."""


def picture_cli(
    model: str,
    *,
    output: str,
    pick: int = 1,
    seed: int = 0,
    device: str = AUTO,
    threads: int | None = None,
    force: bool = False,
) -> None:
    """Draws how a recombination network generated a sample: scores of tokens, and attention to the prototypes.

    Example:
      recombine picture generator --pick 3 -o picture.svg

    Bars show how probable tokens were: solid for copied, hatched for written. The 20 samples to pick from are those
    that recombine augment --no-resample draws from the model with the same seed.

    Options:
      model DIR: What recombine augment --model wrote.
      output FILE: The SVG file; - is standard output.
      pick N: Which sample, the most probable being the first.
    """
    from recombine.augmentation.recombination import Recombination
    from recombine.decoding.trace import trace
    from recombine.pictures.generation import picture

    check_free([output], force=force)
    use_threads(threads)
    with enough_memory():
        augmenter = Recombination.load(model, device=device)
        sample = pick_sample(augmenter, pick, seed=seed)
        prototypes = [prototype.d for prototype in sample.provenance.prototypes] if sample.provenance else []
        traced = trace(augmenter.fitted_.model, augmenter.vocabulary_, prototypes=prototypes, d=sample.d)
    _write(picture(traced), output, force=force)
    for line in explained(sample):
        say(line)
    say_next("picture", model, "--pick", str(pick + 1), "-o", None)


def pick_sample(augmenter: "Recombination", pick: int, *, seed: int) -> "Example":
    """Returns one of the first network's samples, the most probable being number 1."""
    with working("Drawing samples"):
        samples = augmenter.sample(max(DRAWN, pick), seed)
    if len(samples) < pick:
        raise RecombineError(
            f"there is no sample {pick:,}. {samples.account}", hint="Lower --pick, or try another --seed."
        )
    return samples[pick - 1]


def report_cli(run: str, *, output: str, force: bool = False) -> None:
    """Writes what a comparison found as one HTML page, which needs no network and works on a phone.

    Example:
      recombine compare mydata.tsv -o run
      recombine report run -o report.html

    The page has the table of scores, learning curves, up to 100 new examples of each method's first seed with the
    source of each token, attention, how often rare tokens occur before and after, and why samples were rejected.

    Options:
      run RUN: What recombine compare -o wrote.
      output FILE: The HTML file; - is standard output.
    """
    from recombine.report.run import read_run, render

    check_free([output], force=force)
    _write(render(read_run(run)), output, force=force)
    say(f"Wrote {output}: open it in a browser.")


def explore_cli(
    model: str,
    *,
    output: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    open_page: bool = False,
    device: str = AUTO,
    threads: int | None = None,
) -> None:
    """Serves a page on which one picks or types prototypes and sees a network recombine them, token by token.

    Example:
      recombine explore generator -o kept.jsonl

    It prints the page's address, which only this machine can reach, and runs until it is interrupted. For every token
    the page shows where it came from and what else was probable; any of these can be taken instead.

    Options:
      model DIR: What recombine augment --model wrote.
      output FILE: Where samples are kept, as JSONL; added to if it exists.
      host HOST: Where to listen; others can reach it if it is not loopback.
      port N: Where to listen; 0: any free port.
      open_page: Open the page in a browser.
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise RecombineError("the page needs FastAPI and uvicorn.", hint="pip install 'recombine[explore]'")
    from recombine.augmentation.recombination import Recombination
    from recombine.explore.application import Keeper
    from recombine.explore.server import serve

    def announce(address: "Address") -> None:
        if not address.is_loopback:
            adds = "" if output is None else f" and add to {output}"
            say(f"Warning: whoever can reach {address.host} over the network can use the model{adds}.")
        typer.echo(address.url)
        say("Interrupt (Ctrl-C) to stop.")
        if open_page:
            typer.launch(address.url)

    keeper = None if output is None else Keeper(Path(output))
    before = keeper.count() if keeper else 0
    use_threads(threads)
    with working("Loading"), enough_memory():
        augmenter = Recombination.load(model, device=device)
    try:
        serve(augmenter, keeper=keeper, host=host, port=port, ready=announce)
    except KeyboardInterrupt:  # how one leaves
        say("")
    if keeper:
        count = keeper.count() - before
        say(f"Kept {counted(count, 'sample')} in {output}." if count else "No sample was kept.")


def _write(text: str, output: str, *, force: bool) -> None:
    with working_on(output), replacing(output, force=force) as stream:
        stream.write(text.encode())
