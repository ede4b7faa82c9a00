"""Which prototypes samples are made from, and which tags count as rare."""

from dataclasses import replace

import numpy as np

from recombine.augmentation.agreement import UNSHOWN
from recombine.execution.executor import SERIAL, Processes
from recombine.inflection import Inflection, is_tag
from recombine.neighborhoods import Tagged
from recombine.paper.settings import WORD_FORMS
from recombine.paper.tasks import Task
from recombine.paper.work import _accept, _prior, drawn

FORMS = [
    *(Inflection(f"lemma{letter}", ("V", "PRS"), f"form{letter}") for letter in "abcdefghij"),
    Inflection("lemmak", ("V", "PST"), "formedk"),
    Inflection("lemmal", ("V", "1S"), "forml"),
]
TASK = Task(train=[form.for_generation for form in FORMS], test=[], relevant=is_tag)
RARE = replace(WORD_FORMS, resampling=True, resampler=replace(WORD_FORMS.resampler, epsilon=0.1))


def test_tags_that_begin_with_a_digit_are_rare_only_if_all_may_be() -> None:
    for which, kept in (("all", [10, 11]), ("named", [10])):
        accept = _accept(replace(RARE, rare_tags=which), TASK)  # type: ignore[arg-type]
        assert accept is not None
        assert [place for place, example in enumerate(TASK.train) if accept(example) is None] == kept


def test_focused_prototypes_have_something_rare() -> None:
    rule = Tagged(prototypes=1)
    prior = _prior(replace(RARE, omega="focused", neighborhood=rule), TASK)
    assert prior is not None
    drawn = prior(rule.build(TASK.train), TASK.train).draw(50, np.random.default_rng(0))
    assert set(drawn[:, -1].tolist()) == {10, 11}


def test_forms_must_show_rare_tags_if_asked_for() -> None:
    unshown = Inflection("lemmaa", ("V", "PST"), "forma").for_generation
    every = replace(RARE, resampling=False)
    assert _accept(every, TASK) is None
    accept = _accept(replace(every, agreement=True), TASK)
    assert accept is not None
    assert accept(unshown) == UNSHOWN
    assert all(accept(example) is None for example in TASK.train)


def test_each_seed_has_samples_of_its_own_data_whoever_shares_them() -> None:
    forms = [*(("PRS", letter) for letter in "abcdefgh"), ("PST", "a"), ("PST", "b")]
    train = [Inflection(f"o{letter}", ("V", tag), f"{tag}{letter}".lower()).for_generation for tag, letter in forms]
    tasks = (Task(train=train, test=[]), Task(train=train[:-1], test=[]))
    tasks, seeds = (*tasks, tasks[0]), (0, 1, 2)
    alone = [WORD_FORMS.geca.fit(task.train).sample(3, seed) for task, seed in zip(tasks, seeds, strict=True)]
    for executor in (SERIAL, Processes(2)):
        assert drawn(replace(WORD_FORMS, method="geca", n=3), tasks, seeds, None, executor) == alone
    assert len({samples.examples for samples in alone}) == len(alone)
