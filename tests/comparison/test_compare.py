"""Comparisons from end to end, with tiny networks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import failing
from tiny_networks import PREDICTOR, SAMPLING, SPANS_GENERATOR, WORD_FORM_PREDICTOR
from toy_task import QUICK_GENERATOR, TASK, VERBS, example
from word_forms import write_language

from recombine.augmentation.protocol import Samples
from recombine.augmentation.sampler import TIME_OVER
from recombine.comparison.compare import (
    BY_GECA,
    GENERATORS,
    LEARNED,
    OVERSAMPLE,
    PLAIN,
    PREDICTORS,
    Comparison,
    Drawn,
    Plan,
    _training,
    compare,
    draw,
    forget,
    suited,
)
from recombine.comparison.document import SAMPLES, TRACED, run_record, write_samples
from recombine.comparison.splitting import Split, given, hold_out
from recombine.comparison.verdict import BOTH
from recombine.data import files
from recombine.errors import NothingMade, RecombineError
from recombine.example import Example
from recombine.execution.progress import Report
from recombine.own_data import augmenters
from recombine.own_data.augmenters import Auto
from recombine.own_data.settings import Display
from recombine.prediction.predictor import Predictor
from recombine.report.run import Run, read_run, write_run
from recombine.training import presets

METHODS = (PLAIN, OVERSAMPLE, BY_GECA, "spans", LEARNED, BOTH)
PLAN = Plan(methods=METHODS, seeds=2, n=12, device="cpu", epsilon=0.03)


@pytest.fixture(scope="module", autouse=True)
def _tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recombine.own_data.networks.SMALL_STEPS", 250)
        # What they say has nothing to do with what goes together.
        patch.setattr("recombine.own_data.augmenters.agreement_filter", lambda *_: None)
        patch.setattr("recombine.augmentation.recombination.DEFAULT_SAMPLING", SAMPLING)
        patch.setattr(presets, "SMALL_GENERATOR", replace(QUICK_GENERATOR, held_out=0.1))
        patch.setattr(presets, "SMALL_SPANS_GENERATOR", replace(SPANS_GENERATOR, held_out=0.1))
        for name in ("SMALL_PREDICTOR", "SMALL_DATA_PREDICTOR"):
            patch.setattr(presets, name, replace(PREDICTOR, epochs=5, held_out=0.1))
        patch.setattr(presets, "SMALL_WORD_FORM_PREDICTOR", replace(WORD_FORM_PREDICTOR, epochs=1))
        yield


def task_split() -> Split:
    tests = [*TASK.test, *(example(f"{verb} and {verb} thrice") for verb in VERBS)]
    return given(TASK.train, tests, epsilon=PLAN.epsilon)


REPORTED: dict[str, tuple[int, int]] = {}
"""How far each stage was when it last reported, and of how much."""


@contextmanager
def noting(what: str, *_: object) -> Iterator[Report]:
    yield lambda done, total, _: REPORTED.update({what: (done, total)})


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(task_split(), PLAN, display=Display(progress=noting))


def record(found: Comparison) -> Run:
    return run_record(found, title="toy", command="recombine compare toy.tsv", provenance={"commit": "none"})


def test_every_method_is_scored_with_every_seed_on_every_part(found: Comparison) -> None:
    assert tuple(found.judged) == METHODS
    rare = sum(found.split.rare)
    others = len(found.split.test) - rare
    for parts in found.judged.values():
        for all_, one, other in zip(*(parts[part].scores for part in ("all", "rare", "other")), strict=True):
            assert all_ == pytest.approx((one * rare + other * others) / (rare + others))
    assert found.judged[PLAIN]["rare"].p is None
    assert found.judged[LEARNED]["rare"].p is None  # 7 rare test examples are too few


def test_new_examples_come_from_training_alone(found: Comparison) -> None:
    train = set(found.split.train)
    candidates, wanted = REPORTED["Drawing candidates for 2 x 12 samples"]
    assert sum(map(len, found.drawn.samples[LEARNED])) <= candidates <= wanted
    for method in (OVERSAMPLE, BY_GECA, "spans", LEARNED):
        for samples in found.drawn.samples[method]:
            assert len(samples) == PLAN.n
            for sample in samples:
                wholes = [str(whole) for name, whole in sample.provenance.details.items() if "whole" in name]
                assert {*wholes} <= {*map(str, train)}
                assert wholes or set(sample.provenance.prototypes) <= train
                assert bool(wholes) == (method == LEARNED)
    for samples in found.drawn.samples[OVERSAMPLE]:
        assert set(samples) == {example("jump")}
    for samples in (*found.drawn.samples[BY_GECA], *found.drawn.samples[LEARNED]):
        assert all("jump" in sample.x or "JUMP" in sample.y for sample in samples)  # resampled
    assert all(not samples for samples in found.drawn.samples[PLAIN])


def test_both_has_as_many_samples_as_the_others_half_of_them_by_rule(found: Comparison) -> None:
    for samples, by_rule in zip(found.drawn.samples[BOTH], found.drawn.samples[BY_GECA], strict=True):
        assert [sample.provenance.method for sample in samples] == ["geca"] * 6 + ["recombination"] * 6
        assert list(samples[:6]) == list(by_rule[:6])
        assert len({sample.x for sample in samples}) == PLAN.n


def test_where_one_of_two_made_nothing_both_is_the_other(found: Comparison) -> None:
    nothing, drawn = [Samples((), PLAN.n)] * PLAN.seeds, found.drawn.samples
    for none, other in ((BY_GECA, LEARNED), (LEARNED, BY_GECA)):
        training = _training(PLAN, Drawn({**drawn, none: nothing, BOTH: drawn[other]}), found.history)
        assert (training.without_samples, training.only_of_both) == ([none], other)
        assert f"{none} made no samples" in replace(found, training=training).verdict
        assert f"both together is {other} alone" in replace(found, training=training).verdict
    without = Drawn({**drawn, BY_GECA: nothing, LEARNED: nothing, BOTH: nothing})
    assert _training(PLAN, without, found.history).without_samples == [BY_GECA, LEARNED, BOTH]


def test_the_document_is_what_a_report_reads(found: Comparison, tmp_path: Path) -> None:
    write_run(record(found), tmp_path)
    run = read_run(tmp_path)
    assert run == record(found)
    assert run.data.train == len(TASK.train)
    assert run.data.rare_test == sum(found.split.rare)
    assert [row.method for row in run.comparison] == list(METHODS)
    assert run.network == str(found.network)
    assert run.alignment
    for one in run.alignment:
        assert Example(one.x, one.y) in found.split.train
        assert set(one.links[: len(one.x)]) - {0} == set(one.links[len(one.x) :]) - {0} != set()
    assert run.comparison[4].scores.rare == found.judged[LEARNED]["rare"].scores
    assert [row.new_examples for row in run.comparison] == [(made, made) for made in (0, 12, 12, 12, 12, 12)]
    assert [curve.method for curve in run.curves] == list(METHODS)
    assert all(len(point) == PLAN.seeds for curve in run.curves for point in (*curve.loss, *curve.held_out))
    assert run.curves[0].steps == tuple(run.curves[0].steps[0] * epoch for epoch in range(1, 6))
    assert run.curves[0].steps[-1] == REPORTED["Training 12 predictors"][0]
    shown = [method for method in (LEARNED, "spans", BY_GECA, OVERSAMPLE) for _ in range(12)]
    assert [sample.method for sample in run.samples] == shown
    traced = [attention for attention in run.attention if attention is not None]
    assert len(traced) == min(TRACED, SAMPLES, PLAN.n)
    for attention, sample in zip(traced, run.samples, strict=False):
        assert attention.tokens == (*sample.x, "▷", *sample.y, "end")
        assert all(sum(step) == pytest.approx(1, abs=0.02) for steps in attention.weights for step in steps)
    (jump,) = (row for row in run.rarity if row.token == "jump")
    samples = found.drawn.samples[LEARNED][0]
    assert (jump.before, jump.after) == (1, 1 + sum("jump" in sample.x for sample in samples))
    assert run.rejected == {
        reason: sum(each.rejected.get(reason, 0) for drawn in found.drawn.samples.values() for each in drawn)
        for reason in run.rejected
    }
    assert run.verdict == found.verdict


def test_the_verdict_knows_how_training_went(found: Comparison) -> None:
    plain = [[epoch[seed] for epoch in found.history.evaluation] for seed in range(PLAN.seeds)]
    assert found.training.held_out == pytest.approx(sum(map(max, plain)) / len(plain))
    assert not found.training.cut_short
    assert found.training.without_samples == []
    short = replace(found, training=replace(found.training, cut_short=True))
    assert "training, or drawing samples, was cut short by a bound on time." in short.verdict
    fewer = [Samples((), PLAN.n, shortfall=f"Stopped at 0: {TIME_OVER}.")] * PLAN.seeds
    assert _training(PLAN, Drawn({**found.drawn.samples, LEARNED: fewer}), found.history).cut_short


def test_the_same_seeds_give_the_same_bytes_also_after_an_interruption(
    found: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Predictor, "fit_each", failing(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            compare(task_split(), PLAN, folder=tmp_path)
    assert (tmp_path / GENERATORS).exists()
    with monkeypatch.context() as patch:
        for augmenter in (augmenters.OwnDataAugmenter, augmenters.Augmenter):
            patch.setattr(augmenter, "_draw", failing(AssertionError("what was drawn is kept")))
        again = compare(task_split(), PLAN, folder=tmp_path)
    assert (tmp_path / PREDICTORS).exists()
    said: list[str] = []
    # As after a kill between training and writing.
    over = compare(task_split(), PLAN, folder=tmp_path, display=Display(say=said.append))
    assert not any("starts over" in sentence for sentence in said)
    assert record(over) == record(found)
    for method, every in found.drawn.samples.items():
        for samples, once, twice in zip(every, again.drawn.samples[method], over.drawn.samples[method], strict=True):
            assert samples == once == twice
            assert [sample.provenance for sample in samples] == [sample.provenance for sample in once]
    forget(tmp_path)
    assert not list(tmp_path.iterdir())
    assert record(again) == record(found)


def test_samples_of_another_run_or_damaged_ones_are_drawn_again(tmp_path: Path) -> None:
    plan = replace(PLAN, methods=["auto", BY_GECA], seeds=1)
    first = draw(task_split(), plan, folder=tmp_path).samples["auto"]
    said: list[str] = []
    again = draw(task_split(), plan, folder=tmp_path, display=Display(say=said.append)).samples["auto"]
    assert again == first
    assert not any("auto takes" in line for line in said)  # no second rehearsal
    assert len(draw(task_split(), replace(plan, n=2), folder=tmp_path).samples[BY_GECA][0]) == 2
    for content in ("[]", "1", "{}", (tmp_path / "auto.drawn").read_text()[:-1], '{"digest": 1}'):
        (tmp_path / "auto.drawn").write_text(content)
        assert draw(task_split(), plan, folder=tmp_path).samples["auto"] == first


def test_the_state_of_a_run_with_other_settings_is_told_of_and_kept_until_the_end(tmp_path: Path) -> None:
    plan = replace(PLAN, methods=[BY_GECA])
    compare(task_split(), plan, folder=tmp_path)
    before = (tmp_path / PREDICTORS).read_bytes()
    said: list[str] = []
    compare(task_split(), replace(plan, seed=2), folder=tmp_path, display=Display(say=said.append))
    (sentence,) = (sentence for sentence in said if "starts over" in sentence)
    assert str(tmp_path / PREDICTORS) in sentence
    (aside,) = (path for path in tmp_path.iterdir() if ".old-" in path.name)
    assert str(aside) in sentence
    assert aside.read_bytes() == before != (tmp_path / PREDICTORS).read_bytes()
    forget(tmp_path)
    assert not list(tmp_path.iterdir())


def test_word_forms_are_told_by_their_form(tmp_path: Path) -> None:
    every = files.read(write_language(tmp_path, "made-up"), format="sigmorphon")
    forms = every[:90:2]
    split = hold_out(forms)
    asked = split.questions(split.test, "analysis")
    assert {(question.y, question.x) for question in asked} == {(form.x, form.y) for form in split.test}
    (none,) = draw(split, replace(PLAN, methods=["spans"], seeds=1)).samples["spans"]
    assert none.shortfall.startswith("Spans do not suit word forms")
    by_default = ("auto", OVERSAMPLE, BY_GECA, "spans", LEARNED)
    assert tuple(Plan().methods) == by_default
    assert suited(by_default, TASK.train) == [*by_default]
    assert suited(by_default, forms) == [LEARNED, OVERSAMPLE, BY_GECA, BOTH]  # as no tag is rare; it is trained once
    rare = [form for form in every if "[PST]" not in form.x][:300] + [form for form in every if "[PST]" in form.x][:8]
    assert suited(by_default, rare) == ["auto", OVERSAMPLE, BY_GECA, BOTH, LEARNED]
    assert suited(by_default[1:], rare) == [*by_default[1:]]
    (by_rule,) = draw(split, replace(PLAN, methods=["paradigms"], seeds=1)).samples["paradigms"]
    assert {sample.provenance.method for sample in by_rule if sample.provenance} == {"paradigms"}
    made = compare(split, replace(PLAN, methods=[BY_GECA], seeds=1, epsilon=None))
    assert tuple(made.judged) == (PLAIN, BY_GECA)
    assert made.drawn.networks is None


def test_a_method_without_samples_is_compared_all_the_same() -> None:
    split = given(TASK.train[-20:], TASK.test, epsilon=1e-3)  # nothing is rare in them
    made = compare(split, replace(PLAN, methods=[OVERSAMPLE], seeds=1, epsilon=1e-3))
    assert [len(samples) for samples in made.drawn.samples[OVERSAMPLE]] == [0]
    assert made.judged[OVERSAMPLE]["all"].scores == made.judged[PLAIN]["all"].scores
    assert "versample made no samples, so it is the plain predictor" in made.verdict


def test_methods_and_settings_are_checked() -> None:
    for change, words in (({"methods": ["learnd"]}, "learned"), ({"size": "smal"}, "small"), ({"p_aug": 1.0}, "p_aug")):
        with pytest.raises(RecombineError, match=words):
            replace(PLAN, **change).check()
    alone = replace(PLAN, methods=[BOTH])
    alone.check()
    assert (alone.ordered, alone.learns) == ([PLAIN, BOTH], True)
    assert not replace(PLAN, methods=[OVERSAMPLE, BY_GECA]).learns


def test_it_is_said_which_samples_are_kept_and_draws_do_not_depend_on_who_else_is_compared() -> None:
    for epsilon, kept in ((0.03, "samples with something rare in them are kept"), (1e-3, "all")):
        said: list[str] = []
        split = given(TASK.train, TASK.test, epsilon=epsilon)
        alone = draw(split, replace(PLAN, methods=[BY_GECA]), display=Display(say=said.append)).samples[BY_GECA]
        assert said[0].startswith("geca: ")
        assert kept in said[0]
        beside = draw(split, replace(PLAN, methods=[OVERSAMPLE, BY_GECA])).samples[BY_GECA]
        assert all(alone)
        assert [list(samples) for samples in alone] == [list(samples) for samples in beside]


def test_samples_of_code_are_written_with_their_texts(tmp_path: Path) -> None:
    samples = Samples((Example(("set", "it"), ("set", "(", "it", ")")),), 1)
    drawn = SimpleNamespace(drawn=SimpleNamespace(samples={"geca": [samples]}), plan=SimpleNamespace(seed=0))
    folder = write_samples(drawn, tmp_path, tokens="code")
    assert '"output": "set(it)"' in (folder / "geca.0.jsonl").read_text()


def test_a_bound_on_time_is_that_of_all_trainings_and_drawings() -> None:
    assert Plan().bound is None
    assert Plan(methods=["geca"], max_time=90).bound == 90
    assert Plan(methods=["geca", "learned", "both"], max_time=20).bound == 2 * 20 + 2 * 60
    assert Plan(max_time=20).bound == 2 * 20 + 2 * 60  # auto is rehearsed in the time of a drawing


def test_auto_is_rehearsed_within_the_bound_and_says_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def fit(self: Auto, *_: object) -> None:
        asked.append(self.rehearse)
        raise NothingMade("no rule can be trusted.")

    said: list[str] = []
    plan = replace(PLAN, methods=["auto"], n=2, seeds=1)
    (made,) = draw(task_split(), plan, display=Display(say=said.append)).samples["auto"]
    assert made.estimate is not None
    assert [line.split(": ")[0] for line in said] == ["auto takes geca", "auto"]
    with monkeypatch.context() as patch:
        patch.setattr(Auto, "fit", fit)
        for seconds in (None, 1, 100, 1000):
            (none,) = draw(task_split(), replace(plan, max_time=seconds)).samples["auto"]
    assert none.shortfall == "No rule can be trusted."
    assert asked == [30, 15, 25, 30]
