"""SCAN's grammar and its interpreter: every command there is, and the actions that a command asks for.

After: Lake and Baroni (2018), "Generalization without systematicity", appendix. The grammar, with S a phrase:

    command   ->  S | S and S | S after S
    S         ->  V | V twice | V thrice
    V         ->  primitive | verb direction | verb opposite direction | verb around direction
    verb      ->  primitive | turn
    primitive ->  walk | look | run | jump
    direction ->  left | right
"""

from collections.abc import Iterator
from itertools import product

from recombine.example import Tokens

PRIMITIVES = ("walk", "look", "run", "jump")
TURN = "turn"

_ACTIONS: dict[str, Tokens] = {primitive: (f"I_{primitive.upper()}",) for primitive in PRIMITIVES}
_VERBS: dict[str, Tokens] = {**_ACTIONS, TURN: ()}
_TURNS: dict[str, Tokens] = {"left": ("I_TURN_LEFT",), "right": ("I_TURN_RIGHT",)}
_MANNERS: tuple[Tokens, ...] = ((), ("opposite",), ("around",))
_TIMES = {"twice": 2, "thrice": 3}
_CONJUNCTIONS = ("and", "after")


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
