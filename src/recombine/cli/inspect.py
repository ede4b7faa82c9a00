"""``recombine inspect``: a look at training examples before anything is made of them."""

from typing import Any

from typer import echo

from recombine.cli.files import Reading
from recombine.cli.options import AUTO
from recombine.cli.printing import percent, print_json, print_table, say_next, superscript, working
from recombine.data.files import first_line
from recombine.data.text import join
from recombine.errors import unknown
from recombine.example import Example
from recombine.inflection import are_inflections, split_analysis

_NO_ALIGNMENT = "\nNo word calls for a token of the outputs, as far as it can be told: spans have nothing to exchange."

_SHOWN = 20
"""How many rare tokens are printed; --json gives all."""


def inspect_cli(
    train: str,
    reading: Reading,
    *,
    test: str | None = None,
    epsilon: float | None = None,
    neighborhood: str = AUTO,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Shows vocabulary, lengths, duplicates, rare tokens, neighborhoods and overlap with a test set.

    Example:
      recombine inspect scan/train.tsv --test scan/test.tsv

    Options:
      epsilon P: A token in fewer than this share of the examples is rare (default: as for augment).
      neighborhood RULE: one-prototype, long-short, long-long, swap, tagged, spans, all or none; auto: the one that
        augment chooses.
    """
    from recombine.augmentation.frames import RULES
    from recombine.own_data.inspection import inspect

    known = (AUTO, "all", "none", *RULES)
    if neighborhood not in known:
        raise unknown("neighborhood", neighborhood, known)
    reading = reading.settled(train)
    examples, tests = reading.read_with_test(train, test)
    with working("Looking for neighborhoods"):
        settings: Any = {"epsilon": epsilon, "neighborhood": neighborhood, "seed": seed}
        found = inspect(examples, tests, first_line=first_line(train, examples), **settings)
    if json:
        print_json(found)
    else:
        _print(found, reading.kind)
    say_next("augment", train, *reading.suggested(examples).options, "-o", "augmented.jsonl")


def _print(found: dict[str, Any], tokens: str) -> None:
    names = {"examples": "examples", "duplicates": "duplicates", "ambiguous_inputs": "inputs with several outputs"}
    print_table((name, f"{found[key]:,}") for key, name in names.items())
    for pair in found["contradictions"]:
        lines = ", ".join(map(str, pair["lines"][:_SHOWN]))
        echo(f"  line {lines}: {_shown(Example(pair['x'], pair['y']), tokens)}")
    echo()
    rows = [
        (name, f"{side['vocabulary']:,}", f"{side['mean_length']:.1f}", f"{side['max_length']:,}")
        for name, side in (("inputs", found["x"]), ("outputs", found["y"]))
    ]
    print_table(rows, header=("", "vocabulary", "mean length", "max length"))
    what, rare = "tags" if found["tags"] else "tokens", found["rare"]
    if found["epsilon"] is None:
        echo(f"\nRare {what}: none. What augment keeps samples by: {found['rarity']}")
    else:
        words_first = sorted(rare, key=lambda each: any(map(str.isdigit, each["ngram"][0])))  # numbers say little
        listed = ", ".join(f"{' '.join(each['ngram'])} ({each['count']})" for each in words_first[:_SHOWN]) or "none"
        more = f" and {len(rare) - _SHOWN:,} more" if len(rare) > _SHOWN else ""
        echo(f"\nRare {what} (in fewer than {percent(found['epsilon'])} of the different examples): {listed}{more}")
    if found["tags"]:
        marked = {each["ngram"][0] for each in rare}
        tags = (f"{tag} ({count}{', rare' if tag in marked else ''})" for tag, count in found["tags"].items())
        echo(f"\nTags: {', '.join(tags)}")
    for coverage in found["coverage"]:
        echo(f"\nNeighborhood {coverage['rule']}: {percent(coverage['share'])} of the different examples have one")
        echo(f"  ({coverage['account']})")
        for target, *prototypes in coverage["examples"]:
            echo(f"\n  target       {_shown(Example(**target), tokens)}")
            for number, prototype in enumerate(prototypes, start=1):
                echo(f"  prototype {number}  {_shown(Example(**prototype), tokens)}")
    if not found["tags"]:
        echo("\nWords and the tokens that they call for have the same number:" if found["alignment"] else _NO_ALIGNMENT)
    for each in found["alignment"]:
        linked = zip(each["x"] + each["y"], each["links"], strict=True)
        numbered = tuple(f"{token}{superscript(link)}" for token, link in linked)
        echo(f"  {Example(numbered[: len(each['x'])], numbered[len(each['x']) :])}")
    if found["test"] is not None:
        test = found["test"]
        known = f"training pairs among them: {test['pairs']:,}, inputs: {test['inputs']:,}"
        echo(f"\nTest examples: {test['examples']:,}; {known}")
        echo(f"Test tokens never seen in training: {' '.join(test['unseen_tokens']) or 'none'}")


def _shown(example: Example, tokens: str) -> str:
    """Returns an example for people: code as it is written, and of word forms, lemma and form in one piece."""
    if tokens == "code":
        return f"{join(example.x, tokens)} ▷ {join(example.y, tokens)}"
    if not are_inflections([example]):
        return str(example)
    lemma, tags = split_analysis(example.x)
    return f"{''.join(lemma)} {' '.join(tags)} ▷ {''.join(example.y)}"
