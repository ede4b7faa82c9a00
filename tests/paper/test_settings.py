import re
from dataclasses import replace
from typing import Any

import pytest

from recombine.errors import RecombineError
from recombine.neighborhoods import LongLong, LongShort
from recombine.paper.settings import Settings, described, updated
from recombine.training.presets import SCAN_PREDICTOR


def test_values_take_the_place_of_fields_at_any_depth() -> None:
    table = {
        "n": 7,
        "p_aug": 0,  # a whole number where any number will do
        "deviations": "none",
        "method": "geca",
        "generator": {"max_steps": 5, "network": {"hidden": 3, "copying": "gated"}},
        "sampling": {"decoding": {"strategy": "beam"}},
        "resampler": {"epsilon": 0.5},
    }
    found, plain = updated(Settings(), table, place="f"), Settings()
    assert (found.n, found.p_aug, found.deviations, found.method) == (7, 0.0, None, "geca")
    assert isinstance(found.p_aug, float)
    assert found.generator == replace(
        plain.generator, max_steps=5, network=replace(plain.generator.network, hidden=3, copying="gated")
    )
    assert found.sampling == replace(plain.sampling, decoding=replace(plain.sampling.decoding, strategy="beam"))
    assert (found.resampler.epsilon, found.resampler.ngram) == (0.5, 1)
    assert found.predictor == plain.predictor


def test_a_neighborhood_may_change_its_rule() -> None:
    changed = updated(Settings(), {"neighborhood": {"rule": "long-long", "first": 2}}, place="f")
    assert changed.neighborhood == LongLong(first=2)
    same = updated(changed, {"neighborhood": {"rule": "long-long", "second": 1}}, place="f")
    assert same.neighborhood == LongLong(first=2, second=1)
    assert updated(same, {"neighborhood": {"rule": "long-short"}}, place="f").neighborhood == LongShort()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"nn": 1}, "unknown setting 'nn'. Did you mean 'n'?"),
        ({"generator": {"epoch": 1}}, "unknown setting 'generator.epoch'. Did you mean 'generator.epochs'?"),
        ({"generator": {"network": {"vocabulary": 1}}}, "unknown setting 'generator.network.vocabulary'"),
        ({"generator": {"network": {"prototypes": 1}}}, "unknown setting 'generator.network.prototypes'"),
        ({"geca": {"_fitted": 1}}, "unknown setting 'geca._fitted'"),
        ({"n": "7"}, "n is '7'; expected a whole number."),
        ({"n": 0}, "n is 0; expected at least 1."),
        ({"p_aug": 1.0}, "p_aug is 1.0; expected at least 0 and less than 1."),
        ({"prototypes": 3}, "prototypes is 3; expected 0, 1 or 2."),
        ({"method": "gecca"}, "method is 'gecca'; expected 'none' or 'oversample' or 'geca' or 'paradigms' or"),
        ({"generator": 3}, "generator is 3; expected a table."),
        ({"generator": {"max_steps": "many"}}, "generator.max_steps is 'many'; expected a whole number or \"none\"."),
        ({"resampler": {"relevant": "x"}}, "resampler.relevant is 'x'; expected"),
        ({"neighborhood": {"rule": "long"}}, "neighborhood.rule is 'long'; expected 'one-prototype' or 'long-short'"),
        ({"neighborhood": {"delta": 2.0}}, "delta is 2.0, expected more than 0 and at most 1."),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_what_was_expected(table: dict[str, Any], message: str) -> None:
    with pytest.raises(RecombineError, match=re.escape(message)) as error:
        updated(Settings(), table, place="row.toml")
    assert error.value.place == "row.toml"


def test_what_is_described_can_be_read_again() -> None:
    table = {"neighborhood": {"rule": "long-long", "first": 2}, "n": 3, "geca": {"gaps": 1}}
    found = updated(Settings(), table, place="f")
    description = described(found)
    assert description["neighborhood"]["rule"] == "long-long"
    assert description["geca"]["gaps"] == 1
    assert "_fitted" not in description["geca"]
    assert described(updated(Settings(), table | {"n": 4}, place="f")) == description | {"n": 4}


def test_newer_settings_are_named_only_where_they_are_not_what_was_done_before() -> None:
    """Keys of finished stages are made of what is described: results from before stay."""
    assert "falls_to" not in described(SCAN_PREDICTOR)
    falling = replace(SCAN_PREDICTOR, falls_to=0.1)
    assert described(falling) == described(SCAN_PREDICTOR) | {"falls_to": 0.1}
    assert updated(SCAN_PREDICTOR, {"falls_to": 0.1}, place="f") == falling
