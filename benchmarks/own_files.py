"""Writes small files as people have them, a tenth of their pairs with something rare, and judges samples of them.

    python benchmarks/own_files.py own                          # own/commands/train.tsv, own/commands/test.tsv, …
    recombine augment own/commands/train.tsv -n 100 -o samples.jsonl
    python benchmarks/own_files.py --judge commands samples.jsonl

They are commands with JSON, questions with SQL, sentences with nested logical forms, and automations with programs. A
rare word is in one or two of 300 training pairs, always in the same kind of sentence. Half of the test pairs, the first
half, have one.

In a grammar, ``<song>`` stands for any line of ``song``; a line is a text, or an input with its output. Which output an
input has is known for whatever the grammar can say, with any spacing.
"""

import argparse
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recombine.data import files
from recombine.data.code import join
from recombine.example import Example

Pair = tuple[str, str]
Lines = Mapping[str, Sequence[str | Pair]]

DEPTH = 3
"""How often something may stand within something of its own kind, in a pair that is drawn."""

TEST = 100
"""How many test pairs there are."""

VERDICTS = RIGHT, NOT_OF_LANGUAGE, WRONG = "right", "input not of the language", "output wrong"


def said(*lines: str) -> list[Pair]:
    """Returns ways to say something that have the same output."""
    return [(line, "<body>") for line in lines]


COMMANDS: Lines = {
    "line": said("<body>", "please <body>", "could you <body>", "<body>, thanks", "hey, <body>"),
    "body": [
        ("<play> <song>", '{"intent": "play", "song": "<song>"}'),
        ("<play> <song> in the <room>", '{"intent": "play", "song": "<song>", "room": "<room>"}'),
        ("<queue> <song> to the playlist of <person>", '{"intent": "queue", "song": "<song>", "playlist": "<person>"}'),
        ("<call> <person>", '{"intent": "call", "contact": "<person>"}'),
        ("<call> <person> on speaker", '{"intent": "call", "contact": "<person>", "speaker": true}'),
        ("tell <person> that <message>", '{"intent": "message", "contact": "<person>", "text": "<message>"}'),
        ("send <person> a message: <message>", '{"intent": "message", "contact": "<person>", "text": "<message>"}'),
        ("remind me to <task> <when>", '{"intent": "reminder", "task": "<task>", "when": "<when>"}'),
        ("<weather> <city>", '{"intent": "weather", "city": "<city>"}'),
        ("<weather> <city> <when>", '{"intent": "weather", "city": "<city>", "when": "<when>"}'),
        (
            "<flights> from <city.1> to <city.2> <when>",
            '{"intent": "flights", "from": "<city.1>", "to": "<city.2>", "when": "<when>"}',
        ),
        ("<switch> the lights in the <room>", '{"intent": "lights", "room": "<room>", "on": <switch>}'),
        ("set the <room> to <number> degrees", '{"intent": "heating", "room": "<room>", "degrees": <number>}'),
        ("set a timer for <number> minutes", '{"intent": "timer", "minutes": <number>}'),
        ("put <item> on the shopping list", '{"intent": "shopping", "items": ["<item>"]}'),
        ("put <item.1> and <item.2> on the shopping list", '{"intent": "shopping", "items": ["<item.1>", "<item.2>"]}'),
    ],
    "play": ["play", "put on", "start"],
    "queue": ["add", "append"],
    "call": ["call", "phone", "ring up"],
    "weather": ["show me the weather in", "check the weather in", "tell me the forecast for"],
    "flights": ["find flights", "look for a flight", "book a flight"],
    "switch": [("turn on", "true"), ("switch on", "true"), ("turn off", "false"), ("switch off", "false")],
    "when": ["today", "tomorrow", "on Monday", "on Friday", "tonight"],
    "number": [("five", "5"), ("ten", "10"), *((number, number) for number in ("15", "18", "20", "21", "25"))],
    "message": ["I am late", "dinner is ready", "I am in <city>", "<person> is here"],
    "task": ["call <person>", "buy <item>", "pay the rent", "water the plants"],
    "song": ["Yesterday", "Imagine", "Let It Be", "Bohemian Rhapsody", "Hey Jude", "Thriller"],
    "person": ["Anna", "Łukasz", "Müller", "Mary Ann", "Tom", "Núria"],
    "city": ["Berlin", "Kraków", "New York", "Madrid", "Oslo", "Tokyo"],
    "room": ["kitchen", "living room", "bedroom", "garage", "home office"],
    "item": ["milk", "bread", "olive oil", "apples", "green tea"],
}
RARE_COMMANDS: Lines = {
    "song": ["Für Elise", "99 Luftballons", "La Vie en rose", "Halo", "Jóga"],
    "person": ["Søren", "Ngũgĩ", "José Luis", "Bea", "O'Brien"],
    "city": ["Reykjavík", "Rio de Janeiro", "Łódź", "Osaka", "St. Gallen"],
    "room": ["attic", "guest room", "wine cellar"],
    "item": ["crème fraîche", "saffron"],
}

