"""The five kinds of data on which automatic choices are tested."""

from functools import cache
from itertools import product
from random import Random

from toy_task import TASK

from recombine.augmentation.resample import Rare, find_rare
from recombine.data import scan
from recombine.example import Example
from recombine.inflection import Inflection

STATES = [f"state{number}" for number in range(60)]
NAMES_OF = {"highest point": "highest", "largest city": "largest_city"}
RELATIONS = {"capital": "capital", **NAMES_OF, "population": "population"}


def geography() -> tuple[Example, ...]:
    """Questions and logical forms, in the manner of GeoQuery: some states are asked about often, many once."""
    rng = Random(0)
    often = [1 / (1 + rank) for rank in range(len(STATES))]
    made = []
    for _ in range(700):
        one, other = rng.choices(STATES, often, k=2)
        words, name = rng.choice(list(RELATIONS.items()))
        both = f"answer ( {name} ( state ( next_to ( stateid ( {one} ) , stateid ( {other} ) ) ) ) )"
        asked = (
            (f"what is the {words} of {one}", f"answer ( {name} ( stateid ( {one} ) ) )"),
            (f"what states border {one}", f"answer ( state ( next_to ( stateid ( {one} ) ) ) )"),
            (f"what is the {words} of states that border {one} and {other}", both),
        )
        made.append(rng.choice(asked))
    return tuple(dict.fromkeys(Example(tuple(x.split()), tuple(y.split())) for x, y in made))


def morphology() -> tuple[Example, ...]:
    """Word forms of a made-up language, in the paper's few-shot setting: 8 of 1,000 are past tense."""
    endings = {"PRS": "", "COND": "se", "IMP": "in"}
    persons = {"1;SG": "m", "2;SG": "n", "1;PL": "mos", "3;PL": "ler"}
    lemmas = ["".join(letters) for letters in product("bdgkls", "aeiou", "rtn")]

    def form(lemma: str, tense: str, ending: str, person: str) -> Example:
        return Inflection(lemma, ("V", tense, *person.split(";")), lemma + ending + persons[person]).for_generation

    usual = [form(lemma, *tense, person) for lemma, tense, person in product(lemmas, endings.items(), persons)]
    return (*usual[:992], *(form(lemma, "PST", "di", "1;SG") for lemma in lemmas[:8]))


def declension() -> tuple[Example, ...]:
    """A small file of word forms of a made-up language: 184 nouns, 4 of them (2.2 %) in the instrumental."""
    cases = {"NOM": "", "GEN": "in", "DAT": "e"}
    numbers = {"SG": "", "PL": "ler"}
    lemmas = ["".join(letters) for letters in product("bdgkl", "aei", "rt")]

    def form(lemma: str, case: str, ending: str, number: str) -> Example:
        return Inflection(lemma, ("N", case, number), lemma + numbers[number] + ending).for_generation

    usual = [form(lemma, *case, number) for lemma, case, number in product(lemmas, cases.items(), numbers)]
    return (*usual, *(form(lemma, "INS", "le", "SG") for lemma in lemmas[::8]))


@cache
def dataset(name: str) -> tuple[Example, ...]:
    """All different examples of a data set."""
    match name:
        case "jump" | "around-right":
            return tuple(dict.fromkeys(scan.split(name).train))
        case "morphology":
            return morphology()
        case "geography":
            return geography()
        case _:
            return tuple(TASK.train)


@cache
def rarity_of(name: str) -> Rare:
    """What is rare in a data set."""
    return find_rare(dataset(name))


NAMES = ("jump", "around-right", "morphology", "geography", "tiny")
