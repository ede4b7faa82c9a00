from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from literal_neighborhoods import left_over, lev
from networks import MORPHOLOGY, NAMED, SCAN, network

from recombine.augmentation.recombination import Recombination
from recombine.data.vocabulary import EOS, PAD, SEP, UNK, Vocabulary
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example, Tokens
from recombine.models.architecture import Architecture
from recombine.models.scoring import score
from recombine.neighborhoods import LongLong, LongShort
from recombine.prediction.direct import DirectInference, Question, chunks
from recombine.training.fitted import Fitted, History
from recombine.training.presets import SMALL_GENERATOR
from recombine.training.recipe import Recipe
from recombine.training.renaming import SPARES

EXAMPLES = [Example(x, x[::-1]) for length in (1, 2, 3) for x in product("abc", repeat=length) if len(set(x)) > 1][:20]
VOCABULARY = Vocabulary.of(EXAMPLES)
LONGEST = max(len(example.d) for example in EXAMPLES) + 1
INPUTS = [("a", "b", "c", "a"), ("c", "c", "c"), ("b",), ("a", "b", "c"), ("c", "a", "b", "c", "a"), ("c", "c", "c")]
NAMES = (
    "scan",
    "scan-0",
    "scan-1",
    "scan-own-attention",
    "scan-reach",
    "scan-no-copying",
    "morphology",
    "morphology-0",
)


def untrained(architecture: Architecture, seeds: Sequence[int] = (1,), *, spares: int = 0) -> Recombination:
    """Networks as they are before training, but surer of themselves."""
    architecture = replace(architecture, vocabulary=len(VOCABULARY) + spares)
    augmenter = Recombination(
        LongShort(), Recipe(network=architecture), prototypes=architecture.prototypes, seeds=seeds
    )
    augmenter.examples_, augmenter.vocabulary_ = tuple(EXAMPLES), VOCABULARY
    augmenter.fitted_ = Fitted(network(architecture, seeds), History())
    augmenter.fitted_.model.unwritable[..., len(VOCABULARY) :] = True
    return augmenter


def padded(sequences: Sequence[list[int]]) -> list[list[int]]:
    longest = max(map(len, sequences), default=0)
    return [ids + [PAD] * (longest - len(ids)) for ids in sequences]


def scored(augmenter: Recombination, rows: Sequence[tuple[Sequence[int], list[int]]]) -> torch.Tensor:
    """Log-probabilities (T, B) of the tokens of sequences, each given its prototypes, by a network alone."""
    ids = [VOCABULARY.encode(EXAMPLES[place].d) for prototypes, _ in rows for place in prototypes]
    tables = torch.tensor(padded(ids), dtype=torch.long).view(1, len(rows), len(rows[0][0]), -1 if ids else 0)
    log_p, _ = score(augmenter.fitted_.model, tables, torch.tensor([padded([target for _, target in rows])]))
    return log_p[0]


def greedy(augmenter: Recombination, tuples: Sequence[Sequence[int]], prefix: list[int]) -> list[tuple[int, ...]]:
    """For each tuple of prototypes the most probable token after the other, every one of them tried."""
    found: list[list[int]] = [[] for _ in tuples]
    for _ in range(LONGEST):
        going_on = [(each, ids) for each, ids in zip(tuples, found, strict=True) if EOS not in ids]
        if going_on:
            tokens = range(EOS, len(VOCABULARY))
            attempts = [(each, [*prefix, *ids, token]) for each, ids in going_on for token in tokens]
            best = scored(augmenter, attempts)[-1].view(len(going_on), -1).argmax(-1).tolist()
            for (_, ids), token in zip(going_on, best, strict=True):
                ids.append(EOS + token)
    return [tuple(ids) for ids in found]


@cache
@torch.no_grad()
def brute_force(name: str, x: Tokens, replica: int) -> list[tuple[Tokens, float]]:
    augmenter = untrained(NAMED[name], seeds=(1 + replica,))
    [tuples] = DirectInference(augmenter, first=2, second=2).retrieve([x])
    prefix = VOCABULARY.encode((*x, SEPARATOR))[:-1]
    found = {*greedy(augmenter, tuples.tolist(), prefix)}
    whole = {ids for ids in found if EOS in ids and SEP not in ids}
    results = []
    for ids in whole or found:
        each = scored(augmenter, [(prototypes, [*prefix, *ids]) for prototypes in tuples.tolist()])
        y = VOCABULARY.decode(ids[: ids.index(SEP)] if SEP in ids else ids)
        results.append((y, each[len(prefix) :].sum(0).exp().mean().log().item()))
    return sorted(results, key=lambda result: -result[1])