QUESTIONS: Lines = {
    "line": said("<body>?", "<body>", "tell me: <body>?", "quick question: <body>?"),
    "body": [
        ("what is the <column> of <person>", "SELECT <column> FROM staff WHERE name = '<person>'"),
        ("who works in <city>", "SELECT name FROM staff WHERE city = '<city>'"),
        ("how many <people> work in <city>", "SELECT COUNT(*) FROM staff WHERE city = '<city>'"),
        (
            "how many <people> in <department> earn <compared> <amount>",
            "SELECT COUNT(*) FROM staff WHERE department = '<department>' AND salary <compared> <amount>",
        ),
        (
            "who in <department> lives in <city>",
            "SELECT name FROM staff WHERE department = '<department>' AND city = '<city>'",
        ),
        (
            "which <people> are in <department>, <sorted>",
            "SELECT name FROM staff WHERE department = '<department>' ORDER BY <sorted>",
        ),
        ("what is the <most> <column> in <city>", "SELECT <most>(<column>) FROM staff WHERE city = '<city>'"),
        (
            "which products of <brand> cost <compared> <amount>",
            "SELECT name FROM products WHERE brand = '<brand>' AND price <compared> <amount>",
        ),
        ("which products are <negated> <brand>", "SELECT name FROM products WHERE brand <negated> '<brand>'"),
        ("what is the <most> price of <brand> products", "SELECT <most>(price) FROM products WHERE brand = '<brand>'"),
        ("what are the <number> dearest products", "SELECT name FROM products ORDER BY price DESC LIMIT <number>"),
        ("what did <person> buy", "SELECT product FROM orders WHERE customer = '<person>'"),
        (
            "what did <person> buy for <compared> <amount>",
            "SELECT product FROM orders WHERE customer = '<person>' AND total <compared> <amount>",
        ),
        (
            "how many <brand> products did <person> buy",
            "SELECT COUNT(*) FROM orders WHERE brand = '<brand>' AND customer = '<person>'",
        ),
    ],
    "column": ["salary", "age", ("email address", "email"), ("phone number", "phone")],
    "people": ["people", "employees", "colleagues"],
    "compared": [("more than", ">"), ("over", ">"), ("less than", "<"), ("at least", ">="), ("at most", "<=")],
    "most": [("highest", "MAX"), ("largest", "MAX"), ("lowest", "MIN"), ("average", "AVG"), ("mean", "AVG")],
    "negated": [("made by", "="), ("from", "="), ("not made by", "!="), ("not from", "!=")],
    "sorted": [
        *(("oldest first", "age DESC"), ("youngest first", "age ASC")),
        *(("by name", "name ASC"), ("best paid first", "salary DESC")),
    ],
    "amount": [*("50", "200", "3500", "19.99"), ("a thousand", "1000")],
    "number": [("three", "3"), ("ten", "10"), "5", "20"],
    "person": ["Anna Kowalska", "Tom Reed", "Łukasz Nowak", "Mei Chen", "Müller"],
    "city": ["Berlin", "Kraków", "New York", "Madrid", "Oslo", "Tokyo"],
    "department": [("sales", "Sales"), ("marketing", "Marketing"), ("research", "R&D"), ("the legal team", "Legal")],
    "brand": ["Acme", "Globex", "Nørdic Home", "Sunny"],
}
RARE_QUESTIONS: Lines = {
    "person": [("Sean O'Brien", "Sean O''Brien"), "José Luis Ortega", "Søren Dahl", "Ada", "Ngũgĩ"],
    "city": ["Reykjavík", "Rio de Janeiro", "Łódź", "St. Gallen", "Osaka"],
    "department": [("logistics", "Logistics"), ("customer care", "Customer Care"), ("security", "Security")],
    "brand": ["Über", "Café Noir", "Zenith", "B&Q"],
    "amount": ["77", "4250", "0.5"],
}

