"""Small languages in which not everything goes with everything, made from a seed, with an oracle each.

German objects have the case that the verb asks for, Spanish adjectives the gender of their noun, columns of numbers
other conditions than columns of names, and devices only what they can do. A rule that exchanges whatever was seen in
the same place goes wrong here; `calibration.py` asks whether `Auto` knows.
"""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from recombine.example import Example

Word = TypeVar("Word")


class Language(NamedTuple):
    """Draws an input; and says what the output of an input is, an error if it is none of the language."""

    draw: Callable[[random.Random], str]
    output: Callable[[Sequence[str]], str]

    def right(self, sample: Example) -> bool:
        """Tells whether a sample is of the language."""
        try:
            return " ".join(sample.y) == self.output(sample.x)
        except (AssertionError, LookupError, ValueError):
            return False


def chosen(rng: random.Random, words: Sequence[Word]) -> Word:
    """Returns one of some words; the first are frequent, the last rare."""
    return rng.choices(words, [1 / (place + 1) ** 0.9 for place in range(len(words))])[0]


THINGS = {
    **{"house": ("casa", "a"), "dog": ("perro", "o"), "table": ("mesa", "a"), "book": ("libro", "o")},
    **{"girl": ("chica", "a"), "boy": ("chico", "o"), "car": ("coche", "o"), "door": ("puerta", "a")},
    **{"cat": ("gato", "o"), "lamp": ("lampara", "a"), "tree": ("arbol", "o"), "bottle": ("botella", "a")},
}
LOOKS = {
    "red": "roj",
    "old": "viej",
    "small": "pequen",
    "white": "blanc",
    "black": "negr",
    "broken": "rot",
    "new": "nuev",
}
PLACES = {"near": "cerca de", "behind": "detras de", "under": "debajo de"}


def draw_spanish(rng: random.Random) -> str:
    first, second = (
        f"the {chosen(rng, [*LOOKS]) + ' ' if rng.random() < 0.5 else ''}{chosen(rng, [*THINGS])}" for _ in range(2)
    )
    return f"{first} is {chosen(rng, [*PLACES])} {second}"


def spanish(x: Sequence[str]) -> str:
    def noun_phrase(words: Sequence[str]) -> str:
        the, *looks, thing = words
        assert the == "the"
        assert len(looks) <= 1
        noun, gender = THINGS[thing]
        return " ".join(["el" if gender == "o" else "la", noun, *(LOOKS[look] + gender for look in looks)])

    verb = [*x].index("is")
    return f"{noun_phrase(x[:verb])} esta {PLACES[x[verb + 1]]} {noun_phrase(x[verb + 2 :])}"


NUMBERS, NAMES = ("age", "height", "salary", "weight"), ("name", "city", "country", "job")
TABLES = ("people", "workers", "students", "customers", "doctors")
LIMITS = ("10", "20", "30", "40", "50", "65", "70", "80")
VALUES = ("rome", "paris", "anna", "berlin", "oslo", "tom", "cook", "peru", "pilot")


def draw_sql(rng: random.Random) -> str:
    column, table, other = chosen(rng, NUMBERS + NAMES), chosen(rng, TABLES), chosen(rng, NUMBERS + NAMES)
    if column in NUMBERS:
        return f"{other} of {table} with {column} {rng.choice(['above', 'below'])} {chosen(rng, LIMITS)}"
    return f"{other} of {table} whose {column} is {chosen(rng, VALUES)}"


def sql(x: Sequence[str]) -> str:
    other, of, table, such, column, verb, value = x
    assert other in NUMBERS + NAMES
    assert of == "of"
    assert table in TABLES
    if such == "with":
        assert column in NUMBERS
        assert value in LIMITS
        return f"select {other} from {table} where {column} {({'above': '>', 'below': '<'})[verb]} {value}"
    assert (such, verb) == ("whose", "is")
    assert column in NAMES
    assert value in VALUES
    return f"select {other} from {table} where {column} = ' {value} '"


PEOPLE = {
    **{
        "man": ("mann", "m"),
        "woman": ("frau", "f"),
        "child": ("kind", "n"),
        "dog": ("hund", "m"),
        "cat": ("katze", "f"),
    },
    **{"horse": ("pferd", "n"), "friend": ("freund", "m"), "queen": ("koenigin", "f"), "girl": ("maedchen", "n")},
}
VERBS = {
    **{"sees": ("sieht", 1), "helps": ("hilft", 2), "loves": ("liebt", 1), "thanks": ("dankt", 2)},
    **{"knows": ("kennt", 1), "follows": ("folgt", 2)},
}
ARTICLES = {"m": ("der", "den", "dem"), "f": ("die", "die", "der"), "n": ("das", "das", "dem")}
WHEN = {"today": "heute", "often": "oft", "here": "hier", "never": "nie"}


def draw_german(rng: random.Random) -> str:
    when = f" {chosen(rng, [*WHEN])}" if rng.random() < 0.4 else ""
    return f"the {chosen(rng, [*PEOPLE])} {chosen(rng, [*VERBS])} the {chosen(rng, [*PEOPLE])}{when}"


def german(x: Sequence[str]) -> str:
    the, subject, verb, again, thing, *when = x
    assert the == again == "the"
    assert len(when) <= 1
    (who, kind), (does, case), (whom, its) = PEOPLE[subject], VERBS[verb], PEOPLE[thing]
    return " ".join([ARTICLES[kind][0], who, does, *(WHEN[word] for word in when), ARTICLES[its][case], whom])


DEVICES = {
    **{"lamp": ("level", "power"), "blind": ("level",), "heater": ("degrees", "power"), "oven": ("degrees", "power")},
    **{"radio": ("level", "power"), "fan": ("power", "level"), "boiler": ("degrees",), "door": ("lock",)},
    **{"gate": ("lock",), "safe": ("lock",)},
}
ROOMS = ("kitchen", "hall", "bedroom", "garden", "garage", "cellar", "attic")
ASKED = {
    "level": ("set the {} to {} percent", LIMITS),
    "degrees": ("set the {} to {} degrees", LIMITS),
    "power": ("turn the {} {}", ("on", "off")),
    "lock": ("have the {} {}", ("locked", "open")),
}


def draw_home(rng: random.Random) -> str:
    device = chosen(rng, [*DEVICES])
    words, values = ASKED[rng.choice(DEVICES[device])]
    return f"{words.format(device, chosen(rng, values))} in the {chosen(rng, ROOMS)}"


def home(x: Sequence[str]) -> str:
    verb, the, device, *asked, preposition, article, room = x
    assert (the, preposition, article) == ("the", "in", "the")
    assert room in ROOMS
    for kind in DEVICES[device]:
        words, values = ASKED[kind]
        for value in values:
            if words.format(device, value).split() == [verb, the, device, *asked]:
                return f"{room} . {device} . {kind} = {value}"
    raise ValueError(f"a {device} cannot do that")


LANGUAGES = {
    "Spanish": Language(draw_spanish, spanish),
    "columns": Language(draw_sql, sql),
    "German": Language(draw_german, german),
    "devices": Language(draw_home, home),
}


def make(language: Language, pairs: int, seed: int = 0) -> list[Example]:
    """Returns so many different examples of a language."""
    rng, found = random.Random(seed), dict[str, Example]()
    while len(found) < pairs:
        x = language.draw(rng)
        found[x] = Example(tuple(x.split()), tuple(language.output(x.split()).split()))
    return list(found.values())
