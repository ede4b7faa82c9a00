"""``recombine picture``: how a network generated one of its samples, to be looked at."""

from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.explaining import explained
from recombine.cli.files import check_free, working_on
from recombine.cli.options import AUTO, Device, Force, Seed, Threads
from recombine.cli.printing import say, say_next, working
from recombine.cli.training import enough_memory, use_threads
from recombine.errors import RecombineError

if TYPE_CHECKING:
    from recombine.augmentation.recombination import Recombination
    from recombine.example import Example

DRAWN = 20
"""So many samples are drawn to pick one from, unless a later one is asked for."""

Model = Annotated[str, typer.Argument(metavar="DIR", help="What recombine augment --model wrote.")]
Pick = Annotated[
    int,
    typer.Option("--pick", metavar="N", min=1, max=1000, help="Which sample, the most probable being the first."),
]
Output = Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="The SVG file; - is standard output.")]


def picture_cli(
    model: Model,
    output: Output,
    *,
    pick: Pick = 1,
    seed: Seed = 0,
    device: Device = AUTO,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Draws how a recombination network generated a sample: scores of tokens, and attention to the prototypes.

    Example:
      recombine picture generator --pick 3 -o picture.svg

    Bars tell how probable tokens were: what is solid was copied, what is hatched written. Samples are those that
    recombine augment --no-resample draws from the model with the same seed, 20 of them.
    """
    from recombine.augmentation.recombination import Recombination
    from recombine.data.output import replacing

    check_free([output], force=force)
    use_threads(threads)
    with enough_memory():
        augmenter = Recombination.load(model, device=device)
        sample = pick_sample(augmenter, pick, seed=seed)
        drawn = draw(augmenter, sample)
    with working_on(output), replacing(output, force=force) as stream:
        stream.write(drawn.encode())
    for line in explained(sample):
        say(line)
    say_next("picture", model, "--pick", str(pick + 1), "-o", None)


def pick_sample(augmenter: "Recombination", pick: int, *, seed: int) -> "Example":
    """Returns one of the first network's samples, the most probable being number 1.

    Raises:
        RecombineError: If it has not so many.
    """
    with working("Drawing samples"):
        samples = augmenter.sample(max(DRAWN, pick), seed)
    if len(samples) < pick:
        raise RecombineError(
            f"there is no sample {pick:,}. {samples.account}", hint="Lower --pick, or try another --seed."
        )
    return samples[pick - 1]


def draw(augmenter: "Recombination", sample: "Example") -> str:
    """Returns the SVG file of how the first network generated a sample."""
    from recombine.decoding.trace import trace
    from recombine.pictures.generation import picture

    assert sample.provenance is not None
    prototypes = [prototype.d for prototype in sample.provenance.prototypes]
    return picture(trace(augmenter.fitted_.model, augmenter.vocabulary_, prototypes=prototypes, d=sample.d))