FACTS: list[Pair] = [
    ("<np> <does>", "<does>(<np>)"),
    ("<np.1> <acts> <np.2>", "<acts>(<np.1>, <np.2>)"),
    ("<np.1> <gives> <np.2> to <np.3>", "<gives>(<np.1>, <np.2>, <np.3>)"),
]
SENTENCES: Lines = {
    "line": said("<body>", "<body>."),
    "body": [
        *FACTS,
        ("<np> <thinks> that <body>", "<thinks>(<np>, <body>)"),
        ("<not> that <body>", "not(<body>)"),
        ("if <fact>, <body>", "if(<fact>, <body>)"),
    ],
    "fact": FACTS,
    "np": [
        "<person>",
        "<person>",
        *(("the <noun>", "the(<noun>)"), ("every <noun>", "every(<noun>)"), ("a <noun>", "some(<noun>)")),
        ("the <noun> <near> <np>", "the(<noun>, <near>(<np>))"),
        ("the <noun> that <acts> <np>", "the(<noun>, <acts>(<np>))"),
    ],
    "does": [("sleeps", "sleep"), ("is asleep", "sleep"), ("smiles", "smile"), ("runs", "run"), ("sings", "sing")],
    "acts": [("sees", "see"), ("likes", "like"), ("is fond of", "like"), ("follows", "follow"), ("helps", "help")],
    "gives": [("gives", "give"), ("hands", "give"), ("sells", "sell"), ("shows", "show")],
    "thinks": [("thinks", "think"), ("believes", "think"), ("says", "say"), ("hopes", "hope")],
    "not": ["it is not true", "it is false"],
    "near": ["near", ("close to", "near"), "behind", ("next to", "beside")],
    "noun": ["dog", "cat", "teacher", "boy", "girl", "robot"],
    "person": [("Anna", "anna"), ("Tom", "tom"), ("Łukasz", "łukasz"), ("Mary Ann", "mary_ann"), ("Mei", "mei")],
}
RARE_SENTENCES: Lines = {
    "person": [("Søren", "søren"), ("Ngũgĩ", "ngũgĩ"), ("José Luis", "josé_luis"), ("Bea", "bea"), ("Igor", "igor")],
    "noun": ["fox", "violinist", ("polar bear", "polar_bear"), "queen", "clown"],
    "does": [("dances", "dance"), ("whistles", "whistle"), ("is hungry", "hungry"), ("trembles", "tremble")],
    "acts": [("teases", "tease"), ("paints", "paint"), ("is afraid of", "fear"), ("admires", "admire")],
    "near": [("in front of", "before"), "above"],
}