@pytest.mark.parametrize("name", NAMES)
def test_candidates_and_scores_equal_brute_force(name: str) -> None:
    augmenter = untrained(NAMED[name], seeds=(1, 2))
    for batch in (1, 6, 512):
        direct = DirectInference(augmenter, first=2, second=2, batch=batch)
        ranked = direct.rank(INPUTS)
        assert [len(each) for each in ranked] == [len(INPUTS)] * 2
        assert direct.predict(INPUTS) == [[candidates[0] for candidates in each] for each in ranked]
        assert direct.predict([]) == [[], []]
        for replica in range(2):
            for x, candidates in zip(INPUTS, ranked[replica], strict=True):
                expected = brute_force(name, x, replica)
                assert [candidate.y for candidate in candidates] == [y for y, _ in expected]
                scores = [candidate.log_probability for candidate in candidates]
                assert scores == pytest.approx([score for _, score in expected], abs=1e-5)


def test_there_is_something_to_rank() -> None:
    """The comparison with brute force would say little if every input had one candidate, or none were whole."""
    found = [DirectInference(untrained(NAMED[name]), first=2, second=2).rank(INPUTS)[0] for name in NAMES]
    assert max(len(candidates) for each in found for candidates in each) > 2
    assert any(0 < len(candidate.y) < LONGEST for each in found for candidates in each for candidate in candidates)


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_replica_predicts_the_same_alone_and_in_a_population(name: str, dropout: bool) -> None:
    together = DirectInference(untrained(NAMED[name], seeds=(1, 2, 3)), dropout=dropout).rank(INPUTS)[1]
    alone = DirectInference(untrained(NAMED[name], seeds=(2,)), dropout=dropout).rank(INPUTS)[0]
    for one, other in zip(together, alone, strict=True):
        assert [candidate.y for candidate in one] == [candidate.y for candidate in other]
        scores = [candidate.log_probability for candidate in other]
        assert [candidate.log_probability for candidate in one] == pytest.approx(scores, abs=1e-5)


def test_dropout_finds_other_candidates_but_judges_them_without() -> None:
    augmenter = untrained(replace(SCAN, state_dropout=0.7))
    with_dropout = DirectInference(augmenter, dropout=True).rank(INPUTS)[0]
    without = DirectInference(augmenter).rank(INPUTS)[0]
    assert sum(map(len, with_dropout)) > sum(map(len, without))
    both = 0
    for one, other in zip(with_dropout, without, strict=True):
        scores = {candidate.y: candidate.log_probability for candidate in other}
        for candidate in one:
            if candidate.y in scores:
                both += 1
                assert candidate.log_probability == pytest.approx(scores[candidate.y], abs=1e-5)
    assert both


@pytest.mark.parametrize(("bias", "length"), [({EOS: -100, SEP: -100}, LONGEST), ({SEP: 100}, 0)])
def test_what_never_ends_is_cut_and_a_second_separator_ends_it(bias: dict[int, float], length: int) -> None:
    augmenter = untrained(replace(SCAN, copying="none", tied_output=False))
    write = augmenter.fitted_.model.write
    with torch.no_grad():
        for token, value in bias.items():
            write.bias[..., token] = value
    assert [len(prediction.y) for prediction in DirectInference(augmenter).predict(INPUTS)[0]] == [length] * len(INPUTS)


@pytest.mark.parametrize("spares", [0, SPARES])
def test_unknown_tokens_can_be_copied_from_the_input(spares: int) -> None:
    """Places to copy from are counted from the network's ids, not from the tokens of the data."""
    x = ("uno", "due", "uno", "tre")
    copied = set()
    for seed in range(8):
        for candidates in DirectInference(untrained(MORPHOLOGY, seeds=(seed,), spares=spares)).rank([x])[0]:
            copied |= {token for candidate in candidates for token in candidate.y}
    assert len(copied & set(x)) > 1
    assert copied <= {*x, *VOCABULARY.tokens}
    assert VOCABULARY.encode(x)[:-1] == [UNK] * len(x)


def test_what_cannot_be_done_is_said() -> None:
    others, twins = Recombination(LongLong(), SMALL_GENERATOR), untrained(SCAN)
    others.examples_, twins.recipe = (Example(("a",), ("b",)),), replace(SMALL_GENERATOR, twins=2)
    for direct, message in (
        (DirectInference(Recombination(LongShort(), Recipe(network=SCAN))), "not been fitted"),
        (DirectInference(untrained(NAMED["scan-latent"])), "latent"),
        (DirectInference(twins), "without twins"),
        (DirectInference(untrained(SCAN), batch=0), "batch is 0"),
        (DirectInference(untrained(SCAN), first=0), "first is 0"),
        (DirectInference(untrained(SCAN), second=-1), "second is -1"),
        (DirectInference(untrained(SCAN), delta=1.5), r"delta is 1\.5"),
        (DirectInference(others), "trained on long-long ones"),
    ):
        with pytest.raises(RecombineError, match=message):
            direct.predict(INPUTS)


