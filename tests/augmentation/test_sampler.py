import itertools
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from networks import MORPHOLOGY, SCAN, network
from toy import EXAMPLES, VOCABULARY

from recombine.augmentation import batches
from recombine.augmentation import sampler as sampling
from recombine.augmentation.protocol import Samples, Validator
from recombine.augmentation.resample import Resampler
from recombine.augmentation.sampler import KNOWN, Sampler, SamplingSettings
from recombine.data.vocabulary import EOS, PAD, SEP
from recombine.decoding.generate import Decoding, Generated, generate
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.execution.executor import SERIAL, Executor, Processes, Serial
from recombine.models.architecture import Architecture

A, B = SEP + 1, SEP + 2
WARM = SamplingSettings(decoding=Decoding("temperature", 1.0), novelty="pair", batch=8, surplus=1.0, confidence="pair")


def sampler(
    settings: SamplingSettings = WARM,
    *,
    architecture: Architecture = SCAN,
    seeds: Sequence[int] = (1,),
    examples: Sequence[Example] = EXAMPLES,
    longest: int | None = None,
) -> Sampler:
    """Sequences may be longer than the examples, so that untrained networks end some."""

    def any_two(count: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(len(examples), size=(count, 2))

    found = Sampler(network(architecture, seeds), examples, VOCABULARY, [any_two] * len(seeds), settings)
    for known in found.known:
        known.longest = longest or known.longest
    return found


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "LEAST", 1)