DONE: list[Pair] = [
    ("<turn> the <thing> in the <place>", "<place>.<thing>.<turn>();"),
    ("set the <place> to <number> degrees", "<place>.heat(<number>);"),
    ("<tell> <person>", "<person>.<tell>();"),
    ("<tell> <person> that <news>", "<person>.<tell>(<news>);"),
    ("wait <number> minutes", "wait(<number>);"),
    ("<act> the <door>", "<door>.<act>();"),
]
AUTOMATIONS: Lines = {
    "line": said("<body>", "<body>.", "please <body>"),
    "body": [
        ("when <event>, <do>", "on (<event>) { <do> }"),
        ("<do> when <event>", "on (<event>) { <do> }"),
        ("every <day> at <number>, <do>", "at (<day>, <number>) { <do> }"),
        ("if <event>, <do>, otherwise <other>", "if (<event>) { <do> } else { <other> }"),
        ("unless <event>, <do>", "if (!<event>) { <do> }"),
        ("<do>, then <other>", "{ <do> <other> }"),
    ],
    "do": DONE,
    "other": DONE,
    "event": [
        ("<person> comes home", "<person>.home"),
        ("<person> has left", "!<person>.home"),
        ("it is <weather>", "weather.<weather>"),
        ("the <door> is open", "<door>.open"),
        ("it is colder than <number> degrees in the <place>", "<place>.temperature < <number>"),
        ("it is warmer than <number> degrees in the <place>", "<place>.temperature > <number>"),
    ],
    "turn": [("turn on", "on"), ("switch on", "on"), ("turn off", "off"), ("switch off", "off"), ("dim", "dim")],
    "tell": [("call", "call"), ("ring", "call"), ("text", "text"), ("alert", "alert")],
    "act": ["open", "close", ("shut", "close"), "lock"],
    "news": [("dinner is ready", "'dinner'"), ("somebody is here", "'visitor'"), ("the <door> is open", "<door>.open")],
    "day": ["Monday", "Friday", "Sunday", "morning", "evening"],
    "number": [*("5", "10", "15", "20"), ("seven", "7"), ("eight", "8")],
    "thing": [("lights", "lights"), ("lamp", "lights"), "radio", ("air conditioning", "cooling"), "fan"],
    "place": ["kitchen", ("living room", "living_room"), "bedroom", "office", ("bathroom", "bath")],
    "door": ["garage", ("front door", "front_door"), "window", "gate"],
    "person": [
        ("Anna", "anna"),
        ("Tom", "tom"),
        ("my wife", "wife"),
        ("the children", "children"),
        ("Łukasz", "łukasz"),
    ],
    "weather": ["raining", "snowing", "dark", ("sunny", "sunny")],
}
RARE_AUTOMATIONS: Lines = {
    "thing": ["television", ("coffee machine", "coffee"), "heater"],
    "place": ["attic", ("guest room", "guest_room"), "sauna"],
    "person": [("Søren", "søren"), ("my mother", "mother"), ("the neighbour", "neighbour"), ("Bea", "bea")],
    "door": [("cat flap", "cat_flap"), ("back door", "back_door"), "skylight"],
    "weather": ["foggy", "stormy", "freezing"],
}

KINDS = {
    "commands": (COMMANDS, RARE_COMMANDS),
    "questions": (QUESTIONS, RARE_QUESTIONS),
    "sentences": (SENTENCES, RARE_SENTENCES),
}
"""What is said often, and what is said rarely."""

HELD_BACK = {"automations": (AUTOMATIONS, RARE_AUTOMATIONS)}
"""A kind that was made when all methods were settled: nothing was chosen with it in view."""

EVERY = KINDS | HELD_BACK

ALSO: Mapping[str, Lines] = {
    "commands": {
        "line": said(
            *("please <body>, thanks", "could you <body>, thanks", "hey, <body>, thanks"),
            *("hey, please <body>", "hey, could you <body>"),
        )
    },
    "questions": {"line": said("tell me: <body>", "quick question: <body>")},
    "sentences": {
        "np": [
            ("every <noun> <near> <np>", "every(<noun>, <near>(<np>))"),
            ("every <noun> that <acts> <np>", "every(<noun>, <acts>(<np>))"),
            ("a <noun> <near> <np>", "some(<noun>, <near>(<np>))"),
            ("a <noun> that <acts> <np>", "some(<noun>, <acts>(<np>))"),
        ]
    },
}
"""What is said in no pair, but is plainly right: all combinations of what is said."""


def spaced(text: str) -> str:
    """Returns a text with spaces between its words, numbers, brackets, quotes and operators."""
    return " ".join(re.findall(r"\w+|[<>!]=|[^\w\s]", text))


