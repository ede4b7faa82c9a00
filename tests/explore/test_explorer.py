"""The explorer, against the decoder, the sampler and single decoder steps; what is chosen, found and refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from networks import VARIANTS, network, one_at_a_time
from tiny_networks import WORD_FORM_GENERATOR
from toy_task import QUICK_GENERATOR, TASK, example

from recombine.augmentation.recombination import Recombination
from recombine.data.vocabulary import EOS, SEP, UNK, Vocabulary
from recombine.decoding.generate import Decoding, generate
from recombine.decoding.trace import END
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example, Tokens
from recombine.explore.explorer import ALTERNATIVES, BLAMED, FOUND, NAMED, Choice, Explorer, check_tokens, steps_along
from recombine.models.noise import Noise
from recombine.neighborhoods import LongShort, Tagged
from recombine.training.corpus import encoded
from recombine.training.renaming import Twins, called

PROTOTYPES = (example("run and walk twice"), example("jump"))
GREEDY = Choice(strategy="greedy")

VOCABULARY = Vocabulary(("a", "b"))
BEGINNING = ("a", SEPARATOR, "b", "a")
SEQUENCES = (("a", "b", SEPARATOR, "a"), ("b", SEPARATOR, "b"), ("a", SEPARATOR, "b", "b", "b"))

P = np.array([0.0, 0.6, 0.3, 0.1, 0.0])
OTHERS = f"and {1000 - NAMED:,} others."


def walk(explorer: Explorer, choice: Choice, prototypes: tuple[Example, ...] = PROTOTYPES) -> Tokens:
    """Goes on until the end, or until there is no going on."""
    tokens: Tokens = ()
    while len(tokens) <= explorer.longest:
        token = explorer.next(prototypes, tokens, choice=choice)["chosen"]["token"]
        if token == END:
            break
        tokens += (token,)
    return tokens


def generated(augmenter: Recombination, prototypes: tuple[Example, ...], twins: Twins | None = None) -> Tokens:
    """What the decoder itself produces, greedily."""
    vocabulary: Vocabulary = augmenter.vocabulary_
    table = encoded([prototype.d for prototype in prototypes], vocabulary, torch.device("cpu"))
    sources = table.expand(len(augmenter.seeds), 1, -1, -1)
    steps = max(len(one.d) for one in TASK.train) + 1
    if twins is None:
        ids = generate(augmenter.fitted_.model, sources, steps, Decoding("greedy")).tokens
    else:
        names = twins.draw(sources, Noise([0] * len(augmenter.seeds)))
        ids = generate(augmenter.fitted_.model, called(names, sources), steps, Decoding("greedy")).tokens
        ids = called(twins.undone(names), ids)
    return vocabulary.decode(ids[0, 0].tolist())


def test_twins_are_known_by_other_names() -> None:
    recipe = replace(QUICK_GENERATOR, twins=4, stand_ins=0.0, max_steps=40)
    augmenter = Recombination(LongShort(), recipe, device="cpu").fit(TASK.train)
    table = encoded([one.d for one in TASK.train], augmenter.vocabulary_, torch.device("cpu"))
    twins = Twins.of(table, len(augmenter.vocabulary_), 4)
    assert len(twins.pairs) > 2
    explorer = Explorer(augmenter)
    for second in ("jump", "look"):
        prototypes = (PROTOTYPES[0], example(second))
        assert walk(explorer, GREEDY, prototypes) == generated(augmenter, prototypes, twins)


def assert_accounts_agree(augmenter: Recombination, *, origins: set[str]) -> None:
    """The sampler and the explorer say the same of samples."""
    explorer, samples = Explorer(augmenter), augmenter.sample(20, seed=3)
    assert {source.partition(":")[0] for sample in samples for source in sample.provenance.sources} >= origins
    for sample in samples:
        again = explorer.sample(sample.provenance.prototypes, sample.d, choice=GREEDY)
        assert again == sample
        assert again.provenance.prototypes == sample.provenance.prototypes
        assert again.provenance.sources == sample.provenance.sources
        assert again.provenance.log_probability == pytest.approx(sample.provenance.log_probability, abs=1e-3)


def test_samples_are_accounted_for_as_the_sampler_does(augmenter: Recombination) -> None:
    assert_accounts_agree(augmenter, origins={"1", "2"})
    forms = [
        Example((*lemma, "[V]", f"[{tense}]"), (*lemma, *ending))
        for lemma in ("gel", "bak", "sor", "yaz", "kal", "bul")
        for tense, ending in (("PRS", "ir"), ("PST", "di"), ("PROG", "iyor"))
    ]
    recipe = replace(WORD_FORM_GENERATOR, epochs=15, max_steps=60)
    augmenter = Recombination(Tagged(), recipe, prototypes=1, device="cpu").fit(forms)
    augmenter.sampling = replace(augmenter.sampling, novelty="nothing", batch=64, patience=5)
    assert_accounts_agree(augmenter, origins={"own", "1"})


def test_alternatives_are_the_most_probable_and_prototypes_and_what_is_known_training_examples(
    explorer: Explorer,
) -> None:
    found = explorer.next(PROTOTYPES, ("run",), choice=GREEDY)
    probabilities = [candidate["probability"] for candidate in found["alternatives"]]
    assert len(probabilities) == ALTERNATIVES
    assert probabilities == sorted(probabilities, reverse=True)
    assert found["chosen"] == found["alternatives"][0]
    assert sum(probabilities) <= 1 + 1e-9
    pairs = (example("jump"), Example(("jump",), ("RUN",)), example("jump twice"))
    assert [explorer.known(pair) for pair in pairs] == ["pair", "input", "no"]
    drawn = [explorer.draw_prototypes(seed) for seed in range(20)]
    assert drawn[0] == explorer.draw_prototypes(0)
    assert len(set(drawn)) > 5
    assert all(len(pair) == 2 and set(pair) <= set(TASK.train) for pair in drawn)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_networks_of_fewer_prototypes_and_of_those_with_data_of_their_own_the_first(count: int) -> None:
    own, others = TASK.train[:40], TASK.train[10:]
    rule, recipe = LongShort(), replace(QUICK_GENERATOR, max_steps=3)
    augmenter = Recombination(rule, recipe, prototypes=count, seeds=(1, 2), device="cpu")
    augmenter.fit_each([own, others], [rule.build(own, seed=0), rule.build(others, seed=0)])
    explorer = Explorer(augmenter)
    assert explorer.examples == tuple(own)
    for seed in range(5):
        prototypes = explorer.draw_prototypes(seed)
        assert len(prototypes) == count
        assert set(prototypes) <= set(own)
        assert explorer.next(prototypes, (), choice=GREEDY)["alternatives"]


@pytest.mark.parametrize(
    ("prototypes", "tokens", "message"),
    [
        (PROTOTYPES[:1], (), "2 prototypes, got 1"),
        ((Example((), ("RUN",)), PROTOTYPES[1]), (), "input of prototype 1 is empty"),
        ((PROTOTYPES[0], Example(("run",), ())), (), "output of prototype 2 is empty"),
        ((PROTOTYPES[0], Example(("rum",), ("RUN",))), (), r"know 'rum', in prototype 2"),
        ((PROTOTYPES[0], Example(("run", SEPARATOR), ("RUN",))), (), r"know '\\t'"),
        (PROTOTYPES, ("run", END), r"know '\\n', in the sample"),
        (PROTOTYPES, ("run",) * 100, "longer than any training example"),
    ],
)
def test_mistakes_are_sentences(
    explorer: Explorer, prototypes: tuple[Example, ...], tokens: Tokens, message: str
) -> None:
    with pytest.raises(RecombineError, match=message):
        explorer.next(prototypes, tokens, choice=GREEDY)


def test_what_is_no_pair_or_never_produced_is_no_sample(
    explorer: Explorer, augmenter: Recombination, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tokens in ((), ("run",), (SEPARATOR, "RUN"), ("run", SEPARATOR), ("a", SEPARATOR, SEPARATOR, "b")):
        with pytest.raises(RecombineError, match="not one input and one output"):
            explorer.sample(PROTOTYPES, tokens, choice=GREEDY)
    model = augmenter.fitted_.model
    unwritable = model.unwritable.clone()
    unwritable[..., SEP + 1 :] = True
    monkeypatch.setattr(model, "unwritable", unwritable)
    with pytest.raises(RecombineError, match="never produces this"):
        Explorer(augmenter).sample(PROTOTYPES, ("hop", SEPARATOR, "HOP"), choice=GREEDY)


def test_all_words_have_to_occur_and_only_the_first_examples_are_given(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples, total = explorer.find("Twice RUN")
    assert examples == tuple(one for one in TASK.train if "run" in str(one).lower() and "twice" in str(one))
    assert total == len(examples) > 1
    assert explorer.find("nowhere") == ((), 0)
    assert explorer.find("") == (tuple(TASK.train[:FOUND]), len(TASK.train))
    assert len(TASK.train) > FOUND
    characters = (Example(("g", "e", "l", "PST"), tuple("geldi")), Example(tuple("bak"), tuple("bakar")))
    explorer = Explorer(explorer.augmenter)
    monkeypatch.setattr(explorer, "prototypes", characters)
    assert explorer.find("geldi") == (characters[:1], 1)  # words are found across characters
    assert explorer.find("gel bakar") == ((), 0)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("length", [0, 1, 4])
def test_probabilities_are_those_of_single_steps(name: str, length: int) -> None:
    model = network(VARIANTS[name], seeds=(3, 4))
    prototypes = SEQUENCES[: model.architecture.prototypes]
    found = steps_along(BEGINNING[:length], prototypes, model, VOCABULARY, seed=7)

    ids = [VOCABULARY.encode(tokens) for tokens in prototypes]
    width = max(map(len, ids), default=0)
    sources = torch.tensor([row + [0] * (width - len(row)) for row in ids], dtype=torch.long).view(len(ids), width)
    z = None if model.latent is None else model.latent.prior(1, Noise([7, 7], "cpu"))
    target = torch.tensor(VOCABULARY.encode(BEGINNING[:length]))
    with torch.no_grad():
        _, expected = one_at_a_time(model, sources.expand(2, 1, -1, -1), target.expand(2, 1, -1), z)
    np.testing.assert_allclose(found.probabilities, expected[0, :, 0].numpy(), atol=1e-9)
    np.testing.assert_allclose(found.probabilities.sum(-1), 1)
    assert (found.probabilities[:, EOS] > 0).all()
    assert len(found.probabilities) == length + 1


@pytest.mark.parametrize("name", VARIANTS)
def test_a_source_holds_the_token_that_comes_from_it(name: str) -> None:
    model = network(VARIANTS[name])
    prototypes = SEQUENCES[: model.architecture.prototypes]
    found = steps_along(BEGINNING, prototypes, model, VOCABULARY)
    sequences = {"own": VOCABULARY.encode(BEGINNING)}
    sequences |= {str(k): VOCABULARY.encode(prototype) for k, prototype in enumerate(prototypes, start=1)}
    ways = {model.architecture.vocabulary + c: int(token) for c, token in enumerate(found.copied)}
    origins = set()
    for step in range(len(BEGINNING) + 1):
        for token in range(UNK + 1, len(VOCABULARY)):
            source = found.source(step, token)
            origins.add(source.origin)
            copies = [float(found.entries[step, entry]) for entry, made in ways.items() if made == token]
            is_written = float(found.entries[step, token]) >= max(copies, default=-np.inf)
            assert (source.origin == "written") == (source.place is None) == is_written
            if source.place is not None:
                assert sequences[source.origin][source.place] == token
                assert source.origin != "own" or source.place < step
    assert origins >= {"morphology": {"written", "1", "2"}, "penalized-3": {"own"}}.get(name, set())


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_draws_are_as_frequent_as_the_temperature_says(temperature: float) -> None:
    draws = [Choice("temperature", temperature, seed).choose(P, ("a",)) for seed in range(3000)]
    expected = P ** (1 / temperature) / (P ** (1 / temperature)).sum()
    np.testing.assert_allclose(np.bincount(draws, minlength=5) / 3000, expected, atol=0.03)
    assert not {0, 4} & set(draws)
    assert Choice("temperature", 0.05).choose(np.array([1e-300, 1.0, 1e-200]), ()) == 1  # divides by nothing too small
    choice = Choice("temperature", 2.0, 5)  # draws the same again, and elsewhere something else
    along = [choice.choose(P, ("a",) * n) for n in range(40)]
    assert along == [choice.choose(P, ("b",) * n) for n in range(40)]
    assert len(set(along)) > 1


@pytest.mark.parametrize(
    ("strategy", "beginning", "chosen"),
    [
        ("greedy", ("a",), {1}),
        ("mixed", ("a",), {1, 2, 3}),
        ("mixed", ("a", SEPARATOR), {1}),
        ("temperature", ("a", SEPARATOR), {1, 2, 3}),
    ],
)
def test_what_is_drawn_depends_on_the_strategy(strategy: str, beginning: Tokens, chosen: set[int]) -> None:
    assert {Choice(strategy, 1.0, seed).choose(P, beginning) for seed in range(60)} == chosen


@pytest.mark.parametrize(
    ("tokens", "known", "words"),
    [
        (["gel"], "gel", ["Put spaces between tokens: 'g e l'."]),
        (["walc", "walc", "walk", "zzz"], ["walk", "run"], ["not know 'walc', 'zzz', in prototype 1.", "'walk'? It"]),
        (["zzz"], ["a", " "], ["It knows: ␣ a."]),  # a space can be seen
        ([f"bad{i}" for i in range(100)], [f"token{i}" for i in range(1000)], ["'bad4' and others", OTHERS]),
    ],
)
def test_unknown_tokens_are_named_with_those_that_are_known(
    tokens: list[str], known: list[str], words: list[str]
) -> None:
    vocabulary = Vocabulary(tuple(sorted(known)))
    with pytest.raises(RecombineError) as raised:
        check_tokens(tokens, vocabulary, where="prototype 1")
    assert all(word in str(raised.value) for word in words)
    assert str(raised.value).count("bad") <= BLAMED
    check_tokens([*known, known[0]], vocabulary, where="prototype 1")
