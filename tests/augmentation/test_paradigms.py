"""Exponents that other lemmas take, and those that follow by analogy."""

import pickle

import pytest

from recombine import Auto
from recombine.augmentation.paradigms import Paradigms
from recombine.augmentation.protocol import NOTHING_RARE
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import Inflection, join_text

CONDITIONAL = {"1;SG": "ía", "2;SG": "ías", "3;SG": "ía", "1;PL": "íamos", "2;PL": "íais", "3;PL": "ían"}
PRESENT = {"1;SG": "e", "2;SG": "es", "3;SG": "e", "1;PL": "emos", "2;PL": "eis", "3;PL": "en"}
LEMMAS = ("cantar", "hablar", "saltar")


def word(lemma: str, tags: str, form: str) -> Example:
    return Inflection(lemma, tuple(tags.split(";")), form).for_generation


COMMON = [
    word(lemma, f"V;{tense};{person}", stem + ending)
    for lemma in LEMMAS
    for tense, stem, endings in (("COND", lemma, CONDITIONAL), ("PRS", lemma[:-2], PRESENT))
    for person, ending in endings.items()
]
HINT = word("mirar", "V;PST;1;SG", "miraba")


def past(example: Example) -> str | None:
    return None if "[PST]" in example.x else NOTHING_RARE


def forms(*examples: Example) -> dict[str, str]:
    samples = Paradigms().fit(examples).sample(1_000, accept=past)
    return {join_text(sample.x): "".join(sample.y) for sample in samples}


def test_lemmas_take_the_exponent_of_a_hint_and_those_that_follow_from_it() -> None:
    found = forms(*COMMON, HINT)
    assert found["cantar [V] [PST] [1] [SG]"] == "cantaba"
    assert found["cantar [V] [PST] [2] [SG]"] == "cantabas"
    assert found["mirar [V] [PST] [3] [PL]"] == "miraban"
    assert "mirar [V] [PST] [1] [SG]" not in found
    assert len(found) == 4 * len(CONDITIONAL) - 1


def test_moods_of_one_tense_are_not_those_of_another() -> None:
    moods = [
        word(lemma, f"V;{mood};{tense};{person}", f"{lemma[:-1]}{sign}{ending}")
        for lemma in LEMMAS
        for mood, tense, sign in (("IND", "COND", "ri"), ("IND", "PRS", ""), ("SBJV", "PRS", "x"))
        for person, ending in CONDITIONAL.items()
    ]
    found = forms(*moods, word("mirar", "V;IND;PST;1;SG", "mirabaía"))
    assert found["cantar [V] [IND] [PST] [3] [PL]"] == "cantabaían"
    assert all("[IND]" in name for name in found)


def test_beginnings_change_as_ends_do() -> None:
    persons, tenses = {"1": "ni", "2": "u", "3": "a"}, {"PRS": "na", "COND": "nge"}
    common = [
        word(lemma, f"V;{tense};{person}", subject + marker + lemma)
        for lemma in ("soma", "leta", "piga")
        for tense, marker in tenses.items()
        for person, subject in persons.items()
    ]
    found = forms(*common, word("soma", "V;PST;3", "alisoma"))
    assert {found[f"leta [V] [PST] [{person}]"] for person in "123"} == {"nilileta", "ulileta", "alileta"}


def test_what_stands_next_to_the_stem_changes_too() -> None:
    common = [
        word(f"{stem}mek", f"V;{number};{tense};{polarity}", f"{stem}{marker}{ending}")
        for stem in ("gel", "ver")
        for number, ending in (("1", "um"), ("2", "sun"))
        for tense, tail in (("PRS", "iyor"), ("COND", "isey"))
        for polarity, marker in (("POS", tail), ("NEG", f"m{tail}"))
    ]
    assert forms(*common, word("bilmek", "V;1;PST;POS", "biliyordum"))["gelmek [V] [1] [PST] [NEG]"] == "gelmiyordum"


def test_lemmas_that_end_otherwise_do_not_take_what_changes_an_end() -> None:
    found = forms(*COMMON, word("comer", "V;PRS;1;SG", "coma"), HINT)
    assert not any(name.startswith("comer") for name in found)


def test_a_first_tag_need_be_no_part_of_speech() -> None:
    verbs = [
        word(lemma, tag, lemma + end) for lemma in ("walk", "talk", "jump") for tag, end in (("PRS", "s"), ("G", "ing"))
    ]
    found = forms(*verbs, word("walk", "PST", "walked"))
    assert found == {"talk [PST]": "talked", "jump [PST]": "jumped"}


def test_samples_are_new_reproducible_and_know_where_they_are_from() -> None:
    paradigms = Paradigms().fit([*COMMON, HINT])
    samples = paradigms.sample(5, seed=1, accept=past)
    assert samples.examples == paradigms.sample(5, seed=1, accept=past).examples
    assert not {*samples} & {*COMMON, HINT}
    for sample in samples:
        shown_by, of_lemma = sample.provenance.prototypes
        assert shown_by == HINT
        assert join_text(of_lemma.x).split(" ", 1)[0] == join_text(sample.x).split(" ", 1)[0]
    everything = paradigms.sample(10_000)
    assert len(everything) < 10_000
    assert everything.shortfall


def test_what_was_fitted_travels() -> None:
    auto = Auto().fit([*COMMON, HINT])
    samples = auto.sample(5)
    assert pickle.loads(pickle.dumps(auto)).sample(5) == samples
    assert samples


def test_only_word_forms_will_do() -> None:
    with pytest.raises(RecombineError, match="word forms"):
        Paradigms().fit([Example(("jump",), ("JUMP",)), Example(("walk",), ("WALK",))])
    with pytest.raises(RecombineError, match="not been fitted"):
        Paradigms().sample(1)