@dataclass(frozen=True)
class Rule:
    """A line of a grammar.

    Attributes:
        x: The input: literal text and, at odd places, what slots are called.
        y: The output, likewise.
    """

    x: tuple[str, ...]
    y: tuple[str, ...]

    @classmethod
    def of(cls, line: str | Pair) -> "Rule":
        """Returns the rule of a text, or of an input and its output."""
        x, y = (line, line) if isinstance(line, str) else line
        return cls(*(tuple(re.split(r"<(\w+(?:\.\d)?)>", side)) for side in (x, y)))

    def filled(self, found: Mapping[str, Pair]) -> Pair:
        """Returns input and output with the slots filled."""
        x, y = (
            "".join(found[part][side] if place % 2 else part for place, part in enumerate(parts))
            for side, parts in enumerate((self.x, self.y))
        )
        return x, y


Rules = Mapping[str, Sequence[Rule]]


def kind_of(slot: str) -> str:
    """Returns what may fill a slot: ``<city.1>`` and ``<city.2>`` are both filled by a city."""
    return slot.split(".")[0]


class Oracle:
    """Knows the output of whatever a grammar can say; spacing does not matter."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def truth(self, x: str) -> str | None:
        """Returns the output of an input, or None if the input is not of the language."""
        words = spaced(x).split()

        @cache
        def readings(symbol: str, start: int) -> list[tuple[int, Pair]]:
            """Returns where what begins at a place can end, and what it stands for."""
            every: list[tuple[int, Pair]] = []
            for rule in self.rules[symbol]:
                states: list[tuple[int, dict[str, Pair]]] = [(start, {})]
                for place, part in enumerate(rule.x):
                    if place % 2:
                        states = [
                            (after, {**found, part: pair})
                            for end, found in states
                            for after, pair in readings(kind_of(part), end)
                        ]
                    else:
                        literal = spaced(part).split()
                        states = [
                            (end + len(literal), found)
                            for end, found in states
                            if words[end : end + len(literal)] == literal
                        ]
                every += ((end, rule.filled(found)) for end, found in states)
            return every

        outputs = {y for end, (_, y) in readings("line", 0) if end == len(words)}
        if len(outputs) > 1:
            raise ValueError(f"{x!r} has several outputs: {outputs}")
        return next(iter(outputs), None)

    def right(self, x: str, y: str) -> bool:
        """Tells whether an output is that of an input."""
        return self.judge(x, y) == RIGHT

    def judge(self, x: str, y: str) -> str:
        """Returns ``"right"``, or what is wrong with a pair."""
        truth = self.truth(x)
        return NOT_OF_LANGUAGE if truth is None else RIGHT if spaced(truth) == spaced(y) else WRONG


@dataclass(frozen=True)
class Kind:
    """Data of one kind.

    Attributes:
        train: Training pairs, with different inputs.
        test: Test pairs with other inputs; the first half of them have something rare.
        oracle: Knows which pairs are right.
        rare: The rare words of inputs that training has.
    """

    train: list[Pair]
    test: list[Pair]
    oracle: Oracle
    rare: list[str]


def draw(
    rules: Rules, rng: random.Random, body: Rule | None = None, symbol: str = "line", above: tuple[str, ...] = ()
) -> Pair:
    """Returns a random pair.

    Args:
        rules: The grammar.
        rng: Draws.
        body: The kind of sentence; None: any.
        symbol: What the pair is to be.
        above: What it is to stand within.
    """
    above = (*above, symbol)
    if symbol == "body" and body is not None:
        rule, body = body, None  # whatever is in the sentence may be of any kind
    else:
        fitting = [rule for rule in rules[symbol] if all(above.count(kind_of(slot)) < DEPTH for slot in rule.x[1::2])]
        rule = rng.choice(fitting)
    return rule.filled({slot: draw(rules, rng, body, kind_of(slot), above) for slot in rule.x[1::2]})


def rules_of(lines: Lines) -> dict[str, list[Rule]]:
    """Returns the rules of a grammar."""
    return {symbol: [*map(Rule.of, each)] for symbol, each in lines.items()}


def oracle_of(kind: str) -> Oracle:
    """Returns what knows the right outputs of a kind of data."""
    common, rare, also = map(rules_of, (*EVERY[kind], ALSO.get(kind, {})))
    return Oracle({symbol: [*each, *rare.get(symbol, ()), *also.get(symbol, ())] for symbol, each in common.items()})


def make(kind: str, pairs: int = 300, seed: int = 0) -> Kind:
    """Returns training and test pairs of a kind, the same ones for the same seed.

    Args:
        kind: One of ``EVERY``.
        pairs: How many training pairs there are, at least 10.
        seed: For what is drawn.
    """
    rng = random.Random(f"{kind} {seed}")
    common, rare = map(rules_of, EVERY[kind])
    words = [(symbol, word) for symbol, each in rare.items() for word in each]
    words = rng.sample(words, min(pairs // 10, len(words)))
    taken: set[str] = set()

    def drawn(word: tuple[str, Rule] | None, body: Rule | None) -> Pair | None:
        """Returns a pair; with a rare word only if luck has it that it is there, once."""
        if word is None:
            return draw(common, rng)
        symbol, rule = word
        x, y = draw({**common, symbol: [*common[symbol], *[rule] * len(common[symbol])]}, rng, body)
        return (x, y) if f" {spaced(x)} ".count(f" {spaced(rule.x[0])} ") == 1 else None

    def new(word: tuple[str, Rule] | None = None, body: Rule | None = None) -> Pair:
        """Returns a pair whose input was not drawn before, with a rare word if one is given."""
        for _ in range(10_000):
            pair = drawn(word, body)
            if pair and pair[0] not in taken:
                taken.add(pair[0])
                return pair
        raise SystemExit(f"There are hardly {pairs} different pairs of {kind}: ask for fewer.")

    def context(word: tuple[str, Rule]) -> Rule:
        """Returns a kind of sentence in which a rare word can be."""
        some = rng.sample(common["body"], len(common["body"]))
        return next(body for body in some if any(drawn(word, body) for _ in range(100)))

    contexts = [context(word) for word in words]
    turns = [place % len(words) for place in range(max(pairs // 10, TEST // 2))]
    train = [new(words[turn], contexts[turn]) for turn in turns[: pairs // 10]]
    train += [new() for _ in range(pairs - len(train))]
    test = [new(words[turn]) for turn in turns[: TEST // 2]]
    test += [new() for _ in range(TEST - len(test))]
    rng.shuffle(train)
    return Kind(train, test, oracle_of(kind), [word.x[0] for _, word in words])


def write(folder: Path, *, pairs: int, seed: int, tokens: bool) -> None:
    for kind in EVERY:
        made = make(kind, pairs, seed)
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for name, each in (("train.tsv", made.train), ("test.tsv", made.test)):
            lines = (f"{spaced(x)}\t{spaced(y)}\n" if tokens else f"{x}\t{y}\n" for x, y in each)
            (folder / kind / name).write_text("".join(lines), encoding="utf-8")


def report(kind: str, samples: Iterable[Example], *, shown: int = 5) -> None:
    oracle, found = oracle_of(kind), dict[str, list[Pair]]({verdict: [] for verdict in VERDICTS})
    for sample in samples:
        x, y = join(sample.x), join(sample.y)  # right for words, too, since spacing does not matter
        found[oracle.judge(x, y)].append((x, y))
    total = sum(map(len, found.values()))
    print(", ".join(f"{verdict}: {len(pairs)}" for verdict, pairs in found.items()), f"(of {total})")
    for verdict in VERDICTS[1:]:
        for x, y in found[verdict][:shown]:
            print(f"  {verdict}: {x} → {y}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="where to write the files")
    parser.add_argument("--pairs", type=int, default=300, help="how many training pairs each kind has")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--spaced", action="store_true", help="write spaces between all tokens")
    parser.add_argument("--judge", nargs=2, metavar=("KIND", "FILE"), help="say how many samples of a file are right")
    arguments = parser.parse_args()
    if arguments.judge:
        kind, file = arguments.judge
        if kind not in EVERY:
            parser.error(f"there is no kind {kind}; choose from {', '.join(EVERY)}")
        report(kind, files.read(file, tokens="code"))
    elif arguments.folder and arguments.pairs >= 10:
        write(arguments.folder, pairs=arguments.pairs, seed=arguments.seed, tokens=arguments.spaced)
    else:
        parser.error("name a folder, and ask for at least 10 pairs")


if __name__ == "__main__":
    main()
