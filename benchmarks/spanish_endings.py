"""Judges the Spanish samples of Table 2 by the endings of regular verbs.

    recombine paper table2 --languages spanish -o results/table2 --cache cache
    python benchmarks/spanish_endings.py results/table2 cache

Prints, for each row whose samples are in the cache, how many with the future and how many with the past are right, of
those that can be judged: a past or future of a lemma in -ar, -er or -ir with a person and a number. Irregular verbs are
judged as if they were regular.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recombine.example import Example
from recombine.inflection import Inflection
from recombine.paper.work import read_samples

PERSONS = ("1SG", "2SG", "3SG", "1PL", "2PL", "3PL")
INDICATIVE_FUTURE = ["é", "ás", "á", "emos", "éis", "án"]
ENDINGS = {
    ("a", "subjunctive future"): "are ares are áremos areis aren",
    ("e", "subjunctive future"): "iere ieres iere iéremos iereis ieren",
    ("a", "subjunctive past"): "ase ases ase ásemos aseis asen",
    ("e", "subjunctive past"): "iese ieses iese iésemos ieseis iesen",
    ("a", "other subjunctive past"): "ara aras ara áramos arais aran",
    ("e", "other subjunctive past"): "iera ieras iera iéramos ierais ieran",
    ("a", "imperfective"): "aba abas aba ábamos abais aban",
    ("e", "imperfective"): "ía ías ía íamos íais ían",
    ("a", "perfective"): "é aste ó amos asteis aron",
    ("e", "perfective"): "í iste ió imos isteis ieron",
}
TENSES = (
    ({"FUT", "SBJV"}, "subjunctive future"),
    ({"PST", "SBJV", "LGSPEC1"}, "other subjunctive past"),
    ({"PST", "SBJV"}, "subjunctive past"),
    ({"PST", "IPFV"}, "imperfective"),
    ({"PST", "PFV"}, "perfective"),
)


def regular(word: Inflection) -> bool | None:
    """Tells whether a form is that of a regular verb; None if this rule has nothing to say."""
    tags = set(word.tags)
    person = [number for number, name in enumerate(PERSONS) if {name[0], name[1:]} <= tags]
    if word.lemma[-2:] not in ("ar", "er", "ir") or not tags & {"PST", "FUT"} or "V.PTCP" in tags:
        return None
    if len(person) != 1:
        return False
    if {"FUT", "IND"} <= tags:
        return word.form == word.lemma + INDICATIVE_FUTURE[person[0]]
    tense = next((name for needed, name in TENSES if needed <= tags), None)
    if tense is None:
        return False
    endings = ENDINGS["a" if word.lemma.endswith("ar") else "e", tense].split()
    return word.form == word.lemma[:-2] + endings[person[0]]


def counted(samples: list[Example]) -> str:
    """Returns the counts of right samples, of the future and of the past."""
    found: Counter[tuple[str, bool]] = Counter()
    for sample in samples:
        word = Inflection.from_fields(sample.x, sample.y)
        if (right := regular(word)) is not None:
            found["past" if "PST" in word.tags else "future", right] += 1
    tenses = ("future", "past")
    return ", ".join(f"{tense} {found[tense, True]} of {found[tense, True] + found[tense, False]}" for tense in tenses)


def drawn(record: dict[str, Any], cache: Path) -> Iterator[tuple[str, list[Example]]]:
    """Yields the samples of a record, by the stage that drew them, as far as they are in the cache."""
    for stage, key in record["stages"].items():
        for folder in cache.glob(f"samples-{key}") if stage.startswith("samples") else ():
            yield stage, [sample for samples in read_samples(folder) for sample in samples]


if __name__ == "__main__":
    results, cache = map(Path, sys.argv[1:])
    for path in sorted(results.glob("spanish-*.json")):
        record = json.loads(path.read_text("utf-8"))
        for stage, samples in drawn(record, cache):
            print(f"{record['column']}, {record['row']}, {stage}: {counted(samples)}")
