"""The replayed draws against a word-by-word transcription of the description, form after form."""

from collections import Counter

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recombine.data.sigmorphon_draws import replay_neighbor_draws
from recombine.inflection import Inflection


def forms(tags: str) -> st.SearchStrategy[Inflection]:
    return st.builds(
        Inflection,
        lemma=st.text("abc", min_size=1, max_size=4),
        tags=st.lists(st.sampled_from(tags), min_size=1, max_size=4, unique=True).map(tuple),
        form=st.just("x"),
    )


@st.composite
def languages(draw: st.DrawFn) -> tuple[list[Inflection], list[Inflection]]:
    form = forms(draw(st.sampled_from(["PQ", "PQRST"])))  # few tags, so that second prototypes are often missing
    train = draw(st.lists(form, min_size=8, max_size=16))
    return train[: len(train) // 2 * 2], draw(st.lists(form, max_size=6))


def similarity(lemma: str, other: str) -> float:
    ours, theirs = Counter(lemma), Counter(other)
    return (ours & theirs).total() / (ours | theirs).total()


def draw_form_by_form(rng: np.random.RandomState, train: list[Inflection], held_out: list[Inflection]) -> None:
    tags = [set(form.tags) for form in train]
    for i, form in enumerate([*train, *held_out]):
        own = set(form.tags)
        candidates = [j for j in range(len(train)) if j != i and (i % 2 == 1 or tags[j] != own)]
        assume(len(candidates) >= 4)  # always so in the task
        rng.shuffle(list(candidates))
        candidates.sort(key=lambda j: (len(own ^ tags[j]), similarity(form.lemma, train[j].lemma), j))
        for first in candidates[:4]:
            second = [
                j
                for j in range(len(train))
                if j not in (i, first) and tags[j] not in (own, tags[first]) and not own - tags[first] - tags[j]
            ]
            if not second:
                rng.permutation([0, 1])


@settings(deadline=None)
@given(languages())
def test_replay_leaves_the_generator_where_the_literal_loop_does(
    language: tuple[list[Inflection], list[Inflection]],
) -> None:
    train, held_out = language
    literal, replayed = np.random.RandomState(0), np.random.RandomState(0)
    draw_form_by_form(literal, train, held_out)
    replay_neighbor_draws(replayed, train, held_out=held_out)
    assert literal.randint(2**31, size=4).tolist() == replayed.randint(2**31, size=4).tolist()