questions = st.lists(
    st.builds(
        lambda length, tuples, found: Question(
            ("a",) * length,
            np.zeros((tuples, 2), np.int32),
            [4] * length,
            [{(5,) * (k + 1): ("b",) for k in range(n)} for n in found],
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
    found = list(chunks(asked, batch, lambda question: question.sequences))
    assert [question for chunk in found for question in chunk] == asked
    for chunk in found:
        assert max(sum(judged(question, r) for question in chunk) for r in range(3)) <= batch or len(chunk) == 1
    for chunk, following in pairwise(found):  # whose first did not fit
        assert max(sum(judged(question, r) for question in (*chunk, following[0])) for r in range(3)) > batch


inputs = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(tuple)
training = st.lists(inputs, min_size=2, max_size=25, unique=True).map(lambda xs: [Example(x, ("y",)) for x in xs])
asked_inputs = st.lists(st.lists(st.sampled_from("abcdz"), min_size=1, max_size=6).map(tuple), min_size=1, max_size=5)
deltas = st.sampled_from([0.2, 0.34, 0.5, 0.75, 1.0])


def retrieved(examples: list[Example], xs: list[Tokens], prototypes: int = 2, **settings: float) -> list[np.ndarray]:
    learned = Recombination(LongShort(), SMALL_GENERATOR, prototypes=prototypes, device="cpu")
    learned.examples_ = tuple(examples)
    return DirectInference(learned, **settings).retrieve(xs)


def near(tokens: Tokens, examples: list[Example], delta: float) -> list[int]:
    distances = [lev(tokens, example.x) for example in examples]
    return sorted((i for i, d in enumerate(distances) if d < delta), key=lambda i: (distances[i], i))


def firsts(x: Tokens, examples: list[Example], delta: float) -> list[int]:
    return [i for i in near(x, examples, delta) if lev(x, examples[i].x) > 0 and left_over(x, examples[i].x)]


@given(training, asked_inputs, deltas, st.integers(1, 4), st.integers(1, 4))
def test_two_prototypes_equal_a_comparison_with_everything(
    examples: list[Example], xs: list[Tokens], delta: float, first: int, second: int
) -> None:
    found_tuples = retrieved(examples, xs, first=first, second=second, delta=delta)
    for x, tuples in zip(xs, found_tuples, strict=True):
        by_first: dict[int, list[int]] = {}
        for d1, d2 in tuples.tolist():
            by_first.setdefault(d1, []).append(d2)
        expected = firsts(x, examples, delta)[:first]
        if expected:
            assert list(by_first) == expected
        else:
            assert len(by_first) == min(first, len(examples))
        for d1, found in by_first.items():
            rest = tuple(dict.fromkeys(left_over(x, examples[d1].x)))
            others = near(rest, examples, delta)[:second] if rest else []
            if others:
                assert found == others
            else:
                assert len(set(found) - {d1}) == len(found) == min(second, len(examples) - 1)


@given(training, asked_inputs, deltas)
def test_one_prototype_is_the_first_of_two(examples: list[Example], xs: list[Tokens], delta: float) -> None:
    ones, twos = (retrieved(examples, xs, prototypes, delta=delta) for prototypes in (1, 2))
    for one, two in zip(ones, twos, strict=True):
        assert one.shape[1] == 1
        assert one[:, 0].tolist() == list(dict.fromkeys(two[:, 0].tolist()))


@given(training, asked_inputs)
def test_an_input_gets_the_same_prototypes_whatever_is_asked_beside_it_and_the_outputs_are(
    examples: list[Example], xs: list[Tokens]
) -> None:
    together = retrieved(examples, xs)
    for x, tuples in zip(xs, together, strict=True):
        assert np.array_equal(retrieved(examples, [x])[0], tuples)
    other_outputs = [Example(example.x, example.x[::-1]) for example in examples]
    assert all(map(np.array_equal, retrieved(other_outputs, xs), together))


def test_random_prototypes_depend_on_the_seed_and_the_input() -> None:
    examples = [Example(x, ("y",)) for x in product("abc", repeat=3)]
    stranger, other = ("z",), ("q", "z")
    drawn = [retrieved(examples, [stranger, other], seed=seed) for seed in (0, 1)]
    different = {tuples.tobytes() for found in drawn for tuples in found}
    assert len(different) == 4
