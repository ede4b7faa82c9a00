"""A made-up language as a SIGMORPHON file, large enough for few-shot splits: what tests use in place of a download."""

from itertools import product
from pathlib import Path

PERSONS = {"1;SG": "m", "2;SG": "n", "3;SG": "", "1;PL": "mos", "2;PL": "nis", "3;PL": "ler"}
TENSES = {"PRS": "", "PST": "di", "FUT": "ecek", "COND": "se", "IMP": "in"}


def write_language(folder: Path, name: str) -> Path:
    """Writes ``{name}-train-high``, regular in every form, into a folder and returns its path."""
    lemmas = ["".join(parts) for parts in product("bdgkls", "aeiou", "rtnmz", ["ek", "ak"])]
    lines = [
        f"{lemma}\t{lemma}{ending}{person}\tV;{tense};{tags}"
        for lemma in lemmas
        for tense, ending in TENSES.items()
        for tags, person in PERSONS.items()
    ]
    path = folder / f"{name}-train-high"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
