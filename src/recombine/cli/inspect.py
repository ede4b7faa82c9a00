"""``recombine inspect``: a look at training examples before anything is made of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from typer import echo

from recombine.cli.files import Reading
from recombine.cli.options import AUTO
from recombine.cli.printing import percent, print_json, print_table, say_next, working
from recombine.data.text import join
from recombine.errors import unknown
from recombine.example import Example, Tokens
from recombine.inflection import are_inflections, is_tag, split_analysis

if TYPE_CHECKING:
    from recombine.augmentation.resample import Rare

WORKED_EXAMPLES = 3

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
      neighborhood RULE: one-prototype, long-short, long-long, swap, tagged, all or none; auto: the one that augment
        chooses.
    """
    from recombine.neighborhoods import NEIGHBORHOODS

    known = (AUTO, "all", "none", *NEIGHBORHOODS)
    if neighborhood not in known:
        raise unknown("neighborhood", neighborhood, known)
    reading = reading.settled(train)
    examples, tests = reading.read_with_test(train, test)
    with working("Looking for neighborhoods"):
        found = _inspected(examples, tests, epsilon=epsilon, neighborhood=neighborhood, seed=seed)
    if json:
        print_json(found)
    else:
        _print(found, reading.kind)
    say_next("augment", train, *reading.suggested(examples).options, "-n", "400", "-o", "augmented.jsonl")


def _inspected(
    train: Sequence[Example],
    test: Sequence[Example] | None,
    *,
    epsilon: float | None,
    neighborhood: str,
    seed: int,
) -> dict[str, Any]:
    """Returns the document of what there is to know.

    ``epsilon`` is None if no token counts as rare; ``rarity`` says what counts as rare, and why. ``rare`` and ``tags``
    (none unless these are word forms) count different examples, the rarest first.
    """
    from recombine.augmentation.resample import TOKENS, find_rare
    from recombine.data.vocabulary import Vocabulary

    distinct = list(dict.fromkeys(train))
    rare = find_rare(distinct, epsilon=epsilon)
    tokens = rare.resampler if rare.kind == TOKENS else None
    outputs = Counter(example.x for example in distinct)
    word_forms = are_inflections(distinct)
    tags = Counter(tag for example in distinct for tag in set(filter(is_tag, example.x)) if word_forms)
    pairs, inputs = {*train}, {example.x for example in train}
    overlap = (
        None
        if test is None
        else {
            "examples": len(test),
            "pairs": sum(example in pairs for example in test),
            "inputs": sum(example.x in inputs for example in test),
            "unseen_tokens": list(Vocabulary.of(train).unseen(test)),
        }
    )
    return {
        "examples": len(train),
        "duplicates": len(train) - len(distinct),
        "ambiguous_inputs": sum(count > 1 for count in outputs.values()),
        "x": _side([example.x for example in train]),
        "y": _side([example.y for example in train]),
        "epsilon": epsilon if tokens is None else tokens.epsilon,
        "rarity": rare.reason,
        "rare": [] if tokens is None else list(map(asdict, tokens.rare_)),
        "tags": dict(sorted(tags.items(), key=lambda item: (item[1], item[0]))),
        "coverage": _coverage(distinct, neighborhood, rare, seed),
        "test": overlap,
    }


def _side(sides: Sequence[Tokens]) -> dict[str, float]:
    lengths = list(map(len, sides))
    vocabulary = {token for side in sides for token in side}
    return {"vocabulary": len(vocabulary), "mean_length": sum(lengths) / len(lengths), "max_length": max(lengths)}


def _coverage(distinct: Sequence[Example], neighborhood: str, rare: "Rare", seed: int) -> list[dict[str, Any]]:
    """Returns what rules find as ``augment`` has them, with a few worked examples: targets and their prototypes."""
    import numpy as np

    from recombine.neighborhoods import NEIGHBORHOODS
    from recombine.own_data import choices

    if neighborhood == AUTO:
        rules = list(map(choices.rule_named, choices.rule_names(distinct, rare)))
        tried = [max(choices.trials(distinct, rules, seed=seed), key=lambda trial: trial.coverage)]
    else:
        suited = [rule for rule in NEIGHBORHOODS if rule != "tagged" or are_inflections(distinct)]
        names = {"all": suited, "none": []}.get(neighborhood, [neighborhood])
        tried = [trial for name in names for trial in choices.trials(distinct, [choices.rule_named(name)], seed=seed)]
    lengths = np.array([len(example.d) for example in distinct])
    described = []
    for found, share in ((trial.found, trial.coverage) for trial in tried):
        # Drawn from the shorter half, where people can follow what was taken from where.
        shortest_first = np.argsort(lengths[found.rows].sum(axis=1), kind="stable")
        shorter = shortest_first[: max(WORKED_EXAMPLES, len(found) // 2)]
        drawn = np.random.default_rng(seed).permutation(shorter)[:WORKED_EXAMPLES]
        worked = [[distinct[place] for place in found.rows[row]] for row in drawn]
        pairs = [[{"x": example.x, "y": example.y} for example in row] for row in worked]
        described.append({"rule": found.rule, "share": share, "account": found.account, "examples": pairs})
    return described


def _print(found: dict[str, Any], tokens: str) -> None:
    names = {"examples": "examples", "duplicates": "duplicates", "ambiguous_inputs": "inputs with several outputs"}
    print_table((name, f"{found[key]:,}") for key, name in names.items())
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
        listed = ", ".join(f"{' '.join(each['ngram'])} ({each['count']})" for each in rare[:_SHOWN]) or "none"
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
