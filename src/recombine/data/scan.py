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

from collections.abc import Iterator
from dataclasses import dataclass
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

_ADDED = {"jump": "jump", "turn-left": "turn left"}  # the primitives that training shows alone
_TEMPLATES = {"around-right": "around right", "opposite-right": "opposite right", "right": "right"}

SPLITS = (*_ADDED, *_TEMPLATES, "length", "simple")
"""The names of the splits."""

_LONGEST_TRAINING_OUTPUT = 22
_SIMPLE_TRAINING_SHARE = 0.8
_OTHERS_PER_COPY = 9  # the added primitive makes up a tenth of the training lines


def commands() -> Iterator[Tokens]:
    """Yields all 20,910 commands, each once: the 102 single phrases, then the pairs with "and", then with "after"."""
    bare: list[Tokens] = [(primitive,) for primitive in PRIMITIVES]
    turned = [(verb, *manner, direction) for manner, verb, direction in product(_MANNERS, _VERBS, _TURNS)]
    repetitions: tuple[Tokens, ...] = ((), *((times,) for times in _TIMES))
    phrases = [(*phrase, *repetition) for phrase, repetition in product([*bare, *turned], repetitions)]
    yield from phrases
    for conjunction in _CONJUNCTIONS:
        for first, second in product(phrases, phrases):
            yield (*first, conjunction, *second)


def interpret(command: Tokens) -> Tokens | None:
    """Returns the actions that a command asks for, or None if the command is not of the grammar.

    A gold function for audits: it takes any tokens whatsoever and needs time linear in their number.
    """
    for place, word in enumerate(command):
        if word in _CONJUNCTIONS:
            first, second = _interpret_phrase(command[:place]), _interpret_phrase(command[place + 1 :])
            if first is None or second is None:
                return None
            return first + second if word == "and" else second + first
    return _interpret_phrase(command)


def _interpret_phrase(phrase: Tokens) -> Tokens | None:
    """Interprets S: an action, with a turn before it if there is a direction; once, twice or thrice."""
    times = 1
    if phrase and phrase[-1] in _TIMES:
        times, phrase = _TIMES[phrase[-1]], phrase[:-1]
    match phrase:
        case (verb,) if verb in _ACTIONS:
            return _ACTIONS[verb] * times
        case (verb, direction) if verb in _VERBS and direction in _TURNS:
            return (_TURNS[direction] + _VERBS[verb]) * times
        case (verb, "opposite", direction) if verb in _VERBS and direction in _TURNS:
            return (_TURNS[direction] * 2 + _VERBS[verb]) * times
        case (verb, "around", direction) if verb in _VERBS and direction in _TURNS:
            return (_TURNS[direction] + _VERBS[verb]) * 4 * times
    return None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Examples to learn from, which may repeat, and examples to be tested on, none of which is among the former."""

    train: tuple[Example, ...]
    test: tuple[Example, ...]


def split(name: str, *, seed: int = 0) -> Dataset:
    """Returns one of SCAN's train and test sets.

    Args:
        name: One of ``SPLITS``.
        seed: The order of the examples, so that any first part is a fair sample of the whole; for ``simple``, also
            which examples are for testing. The other splits hold the same examples whatever the seed.
    """
    if name not in SPLITS:
        raise unknown("split", name, SPLITS)
    rng = np.random.default_rng(seed)
    all_commands = list(commands())
    shuffled = [all_commands[place] for place in rng.permutation(len(all_commands))]
    examples = [Example(x=command, y=interpret(command) or ()) for command in shuffled]
    if name in _ADDED:
        alone = tuple(_ADDED[name].split(" "))
        train = [example for example in examples if not _mentions(example, _ADDED[name])]
        test = [example for example in examples if _mentions(example, _ADDED[name]) and example.x != alone]
        train += [Example(x=alone, y=interpret(alone) or ())] * (len(train) // _OTHERS_PER_COPY)
    elif name in _TEMPLATES:  # "turn" with the template is in neither set
        others = [example for example in examples if not _mentions(example, f"{TURN} {_TEMPLATES[name]}")]
        phrases = [f"{primitive} {_TEMPLATES[name]}" for primitive in PRIMITIVES]
        train = [example for example in others if not _mentions(example, *phrases)]
        test = [example for example in others if _mentions(example, *phrases)]
    elif name == "length":
        train = [example for example in examples if len(example.y) <= _LONGEST_TRAINING_OUTPUT]
        test = [example for example in examples if len(example.y) > _LONGEST_TRAINING_OUTPUT]
    else:
        border = round(_SIMPLE_TRAINING_SHARE * len(examples))
        train, test = examples[:border], examples[border:]
    return Dataset(train=tuple(train[place] for place in rng.permutation(len(train))), test=tuple(test))


def _mentions(example: Example, *phrases: str) -> bool:
    """Tells whether the words of one of the phrases stand side by side in the command."""
    command = f" {' '.join(example.x)} "
    return any(f" {phrase} " in command for phrase in phrases)
