"""How samples are drawn: by networks of several splits as one population, from which prototypes, and which are kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from word_forms import write_language

from recombine.augmentation.agreement import UNSHOWN
from recombine.augmentation.recombination import Recombination
from recombine.errors import RecombineError
from recombine.execution.executor import SERIAL, Processes
from recombine.inflection import Inflection, is_tag
from recombine.neighborhoods import Tagged
from recombine.paper.jobs import Joint, Need, join
from recombine.paper.rows import TABLE_2, read_rows
from recombine.paper.scale import word_form_scale
from recombine.paper.settings import WORD_FORMS, Settings
from recombine.paper.stages import Cache
from recombine.paper.tasks import Task
from recombine.paper.work import Work, _accept, _prior, drawn, read_samples

ROWS = {row.name: row for row in read_rows(None, TABLE_2)}
SPLITS = ("spanish-8", "turkish-8")


@contextmanager
def silent(what: str, effort: float) -> Iterator[None]:
    assert effort > 0
    yield


def found(name: str, split: str) -> Settings:
    tiny = word_form_scale(None, "tiny").settings(ROWS[name], split)
    return replace(tiny, generator=replace(tiny.generator, max_steps=50))


def needs(name: str, split: str) -> list[Need]:
    return [(name, each) for each in found(name, split).sources]


def two_languages(folder: Path) -> dict[str, Work]:
    write_language(folder, "spanish")
    other = write_language(folder, "turkish")
    other.write_text(other.read_text("utf-8").replace("b", "ç" * 9), "utf-8")  # longer words, other characters
    scale, cache = word_form_scale(folder, "tiny"), Cache(folder / "cache")
    return {
        split: Work(split, [scale.task(split, seed) for seed in (0, 1)], [0, 1], cache, torch.device("cpu"), silent)
        for split in SPLITS
    }


@pytest.mark.slow
def test_splits_share_a_population_and_keep_networks_of_their_own(tmp_path: Path) -> None:
    work = two_languages(tmp_path)
    cache = work["spanish-8"].cache
    learned = ("learned aug", "recomb-1", "recomb-1 + resampling")
    names = ("geca", *learned, "geca + recomb-1 + resampling")  # the last has the samples of two others

    def missing(*splits: str) -> dict[str, list[Need]]:
        return {split: [each for name in names for each in needs(name, split)] for split in splits}

    def joined(*splits: str) -> list[Joint]:
        for each in work.values():
            each.populations.clear()
        return join(missing(*splits), work)

    # Without neighborhoods there is nothing to train recomb-1 on, and a single split has nobody to join.
    assert [joint.name for joint in joined(*SPLITS)] == ["spanish-8, turkish-8, learned aug"]
    for split in SPLITS:
        work[split].neighborhoods(found("recomb-1", split))
    assert not joined("spanish-8")
    joints = joined(*SPLITS)
    assert [joint.name for joint in joints] == [f"spanish-8, turkish-8, {row}" for row in ("learned aug", "recomb-1")]
    for joint in joints:
        assert joint.is_missing
        joint.train_and_draw()
    assert not any(joint.is_missing for joint in joined(*SPLITS))
    joints[1].part()
    assert cache.find(work["spanish-8"].stages(found("recomb-1", "spanish-8"))["generator"]) is None
    joined(*SPLITS)
    settings = found("recomb-1", "spanish-8")
    whole = work["spanish-8"].untrained(settings, [0, 1, 0, 1])
    tasks = [task.train for split in SPLITS for task in work[split].tasks]
    whole.fit_each(tasks, [each for split in SPLITS for each in work[split].neighborhoods(settings)])
    for start, split in zip((0, 2), SPLITS, strict=True):
        networks = work[split].generator(found("recomb-1", split))
        assert networks.seeds == (0, 1)
        assert networks.examples_ == tuple(example for task in work[split].tasks for example in task.train)
        weights = zip(whole.fitted_.model.parameters(), networks.fitted_.model.parameters(), strict=True)
        assert all(torch.equal(of_all[start : start + 2], own) for of_all, own in weights)
        for name in learned:
            asked = found(name, split)
            stage = work[split].result(asked)
            done = cache.find(stage)
            assert done is not None, f"{name} was drawn along with its networks"
            alone = drawn(asked, work[split].tasks, [0, 1], work[split].generator(asked))
            found_jointly = read_samples(done.folder)
            assert [each.examples for each in found_jointly] == [each.examples for each in alone]
            assert [each.rejected for each in found_jointly] == [each.rejected for each in alone]


@pytest.mark.slow
def test_networks_that_cannot_be_kept_are_told_of_and_their_samples_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(*_: object) -> None:
        raise RecombineError("there is no room.")

    monkeypatch.setattr(Recombination, "save", save)
    work = two_languages(tmp_path)
    missing = {split: needs("learned aug", split) for split in SPLITS}
    (joint,) = join(missing, work)
    with pytest.raises(RecombineError, match="no room"):
        joint.train_and_draw()
    for split in SPLITS:
        settings = found("learned aug", split)
        assert work[split].cache.find(work[split].stages(settings)["generator"]) is None
        assert work[split].cache.find(work[split].result(settings)) is not None


def test_networks_of_a_population_have_keys_of_their_own(tmp_path: Path) -> None:
    """They start from other weights than networks trained alone."""
    work = two_languages(tmp_path)
    settings = found("learned aug", "spanish-8")
    keys = work["spanish-8"]
    alone = {name: stage.key for name, stage in keys.before_predictors(settings).items()}
    (joint,) = join({split: needs("learned aug", split) for split in SPLITS}, work)
    assert all(stage.key != alone[name] for name, stage in keys.before_predictors(settings).items())
    joint.part()
    assert {name: stage.key for name, stage in keys.before_predictors(settings).items()} == alone


FORMS = [
    *(Inflection(f"lemma{letter}", ("V", "PRS"), f"form{letter}") for letter in "abcdefghij"),
    Inflection("lemmak", ("V", "PST"), "formedk"),
    Inflection("lemmal", ("V", "1S"), "forml"),
    Inflection("lemmam", ("V", "FUT"), "formwillm"),
    Inflection("lemman", ("V", "COND"), "formwouldn"),
]
RARE_TASK = Task(train=[form.for_generation for form in FORMS], test=[], relevant=is_tag)
RARE = replace(WORD_FORMS, resampling=True, resampler=replace(WORD_FORMS.resampler, epsilon=0.1))


def test_which_tags_may_be_rare_is_a_setting() -> None:
    for which, kept in (("all", [10, 11, 12, 13]), ("named", [10, 12, 13]), ("tenses", [10, 12])):
        accept = _accept(replace(RARE, rare_tags=which), RARE_TASK)  # type: ignore[arg-type]
        assert [place for place, example in enumerate(RARE_TASK.train) if accept(example) is None] == kept


def test_focused_prototypes_have_something_rare() -> None:
    rule = Tagged(prototypes=1)
    prior = _prior(replace(RARE, omega="focused", neighborhood=rule), RARE_TASK)
    drawn = prior(rule.build(RARE_TASK.train), RARE_TASK.train)(50, np.random.default_rng(0))
    assert set(drawn[:, -1].tolist()) == {10, 11, 12, 13}


def test_forms_must_show_rare_tags_if_asked_for() -> None:
    unshown = Inflection("lemmaa", ("V", "PST"), "forma").for_generation
    every = replace(RARE, resampling=False)
    assert _accept(every, RARE_TASK) is None
    accept = _accept(replace(every, agreement=True), RARE_TASK)
    assert accept(unshown) == UNSHOWN
    assert all(accept(example) is None for example in RARE_TASK.train)


def test_each_seed_has_samples_of_its_own_data_whoever_shares_them() -> None:
    forms = [*(("PRS", letter) for letter in "abcdefgh"), ("PST", "a"), ("PST", "b")]
    train = [Inflection(f"o{letter}", ("V", tag), f"{tag}{letter}".lower()).for_generation for tag, letter in forms]
    tasks = (Task(train=train, test=[]), Task(train=train[:-1], test=[]))
    tasks, seeds = (*tasks, tasks[0]), (0, 1, 2)
    alone = [WORD_FORMS.geca.fit(task.train).sample(3, seed) for task, seed in zip(tasks, seeds, strict=True)]
    for executor in (SERIAL, Processes(2)):
        assert drawn(replace(WORD_FORMS, method="geca", n=3), tasks, seeds, None, executor) == alone
    assert len({samples.examples for samples in alone}) == len(alone)
