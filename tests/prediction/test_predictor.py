from dataclasses import replace
from pathlib import Path

import pytest
from networks import NAMED, SCAN, network
from tiny_networks import PREDICTOR, WORD_FORM_PREDICTOR
from toy import EXAMPLES, VOCABULARY

from recombine.decoding.generate import Decoding
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.models.architecture import Architecture
from recombine.prediction.predictor import Predictor
from recombine.training.fitted import Fitted, History
from recombine.training.recipe import Recipe
from recombine.training.renaming import SPARES

VERBS = ("walk", "run", "look")
TRAIN = [
    *(Example((verb,), (verb.upper(),)) for verb in (*VERBS, "jump")),
    *(Example((verb, "twice"), (verb.upper(),) * 2) for verb in VERBS),
    *(Example((one, "and", two), (one.upper(), two.upper())) for one in VERBS for two in VERBS),
]
COPIERS = {"joint": replace(SCAN, prototypes=1, state_dropout=0.0), "own": NAMED["morphology-1"]}


def untrained(architecture: Architecture, seed: int, *, spares: int = 0) -> Predictor:
    """A network that copies what it likes, surer of itself than before training."""
    architecture = replace(architecture, vocabulary=len(VOCABULARY) + spares)
    predictor = Predictor(Recipe(network=architecture), seeds=(seed,), device="cpu")
    predictor.vocabulary_, predictor.longest_ = VOCABULARY, 8
    model = network(architecture, (seed,))
    model.unwritable[..., len(VOCABULARY) :] = True
    predictor.fitted_ = Fitted(model, History())
    return predictor


@pytest.mark.parametrize("decoding", [Decoding("greedy"), Decoding("beam", width=3)], ids=["greedy", "beam"])
@pytest.mark.parametrize("spares", [0, SPARES])
@pytest.mark.parametrize("name", COPIERS)
def test_what_was_never_seen_can_be_copied(name: str, spares: int, decoding: Decoding) -> None:
    """Each unknown token by its own name; also where a network knows more ids than the data have tokens."""
    inputs = [("uno", "due", "uno", "tre"), ("a", "quattro"), ("b", "a", "b")]
    copied: set[str] = set()
    for seed in range(12):
        [predictions] = untrained(COPIERS[name], seed, spares=spares).predict(inputs, decoding)
        for x, prediction in zip(inputs, predictions, strict=True):
            assert set(prediction.y) <= {*x, *VOCABULARY.tokens, "\t"}
            copied |= set(prediction.y)
    assert copied & {"uno", "due", "tre", "quattro"}


@pytest.mark.parametrize("batch", [512, 2])
def test_predictions_are_in_the_order_of_the_inputs(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [example.x for example in EXAMPLES[::-1]] + [("a",) * 5, ("b",)]
    predictor = untrained(NAMED["predictor"], 3)
    expected = [predictor.predict([x])[0][0].y for x in inputs]
    monkeypatch.setattr("recombine.prediction.predictor.BATCH", batch)
    assert [prediction.y for prediction in predictor.predict(inputs)[0]] == expected
    assert predictor.predict([]) == [[]]


def test_a_predictor_has_to_be_fitted_and_p_aug_is_a_share() -> None:
    predictor = Predictor(PREDICTOR, device="cpu")
    for use in (lambda: predictor.predict([("a",)]), lambda: predictor.save("nowhere")):
        with pytest.raises(RecombineError, match="not been fitted"):
            use()
    for p_aug in (-0.1, 1.0):
        with pytest.raises(RecombineError, match=r"p_aug is .* less than 1"):
            predictor.fit_each(EXAMPLES, [EXAMPLES], p_aug=p_aug)
    with pytest.raises(RecombineError, match="at least 1 example"):
        predictor.fit_each([], [()])
    with pytest.raises(RecombineError, match="a predictor needs at least 1 example"):
        Predictor(PREDICTOR, seeds=(1, 2), device="cpu").fit_each([EXAMPLES, []], [(), ()])


def test_a_predictor_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    recipe = replace(PREDICTOR, epochs=2, min_steps=0)
    predictor = Predictor(recipe, seeds=(4, 5), device="cpu").fit_each(TRAIN, [TRAIN[:2]] * 2, p_aug=0.3)
    predictor.save(tmp_path / "model")
    loaded = Predictor.load(tmp_path / "model", device="cpu")
    inputs = [example.x for example in TRAIN]
    assert loaded.predict(inputs) == predictor.predict(inputs)
    assert (loaded.recipe, loaded.seeds, loaded.longest_) == (recipe, (4, 5), predictor.longest_)


def test_each_network_may_have_a_mixing_rate_of_its_own() -> None:
    new = [Example((verb, "and", "jump"), (verb.upper(), "JUMP")) for verb in VERBS]
    recipe = replace(PREDICTOR, epochs=2)

    def losses(p_aug: float | list[float | None], augmented: list[list[Example]]) -> list[list[float]]:
        predictor = Predictor(recipe, seeds=(0, 0), device="cpu").fit_each(TRAIN, augmented, p_aug=p_aug)
        return list(map(list, zip(*predictor.fitted_.history.loss, strict=True)))

    low, high = losses(0.2, [new, new])[0], losses(0.3, [new, new])[0]
    assert low != pytest.approx(high)
    # 16 originals in batches of 8 make two steps an epoch at either rate.
    assert losses([0.3, 0.2], [new, new]) == [pytest.approx(high), pytest.approx(low)]
    plain = losses(0.2, [[], []])[0]
    assert losses([None, 0.2], [[], new]) == [pytest.approx(plain), pytest.approx(low)]
    with pytest.raises(RecombineError, match="p_aug is 1"):
        losses([0.2, 1.0], [new, new])


WORD_FORMS = replace(WORD_FORM_PREDICTOR, epochs=20)
ONE = [Example(tuple(word), (*word, f"[{word[0]}]")) for word in ("ab", "ba", "aa", "bb", "abb")]
OTHER = [Example(tuple(word), (*reversed(word), f"[{word[0]}]")) for word in ("ab", "ba", "aa", "bb", "baa")]


def test_a_predictor_with_its_own_examples_is_the_one_trained_alone() -> None:
    both = Predictor(WORD_FORMS, seeds=(1, 2), device="cpu").fit_each([ONE, OTHER], [(), ONE[:2]])
    alone = Predictor(WORD_FORMS, seeds=(2,), device="cpu").fit_each(OTHER, [ONE[:2]])
    losses = [loss[1] for loss in both.fitted_.history.loss[:5]]
    assert losses == pytest.approx([loss[0] for loss in alone.fitted_.history.loss[:5]], rel=1e-3)


def test_each_network_predicts_for_its_own_inputs() -> None:
    predictor = Predictor(WORD_FORMS, seeds=(1, 2), device="cpu").fit_each([ONE, OTHER], [(), ()])
    inputs = [[("a", "b", "b", "a"), ("a",), ("b", "a")], [("b",), ("a", "a"), ("b", "b", "b")]]
    together = predictor.predict_each(inputs)
    for replica, own in enumerate(inputs):
        expected = predictor.predict(own)[replica]
        assert [prediction.y for prediction in together[replica]] == [prediction.y for prediction in expected]