Script = Callable[..., list[Decoding]]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Makes a network say sequences (for each draw, or the last ones for ever), each with its log-probability."""

    def say(*draws: list[tuple[list[int], float]]) -> list[Decoding]:
        asked: list[Decoding] = []

        def scripted(
            _: object, prototypes: torch.Tensor, steps: int, decoding: Decoding, *__: object, **___: object
        ) -> Generated:
            said = draws[min(len(asked), len(draws) - 1)]
            asked.append(decoding)
            rows = [said[number % len(said)] for number in range(prototypes.shape[1])]
            tokens = torch.tensor([[(ids + [PAD] * steps)[:steps] for ids, _ in rows]])
            scores = torch.tensor([[score for _, score in rows]])
            of_y = torch.tensor([[-float(ids[0]) for ids, _ in rows]])  # the lower, the higher the first token's id
            least = torch.log(0.1 * torch.tensor([[len(ids) for ids, _ in rows]]))  # the surer, the longer
            return Generated(
                tokens, torch.zeros_like(tokens), [0] * steps, scores, of_y, least, torch.zeros_like(scores).bool()
            )

        monkeypatch.setattr(batches, "generate", scripted)
        return asked

    return say


NEW = [A, B, SEP, A, A, EOS]
"""ab ▷ aa, where all examples are turned around."""


A_TO_B = [Example(("a",) * count, ("b",) * count) for count in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        *[(said, "too long") for said in ([A] * 20, [A, SEP, B, A, B, A, B, A])],
        *[
            (said, "malformed (no clear end of the input or output)")
            for said in ([EOS], [A, EOS], [SEP, EOS], [A, SEP, EOS], [SEP, A, EOS], [A, SEP, B, SEP, A, EOS])
        ],
        ([A, B, SEP, B, A, EOS], "known"),
        ([A, SEP, A, EOS], "known"),
        *[
            (said, "with a token on the wrong side")
            for said in ([A, B, SEP, A, EOS], [A, SEP, B, A, EOS], [B, SEP, A, EOS])
        ],
    ],
)
def test_candidates_are_turned_down_for_a_reason(script: Script, said: list[int], reason: str) -> None:
    script([(said, -1.0)])
    examples = A_TO_B if "side" in reason else EXAMPLES
    found = sampler(replace(WARM, batch=1, patience=1), examples=examples).sample(1, [0])[0]
    assert (len(found), dict(found.rejected)) == (0, {reason: 1})


@pytest.mark.parametrize(
    ("said", "kept_if_new"),
    [
        ([A, SEP, B, EOS], ["nothing", "pair"]),  # a known input with another known output
        ([A, SEP, A, A, A, A, EOS], ["nothing", "pair"]),  # a known input with a new output
        ([A, A, A, A, SEP, B, EOS], ["nothing", "pair", "input"]),  # a new input with a known output
        ([A, A, B, B, SEP, A, B, A, B, EOS], ["nothing", "pair", "input", "both"]),
        ([A, B, SEP, B, A, EOS], ["nothing"]),
    ],
)
def test_what_has_to_be_new_is_the_pair_or_the_input_or_both_sides_or_nothing(
    script: Script, said: list[int], kept_if_new: list[str]
) -> None:
    script([(said, -1.0)])
    for novelty in ("nothing", "pair", "input", "both"):
        found = sampler(replace(WARM, novelty=novelty, batch=1, patience=1), longest=10).sample(1, [0])[0]
        assert len(found) == (novelty in kept_if_new)
        assert dict(found.rejected) == ({} if novelty in kept_if_new else {KNOWN[novelty]: 1})


@pytest.mark.parametrize(("short", "long", "warned"), [(2, 1, True), (1, 2, False), (0, 3, False)])
def test_there_is_a_warning_if_most_outputs_have_an_improbable_token(
    script: Script, short: int, long: int, warned: bool
) -> None:
    """Of a sequence of six tokens none is less probable than 0.6, of one of four one is of 0.4."""
    sure = [[A, B, B, SEP, A, EOS], [B, B, A, SEP, A, EOS], [B, A, A, SEP, A, EOS]]
    unsure = [[A, SEP, A, EOS], [B, SEP, A, EOS]]
    script([(said, -1.0) for said in (*unsure[:short], *sure[:long])])
    found = sampler(replace(WARM, novelty="nothing", batch=3)).sample(3, [0])[0]
    assert len(found) == 3
    assert bool(found.warning) == (f"not sure of the outputs of {short} of these" in found.account) == warned


def test_a_sample_is_the_tokens_that_were_said(script: Script) -> None:
    script([(NEW, -2.5)])
    [sample] = found = sampler().sample(1, [0])[0]
    assert (sample, found.rejected) == (Example(("a", "b"), ("a", "a")), {})
    assert sample.provenance.method == "recombination"
    assert sample.provenance.log_probability == -2.5
    assert sample.provenance.sources == ("written",) * 4
    assert set(sample.provenance.prototypes) <= set(EXAMPLES)


def test_what_was_drawn_before_counts_once_and_so_does_what_was_not_accepted(script: Script) -> None:
    other = [A, SEP, B, EOS]
    script([(NEW, -1.0), (other, -1.0)])
    asked: list[Example] = []

    def accept(candidate: Example) -> str | None:
        asked.append(candidate)
        return "short" if len(candidate.x) == 1 else None

    found = sampler(replace(WARM, patience=4, batch=8)).sample(2, [0], accept)[0]
    assert list(found) == [Example(("a", "b"), ("a", "a"))]
    assert asked == [Example(("a", "b"), ("a", "a")), Example(("a",), ("b",))]
    assert dict(found.rejected) == {"short": 1, "drawn before": 6}


def ways(count: int) -> list[list[int]]:
    """So many new pairs, all different."""
    sides = [[A], [B], [A, A], [A, B], [B, A], [B, B]]
    pairs = [[*x, SEP, *y, EOS] for x in sides for y in sides if y != x[::-1]]
    return pairs[:count]


def test_of_a_surplus_the_most_probable_are_kept_best_first(script: Script) -> None:
    scores = [-3.0, -1.0, -4.0, -1.5, -9.0, -2.0, -0.1]
    script(list(zip(ways(7), scores, strict=True)))
    found = sampler(replace(WARM, surplus=1.5)).sample(4, [0])[0]  # the seventh is not needed any more
    assert [sample.provenance.log_probability for sample in found] == [-1.0, -1.5, -2.0, -3.0]
    assert found.rejected == {"less sure than those kept": 2}
    assert found.shortfall == ""
    asked = script([(said, -1.0) for said in ways(8)], [(said, -1.0) for said in ways(20)[8:16]])
    later = sampler().sample(12, [0])[0]  # goes on where the first batch ended
    assert (len(asked), len(set(later)), later.rejected) == (2, 12, {})


RISING = replace(WARM, decoding=Decoding("mixed", 0.3), batch=4, patience=4, warmer=0.3, max_temperature=1.0)


def test_or_those_whose_outputs_the_network_is_sure_of_token_by_token_one_for_each_input(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scripted outputs have log-probabilities of -A and -B, 5 and 6: per token -5/3, -6/3, -6/4, -5/2 and -6/2."""
    said = [[A, B, SEP, A, A], [B, A, SEP, B, B], [B, A, SEP, B, B, B], [A, B, SEP, A], [B, SEP, A]]
    assert (A, B) == (5, 6)
    script([([*ids, EOS], -float(number)) for number, ids in enumerate(said)])
    found = sampler(replace(WARM, confidence="output")).sample(3, [0])[0]
    assert [str(example) for example in found] == ["b a ▷ b b b", "a b ▷ a a", "b ▷ a"]
    assert [example.provenance.log_probability for example in found] == [-2.0, 0.0, -4.0]
    # Of those that it is sure of, longer ones as scripted here, the surest are no better than others.
    monkeypatch.setattr(sampling, "SURE", 0.6)
    found = sampler(replace(WARM, confidence="output")).sample(3, [0])[0]
    assert [str(example) for example in found] == ["a b ▷ a a", "b a ▷ b b b", "b ▷ a"]
    assert found.rejected == {"with a surer output for the same input": 2}
    assert [str(example) for example in found.turned_down] == ["b a ▷ b b", "a b ▷ a"]
    assert found.shortfall == ""


