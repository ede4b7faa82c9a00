"""SCAN: its grammar with an interpreter, and the train and test sets made of it. Nothing is downloaded.

The grammar, with S a phrase:

    command   ->  S | S and S | S after S
    S         ->  V | V twice | V thrice
    V         ->  primitive | verb direction | verb opposite direction | verb around direction
    verb      ->  primitive | turn
    primitive ->  walk | look | run | jump
    direction ->  left | right

The sizes of the published files (github.com/brendenlake/SCAN), all of which the splits below meet:

    ===============  ======  =====  ============================================================================
    split            train   test   what only the test set shows
    ===============  ======  =====  ============================================================================
    jump             14,670  7,706  "jump" in any command but itself; 1,467 of the training lines are "jump"
    turn-left        21,890  1,208  "turn left" likewise; 2,189 of the training lines are "turn left"
    around-right     15,225  4,476  a primitive with "around right"
    opposite-right   15,225  4,476  a primitive with "opposite right"
    right            15,225  4,476  a primitive with "right"
    length           16,990  3,920  outputs of more than 22 actions
    simple           16,728  4,182  nothing new: a random fifth of the commands
    ===============  ======  =====  ============================================================================

After: Lake and Baroni (2018), "Generalization without systematicity", for the grammar (their appendix) and for jump,
turn-left, length and simple; Loula, Baroni and Lake (2018) for the other splits.
The sets are the published ones, except simple, whose random draw was published without its seed: ours is another one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from recombine.errors import unknown
from recombine.example import Example, Tokens

PRIMITIVES = ("walk", "look", "run", "jump")
TURN = "turn"

_ACTIONS: dict[str, Tokens] = {primitive: (f"I_{primitive.upper()}",) for primitive in PRIMITIVES}
_VERBS: dict[str, Tokens] = {**_ACTIONS, TURN: ()}
_TURNS: dict[str, Tokens] = {"left": ("I_TURN_LEFT",), "right": ("I_TURN_RIGHT",)}
_MANNERS: tuple[Tokens, ...] = ((), ("opposite",), ("around",))
_TIMES = {"twice": 2, "thrice": 3}
_CONJUNCTIONS = ("and", "after")

_LONGEST_TRAINING_OUTPUT = 22
_SIMPLE_TRAINING_SHARE = 0.8
_OTHERS_PER_COPY = 9  # the added primitive makes up a tenth of the training lines


def commands() -> Iterator[Tokens]:
    """Yields all 20,910 commands, each once: the 102 single phrases, then the pairs with "and", then with "after"."""
    phrases = list(_phrases())
    yield from phrases
    for conjunction in _CONJUNCTIONS:
        for first, second in product(phrases, phrases):
            yield (*first, conjunction, *second)


def _phrases() -> Iterator[Tokens]:
    bare = [(primitive,) for primitive in PRIMITIVES]
    turned = [(verb, *manner, direction) for manner, verb, direction in product(_MANNERS, _VERBS, _TURNS)]
    repetitions: tuple[Tokens, ...] = ((), *((times,) for times in _TIMES))
    for phrase, repetition in product([*bare, *turned], repetitions):
        yield (*phrase, *repetition)


def interpret(command: Tokens) -> Tokens | None:
    """Returns the actions that a command asks for, or None if the command is not of the grammar.

    A gold function for audits: it takes any tokens whatsoever and needs time linear in their number.

    Args:
        command: For example ``("jump", "left", "twice")``, which asks for
            ``("I_TURN_LEFT", "I_JUMP", "I_TURN_LEFT", "I_JUMP")``.
    """
    for place, word in enumerate(command):
        if word in _CONJUNCTIONS:
            first, second = _repeated(command[:place]), _repeated(command[place + 1 :])
            if first is None or second is None:
                return None
            return first + second if word == "and" else second + first
    return _repeated(command)


def _repeated(phrase: Tokens) -> Tokens | None:
    """Interprets S: a movement, once, twice or thrice."""
    times = _TIMES.get(phrase[-1]) if phrase else None
    if times is None:
        return _movement(phrase)
    once = _movement(phrase[:-1])
    return None if once is None else once * times


def _movement(phrase: Tokens) -> Tokens | None:
    """Interprets V: an action, with a turn before it if there is a direction."""
    match phrase:
        case (verb,) if verb in _ACTIONS:
            return _ACTIONS[verb]
        case (verb, direction) if verb in _VERBS and direction in _TURNS:
            return _TURNS[direction] + _VERBS[verb]
        case (verb, "opposite", direction) if verb in _VERBS and direction in _TURNS:
            return _TURNS[direction] * 2 + _VERBS[verb]
        case (verb, "around", direction) if verb in _VERBS and direction in _TURNS:
            return (_TURNS[direction] + _VERBS[verb]) * 4
    return None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Examples to learn from and examples to be tested on.

    Attributes:
        train: The training examples; may repeat.
        test: The test examples; none of them is in train.
    """

    train: tuple[Example, ...]
    test: tuple[Example, ...]


