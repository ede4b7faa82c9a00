"""Phrases take each other's place in data of three kinds; the grammar that data were made by judges what comes out."""

from collections.abc import Callable
from itertools import islice, product

import numpy as np
import pytest
from texts import pairs

from recombine.augmentation.phrases import Phrases
from recombine.data import scan
from recombine.example import Example, Tokens


def drawn(known: list[Example], n: int = 300, novel: str = "input", seed: int = 0) -> list[Example]:
    return [*islice(Phrases(known).novel_pairs(novel, np.random.default_rng(seed)), n)]


def shuffled(known: list[Example], n: int) -> list[Example]:
    return [known[place] for place in np.random.default_rng(0).permutation(len(known))[:n]]


def mentions(x: Tokens, phrase: str) -> bool:
    return f" {phrase} " in f" {' '.join(x)} "


def commands() -> list[Example]:
    """A part of SCAN's commands, of which one has "turn left"."""
    words = {"walk", "jump", "turn", "left", "right", "around", "twice", "and", "after"}
    some = [x for x in scan.commands() if words.issuperset(x) and not mentions(x, "turn left")]
    return [*pairs("turn left ▷ I_TURN_LEFT"), *shuffled([Example(x, scan.interpret(x)) for x in some], 400)]


NOUNS = ("city", "river", "lake", "state")
MOST = {"biggest": "largest", "smallest": "least", "longest": "length"}
WHERE = {"in": "loc", "near": "next"}
NAMES = ("texas", "utah", "ohio", "maine", "iowa")


def formula(x: Tokens) -> Tokens | None:
    """Of "what is the [biggest] city {in, near} {texas, the …}": an output with brackets."""
    match x:
        case ("what", "is", *rest):
            inner = formula(tuple(rest))
            return inner and ("answer", "(", *inner, ")")
        case ("the", most, *rest) if most in MOST:
            inner = formula(("the", *rest))
            return inner and (MOST[most], "(", *inner, ")")
        case ("the", noun) if noun in NOUNS:
            return (noun, "(", "all", ")")
        case ("the", noun, where, *rest) if noun in NOUNS and where in WHERE:
            inner = formula(tuple(rest))
            return inner and (noun, "(", WHERE[where], "(", *inner, ")", ")")
        case (name,) if name in NAMES:
            return (name,)
    return None


def questions() -> list[Example]:
    """Superlatives have no "near" after them."""
    near, inside = ([("the", noun, where, name) for noun, name in product(NOUNS, NAMES)] for where in ("near", "in"))
    most = [("the", most, *one[1:]) for most, one in product(MOST, inside)]
    deep = [("the", noun, where, *one) for noun, where, one in product(NOUNS, WHERE, inside)]
    bare = [("the", noun) for noun in NOUNS]
    found = [("what", "is", *one) for one in (*bare, *near, *inside, *most, *deep)]
    return shuffled([Example(x, formula(x)) for x in found], 160)


THINGS = ("cat", "dog", "girl", "boy", "cake", "box")
VERBS = {"saw": "see", "liked": "like", "drew": "draw", "ate": "eat"}


def noun_phrase(x: Tokens, place: int) -> tuple[list[str], list[tuple[int, str]], int] | None:
    """Returns what is said of what "the" names, the other statements with their places, and where the phrase ends."""
    if place + 1 >= len(x) or x[place].lower() not in ("a", "the") or x[place + 1] not in THINGS:
        return None
    noun = place + 1
    said = f"{x[noun]} ( x _ {noun} )"
    definite, others = ([f"* {said} ;"], []) if x[place].lower() == "the" else ([], [(noun, said)])
    if x[noun + 1 : noun + 2] != ("on",):
        return definite, others, noun + 1
    inner = noun_phrase(x, noun + 2)
    if inner is None:
        return None
    on = (noun, f"{x[noun]} . on ( x _ {noun} , x _ {noun + 3} )")
    return definite + inner[0], [*others, on, *inner[1]], inner[2]


def statements(x: Tokens) -> Tokens | None:
    """Of "The girl saw a cat on the box": what is said of which words, in the manner of COGS."""
    subject = noun_phrase(x, 0) if x[0][0].isupper() and not any(word[0].isupper() for word in x[1:]) else None
    if subject is None or subject[2] >= len(x) or x[subject[2]] not in VERBS:
        return None
    verb = subject[2]
    thing = noun_phrase(x, verb + 1)
    if thing is None or thing[2] != len(x):
        return None
    does = VERBS[x[verb]]
    said = [(verb, f"{does} . agent ( x _ {verb} , x _ 1 )"), (verb, f"{does} . theme ( x _ {verb} , x _ {verb + 2} )")]
    others = sorted([*subject[1], *said, *thing[1]], key=lambda each: each[0])
    return tuple(" ".join([*subject[0], *thing[0], " AND ".join(text for _, text in others)]).split())


