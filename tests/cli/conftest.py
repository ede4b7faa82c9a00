from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

VERBS = ("walk", "run", "look", "turn")
TRAIN = [
    *(f"{verb}\tI_{verb.upper()}" for verb in (*VERBS, "jump")),
    *(
        f"{verb} {often}\t{' '.join([f'I_{verb.upper()}'] * n)}"
        for verb in VERBS
        for often, n in (("twice", 2), ("thrice", 3))
    ),
    *(f"{one} and {two}\tI_{one.upper()} I_{two.upper()}" for one in VERBS for two in VERBS),
]


@pytest.fixture(autouse=True)
def _without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)


@pytest.fixture
def train(tmp_path: Path) -> Path:
    """Commands in the manner of SCAN; "jump" is known alone only."""
    path = tmp_path / "train.tsv"
    path.write_text("\n".join(TRAIN) + "\n")
    return path


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """Word forms: the past is seen once."""
    path = tmp_path / "words.tsv"
    lemmas = ("gel", "bak", "sor", "yaz", "kal", "bul")
    lines = [
        f"{lemma}\t{lemma}{ending}\tV;{tags}"
        for lemma in lemmas
        for ending, tags in (("ir", "PRS;SG"), ("irler", "PRS;PL"), ("iyor", "PROG;SG"), ("iyorlar", "PROG;PL"))
    ]
    path.write_text("\n".join([*lines, "gel\tgeldi\tV;PST;SG"]) + "\n")
    return path


@pytest.fixture
def tiny_in_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes small networks tiny, so that they train in a second or two."""
    from tiny_networks import make_small_tiny

    make_small_tiny(monkeypatch.setattr)


@pytest.fixture
def tiny(tiny_in_agreement: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes small networks tiny, and accepts samples of which parts do not go together, as they often make."""
    monkeypatch.setattr("recombine.own_data.augmenters.agreement_filter", lambda *_: None)


@pytest.fixture(scope="session")
def predictors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that nobody may change: two predictors that know ``TRAIN``."""
    from tiny_networks import PREDICTOR

    from recombine.data import files
    from recombine.prediction.predictor import Predictor

    folder = tmp_path_factory.mktemp("predictors")
    (folder / "train.tsv").write_text("\n".join(TRAIN) + "\n")
    examples = files.read(folder / "train.tsv")
    Predictor(PREDICTOR, seeds=(3, 4), device="cpu").fit_each(examples, [()] * 2).save(folder / "model")
    return folder / "model"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the rehearsals of both tables ones of seconds."""
    from recombine.paper import scale

    tiny = scale._tiny

    def quicker(found: Any) -> Any:  # noqa: ANN401
        found = tiny(found)
        generator = replace(found.generator, max_steps=64)
        return replace(found, generator=generator, predictor=replace(found.predictor, epochs=1))

    monkeypatch.setattr(scale, "_tiny", quicker)