def test_patience_lost_the_temperature_rises_to_the_max_temperature_and_then_it_is_over(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = script([(ways(1)[0], -1.0)])
    found = sampler(RISING).sample(2, [0])[0]
    assert [decoding.temperatures[0] for decoding in asked] == pytest.approx([0.3, 0.6, 0.9, 1.0])
    assert {decoding.strategy for decoding in asked} == {"mixed"}
    assert len(found) == 1
    assert found.requested == 2
    assert found.rejected == {"drawn before": 15}
    assert found.shortfall == "Stopped at 1: another took more than 4 draws, at temperature 1."
    monkeypatch.setattr(sampling, "LEAST", 5)  # there is patience for some samples at least
    asked.clear()
    sampler(RISING).sample(2, [0])
    assert [round(decoding.temperatures[0], 9) for decoding in asked] == [0.3] * 5 + [0.6] * 5 + [0.9] * 5 + [1.0] * 5


def test_when_the_time_for_drawing_is_over_what_was_drawn_is_there(script: Script) -> None:
    asked = script(*([(each, 0.0)] for each in ways(3)))
    found = sampler(replace(WARM, batch=1)).sample(3, [0], seconds=0)[0]
    assert (len(asked), len(found)) == (1, 1)
    assert found.shortfall == "Stopped at 1: the time for drawing was over. Give more (max_time), or ask for fewer."


def test_every_sample_kept_buys_patience(script: Script) -> None:
    """Three samples in the first four draws: twelve draws before the temperature rises, and four after."""
    asked = script([(said, -1.0) for said in [*ways(3), ways(1)[0]]])
    sampler(RISING).sample(9, [0])
    assert [decoding.temperatures[0] for decoding in asked[:5]] == pytest.approx([0.3, 0.3, 0.3, 0.6, 0.9])


@pytest.mark.parametrize(
    ("settings", "said", "kept"),
    [
        (replace(WARM, decoding=Decoding("greedy"), patience=4), 1, 1),
        (replace(WARM, decoding=Decoding("beam"), patience=4), 1, 1),
        (replace(RISING, surplus=1.5), 2, 2),
    ],
    ids=["greedy", "beam", "surplus"],
)
def test_without_a_temperature_or_for_a_surplus_there_is_none_to_raise(
    script: Script, settings: SamplingSettings, said: int, kept: int
) -> None:
    """For the surplus three are wanted for two; there are two, and patience is lost with the second batch."""
    asked = script([(ids, -1.0) for ids in ways(said)])
    found = sampler(settings).sample(2, [0])[0]
    assert (len(found), bool(found.shortfall)) == (kept, kept < 2)
    assert {decoding.temperatures for decoding in asked} == {(settings.decoding.temperature,)}


def in_full(samples: Samples) -> list[object]:
    return [(sample, sample.provenance.prototypes, sample.provenance.sources) for sample in samples]


@pytest.mark.parametrize("architecture", [SCAN, MORPHOLOGY], ids=["scan", "morphology"])
@pytest.mark.parametrize("start", [0.3, 1.0])
def test_a_replicas_samples_do_not_depend_on_the_others(architecture: Architecture, start: float) -> None:
    """Over many draws, of which some replicas need fewer, and whose sequences end sooner in some."""

    settings = replace(WARM, decoding=Decoding("temperature", start), patience=8, warmer=0.3)

    def drawn(networks: Sequence[int], seeds: Sequence[int]) -> list[Samples]:
        return sampler(settings, architecture=architecture, seeds=networks, longest=40).sample(25, seeds)

    together = drawn((1, 2, 3), (4, 5, 6))
    assert len({tuple(samples) for samples in together}) == 3
    for replica, samples in enumerate(together):
        [alone] = drawn([1 + replica], [4 + replica])
        assert in_full(samples) == in_full(alone)
        assert (samples.rejected, samples.shortfall) == (alone.rejected, alone.shortfall)


@pytest.mark.slow
@pytest.mark.parametrize("novelty", ["nothing", "pair", "input"])
@pytest.mark.parametrize("side", ["x", "y", "both"])
def test_samples_are_the_same_whether_or_not_those_without_a_rare_token_are_looked_at(
    novelty: str, side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a resampler that calls "b" rare, and by its method, which does not say which tokens are common."""
    monkeypatch.setattr(sampling, "SHOWN", 0)
    resampler = Resampler(0.5, side=side).fit([Example(("a",), ("a",)), Example(("a",) * 2, ("a",)), EXAMPLES[1]])
    assert resampler.common == {"a"}
    settings = replace(WARM, novelty=novelty, batch=200, patience=400, max_temperature=1.0)

    def drawn(accept: Validator) -> list[Samples]:
        return sampler(settings, seeds=(1, 2), longest=12).sample(80, (4, 5), accept)

    for samples, expected in zip(drawn(resampler), drawn(resampler.__call__), strict=True):
        assert in_full(samples) == in_full(expected)
        assert len(samples) > 0
        assert sum(samples.rejected.values()) == sum(expected.rejected.values())
        for reason in ("too long", "malformed (no clear end of the input or output)"):
            assert samples.rejected.get(reason) == expected.rejected.get(reason)
        assert samples.rejected["without a rare token"] >= expected.rejected.get("without a rare token", 0)


@pytest.mark.parametrize("strategy", ["temperature", "mixed", "beam"])
def test_samples_are_the_same_whether_or_not_inputs_without_a_rare_token_are_left(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where "b" is rare and in inputs only; one replica of two accepts all."""
    examples = [Example(("a",) * length, ("a",) * (5 - length)) for length in range(1, 5)]
    examples.append(Example(("a", "b"), ("a",)))
    resampler = Resampler(0.5).fit(examples)
    settings = replace(WARM, decoding=Decoding(strategy, 1.0), batch=100, patience=300)
    stopped: list[torch.Tensor] = []

    def spying(*arguments: object, **others: object) -> Generated:
        found = generate(*arguments, **others)
        stopped.append(found.stopped)
        return found

    monkeypatch.setattr(batches, "generate", spying)

    def drawn() -> list[Samples]:
        own = sampler(settings, seeds=(1, 2), examples=examples, longest=12)
        return own.sample(12, (4, 5), [resampler, None])

    found = drawn()
    first, *others = stopped
    assert not first.any()  # for people to look at
    assert (sum(int(each[0].sum()) for each in others) > 20) == (strategy != "beam")
    assert not any(each[1:].any() for each in others)
    monkeypatch.setattr(Sampler, "_skip_without", lambda *_: None)
    stopped.clear()
    for samples, expected in zip(found, drawn(), strict=True):
        assert in_full(samples) == in_full(expected)
        assert len(samples) > 0 or strategy != "temperature"  # what is most probable may be no pair
        assert sum(samples.rejected.values()) == sum(expected.rejected.values())
    assert not any(each.any() for each in stopped)


def test_candidates_without_a_rare_token_are_counted_and_some_are_shown(script: Script) -> None:
    common, rare = [A, SEP, A, A, EOS], [B, SEP, A, EOS]
    script([(common, -1.0), (rare, -1.0), (common, -1.0), ([A, EOS], -1.0)])
    resampler = Resampler(0.5).fit([Example(("a",), ("a",)), Example(("a", "a"), ("a",)), Example(("b",), ("a",))])
    found = sampler(replace(WARM, patience=80, max_temperature=1.0)).sample(9, [0], resampler)[0]
    assert list(found) == [Example(("b",), ("a",))]
    assert found.rejected == {
        "without a rare token": 40,
        "malformed (no clear end of the input or output)": 20,
        "drawn before": 19,
    }
    assert found.turned_down.count(Example(("a",), ("a", "a"))) == sampling.SHOWN == 20


@pytest.mark.parametrize("spares", [0, 16])
@pytest.mark.parametrize("architecture", [SCAN, MORPHOLOGY], ids=["scan", "morphology"])
def test_sources_name_tokens_that_equal_the_samples(architecture: Architecture, spares: int) -> None:
    """Also where the network knows more ids than the data have tokens."""
    model = network(replace(architecture, vocabulary=7 + spares), seeds=(1, 2))
    model.unwritable[..., 7:] = True
    one = sampler(replace(WARM, batch=64), architecture=architecture, seeds=(1, 2))
    found = Sampler(model, EXAMPLES, VOCABULARY, one.prototypes, one.settings).sample(60, [1, 2])
    kinds: set[str] = set()
    for sample in (sample for samples in found for sample in samples):
        tokens = (*sample.x, *sample.y)
        provenance = sample.provenance
        assert len(provenance.sources) == len(tokens)
        for place, (token, source) in enumerate(zip(tokens, provenance.sources, strict=True), start=1):
            kind, _, position = source.partition(":")
            kinds.add(kind)
            if kind == "own":
                assert int(position) < place
                assert tokens[int(position) - 1] == token
            elif kind != "written":
                prototype = provenance.prototypes[int(kind) - 1]
                assert (*prototype.x, *prototype.y)[int(position) - 1] == token
    assert kinds == {"written", "1", "2"} | ({"own"} if architecture.own_attention else set())


def test_what_was_turned_down_says_why_and_where_it_came_from(script: Script) -> None:
    known = [A, B, SEP, B, A, EOS]
    script([(NEW, -1.0), (known, -2.0), ([A, EOS], -3.0), ([A, SEP, B, EOS], -4.0)])
    found = sampler(replace(WARM, patience=1)).sample(9, [0], lambda pair: "short" if len(pair.x) == 1 else None)[0]
    by_reason = {pair.provenance.details["rejected"]: pair for pair in found.turned_down}
    assert set(by_reason) == {"known", "short", "drawn before"}
    assert by_reason["known"] == Example(("a", "b"), ("b", "a"))
    assert by_reason["short"].provenance.log_probability == -4.0
    assert len(by_reason["short"].provenance.prototypes) == 2
    counts = Counter(pair.provenance.details["rejected"] for pair in found.turned_down)
    assert counts == {reason: min(sampling.SHOWN, found.rejected[reason]) for reason in by_reason}


@pytest.mark.slow
@pytest.mark.parametrize("start", [0.05, 1.0], ids=["temperatures rise", "one temperature"])
def test_however_many_draw_the_samples_are_the_same(start: float) -> None:
    settings = replace(WARM, decoding=Decoding("mixed", start), patience=3, warmer=0.3)
    population = sampler(settings, seeds=(1, 2), longest=40)
    alone, two, three = (
        population.sample(20, [3, 4], executor=executor) for executor in (SERIAL, Processes(2), Processes(3))
    )
    assert any(map(len, alone))
    assert alone == two == three


def test_what_draws_is_made_once_however_often_temperatures_rise() -> None:
    drawn: list[object] = []

    class Elsewhere(Serial):
        """Sends nothing, but is told what it would have to send."""

        here = False

        def outcomes(self, do, items):  # noqa: ANN001, ANN202
            drawn.append(do)
            return super().outcomes(do, items)

    settings = replace(WARM, decoding=Decoding("mixed", 0.05), patience=3, warmer=0.3)
    sampler(settings, seeds=(1,)).sample(20, [3], executor=Elsewhere())
    assert len(drawn) > 1
    assert len({id(do) for do in drawn}) == 1


@pytest.mark.parametrize("executor", [SERIAL, Processes(2)], ids=["here", "ahead"])
def test_those_that_have_enough_stop_drawing_and_the_others_draw_as_before(
    executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing: list[int] = []
    draw = batches.Batches.next

    def counted(self: batches.Batches, temperatures: batches.Temperatures) -> tuple[np.ndarray, batches.Batch]:
        drawing.append(len(temperatures))
        return draw(self, temperatures)

    monkeypatch.setattr(batches.Batches, "next", counted)
    population = sampler(replace(WARM, batch=4), seeds=(1, 2, 3), longest=40)
    accept = [None, lambda sample: None if len(sample.x) % 2 else "even", lambda _: "unwanted"]
    narrowed = population.sample(3, [3, 4, 5], accept, executor=executor)
    assert sorted(set(drawing), reverse=True) == [3, 2, 1]
    drawing.clear()
    monkeypatch.setattr(sampling, "NARROWER", -1)
    assert narrowed == population.sample(3, [3, 4, 5], accept)
    assert set(drawing) == {3}
    assert [len(samples) for samples in narrowed] == [3, 3, 0]


def test_prototypes_that_were_chosen_ahead_are_drawn_with_at_the_next_temperature() -> None:
    drawn: list[tuple[int, int, float]] = []
    numbers = itertools.count()

    def draw(request: batches.Request) -> batches.Batch:
        drawn.append((request.number, int(request.chosen[0]), request.temperatures[0]))
        return batches.Batch(0, [], *[np.zeros(0)] * 6)

    class Ahead(Serial):
        """Draws two more than are asked for."""

        def outcomes(self, do, items):  # noqa: ANN001, ANN202
            done = deque()
            for outcome in super().outcomes(do, items):
                done.append(outcome)
                if len(done) > 2:
                    yield done.popleft()

    found = batches.Batches(draw, lambda: np.array([next(numbers)]), Ahead())
    given = [int(found.next((temperature,))[0][0]) for temperature in (0.5, 0.5, 1.0, 1.0)]
    assert given == [0, 1, 2, 3]
    assert [each for each in drawn if each[2] == 0.5] == [(n, n, 0.5) for n in range(4)]
    assert [each for each in drawn if each[2] == 1.0] == [(n, n, 1.0) for n in range(2, 6)]


def test_a_batch_that_is_too_large_for_the_gpu_says_what_to_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> Generated:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(batches, "generate", full)
    message = r"8 candidates of each of 2 networks at a time\. Lower the batch.* to 2\."
    with pytest.raises(RecombineError, match=message):
        sampler(seeds=(1, 2)).sample(3, [3, 4])
