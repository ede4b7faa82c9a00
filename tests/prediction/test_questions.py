from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recombine.prediction.direct import Candidate, Question, chunks
from recombine.prediction.predictor import Prediction

questions = st.lists(
    st.builds(
        lambda length, tuples, found: Question(
            ("a",) * length,
            np.zeros((tuples, 2), np.int32),
            [4] * length,
            [[Candidate(np.array([5] * (n + 1)), ("b",))] * n for n in found],
        ),
        st.integers(1, 3),
        st.integers(1, 4),
        st.lists(st.integers(1, 4), min_size=3, max_size=3),
    ),
    max_size=12,
)


def judged(question: Question, replica: int) -> int:
    return len(question.tuples) * len(question.candidates[replica])


@given(questions, st.integers(1, 30))
def test_chunks_keep_order_and_no_replica_gets_more_than_it_can_take(asked: list[Question], batch: int) -> None:
    found = list(chunks(asked, batch, sequences=lambda question: question.sequences))
    assert [question for chunk in found for question in chunk] == asked
    for chunk in found:
        assert max(sum(judged(question, r) for question in chunk) for r in range(3)) <= batch or len(chunk) == 1
    for chunk, following in pairwise(found):  # whose first did not fit
        assert max(sum(judged(question, r) for question in (*chunk, following[0])) for r in range(3)) > batch


@given(questions, st.integers(1, 30))
def test_a_chunk_can_be_held_to_one_length(asked: list[Question], batch: int) -> None:
    for chunk in chunks(asked, batch, sequences=lambda q: len(q.tuples), alike=lambda q: len(q.x)):
        assert len({len(question.x) for question in chunk}) == 1
        assert sum(len(question.tuples) for question in chunk) <= batch or len(chunk) == 1


def test_candidates_are_ranked_for_each_replica_and_equals_stay_in_order() -> None:
    a, b, c = (Candidate(np.array([5, 3]), (name,)) for name in "abc")
    question = Question(("x",), np.zeros((1, 0), np.int32), [5, 4], [[a, b, c], [b]], [[-2.0, -1.0, -1.0], [-3.0]])
    assert question.ranked() == [
        [Prediction(("b",), -1.0), Prediction(("c",), -1.0), Prediction(("a",), -2.0)],
        [Prediction(("b",), -3.0)],
    ]
    assert question.longest == 4
    assert question.sequences.tolist() == [3, 1]
