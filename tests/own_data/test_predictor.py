"""The predictor for one's own data."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny_networks import PREDICTOR, WORD_FORM_PREDICTOR

from recombine import Oversampler, Predictor
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.inflection import Inflection, join_text, reordered, split_text
from recombine.own_data.inputs import Side, as_examples
from recombine.training import presets

PAIRS = [("a b", "B A"), ("b a", "A B"), ("a", "A"), ("b", "B"), ("a a", "A A"), ("b b", "B B")]
FORMS = {"PST": "di", "PRS": "ir"}


def tiny(**settings: object) -> Predictor:
    return Predictor(**{"network": PREDICTOR, "device": "cpu", **settings})


@pytest.fixture(scope="module")
def fitted() -> Predictor:
    return tiny(epochs=150).fit(PAIRS)


def test_outputs_come_in_the_form_of_inputs(fitted: Predictor) -> None:
    assert fitted.predict("a b") == "B A"
    assert fitted.predict(("a", "b")) == ("B", "A")
    assert fitted.predict(["b a", ("a",), ["b"]]) == ["A B", ("A",), ("B",)]
    assert fitted.predict(x for x, _ in PAIRS) == [y for _, y in PAIRS]
    assert fitted.predict([]) == []
    assert fitted.predict([Example(("b",), ("C",))]) == [("B",)]  # of examples, the inputs count


def test_the_score_is_the_share_that_is_exactly_right(fitted: Predictor) -> None:
    assert fitted.score(PAIRS) == 1.0
    assert fitted.score([*PAIRS[:3], ("a", "B")]) == 0.75
    assert fitted.score([Example(("b",), ("B",))]) == 1.0


def test_what_was_saved_predicts_the_same(fitted: Predictor, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    again = Predictor.load(tmp_path / "model", device="cpu")
    assert again.predict([x for x, _ in PAIRS]) == [y for _, y in PAIRS]
    assert again.seed == fitted.seed
    assert repr(again.report_) == repr(fitted.report_).removeprefix("6 different examples\n")
    assert "length: 150 epochs (as given)" in repr(again.report_)
    with pytest.raises(RecombineError, match="replace it: `force=True`"):
        fitted.save(tmp_path / "model")


@pytest.mark.parametrize(
    "column",
    [list, tuple, np.array, lambda column: np.array(column)[:, None], lambda column: np.array(column, dtype=object)],
)
def test_columns_are_inputs_and_outputs(fitted: Predictor, column: Callable[[list[str]], object]) -> None:
    X, y = (column([pair[side] for pair in PAIRS]) for side in (0, 1))
    again = tiny(epochs=2).fit(X, y)
    plain = tiny(epochs=2).fit(PAIRS)
    inputs = list(X) if isinstance(X, tuple) else X  # a tuple is one input
    assert again.predict(inputs) == plain.predict(inputs)
    assert fitted.predict(inputs) == [pair[1] for pair in PAIRS]
    assert fitted.score(X, y) == 1.0
    with pytest.raises(RecombineError, match="not one output for each input"):
        tiny().fit(X, y[:3])
    with pytest.raises(RecombineError, match="no pair of an input and an output"):
        tiny().fit(list(map(str, np.ravel(X))))


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([pair[0] for pair in PAIRS], [tuple(pair[1].split()) for pair in PAIRS]),
        ([("a", "b"), ("b", "a")], [("B", "A"), ("A", "B")]),  # these are no pairs (input, output)
    ],
)
def test_outputs_may_be_tokens_beside_strings_or_tokens(X: list[Side], y: list[Tokens]) -> None:
    pairs = as_examples(X, y)
    columns, examples = (tiny(epochs=2).fit(*data) for data in ((X, y), (pairs,)))
    assert columns.predict(X) == examples.predict(X)
    assert columns.networks_.vocabulary_.tokens == examples.networks_.vocabulary_.tokens
    assert Oversampler(rarity=None).fit(X, y).examples_ == tuple(pairs)
    with pytest.raises(RecombineError, match="y holds examples, expected outputs"):
        tiny().fit(pairs, pairs)


def test_each_network_has_new_examples_of_its_own() -> None:
    new = [[("c", "C")], [("d", "D")], []]
    predictor = tiny(epochs=2, seeds=3).fit(PAIRS, augmented_each=new)
    assert predictor.networks_.seeds == (0, 1, 2)
    alone = tiny(epochs=2).fit(PAIRS, augmented=new[0])
    assert predictor.report_.choices["p_aug"] == alone.report_.choices["p_aug"]
    assert {"c", "d"} <= {*predictor.networks_.vocabulary_.tokens}


def test_it_ends_a_pipeline_and_scikit_learn_can_copy_it() -> None:
    base, pipeline = pytest.importorskip("sklearn.base"), pytest.importorskip("imblearn.pipeline")
    copy = base.clone(Predictor(seed=4, tokens="characters", network=PREDICTOR))
    assert (copy.seed, copy.tokens, copy.network) == (4, "characters", PREDICTOR)
    X, y = (np.array([pair[side] for pair in PAIRS], dtype=object) for side in (0, 1))
    found = pipeline.Pipeline([("more", Oversampler(n=5, rarity=None)), ("predict", tiny(epochs=2))]).fit(X, y)
    assert found.predict(X) == tiny(epochs=2).fit(X, y).predict(X)


@pytest.mark.parametrize("tokens", ["characters", "words"])
def test_strings_are_read_as_characters_where_tokens_were_asked_to_be_or_were(tmp_path: Path, tokens: str) -> None:
    pairs = [(x.replace(" ", ""), y.replace(" ", "")) for x, y in PAIRS]
    examples = [Example(tuple(x), tuple(y)) for x, y in pairs]
    predictor = tiny(tokens=tokens, epochs=150).fit(pairs if tokens == "characters" else examples)
    predictor.save(tmp_path / "model")
    for each in (predictor, Predictor.load(tmp_path / "model", device="cpu")):
        assert (each.tokens, each.predict("ab")) == (tokens, "BA")
        if tokens == "words":
            # Words of one character are possible, too. How a string is read does not depend on those beside it.
            assert each.predict("a b") == "B A"
            assert each.predict(["ab", "a b", "a"]) == ["BA", "B A", "A"]
    assert Predictor.load(tmp_path / "model", tokens="words", device="cpu").tokens == "words"


@pytest.mark.parametrize("tokens", ["words", "characters"])
def test_word_forms_go_in_and_out_as_strings(tokens: str, tmp_path: Path) -> None:
    words = [Inflection(lemma, ("V", tag), lemma + end) for lemma in ("al", "el") for tag, end in FORMS.items()]
    analysis = ("a", "l", "[V]", "[PST]")
    recipe = replace(WORD_FORM_PREDICTOR, epochs=2)
    inflecting = tiny(network=recipe, tokens=tokens).fit(word.for_generation for word in words)
    inflecting.save(tmp_path / "model")
    for each in (inflecting, Predictor.load(tmp_path / "model", device="cpu")):
        assert each.predict("al [V] [PST]") == join_text(each.predict(analysis))
    analyzing = tiny(network=recipe, tokens=tokens).fit(reordered(word.for_generation) for word in words)
    assert analyzing.predict("aldi") == join_text(analyzing.predict(tuple("aldi")))


def test_the_text_of_a_word_form_is_taken_apart_as_it_was_put_together() -> None:
    for text, tokens in {
        "aldi": tuple("aldi"),
        "al ver [V] [PST]": (*"al ver", "[V]", "[PST]"),
        "[V]": ("[V]",),
    }.items():
        assert split_text(text) == tokens
        assert join_text(tokens) == text


def test_the_mixing_rate_is_chosen_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presets, "SMALL_DATA_PREDICTOR", PREDICTOR)
    told = []
    for p_aug in (None, 0.05):
        predictor = Predictor(device="cpu", epochs=1).fit(PAIRS, augmented=[("a b a", "A B A")], p_aug=p_aug)
        told.append(predictor.report_.choices["p_aug"])
    assert [choice.value for choice in told] == [pytest.approx(1 / 7), 0.05]
    assert list(map(str, told)) == ["0.14: 1 new examples beside 6", "0.05: as given"]


def test_the_report_says_what_was_chosen_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presets, "SMALL_DATA_PREDICTOR", PREDICTOR)
    predictor = Predictor(device="cpu", epochs=1)
    assert predictor.report_ is None
    report = predictor.fit(PAIRS).report_
    assert report.examples == len(PAIRS)
    assert list(report.choices) == ["size", "network", "length"]
    for what, choice in report.choices.items():
        assert f"{what}: {choice.name} ({choice.reason})" in repr(report).splitlines()


@pytest.mark.parametrize("inputs", ["zebra a zebra", ("zebra", "a"), ["a", "a zebra", "zebra a"]])
def test_tokens_never_seen_are_named_once_a_call(fitted: Predictor, inputs: object) -> None:
    with pytest.warns(RuntimeWarning) as told:
        fitted.predict(inputs)
    assert [str(warning.message) for warning in told] == ["Tokens never seen in training: 1 (zebra)."]
    assert told[0].filename == __file__
    names = [f"z{n:02}" for n in range(12)]
    with pytest.warns(RuntimeWarning, match=rf"12 \({', '.join(names[:10])} and 2 more\)"):
        fitted.score([(" ".join(names), "A")])


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda _: Predictor().predict("a"), "this Predictor has not been fitted"),
        (lambda _: Predictor().score(PAIRS), "this Predictor has not been fitted"),
        (lambda _: Predictor().save("x"), "this Predictor has not been fitted"),
        (lambda _: Predictor(device="cpu").fit([]), "needs at least 1 example"),
        (lambda _: tiny().fit(PAIRS, augmented=PAIRS, p_aug=2), "p_aug is 2"),
        (lambda _: tiny().fit(PAIRS, augmented=PAIRS, p_aug="a"), "p_aug is 'a', expected a number"),
        (lambda _: tiny().fit(PAIRS, p_aug=0.1), r"p_aug is 0\.1, but there are no new examples"),
        (lambda _: tiny().fit([1, 2]), "data:1"),
        (lambda _: tiny().fit([[1, 2]]), "data:1"),
        (lambda _: tiny(network="big").fit(PAIRS), "unknown size 'big'"),
        (lambda fitted: fitted.predict(["a", ""]), "inputs:2: the input is empty"),
        (lambda fitted: fitted.predict(None), "None is no input"),
        (lambda fitted: fitted.predict(["a", None]), "inputs:2: the input is 'None'"),
        (lambda fitted: fitted.score([]), "nothing to score"),
    ],
)
def test_what_cannot_be_done_is_said(fitted: Predictor, ask: Callable[[Predictor], object], words: str) -> None:
    with pytest.raises(RecombineError, match=words):
        ask(fitted)
