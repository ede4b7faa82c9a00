import own_files
import pytest
from texts import pair, pairs

from recombine.augmentation.resample import find_rare
from recombine.augmentation.spans import Spans
from recombine.data import scan
from recombine.errors import RecombineError
from recombine.example import Example

SONGS = pairs("play Yesterday ▷ song Yesterday", "play La Mer loud ▷ song La Mer loud", "play Imagine ▷ song Imagine")


def made(*texts: str) -> set[str]:
    return {str(sample) for sample in Spans().fit(pairs(*texts)).sample(100)}


def test_a_piece_takes_the_place_of_another_seen_in_the_same_context() -> None:
    known = [*SONGS, pair("play La Mer ▷ song La Mer")]
    found = {str(sample): sample.provenance for sample in Spans().fit(known).sample(100)}
    assert found.keys() == {"play Yesterday loud ▷ song Yesterday loud", "play Imagine loud ▷ song Imagine loud"}
    provenance = found["play Imagine loud ▷ song Imagine loud"]
    assert (provenance.method, provenance.prototypes) == ("spans", (known[1], known[2]))
    assert provenance.details == {"replaced": "La Mer", "fragments": "Imagine", "support": 1}
    assert provenance.sources == ("1:1", "2:2", "1:4", "1:5", "2:4", "1:8")


def test_pieces_without_a_common_context_stay_where_they_are() -> None:
    assert not Spans().fit(SONGS[:2]).sample(100)


def test_contexts_of_outputs_count_as_well() -> None:
    assert not made("play Imagine ▷ ( Imagine )", "play chess ▷ chess ( )", "play Imagine loud ▷ ( Imagine ) loud")
    assert made("play Imagine ▷ ( Imagine )", "play chess ▷ ( chess )", "play Imagine loud ▷ ( Imagine ) loud")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # every occurrence leaves, and all that it stands for
        (("walk ▷ WALK", "jump ▷ JUMP", "walk twice ▷ WALK WALK"), {"jump twice ▷ JUMP JUMP"}),
        # all that could be made is known
        (("call Ann ▷ ann", "tell Bob of Eve ▷ eve bob", "call Bob ▷ bob", "tell Ann of Eve ▷ eve ann"), set()),
        # synonyms stand for the same, so neither takes the other's place
        (("ring Ann ▷ call ann", "phone Ann ▷ call ann"), set()),
    ],
)
def test_what_is_made(texts: tuple[str, ...], expected: set[str]) -> None:
    assert made(*texts) == expected


def test_names_that_are_new_together_are_told_apart_by_their_letters() -> None:
    known = ("from Oslo to Rome ▷ to rome from oslo", "from Łódź to Kyiv ▷ to kyiv from łódź")
    assert "from Łódź to Rome ▷ to rome from łódź" in made(*known, "from Paris to Kyiv ▷ to kyiv from paris")
    greek = ("from Oslo to Rome ▷ to r from o", "from Łódź to Kyiv ▷ to k from l")
    assert not made(*greek)


def test_of_synonyms_in_one_example_neither_leaves() -> None:
    known = (
        "call Ann ▷ do call",
        "ring Ann ▷ do call",
        "text Ann ▷ do text",
        "call Ann or ring Ann ▷ do call or do call",
    )
    assert made(*known) == set()
    assert made(*known[:3], "call Ann or no ▷ do call or no") == {"text Ann or no ▷ do text or no"}


def test_a_mistake_in_the_data_is_overlooked() -> None:
    wrong = [pair("say bye 0 ▷ hello")]
    greetings = [pair(f"say bye {number} ▷ bye {number}") for number in range(30)]
    known = [*wrong, *greetings[1:], *pairs("say hi 31 ▷ hi 31", "say hi 5 ▷ hi 5")]
    samples = Spans().fit(known).sample(100)
    assert pair("say hi 7 ▷ hi 7") in samples.examples
    assert pair("say bye 31 ▷ bye 31") in samples.examples
    assert not any("hello" in sample.y for sample in samples)


@pytest.mark.parametrize("split", ["jump", "around-right", "opposite-right"])
def test_all_samples_of_scan_are_right(split: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.augmentation.phrases.STALE", 300)
    train = scan.split(split).train[::20] if split != "jump" else scan.split(split).train[-1_500:]
    known = list(dict.fromkeys([*train, pair("jump ▷ I_JUMP")]))
    samples = Spans().fit(known).sample(200, accept=find_rare(known).resampler)
    assert len(samples) > 100
    assert all(scan.interpret(sample.x) == sample.y for sample in samples)


@pytest.mark.parametrize("kind", own_files.KINDS)
def test_most_samples_of_small_files_are_right_and_new_and_name_the_source_of_each_token(kind: str) -> None:
    data = own_files.make(kind)
    known = [Example(*(tuple(own_files.spaced(side).split()) for side in pair)) for pair in data.train]
    samples = Spans().fit(known).sample(300, accept=find_rare(known).resampler)
    assert len(samples) == 300
    right = [data.oracle.right(" ".join(sample.x), " ".join(sample.y)) for sample in samples]
    assert sum(right) >= 0.85 * 300
    assert not {sample.x for sample in samples} & {each.x for each in known}
    for sample in samples:
        tokens = [prototype.x + prototype.y for prototype in sample.provenance.prototypes]
        places = [tuple(map(int, source.split(":"))) for source in sample.provenance.sources]
        assert tuple(tokens[k - 1][j - 1] for k, j in places) == sample.x + sample.y


@pytest.mark.parametrize(("novel", "expected"), [("input", False), ("pair", True)])
def test_a_known_input_is_no_new_one(novel: str, expected: bool) -> None:
    known = pairs("say a ▷ b", "say c ▷ d", "say a twice ▷ b b", "say c twice ▷ d")
    found = Spans(novel=novel).fit(known).sample(10)
    assert (pair("say c twice ▷ d d") in found.examples) is expected


def test_an_input_gets_one_output() -> None:
    known = pairs("in 1 h ▷ A 1 R 1", "in 4 h ▷ A 4 R 1", "in 1 h now ▷ A 1 R 1 N", "in 4 m ▷ A 4 R 4")
    inputs = [sample.x for sample in Spans(novel="pair").fit(known).sample(100)]
    assert len(inputs) == len(set(inputs))


def test_marks_stand_for_nothing_by_their_letters() -> None:
    known = pairs("ok ? ! ▷ -> A ;", "ok b ▷ A B")
    assert not Spans().fit(known)._fitted.stands_for.keys() & {("?",), ("!",)}


def test_errors() -> None:
    with pytest.raises(RecombineError, match="kind of novelty"):
        Spans(novel="output").fit(SONGS)
    with pytest.raises(RecombineError, match="at least 2 different examples"):
        Spans().fit(SONGS[:1])
    with pytest.raises(RecombineError, match="not been fitted"):
        Spans().sample(1)
