"""Forms that show their rare tags, and forms that do not."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.augmentation.agreement import UNSHOWN, Exponents, change, pieces
from recombine.augmentation.resample import Resampler
from recombine.example import Example
from recombine.inflection import Inflection, is_tag
from recombine.own_data.augmenters import sample_filter


def word(line: str) -> Example:
    lemma, form, tags = line.split()
    return Inflection(lemma, tuple(tags.split(";")), form).for_generation


def words(*lines: str) -> list[Example]:
    return [word(line) for line in lines]


SPANISH = words(
    "cantar canto PRS;1;SG",
    "cantar cantas PRS;2;SG",
    "mirar mira PRS;3;SG",
    "mirar miraste PST;2;SG",
    "tomar tomé PST;1;SG",
    "amar ame SBJV;1;SG",
    "amar amaré FUT;1;SG",
)
SWAHILI = words("kusoma ninasoma PRS;1", "kucheza unacheza PRS;2", "kusoma tulisoma PST;1;PL", "kula wanakula PRS;3;PL")


@pytest.mark.parametrize(
    ("examples", "tag", "sample", "shown"),
    [
        (SPANISH, "PST", "cantar cantaste PST;2;SG", True),
        (SPANISH, "PST", "cantar cantas PST;2;SG", False),  # a present form
        (SPANISH, "PST", "cantar canté PST;1;SG", True),
        (SPANISH, "PST", "cantar cantaré PST;1;SG", False),  # the same ending, but not in place of -ar
        (SPANISH, "FUT", "cantar cantaré FUT;1;SG", True),
        (SPANISH, "PST", "cantar cantas PRS;2;SG", True),  # no rare tag, nothing asked
        (SPANISH, "FUT", "cantar canté PST;1;SG", True),  # of another tag, nothing is asked
        (SWAHILI, "PST", "kucheza nilicheza PST;1", True),
        (SWAHILI, "PST", "kucheza ninacheza PST;1", False),
    ],
)
def test_a_rare_tag_is_to_be_seen(examples: Sequence[Example], tag: str, sample: str, shown: bool) -> None:
    exponents = Exponents.of(examples, [f"[{tag}]"])
    assert exponents(word(sample)) == (None if shown else UNSHOWN)


def test_tags_that_nothing_shows_are_not_asked_for() -> None:
    forms = words("sheep sheep PL", "sheep sheep SG", "fish fish SG", "cat cat SG")
    exponents = Exponents.of(forms, ["[PL]"])
    assert not exponents.by_tag
    assert exponents(word("fish fish PL")) is None


def test_words_that_share_nothing_with_their_lemmas_have_few_pieces() -> None:
    assert len(pieces(change(Inflection("a" * 300, ("PST",), "b" * 300).for_generation))) < 100


LEMMAS, FORMS = st.text("abc", min_size=1, max_size=4), st.text("abc", min_size=1, max_size=5)
RECORDS = st.builds(Inflection, LEMMAS, st.sampled_from([("A",), ("B",), ("A", "B")]), FORMS)


@given(st.lists(RECORDS, min_size=1, max_size=8))
def test_exponents_are_in_more_forms_with_the_tag_than_without(records: Sequence[Inflection]) -> None:
    """Beside the definition, piece by piece."""
    examples = list(dict.fromkeys(record.for_generation for record in records))
    exponents = Exponents.of(examples, ["[A]"])
    found = exponents.by_tag.get("[A]", frozenset())
    for piece in {piece for example in examples for piece in pieces(change(example))}:
        having = ["[A]" in example.x for example in examples if piece in pieces(change(example))]
        assert (piece in found) == (sum(having) > len(having) / 2)
    assert not any(map(exponents, examples))


def test_forms_like_those_with_the_tag_show_it_even_if_others_look_the_same() -> None:
    common = [f"{stem}a {stem}is GEN" for stem in ("mens", "ros", "lun", "terr")]
    exponents = Exponents.of(words(*common, "vita vitis VOC", "nox noctum VOC"), ["[VOC]"])
    assert exponents.by_tag
    assert exponents(word("rosa rosis VOC")) is None
    assert exponents(word("rosa rosae VOC")) == UNSHOWN


def test_samples_with_a_rare_tag_must_show_it() -> None:
    rare = Resampler(epsilon=0.15, relevant=is_tag).fit(SPANISH)  # FUT and SBJV, one of seven each
    accept = sample_filter(SPANISH, rare)
    assert accept is not None
    assert accept(word("cantar cantaré FUT;1;SG")) is None
    assert accept(word("cantar canto FUT;1;SG")) == UNSHOWN
    assert accept(word("mirar miras PRS;2;SG")) == "without a rare token"
