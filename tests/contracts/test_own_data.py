"""What the augmenters that users import have in common beyond the contract of all: any data, files, accounts."""

from pathlib import Path

import numpy as np
import pytest
from augmenters import EXAMPLES, OWN_DATA_CASES, Case, in_full

from recombine.augmentation.protocol import Samples
from recombine.augmentation.resample import Resampler
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import is_tag
from recombine.own_data.augmenters import OwnDataAugmenter

X = [" ".join(example.x) for example in EXAMPLES]
Y = [" ".join(example.y) for example in EXAMPLES]


@pytest.fixture(scope="module", params=OWN_DATA_CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return OWN_DATA_CASES[request.param]


@pytest.fixture(scope="module")
def fitted(case: Case) -> OwnDataAugmenter:
    return case.fitted


@pytest.fixture(scope="module")
def saved(fitted: OwnDataAugmenter, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to load it from with other settings, which takes no training."""
    folder = tmp_path_factory.mktemp("saved") / "model"
    fitted.save(folder)
    return folder


def test_columns_of_strings_teach_the_same_as_examples_and_grow_by_the_samples(
    case: Case, fitted: OwnDataAugmenter
) -> None:
    augmenter = case.kind(**case.settings)
    inputs, outputs = augmenter.fit_resample(np.array(X), np.array(Y))
    assert type(inputs) is type(outputs) is np.ndarray
    assert augmenter.examples_ == fitted.examples_ == EXAMPLES
    samples = augmenter.sample(20)
    assert in_full(samples) == in_full(fitted.sample(20))
    assert inputs.tolist() == [*X, *(" ".join(sample.x) for sample in samples)]
    assert outputs.tolist() == [*Y, *(" ".join(sample.y) for sample in samples)]


def test_scikit_learn_can_copy_it_and_change_its_settings(case: Case) -> None:
    augmenter = case.kind(**case.settings)
    copy = type(augmenter)(**augmenter.get_params(deep=False))  # what sklearn.base.clone does
    for name, value in augmenter.get_params().items():
        assert getattr(copy, name) is value
    assert {**copy.set_params(seed=9, n=3).get_params()} == {**augmenter.get_params(), "seed": 9, "n": 3}
    with pytest.raises(RecombineError, match="unknown setting 'sead'"):
        copy.set_params(sead=1)


def test_what_was_saved_gives_the_same_samples(
    case: Case, fitted: OwnDataAugmenter, saved: Path, tmp_path: Path
) -> None:
    again = case.kind.load(saved)
    assert in_full(again.sample(20)) == in_full(fitted.sample(20))
    assert again.report_.choices.keys() == fitted.report_.choices.keys()
    with pytest.raises(RecombineError, match="already"):
        fitted.save(saved)
    fitted.save(saved, force=True)
    for other in OWN_DATA_CASES.values():
        if other is not case:
            with pytest.raises(RecombineError, match="expected a"):
                other.kind.load(saved)
    with pytest.raises(RecombineError, match="the rarity is 'often', expected 'auto'"):
        case.kind.load(saved, rarity="often")
    with pytest.raises(RecombineError, match=f"this {case.kind.__name__} has not been fitted"):
        case.kind(**case.settings).save(tmp_path / "model")


@pytest.mark.parametrize(
    ("rarity", "told"),
    [
        (None, "nothing (as given: all samples are kept)"),
        ("auto", "tokens (6 tokens in fewer than"),
        (Resampler(0.5, side="x"), "tokens (3 tokens in fewer than 50.00%"),
        (Resampler(0.5, ngram=2, relevant=is_tag), "n-grams ("),
    ],
    ids=["all", "auto", "a resampler", "tags"],
)
def test_settings_that_are_data_are_saved_and_the_report_says_what_is_kept(
    case: Case, saved: Path, rarity: object, told: str, tmp_path: Path
) -> None:
    augmenter = case.kind.load(saved, n=7, seed=3, tokens="characters", rarity=rarity)
    assert f"rarity: {told}" in str(augmenter.report_)
    augmenter.save(tmp_path / "model")
    again = case.kind.load(tmp_path / "model")
    for name, value in augmenter.get_params().items():
        assert repr(getattr(again, name)) == repr(value)
    assert list(map(str, again.report_.choices.values())) == list(map(str, augmenter.report_.choices.values()))


def accept_all(_: Example) -> None:
    """A function, as users have them."""


def test_functions_are_given_again_or_a_warning_says_so(case: Case, saved: Path, tmp_path: Path) -> None:
    own = {"validator": accept_all, "rarity": accept_all}
    case.kind.load(saved, **own).save(tmp_path / "model")
    again = case.kind.load(tmp_path / "model", **own)
    assert (again.validator, again.rarity) == (accept_all, accept_all)
    assert again.report_.choices["rarity"].name == "your own"
    instead = f"validator=None, rarity={case.kind().rarity!r}"
    with pytest.warns(RuntimeWarning, match=f"functions are not saved, so there is {instead} where there was one"):
        case.kind.load(tmp_path / "model")
    with pytest.warns(RuntimeWarning, match="so there is validator=None where"):
        assert case.kind.load(tmp_path / "model", rarity=None).rarity is None


@pytest.mark.parametrize(
    ("setting", "words"),
    [({"validator": "foo"}, "the validator is 'foo', expected a function or None"), ({"seed": "a"}, "seed is 'a'")],
)
def test_settings_that_are_none_cost_no_work(
    case: Case, setting: dict[str, object], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case.kind, "_learn", lambda *_: pytest.fail("it learned"))
    with pytest.raises(RecombineError, match=words):
        case.kind(**{**case.settings, **setting}).fit(EXAMPLES)


@pytest.mark.parametrize("setting", ["rarity", "validator", "accept"])
def test_functions_that_fail_are_named(case: Case, saved: Path, setting: str) -> None:
    def broken(sample: Example) -> bool:
        return sample.x["verb"]  # type: ignore[call-overload, no-any-return]

    own = {} if setting == "accept" else {setting: broken}
    augmenter = case.kind.load(saved, **own)
    with pytest.raises(
        RecombineError, match=f"the {setting} function broken raised TypeError: .* for the sample '.* ▷ "
    ):
        augmenter.sample(3, accept=broken if setting == "accept" else None)


def test_its_own_number_of_samples_and_seed_are_used_unless_others_are_given(
    case: Case, fitted: OwnDataAugmenter
) -> None:
    assert in_full(fitted.sample()) == in_full(fitted.sample(case.settings["n"], seed=case.settings.get("seed", 0)))
    assert len(fitted.sample(3)) == 3
    with pytest.raises(RecombineError, match="the accept is 'short', expected a function or None"):
        fitted.sample(3, accept="short")  # type: ignore[arg-type]


def test_it_is_shown_in_a_few_lines(fitted: OwnDataAugmenter) -> None:
    samples = fitted.sample(20)
    head, *examples, rest = repr(samples).splitlines()
    assert head == samples.account
    assert examples == [f"  {sample}" for sample in samples[:3]]
    assert rest == "  … and 17 more"
    assert "more" not in repr(fitted.sample(3))
    assert repr(fitted.report_) == str(fitted.report_)
    assert len(repr(fitted.report_)) < 1000
    long = Example(("word",) * 1000, ("WORD",) * 1000)  # long examples and many reasons are cut
    head, *lines = repr(Samples((long,) * 2, 2, {f"reason {n:02}": n for n in range(100)})).splitlines()
    assert head.startswith("2 of 2 samples; rejected: 90 reason 90, ")
    assert head.endswith(f"99 reason 99, {sum(range(90)):,} for other reasons.")
    assert lines == [f"  {str(long)[:100]}…"] * 2


def test_the_report_counts_what_was_tried_kept_and_rejected(case: Case, saved: Path) -> None:
    augmenter = case.kind.load(saved, validator=lambda sample: "hops" if "hop" in sample.x else None)
    assert augmenter.report_.examples == len(EXAMPLES)
    assert (augmenter.report_.tried, augmenter.report_.samples) == (0, None)
    asked = []

    def picky(sample: Example) -> str | None:
        asked.append(sample)
        return "skips" if "skip" in sample.x else None

    samples = augmenter.sample(10, accept=picky)
    assert not any({"hop", "skip"} & {*sample.x} for sample in samples)
    report = augmenter.report_
    assert report.kept == len(samples) == 10
    assert report.rejected["skips"] == sum("skip" in sample.x for sample in asked) > 0
    assert report.rejected["hops"] > 0
    assert report.tried == 10 + sum(report.rejected.values())
    assert "skips" in str(report)
    assert f"rarity: {report.choices['rarity'].name}" in str(report)