def split(name: str, *, seed: int = 0) -> Dataset:
    """Returns one of SCAN's train and test sets.

    Args:
        name: One of ``SPLITS``.
        seed: The order of the examples, so that any first part is a fair sample of the whole; for ``simple``, also
            which examples are for testing. The other splits hold the same examples whatever the seed.

    Raises:
        RecombineError: If there is no split of that name.
    """
    if name not in _MAKERS:
        raise unknown("split", name, SPLITS)
    rng = np.random.default_rng(seed)
    made = _MAKERS[name](_shuffled(_examples(), rng))
    return Dataset(train=_shuffled(made.train, rng), test=made.test)


def _examples() -> list[Example]:
    pairs = ((command, interpret(command)) for command in commands())
    return [Example(x=command, y=actions) for command, actions in pairs if actions is not None]


def _shuffled(examples: Sequence[Example], rng: np.random.Generator) -> tuple[Example, ...]:
    return tuple(examples[place] for place in rng.permutation(len(examples)))


def _mentions(command: Tokens, phrase: Tokens) -> bool:
    """Tells whether the words of the phrase stand side by side in the command."""
    return f" {' '.join(phrase)} " in f" {' '.join(command)} "


def _add_primitive(examples: Sequence[Example], *, primitive: Tokens) -> Dataset:
    """Trains on the commands without the primitive and on copies of the primitive alone."""
    alone = [example for example in examples if example.x == primitive]
    others = [example for example in examples if not _mentions(example.x, primitive)]
    test = [example for example in examples if _mentions(example.x, primitive) and example.x != primitive]
    return Dataset(train=(*others, *alone * (len(others) // _OTHERS_PER_COPY)), test=tuple(test))


def _add_template(examples: Sequence[Example], *, template: Tokens) -> Dataset:
    """Tests on commands in which a primitive meets the template; "turn" with the template is in neither set."""

    def meets_template(command: Tokens, verbs: Sequence[str]) -> bool:
        return any(_mentions(command, (verb, *template)) for verb in verbs)

    allowed = [example for example in examples if not meets_template(example.x, [TURN])]
    return Dataset(
        train=tuple(example for example in allowed if not meets_template(example.x, PRIMITIVES)),
        test=tuple(example for example in allowed if meets_template(example.x, PRIMITIVES)),
    )


def _by_length(examples: Sequence[Example]) -> Dataset:
    return Dataset(
        train=tuple(example for example in examples if len(example.y) <= _LONGEST_TRAINING_OUTPUT),
        test=tuple(example for example in examples if len(example.y) > _LONGEST_TRAINING_OUTPUT),
    )


def _simple(examples: Sequence[Example]) -> Dataset:
    border = round(_SIMPLE_TRAINING_SHARE * len(examples))
    return Dataset(train=tuple(examples[:border]), test=tuple(examples[border:]))


_MAKERS: dict[str, Callable[[Sequence[Example]], Dataset]] = {
    "jump": partial(_add_primitive, primitive=("jump",)),
    "turn-left": partial(_add_primitive, primitive=("turn", "left")),
    "around-right": partial(_add_template, template=("around", "right")),
    "opposite-right": partial(_add_template, template=("opposite", "right")),
    "right": partial(_add_template, template=("right",)),
    "length": _by_length,
    "simple": _simple,
}

SPLITS = tuple(_MAKERS)
"""The names of the splits."""
