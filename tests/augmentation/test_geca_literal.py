"""GECA against a slow, literal transcription of its rules: token by token, template against template."""

from collections import defaultdict
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.augmentation.geca import GECA
from recombine.example import Example

Sequence = tuple[object, ...]
Fragments = tuple[Sequence, ...]

BEGIN, SEPARATOR, END = object(), object(), object()
GAPS = [object() for _ in range(3)]


def joined(example: Example) -> Sequence:
    return (BEGIN, *example.x, SEPARATOR, *example.y, END)


def occurs_at(sequence: Sequence, fragment: Sequence, place: int) -> bool:
    return sequence[place : place + len(fragment)] == fragment


def with_gap(sequence: Sequence, fragment: Sequence, gap: object) -> Sequence:
    result, place = [], 0
    while place < len(sequence):
        if occurs_at(sequence, fragment, place):
            result.append(gap)
            place += len(fragment)
        else:
            result.append(sequence[place])
            place += 1
    return tuple(result)


def inventory(examples: list[Example], size: int) -> set[Sequence]:
    return {
        side[place : place + length]
        for example in examples
        for side in (example.x, example.y)
        for length in range(1, size + 1)
        for place in range(len(side) - length + 1)
    }


def templates(
    sequence: Sequence, inventory: set[Sequence], size: int, gaps: int, start: int = 0, chosen: Fragments = ()
) -> Iterator[tuple[Sequence, Fragments]]:
    for length in range(1, size + 1):
        for place in range(start, len(sequence) - length + 1):
            fragment = sequence[place : place + length]
            if fragment not in inventory:
                continue
            if any(token in earlier for earlier in chosen for token in fragment):
                continue
            template = with_gap(sequence, fragment, GAPS[len(chosen)])
            yield template, (*chosen, fragment)
            if len(chosen) + 1 < gaps:
                yield from templates(template, inventory, size, gaps, place + 1, (*chosen, fragment))


def realised(template: Sequence, fragments: Fragments) -> Example:
    tokens = []
    for token in template:
        tokens += fragments[GAPS.index(token)] if token in GAPS else [token]
    middle = tokens.index(SEPARATOR)
    return Example(tuple(tokens[1:middle]), tuple(tokens[middle + 1 : -1]))


def overlap(fragments: Fragments, fillings: set[Fragments]) -> bool:
    return all(set(fragments) & set(filling) for filling in fillings)


def changes_both_sides(template: Sequence) -> bool:
    middle = template.index(SEPARATOR)
    return any(gap in template[:middle] for gap in GAPS) and any(gap in template[middle:] for gap in GAPS)


def is_novel(pair: Example, examples: list[Example], novel: str) -> bool:
    known_input = any(pair.x == example.x for example in examples)
    known_output = any(pair.y == example.y for example in examples)
    novelty = {"both": not known_input and not known_output, "input": not known_input, "pair": pair not in examples}
    return novelty[novel]


def literal_geca(examples: list[Example], size: int, gaps: int, novel: str = "both") -> set[Example]:
    """Every pair that GECA proposes; each template against each, whatever it costs."""
    examples = list(dict.fromkeys(examples))
    keep = inventory(examples, size)
    fillings = defaultdict(set)
    for example in examples:
        for template, fragments in templates(joined(example), keep, size, gaps):
            fillings[template].add(fragments)
    made = set()
    for target, present in fillings.items():
        for source, others in fillings.items():
            if source == target or len(others) < 2 or not present & others:
                continue
            for fragments in others - present:
                if not overlap(fragments, present) and changes_both_sides(target):
                    made.add(realised(target, fragments))
    return {pair for pair in made if is_novel(pair, examples, novel)}


def pairs(x_tokens: str, y_tokens: str, longest: int = 4) -> st.SearchStrategy[Example]:
    sides = [st.lists(st.sampled_from(tokens), min_size=1, max_size=longest) for tokens in (x_tokens, y_tokens)]
    return st.builds(lambda x, y: Example(tuple(x), tuple(y)), *sides)


def corpora(*sides: str, **options: object) -> st.SearchStrategy[list[Example]]:
    return st.lists(pairs(*sides, **options), min_size=2, max_size=12, unique=True)


NOVEL = st.sampled_from(["both", "input", "pair"])
OPTIONS = st.fixed_dictionaries({"fragment_size": st.integers(1, 3), "gaps": st.integers(1, 3), "novel": NOVEL})


@settings(max_examples=300, deadline=None)
@given(st.one_of(corpora("abc", "abc"), corpora("abc", "xyz", longest=3), corpora("ab", "abxy", longest=5)), OPTIONS)
def test_equals_the_rules_whether_or_not_sides_share_tokens(
    examples: list[Example], options: dict[str, object]
) -> None:
    expected = literal_geca(examples, options["fragment_size"], options["gaps"], options["novel"])
    found = GECA(**options).fit(examples).sample(100_000)
    assert set(found) == expected
    assert len(found) == len(expected)
