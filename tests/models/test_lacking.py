from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st

from recombine.data.vocabulary import EOS, PAD, SEP
from recombine.models.architecture import Architecture
from recombine.models.attention import lacking
from recombine.models.layers import initialize
from recombine.models.recombiner import Recombiner

A, B, C, D = range(SEP + 1, SEP + 5)
FIRST = [A, B, SEP, C, EOS, PAD, PAD]
SECOND = [B, D, A, SEP, C, D, EOS]
PROTOTYPES = torch.tensor([[[FIRST, SECOND]]])


def test_the_second_keeps_what_the_first_lacks_in_its_order() -> None:
    left = lacking(PROTOTYPES, D + 1)
    assert left.tokens[0, 0].tolist() == [FIRST, [D, SEP, D, EOS, PAD, PAD, PAD]]
    assert left.shown[0, 0, 1].tolist() == [False, True, False, True, False, True, True]


TOKENS = st.lists(st.integers(SEP + 1, SEP + 5), max_size=3)


def pair(x: list[int], y: list[int]) -> list[int]:
    return [*x, SEP, *y, EOS, *[PAD] * (6 - len(x) - len(y))]


@given(st.lists(st.builds(pair, TOKENS, TOKENS), min_size=1, max_size=3))
def test_what_is_left_is_the_list_without_the_tokens_of_the_first(prototypes: list[list[int]]) -> None:
    left = lacking(torch.tensor([[prototypes]]), SEP + 6).tokens[0, 0].tolist()
    first, *later = prototypes
    assert left[0] == first
    for ours, whole in zip(left[1:], later, strict=True):
        kept = [token for token in whole if token in (SEP, EOS) or (token != PAD and token not in first)]
        assert ours == kept + [PAD] * (len(whole) - len(kept))


def test_places_lead_from_the_original_to_what_is_left() -> None:
    left = lacking(PROTOTYPES, D + 1)
    found = left.tokens.gather(-1, left.places)
    assert torch.equal(found[left.shown], PROTOTYPES[left.shown])


def network(*, only_lacking: bool) -> Recombiner:
    shape = Architecture(vocabulary=D + 1, hidden=8, embedding=4, attention=4)
    model = Recombiner(replace(shape, only_lacking=only_lacking))
    initialize(model, [0])
    return model.eval()


def test_what_the_first_holds_changes_nothing_in_the_second() -> None:
    target = torch.tensor([[[A, D, SEP, C, D, EOS]]])
    other = torch.tensor([[[FIRST, [D, B, SEP, D, C, C, EOS]]]])  # the same left over: D, SEP, D, EOS
    for only_lacking in (True, False):
        model = network(only_lacking=only_lacking)
        ours, theirs = (model(prototypes, target)[0] for prototypes in (PROTOTYPES, other))
        assert torch.allclose(ours, theirs, atol=1e-5) == only_lacking


def test_hidden_tokens_are_not_copied() -> None:
    model = network(only_lacking=True)
    context = model.remember(PROTOTYPES)
    _, scores = model.decode(context, context.state, torch.full((1, 1, 1), A))
    copied = model.entries(scores)[0, 0, 0, D + 1 :].exp().view(2, -1)
    assert (copied[1][~lacking(PROTOTYPES, D + 1).shown[0, 0, 1]] == 0).all()
    assert (copied[1][[1, 3, 5, 6]] > 0).all()
