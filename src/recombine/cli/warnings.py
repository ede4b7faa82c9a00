"""What commands warn of before they begin: files that were probably not read as they were meant to be."""

from collections.abc import Sequence

from recombine.cli.printing import say
from recombine.example import Example


def warn_of_strange_tokens(originals: Sequence[Example], new: Sequence[Example]) -> None:
    """Says so if most tokens of the new examples are in no original, on either side.

    Args:
        originals: The examples that the new ones should have been made of.
        new: The new ones; there may be none.
    """
    from recombine.data.suitability import strange_tokens

    sides = {
        "inputs": ([example.x for example in originals], [example.x for example in new]),
        "outputs": ([example.y for example in originals], [example.y for example in new]),
    }
    for name, (old, made) in sides.items():
        strange = strange_tokens(old, made)
        if strange:
            kind = "--tokens characters" if all(len(token) == 1 for token in strange) else "other --tokens or --columns"
            say(
                f"Warning: most tokens in the {name} of the new examples, such as {strange[0]!r}, are in no original. "
                f"Were they made with {kind}, or of other examples?"
            )


def warn_of_test_in_training(train: Sequence[Example], test: Sequence[Example] | None, *, named: str | None) -> None:
    """Says so if the test examples are the training examples.

    Args:
        train: The training examples.
        test: The test examples, if there are any.
        named: Their file.
    """
    if test is not None and {*test} == {*train}:
        say(f"Warning: {named} has the same examples as the training file, so it tests nothing.")


def warn_of_unlike_outputs(examples: Sequence[Example], tokens: str) -> bool:
    """Warns, and tells whether it did, if outputs are tokens of their own, where characters might have much in common.

    Args:
        examples: The training examples.
        tokens: What a token is.
    """
    from recombine.data.suitability import are_unlike

    unlike = tokens == "words" and are_unlike(examples)
    if unlike:
        say(
            f"Warning: nearly every output has only tokens of its own, such as {examples[0].y[0]!r}, so that there is "
            "little to recombine. If they have parts in common, give --tokens characters."
        )
    return unlike
