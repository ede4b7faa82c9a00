import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from recombine.example import Example, Provenance
from recombine.paper.stages import MANIFEST, Cache, Stage, digest_of

STAGE = Stage("samples", {"n": 3, "seeds": [0, 1]})


def fill(cache: Cache, stage: Stage = STAGE, content: str = "hello") -> Path:
    with cache.doing(stage) as done:
        (done.folder / "inner").mkdir()
        (done.folder / "inner/a.txt").write_text(content)
        (done.folder / "b.txt").write_text("b")
        done.seconds = {"samples": 1.5}
    return done.folder


def test_what_is_done_is_found_by_others(tmp_path: Path) -> None:
    assert Cache(tmp_path / "new").find(STAGE) is None
    folder = fill(Cache(tmp_path / "new"))
    found = Cache(tmp_path / "new").find(STAGE)
    assert (found.folder, found.seconds) == (folder, {"samples": 1.5})
    assert (found.folder / "inner/a.txt").read_text() == "hello"
    assert found.commit
    assert json.loads((folder / MANIFEST).read_text())["inputs"] == STAGE.inputs
    assert Cache(tmp_path / "new").find(Stage("samples", {"n": 4})) is None


def rewrite(change: Callable[[str], str]) -> Callable[[Path], object]:
    return lambda folder: (folder / MANIFEST).write_text(change((folder / MANIFEST).read_text()))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "altered": lambda folder: (folder / "inner/a.txt").write_text("hellp"),
    "missing": lambda folder: (folder / "b.txt").unlink(),
    "added": lambda folder: (folder / "c.txt").write_text("c"),
    "no manifest": lambda folder: (folder / MANIFEST).unlink(),
    "cut manifest": rewrite(lambda text: text[:-20]),
    "other manifest": rewrite(lambda _: "[]"),
    "deep manifest": rewrite(lambda _: "[" * 100_000),
    "altered manifest": rewrite(lambda text: text.replace("1.5", "0.5")),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_what_is_damaged_is_named_and_done_again(tmp_path: Path, how: str) -> None:
    folder = fill(Cache(tmp_path))
    DAMAGE[how](folder)
    said: list[str] = []
    cache = Cache(tmp_path, said.append)
    assert cache.find(STAGE) is None
    assert said == [f"{folder}: the samples are not as they were written, and are made again."]
    fill(cache)
    assert Cache(tmp_path, said.append).find(STAGE) is not None
    assert len(said) == 1


def test_keys_and_digests_depend_on_inputs_pairs_and_their_order_only() -> None:
    assert STAGE.key == Stage("samples", {"seeds": [0, 1], "n": 3}).key
    others = [Stage("direct", STAGE.inputs), Stage("samples", {"n": 3, "seeds": [1, 0]}), Stage("samples", {"n": 3})]
    assert len({STAGE.key, *(stage.key for stage in others)}) == 4
    one, two = Example(("a", "b"), ("c",)), Example(("a",), ("b", "c"))
    assert digest_of([one, two]) == digest_of([one.with_provenance(Provenance("x")), two])
    assert len({digest_of(examples) for examples in ([one, two], [two, one], [one], [two], [])}) == 5


@pytest.mark.parametrize("done", [True, False])
def test_a_state_of_training_is_kept_until_its_stage_is_done(tmp_path: Path, done: bool) -> None:
    cache = Cache(tmp_path)
    with suppress(KeyboardInterrupt), cache.training(STAGE) as state:
        state.write_text("so far")
        if done:
            fill(cache)
        raise KeyboardInterrupt
    assert state.exists()
    assert (Cache(tmp_path).find(STAGE) is not None) == done
    assert state.exists() != done
