from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
import torch
from networks import MORPHOLOGY, NAMED, SCAN, network

from recombine.augmentation.recombination import Recombination
from recombine.data.vocabulary import EOS, PAD, SEP, UNK, Vocabulary
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example, Tokens
from recombine.models.architecture import Architecture
from recombine.models.scoring import score
from recombine.neighborhoods import LongLong, LongShort
from recombine.prediction.direct import DirectInference, Retriever
from recombine.training.fitted import Fitted, History
from recombine.training.presets import SMALL_GENERATOR
from recombine.training.recipe import Recipe

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


def untrained(architecture: Architecture, seeds: Sequence[int] = (1,)) -> Recombination:
    """Networks as they are before training, but surer of themselves."""
    architecture = replace(architecture, vocabulary=len(VOCABULARY))
    augmenter = Recombination(
        LongShort(), Recipe(network=architecture), prototypes=architecture.prototypes, seeds=seeds
    )
    augmenter.examples_, augmenter.vocabulary_ = tuple(EXAMPLES), VOCABULARY
    augmenter.fitted_ = Fitted(network(architecture, seeds), History())
    return augmenter


def scored(augmenter: Recombination, prototypes: Sequence[int], targets: list[list[int]], replica: int) -> torch.Tensor:
    """Log-probabilities (T, B) of the tokens of sequences by one replica, from a plain call of the population."""
    sources = [VOCABULARY.encode(EXAMPLES[place].d) for place in prototypes]
    width = max(map(len, sources), default=0)
    table = torch.tensor([ids + [PAD] * (width - len(ids)) for ids in sources], dtype=torch.long)
    model = augmenter.fitted_.model
    shape = (model.replicas, len(targets), len(sources), width)
    tables, expanded = table.view(1, 1, *shape[2:]).expand(shape), torch.tensor(targets).expand(model.replicas, -1, -1)
    log_p, _ = score(model, tables, expanded)
    return log_p[replica]


def greedy(augmenter: Recombination, prototypes: Sequence[int], prefix: list[int], replica: int) -> tuple[int, ...]:
    """The most probable token after the other, every one of them tried."""
    ids: list[int] = []
    while len(ids) < LONGEST and EOS not in ids:
        attempts = [[*prefix, *ids, token] for token in range(EOS, len(VOCABULARY))]
        ids.append(EOS + int(scored(augmenter, prototypes, attempts, replica)[-1].argmax()))
    return tuple(ids)


@cache
@torch.no_grad()
def brute_force(name: str, x: Tokens, replica: int) -> list[tuple[Tokens, float]]:
    augmenter = untrained(NAMED[name], seeds=(1, 2))
    [tuples] = Retriever(EXAMPLES, augmenter.prototypes, first=2, second=2).retrieve([x])
    prefix = VOCABULARY.encode((*x, SEPARATOR))[:-1]
    found = {greedy(augmenter, prototypes, prefix, replica) for prototypes in tuples.tolist()}
    whole = {ids for ids in found if EOS in ids and SEP not in ids}
    results = []
    for ids in whole or found:
        each = [scored(augmenter, prototypes, [[*prefix, *ids]], replica) for prototypes in tuples.tolist()]
        y = VOCABULARY.decode(ids[: ids.index(SEP)] if SEP in ids else ids)
        results.append((y, torch.stack(each)[:, len(prefix) :].sum((1, 2)).exp().mean().log().item()))
    return sorted(results, key=lambda result: -result[1])


@pytest.mark.parametrize("batch", [1, 6, 512])
@pytest.mark.parametrize("name", NAMES)
def test_candidates_and_scores_equal_brute_force(name: str, batch: int) -> None:
    augmenter = untrained(NAMED[name], seeds=(1, 2))
    ranked = DirectInference(augmenter, first=2, second=2, batch=batch).rank(INPUTS)
    assert [len(each) for each in ranked] == [len(INPUTS)] * 2
    for replica in range(2):
        for x, candidates in zip(INPUTS, ranked[replica], strict=True):
            expected = brute_force(name, x, replica)
            assert [candidate.y for candidate in candidates] == [y for y, _ in expected]
            scores = [candidate.log_probability for candidate in candidates]
            assert scores == pytest.approx([score for _, score in expected], abs=1e-5)


def test_there_is_something_to_rank() -> None:
    """The comparison with brute force would say little if every input had one candidate, or none were whole."""
    expected = [brute_force(name, x, 0) for name in NAMES for x in INPUTS]
    assert max(map(len, expected)) > 2
    assert any(0 < len(y) < LONGEST for each in expected for y, _ in each)


@pytest.mark.parametrize("name", NAMES)
def test_predictions_are_the_best_candidates_and_the_same_each_time(name: str) -> None:
    direct = DirectInference(untrained(NAMED[name], seeds=(1, 2)))
    predictions = direct.predict(INPUTS)
    for replica, ranked in zip(predictions, direct.rank(INPUTS), strict=True):
        for prediction, candidates in zip(replica, ranked, strict=True):
            assert prediction == candidates[0]
            assert prediction.log_probability == max(c.log_probability for c in candidates) <= 0
    assert predictions[0][1] == predictions[0][-1]
    assert direct.predict([]) == [[], []]


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


def test_what_never_ends_is_cut_and_still_an_answer() -> None:
    augmenter = untrained(replace(SCAN, copying="none", tied_output=False))
    write = augmenter.fitted_.model.write
    assert write is not None
    with torch.no_grad():
        write.bias[..., EOS] = -100
        write.bias[..., SEP] = -100
    for prediction in DirectInference(augmenter).predict(INPUTS)[0]:
        assert len(prediction.y) == LONGEST


def test_a_second_separator_ends_the_output() -> None:
    augmenter = untrained(replace(SCAN, copying="none", tied_output=False))
    write = augmenter.fitted_.model.write
    assert write is not None
    with torch.no_grad():
        write.bias[..., SEP] = 100
    assert [prediction.y for prediction in DirectInference(augmenter).predict(INPUTS)[0]] == [()] * len(INPUTS)


def test_unknown_tokens_can_be_copied_from_the_input() -> None:
    x = ("uno", "due", "uno", "tre")
    copied = set()
    for seed in range(8):
        for candidates in DirectInference(untrained(MORPHOLOGY, seeds=(seed,))).rank([x])[0]:
            copied |= {token for candidate in candidates for token in candidate.y}
    assert copied & set(x)
    assert copied <= {*x, *VOCABULARY.tokens}
    assert VOCABULARY.encode(x)[:-1] == [UNK] * len(x)


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(RecombineError, match="not been fitted"):
        DirectInference(Recombination(LongShort(), Recipe(network=SCAN))).predict(INPUTS)
    with pytest.raises(RecombineError, match="latent"):
        DirectInference(untrained(NAMED["scan-latent"])).predict(INPUTS)
    with pytest.raises(RecombineError, match="batch is 0"):
        DirectInference(untrained(SCAN), batch=0).predict(INPUTS)


def test_networks_of_other_neighborhoods_are_refused() -> None:
    learned = Recombination(LongLong(), SMALL_GENERATOR, device="cpu")
    learned.examples_ = (Example(("a",), ("b",)),)
    with pytest.raises(RecombineError, match="trained on long-long ones"):
        DirectInference(learned).predict([("a",)])
