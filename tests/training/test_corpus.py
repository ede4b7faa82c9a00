import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recombine.data import vocabulary
from recombine.data.vocabulary import EOS, PAD, SEP, UNK, Vocabulary
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.training.corpus import Corpus, encoded, padded

CPU = torch.device("cpu")
SIDES = st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map(tuple)
EXAMPLES = st.lists(st.builds(Example, SIDES, SIDES), min_size=1, max_size=5)


def ids(vocabulary: Vocabulary, tokens: tuple[str, ...], steps: int) -> list[int]:
    row = [SEP if token == "\t" else 5 + vocabulary.tokens.index(token) for token in tokens] + [EOS]
    return (row + [PAD] * steps)[:steps]


@given(EXAMPLES, st.data())
def test_recombination_batches_are_what_the_rows_say(examples: list[Example], data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 3))
    index = st.integers(0, len(examples) - 1)
    rows = np.array(data.draw(st.lists(st.lists(index, min_size=1 + n, max_size=1 + n), min_size=1, max_size=6)))
    vocabulary = Vocabulary.of(examples)
    corpus = Corpus.for_recombination(examples, rows, vocabulary, CPU)
    longest = max(len(example.d) for example in examples) + 1
    assert corpus.longest == longest
    drawn = st.lists(st.lists(st.integers(0, len(rows) - 1), min_size=2, max_size=2), min_size=2, max_size=2)
    chosen = np.array(data.draw(drawn))
    steps = data.draw(st.integers(1, longest))
    sources, targets = corpus.batch(torch.from_numpy(chosen), steps, steps)
    assert sources.shape == (2, 2, n, steps)
    for r in range(2):
        for b in range(2):
            target, *prototypes = rows[chosen[r, b]]
            assert targets[r, b].tolist() == ids(vocabulary, examples[target].d, steps)
            assert sources[r, b].tolist() == [ids(vocabulary, examples[k].d, steps) for k in prototypes]
            assert corpus.target_lengths[0, chosen[r, b]] == len(examples[target].d) + 1
            expected = max((len(examples[k].d) + 1 for k in prototypes), default=0)
            assert corpus.source_lengths[0, chosen[r, b]] == expected


@given(st.lists(EXAMPLES, min_size=1, max_size=3), st.data())
def test_prediction_batches_are_each_replicas_own_examples(sets: list[list[Example]], data: st.DataObject) -> None:
    vocabulary = Vocabulary.of([example for examples in sets for example in examples])
    corpus = Corpus.for_prediction(sets, vocabulary, CPU)
    replicas = len(sets) if len(sets) > 1 else 2  # one set serves any number of replicas
    owned = [sets[r % len(sets)] for r in range(replicas)]
    index = [data.draw(st.lists(st.integers(0, len(mine) - 1), min_size=3, max_size=3)) for mine in owned]
    steps = corpus.longest
    sources, targets = corpus.batch(torch.tensor(index), steps, steps)
    for r, mine in enumerate(owned):
        for b, number in enumerate(index[r]):
            x, y = mine[number].x, mine[number].y
            assert sources[r, b].tolist() == [ids(vocabulary, x, sources.shape[-1])]
            assert targets[r, b].tolist() == ids(vocabulary, y, targets.shape[-1])
            assert corpus.source_lengths[r % len(sets), number] == len(x) + 1
            assert corpus.target_lengths[r % len(sets), number] == len(y) + 1


def test_encoded_sequences_end_and_are_padded_and_what_was_never_seen_is_unknown() -> None:
    vocabulary = Vocabulary(("a", "b"))
    assert encoded([("a", "b"), ("z",)], vocabulary, CPU).tolist() == [[5, 6, EOS], [UNK, EOS, PAD]]
    assert padded([[1], [1, 2]]).tolist() == [[1, PAD], [1, 2]]


@given(EXAMPLES, st.data())
def test_written_are_the_tokens_of_the_targets_of_each_replicas_rows(
    examples: list[Example], data: st.DataObject
) -> None:
    index = st.integers(0, len(examples) - 1)
    rows = data.draw(st.lists(st.tuples(index, index), min_size=1, max_size=5))
    vocabulary = Vocabulary.of(examples)
    corpus = Corpus.for_recombination(examples, np.array(rows), vocabulary, CPU)
    chosen = data.draw(st.lists(st.sets(st.integers(0, len(rows) - 1), min_size=1), min_size=1, max_size=3))
    size = len(vocabulary) + 2
    marks = corpus.written(size, [np.array(sorted(mine)) for mine in chosen])
    assert marks.shape == (len(chosen), size)
    for mine, marked in zip(chosen, marks, strict=True):
        held = {token for row in mine for token in examples[rows[row][0]].d}
        expected = {EOS, SEP, *vocabulary.encode(tuple(sorted(held)))}
        assert set(marked.nonzero().flatten().tolist()) - {PAD} == expected


def test_written_are_each_replicas_own_targets() -> None:
    sets = [[Example(("a",), ("b",))], [Example(("a",), ("c", "a"))]]
    vocabulary = Vocabulary(("a", "b", "c"))
    marks = Corpus.for_prediction(sets, vocabulary, CPU).written(8, [np.array([0]), np.array([0])])
    assert [set(mine.nonzero().flatten().tolist()) - {PAD} for mine in marks] == [{EOS, 6}, {EOS, 7, 5}]


def test_one_endless_example_among_many_is_refused_before_the_table_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "MAX_CELLS", 20)
    assert padded([[1] * 5, [1], [1], [1]]).shape == (4, 5)
    with pytest.raises(RecombineError, match="4 examples with up to 6 tokens"):
        padded([[1] * 6, [1], [1], [1]])
