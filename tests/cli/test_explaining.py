import pytest

from recombine.cli.quickstart import explained
from recombine.example import Example, Provenance

PROTOTYPES = (Example(("walk", "twice"), ("WALK", "WALK")), Example(("jump",), ("JUMP",)))
SAMPLE = Example(("jump", "twice"), ("JUMP", "JUMP"))


def test_every_token_says_where_it_came_from_and_the_prototypes_follow() -> None:
    provenance = Provenance("recombination", PROTOTYPES, sources=("2:1", "1:2", "written", "own:3"))
    assert explained(SAMPLE.with_provenance(provenance)) == [
        "jump² twice¹ ▷ JUMP JUMP⁼",
        "  ¹ walk twice ▷ WALK WALK",
        "  ² jump ▷ JUMP",
    ]


def test_a_method_that_does_not_tell_leaves_no_marks() -> None:
    assert explained(SAMPLE.with_provenance(Provenance("geca", PROTOTYPES))) == [
        "jump twice ▷ JUMP JUMP",
        "  ¹ walk twice ▷ WALK WALK",
        "  ² jump ▷ JUMP",
    ]


def test_an_original_is_itself() -> None:
    assert explained(SAMPLE) == ["jump twice ▷ JUMP JUMP"]


def test_sources_are_as_many_as_tokens() -> None:
    with pytest.raises(ValueError, match="zip"):
        explained(SAMPLE.with_provenance(Provenance("recombination", PROTOTYPES, sources=("2:1",))))
