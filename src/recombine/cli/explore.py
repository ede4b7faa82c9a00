"""``recombine explore``: a local page on which a recombination network is tried out by hand."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.options import AUTO, Device, Threads
from recombine.cli.printing import print_line, say, working
from recombine.cli.training import enough_memory, use_threads
from recombine.errors import RecombineError

if TYPE_CHECKING:
    from recombine.explore.guard import Address

Model = Annotated[str, typer.Argument(metavar="DIR", help="What recombine augment --model wrote.")]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Where samples are kept, as JSONL; added to if it exists."),
]
Host = Annotated[
    str, typer.Option("--host", metavar="HOST", help="Where to listen; unless it is loopback, others can reach it.")
]
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="Where to listen; 0 is any port that is free.")
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]


def explore_cli(
    model: Model,
    output: Output = None,
    *,
    host: Host = "127.0.0.1",
    port: Port = 0,
    open_page: Open = False,
    device: Device = AUTO,
    threads: Threads = None,
) -> None:
    """Serves a page on which one picks or types prototypes and sees a network recombine them, token by token.

    Example:
      recombine explore generator -o kept.jsonl

    It prints the page's address, which only this machine can reach, and goes on until it is interrupted. At every token
    the page shows where it came from and what else was probable, from which one can go on.
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise RecombineError("the page needs FastAPI and uvicorn.", hint="pip install 'recombine[explore]'")
    from recombine.augmentation.recombination import Recombination
    from recombine.explore.keeping import Keeper
    from recombine.explore.server import serve

    keeper = None if output is None else Keeper(Path(output))
    before = keeper.count() if keeper else 0
    use_threads(threads)
    with working("Loading"), enough_memory():
        augmenter = Recombination.load(model, device=device)
    try:
        serve(augmenter, kept=output, host=host, port=port, ready=lambda address: announce(address, output, open_page))
    except KeyboardInterrupt:  # how one leaves
        say("")
    if keeper:
        say(kept(keeper.count() - before, str(output)))


def kept(count: int, output: str) -> str:
    """Returns a sentence on how many samples were kept, and where."""
    if not count:
        return "No sample was kept."
    return f"Kept {count:,} {'sample' if count == 1 else 'samples'} in {output}."


def announce(address: "Address", output: str | None, open_page: bool) -> None:
    """Says where the page is, and who can reach it."""
    if not address.is_loopback:
        adds = "" if output is None else f" and add to {output}"
        say(f"Warning: whoever can reach {address.host} over the network can use the model{adds}.")
    print_line(address.url)
    say("Interrupt (Ctrl-C) to stop.")
    if open_page:
        typer.launch(address.url)