def sentences() -> list[Example]:
    """No subject has "on" after it."""
    plain = list(product(("a", "the"), THINGS))
    things = [*plain, *((*one, "on", *other) for one, other in product(plain, plain))]
    found = [(one[0].capitalize(), one[1], verb, *thing) for one, verb, thing in product(plain, VERBS, things)]
    return shuffled([Example(x, statements(x)) for x in found], 300)


KINDS: dict[str, tuple[Callable[[], list[Example]], Callable[[Tokens], Tokens | None], Callable[[Tokens], bool]]] = {
    "flat": (commands, scan.interpret, lambda x: mentions(x, "turn left")),
    "brackets": (questions, formula, lambda x: not MOST.keys().isdisjoint(x) and x[5:6] == ("near",)),
    "statements": (sentences, statements, lambda x: x[2] == "on"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_right_where_no_such_phrase_was_seen_and_name_their_sources(kind: str) -> None:
    make, interpret, is_unseen = KINDS[kind]
    known = make()
    samples = drawn(known)
    assert len(samples) == len({sample.x for sample in samples}) == 300
    assert [sample for sample in samples if interpret(sample.x) != sample.y] == []
    assert not {sample.x for sample in samples} & {each.x for each in known}
    assert not any(is_unseen(each.x) and len(each.x) > 2 for each in known)
    assert sum(is_unseen(sample.x) for sample in samples) >= 8
    for sample in samples:  # each token is the one that its source names
        tokens = [prototype.x + prototype.y for prototype in sample.provenance.prototypes]
        sources = sample.provenance.sources
        for token, source in zip(sample.x + sample.y, sources, strict=True):
            if source != "written":
                prototype, place = map(int, source.split(":"))
                assert tokens[prototype - 1][place - 1] == token
        assert sources.count("written") <= (0.6 * len(sources) if kind == "statements" else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_samples_whatever_was_drawn_before(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.augmentation.phrases.PER_GENERATION", 20)  # samples have become material by then
    phrases = Phrases(KINDS[kind][0]())
    first = [*islice(phrases.novel_pairs("input", np.random.default_rng(1)), 50)]
    other = [*islice(phrases.novel_pairs("input", np.random.default_rng(2)), 50)]
    again = [*islice(phrases.novel_pairs("input", np.random.default_rng(1)), 50)]
    assert first == again != other
    assert [sample.provenance for sample in first] == [sample.provenance for sample in again]


def test_words_of_a_class_bring_along_what_stands_around_them() -> None:
    """Of some cities and states it is asked where they are and how large; how many live there, of cities only."""
    cities, states = ("boston", "denver", "miami", "tampa"), ("utah", "ohio", "iowa", "maine", "texas")
    outputs = {name: f"city ( {name} , _ )" for name in cities} | {name: f"state ( {name} )" for name in states}
    asked = [("where is", "loc", name) for name in ("boston", "denver", "miami", "utah")]
    asked += [("area of", "area", name) for name in ("tampa", "ohio", "iowa", "maine")]
    asked += [(text, "people", name) for text in ("who lives in", "what people of") for name in cities]
    asked += [("what mayor of", "mayor", name) for name in cities]
    asked += [("what borders", "next", name) for name in states] + [("who swims in", "lake", name) for name in states]
    asked += [("what capital of", "capital", name) for name in states]
    made = drawn(pairs(*(f"{text} {name} ▷ answer ( {head} ( {outputs[name]} ) )" for text, head, name in asked)))
    found = {" ".join(each.x): " ".join(each.y) for each in made}
    assert found["what people of texas"] == "answer ( people ( state ( texas ) ) )"
    assert found["who lives in texas"] == "answer ( people ( state ( texas ) ) )"
    assert all(outputs[x.split()[-1]] in y for x, y in found.items())


def told(x: Tokens) -> Tokens:
    """Of "Emma gave a cat to a dog": whom verbs name, in the manner of COGS; a name stands for itself."""
    names = ("Emma", "Noah", "Lina")
    verb = next(place for place, word in enumerate(x) if word in ("saw", "met", "gave", "sent"))
    nouns = [place for place, word in enumerate(x) if word in THINGS]
    found = [(place, f"{x[place]} ( x _ {place} )") for place in nouns]
    people = [place for place, word in enumerate(x) if word in (*names, *THINGS)]
    for place, role in zip(people, ("agent", "theme", "recipient"), strict=False):
        what = x[place] if x[place] in names else f"x _ {place}"
        found.append((verb, f"{x[verb]} . {role} ( x _ {verb} , {what} )"))
    return tuple(" AND ".join(text for _, text in sorted(found, key=lambda each: each[0])).split())


def test_a_phrase_may_come_where_the_output_says_of_it_what_it_says_of_such_phrases_elsewhere() -> None:
    """No name stands before "to"; but names are themes, and so is what does."""
    names, things = [(name,) for name in ("Emma", "Noah", "Lina")], [("a", thing) for thing in THINGS]
    seen = [(*one, verb, *other) for one, verb, other in product(names + things, ("saw", "met"), names + things)]
    given = [(*one, verb, *what, "to", *whom) for one, verb, what, whom in product(
        names + things[:3], ("gave", "sent"), things, names + things[:2]
    )]  # fmt: skip
    known = shuffled([Example(x, told(x)) for x in (*seen, *given) if len({*x}) > len(x) - 2], 250)
    samples = drawn(known, 400)
    assert [sample for sample in samples if told(sample.x) != sample.y] == []
    assert sum(mentions(sample.x, f"{name} to") for sample in samples for (name,) in names) >= 10


def in_turn(x: Tokens) -> Tokens | None:
    """Of "wait 2 seconds {before, after} show red": outputs have what comes first at first."""
    for word in ("after", "before"):
        if word in x:
            one, other = (in_turn(part) for part in (x[: x.index(word)], x[x.index(word) + 1 :]))
            first, last = (other, one) if word == "after" else (one, other)
            return first and last and ("seq", "(", *first, ",", *last, ")")
    match x:
        case ("wait", number, "seconds") | ("show", number):
            return x[0], "(", number, ")"
    return None


def test_a_word_that_is_there_twice_calls_for_its_token_next_to_what_its_neighbors_call_for() -> None:
    acts = [*(f"wait {number} seconds" for number in "2345"), *(f"show {color}" for color in ("red", "blue", "pink"))]
    texts = [f"{one} {word} {other}" for one, other in product(acts, acts) for word in ("after", "before")]
    inputs = [tuple(text.split()) for text in texts]
    samples = drawn(shuffled([Example(x, in_turn(x) or ()) for x in inputs], 50))
    twice = [sample for sample in samples if sample.x.count("wait") == 2 or sample.x.count("show") == 2]
    assert len(twice) > 20
    assert [sample for sample in samples if sample.y != in_turn(sample.x)] == []


def test_where_pairs_of_frames_contradict_each_other_is_no_rule() -> None:
    known = pairs("say a ▷ b", "say c ▷ d", "say a twice ▷ b b", "say c twice ▷ d", "call a ▷ b e", "call f ▷ g e")
    phrases = Phrases([*known, *pairs("say f ▷ g")])
    words = {(one.x[0], other.x[0]) for one, other in phrases.rules if one.is_word and other.is_word}
    assert phrases.refuted == {("a", "c"), ("c", "a")}
    assert words >= {("a", "f"), ("f", "a")}
    assert not words & phrases.refuted


@pytest.mark.parametrize("novel", ["input", "both", "pair"])
def test_what_must_be_new_is_new(novel: str) -> None:
    known = [*commands()[:120], *pairs("look twice and run ▷ I_RUN")]  # its output is wrong
    samples = drawn(known, 200, novel)
    assert len(samples) == 200
    assert not set(samples) & set(known)
    assert novel == "pair" or not {sample.x for sample in samples} & {each.x for each in known}
    assert novel != "both" or not {sample.y for sample in samples} & {each.y for each in known}


SAY = ("say a ▷ A", "say b ▷ B", "say c ▷ C", "say a twice ▷ A A", "say b now ▷ B now")
MADE = {"say b twice ▷ B B", "say c twice ▷ C C", "say a now ▷ A now", "say c now ▷ C now"}


@pytest.mark.parametrize(
    "odd",
    [
        ("do ( ▷ ( X", "do ) ▷ Y ) ]", "do i ▷ [ )"),  # brackets without others
        ("row 1 ▷ 1", "row 7 ▷ 7", "row 07 ▷ 07", "row ٣ ▷ ٣", f"row x ▷ {'9' * 5000}"),  # numbers that are no places
        (f"go i ▷ {'I ' * 400}", f"{'go ' * 80}i ▷ I"),  # too long to be cut
    ],
    ids=["brackets", "numbers", "lengths"],
)
def test_odd_examples_do_not_spoil_what_others_show(odd: tuple[str, ...]) -> None:
    assert {str(sample) for sample in drawn(pairs(*SAY, *odd))} >= MADE


def test_a_known_input_that_is_too_long_to_be_cut_is_no_new_one() -> None:
    assert not any(sample.x == ("say", "c", "twice") for sample in drawn(pairs(*SAY, f"say c twice ▷ {'C ' * 400}")))


@pytest.mark.parametrize("texts", [[f"say {word} ▷ A B" for word in "abcd"], [f"say it ▷ {word}" for word in "abcd"]])
def test_nothing_is_made_where_a_side_never_changes(texts: list[str]) -> None:
    assert drawn(pairs(*texts)) == []
