"""The form of a record: what its readers rely on, so that a file of another form is told from one of ours."""

from typing import Any

COUNT, NUMBER = (int,), (int, float)

SAMPLES = dict.fromkeys(("n", "novel", "inputs_in_test"), COUNT) | {"right_and_novel": (int, type(None))}
SHOWN = dict.fromkeys(("x", "y"), (str,))

RECORD: dict[str, Any] = {
    "row": (str,),
    "column": (str,),
    "seeds": [COUNT],
    "exact_match": [NUMBER],
    "correct": [(str,)],
    "tested": COUNT,
    "samples": [(type(None), SAMPLES)],
    "samples_right": (type(None), {"mean": NUMBER, "deviation": NUMBER, "n": COUNT}),
    "kept": [COUNT],
    "rejected": [{"": COUNT}],
    "listing": [SHOWN],
    "items": [SHOWN],
    "sets": {"": COUNT},
    "counts": [(str,)],
    "novel": [(str,)],
    "classes": [{"": COUNT}],
}
"""Kinds of values by key: types in a tuple, a list of a kind, or a table of kinds (of one, for all keys, under "")."""

NEEDED = ("row", "column", "exact_match")


def is_record(content: object) -> bool:
    """Tells whether what was read has the form of a record. What a record does not have, readers do without."""
    if not isinstance(content, dict) or not all(key in content for key in NEEDED):
        return False
    if not all(_fits(content[key], kind) for key, kind in RECORD.items() if key in content):
        return False
    return all(_holds(text, content.get("tested", -1)) for text in content.get("correct", []))


def _fits(value: object, kind: Any) -> bool:  # noqa: ANN401
    if isinstance(kind, list):
        return isinstance(value, list) and all(_fits(each, kind[0]) for each in value)
    if isinstance(kind, dict):
        kinds = dict.fromkeys(value, kind[""]) if "" in kind and isinstance(value, dict) else kind
        return isinstance(value, dict) and all(key in value and _fits(value[key], kinds[key]) for key in kinds)
    return any(_fits(value, each) if isinstance(each, dict) else type(value) is each for each in kind)


def _holds(packed: str, count: int) -> bool:
    """Tells whether a text of base64 holds just so many bits, filled up to bytes."""
    in_bytes = (count + 7) // 8
    return count >= 0 and len(packed) == 4 * ((in_bytes + 2) // 3)
