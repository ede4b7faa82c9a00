"""What there is to know of training examples before anything is made of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np

from recombine.augmentation.alignment import Alignment
from recombine.augmentation.frames import RULES
from recombine.augmentation.logical import pointers
from recombine.augmentation.resample import TOKENS, Rare, find_rare
from recombine.data.vocabulary import Vocabulary
from recombine.example import Example, Tokens
from recombine.inflection import are_inflections, is_tag
from recombine.own_data import choices

WORKED_EXAMPLES, LISTED = 3, 10

PAIRS = 20_000_000
"""To find out what words call for, so many pairs of a word and a token are looked at: no more examples than that."""


def inspect(
    train: Sequence[Example],
    test: Sequence[Example] | None,
    *,
    epsilon: float | None,
    neighborhood: str,
    seed: int,
    first_line: int = 1,
) -> dict[str, Any]:
    """Returns the document that ``recombine inspect --json`` prints.

    The neighborhoods are those of a rule, of ``"all"``, of ``"none"``, or of the one that is chosen (``"auto"``). The
    document's ``epsilon`` is None if no token counts as rare. ``rare`` and ``tags`` (none unless these are word forms)
    count different examples, the rarest first. ``contradictions`` are the pairs of the first ten inputs with several
    outputs, with their lines, if the examples begin in ``first_line`` of a file. ``alignment``: see `aligned`.
    """
    distinct = list(dict.fromkeys(train))
    rare = find_rare(distinct, epsilon=epsilon)
    tokens = rare.resampler if rare.kind == TOKENS else None
    outputs: dict[Tokens, dict[Tokens, list[int]]] = {}
    for line, example in enumerate(train, start=first_line):
        outputs.setdefault(example.x, {}).setdefault(example.y, []).append(line)
    ambiguous = {x: found for x, found in outputs.items() if len(found) > 1}
    word_forms = are_inflections(distinct)
    tags = Counter(tag for example in distinct for tag in set(filter(is_tag, example.x)) if word_forms)
    overlap = None
    if test is not None:
        pairs, inputs = {*train}, {example.x for example in train}
        overlap = {
            "examples": len(test),
            "pairs": sum(example in pairs for example in test),
            "inputs": sum(example.x in inputs for example in test),
            "unseen_tokens": Vocabulary.of(train).unseen(test),
        }
    return {
        "examples": len(train),
        "duplicates": len(train) - len(distinct),
        "ambiguous_inputs": len(ambiguous),
        "contradictions": [
            {"x": x, "y": y, "lines": lines}
            for x, found in islice(ambiguous.items(), LISTED)
            for y, lines in found.items()
        ],
        "x": _side([example.x for example in train]),
        "y": _side([example.y for example in train]),
        "epsilon": epsilon if tokens is None else tokens.epsilon,
        "rarity": rare.reason,
        "rare": [] if tokens is None else list(map(asdict, tokens.rare_)),
        "tags": dict(sorted(tags.items(), key=lambda item: (item[1], item[0]))),
        "alignment": [{"x": example.x, "y": example.y, "links": links} for example, links in aligned(distinct, seed)],
        "coverage": _coverage(distinct, neighborhood, rare, seed),
        "test": overlap,
    }


def aligned(distinct: Sequence[Example], seed: int) -> list[tuple[Example, list[int]]]:
    """Returns a few short examples, each with what its words call for, as `Spans` has it; of word forms none.

    The tokens of x, then of y, have numbers: words have that of the tokens that they call for; 0 calls for nothing.
    """
    if are_inflections(distinct):
        return []
    order = np.random.default_rng(seed).permutation(len(distinct))
    pairs = np.cumsum([len(distinct[place].x) * len(distinct[place].y) for place in order])
    counted = [distinct[place] for place in order[pairs <= PAIRS]]
    numbers = pointers(counted)
    alignment = Alignment(counted, frozenset() if numbers is None else numbers.digits)
    found = []
    for example in (counted[place] for place in _shorter(np.array([len(example.d) for example in counted]), seed)):
        places = alignment.places(example.x, example.y)
        number = {each: rank for rank, each in enumerate(sorted(filter(None, {*places})), start=1)}
        words = {place: number[each] for each in number for place in each}
        if number:
            links = [words.get(place, 0) for place in range(len(example.x))]
            found.append((example, links + [number.get(each, 0) for each in places]))
        if len(found) == WORKED_EXAMPLES:
            break
    return found


def _shorter(lengths: np.ndarray, seed: int) -> np.ndarray:
    """Returns the places of the shorter half, where people can follow what is from where, in random order."""
    shortest_first = np.argsort(lengths, kind="stable")
    return np.random.default_rng(seed).permutation(shortest_first[: max(WORKED_EXAMPLES, len(lengths) // 2)])


def _side(sides: Sequence[Tokens]) -> dict[str, float]:
    lengths = list(map(len, sides))
    vocabulary = {token for side in sides for token in side}
    return {"vocabulary": len(vocabulary), "mean_length": sum(lengths) / len(lengths), "max_length": max(lengths)}


def _coverage(distinct: Sequence[Example], neighborhood: str, rare: Rare, seed: int) -> list[dict[str, Any]]:
    """Returns what rules find as ``augment`` has them, with a few worked examples: targets and their prototypes."""
    if neighborhood == "auto":
        rules = list(map(choices.rule_named, choices.rule_names(distinct, rare)))
        tried = [max(choices.trials(distinct, rules, seed=seed), key=lambda trial: trial.coverage)]
    else:
        suited = [rule for rule in RULES if rule != "tagged" or are_inflections(distinct)]
        names = {"all": suited, "none": []}.get(neighborhood, [neighborhood])
        tried = [trial for name in names for trial in choices.trials(distinct, [choices.rule_named(name)], seed=seed)]
    described = []
    for trial in tried:
        found = trial.found
        everything = [*distinct, *found.parts]
        lengths = np.array([len(example.d) for example in everything])
        worked = _shorter(lengths[found.rows].sum(axis=1), seed)[:WORKED_EXAMPLES]
        rows = [[everything[place] for place in found.rows[row]] for row in worked]
        pairs = [[{"x": example.x, "y": example.y} for example in row] for row in rows]
        described.append({"rule": found.rule, "share": trial.coverage, "account": found.account, "examples": pairs})
    return described
