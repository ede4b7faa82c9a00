"""What the keys of stages depend on, in both tables."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from toy_task import QUICK_GENERATOR, QUICK_PREDICTOR, TASK

from recombine.augmentation.resample import Resampler
from recombine.example import Example
from recombine.execution.progress import no_progress
from recombine.neighborhoods import LongShort
from recombine.paper.rows import TABLE_2, read_rows
from recombine.paper.settings import WORD_FORMS, Settings, settings
from recombine.paper.stages import Cache
from recombine.paper.tasks import Task, WordFormTasks
from recombine.paper.work import Population, Work

ONE = settings(next(row for row in read_rows() if row.name == "recomb-2"), "jump")
PAIR = TASK.test[:1]


def work(tasks: Sequence[Task], device: str = "cpu") -> Work:
    return Work("jump", tasks, range(len(tasks)), Cache(Path()), torch.device(device), no_progress)


def test_the_key_of_a_predictor_names_what_it_has_of_its_population() -> None:
    keys = work([TASK])
    (short,), (longer,) = keys.predictors(ONE, [()]), keys.predictors(replace(ONE, p_aug=0.5), [PAIR])
    both = Population([short, longer])
    assert both.stage(short).key != Population([short]).stage(short).key  # as many steps as the longer epoch asks for
    assert both.stage(longer).key == Population([longer]).stage(longer).key
    other = replace(longer, samples=[Example(("new",), ("NEW",))])
    assert both.stage(longer).key != Population([longer, other]).stage(longer).key  # another vocabulary


def test_keys_depend_on_what_results_do_and_on_nothing_else() -> None:
    keys = work([TASK] * 2)
    base = {name: stage.key for name, stage in keys.before_predictors(ONE).items()}
    assert list(base) == ["neighborhoods", "generator", "samples"]

    def changed(others: Work = keys, **settings: object) -> list[str]:
        stages = others.before_predictors(replace(ONE, **settings))  # type: ignore[arg-type]
        return [name for name, key in base.items() if stages[name].key != key]

    assert changed(p_aug=0.5, predictor=QUICK_PREDICTOR) == []
    assert changed(resampler=Resampler(0.5)) == []  # not asked
    assert changed(resampling=True) == ["samples"]
    assert changed(n=3) == ["samples"]
    assert changed(sampling=replace(ONE.sampling, patience=1)) == ["samples"]
    assert changed(generator=QUICK_GENERATOR) == ["generator", "samples"]
    assert changed(prototypes=1) == ["generator", "samples"]
    assert changed(neighborhood=LongShort()) == ["neighborhoods", "generator", "samples"]
    assert changed(work([TASK])) == ["generator", "samples"]
    assert changed(work([TASK] * 2, "cuda")) == ["generator", "samples"]
    untested = work([replace(TASK, test=[])] * 2)
    assert changed(untested) == []  # no test set touches these
    assert changed(work([replace(TASK, train=TASK.train[1:])] * 2)) == list(base)

    def predictor(others: Work = keys, found: Settings = ONE, samples: Sequence[Example] = PAIR, seed: int = 0) -> str:
        return others.predictors(found, [samples] * len(others.seeds))[seed].key

    for other in (
        predictor(seed=1),
        predictor(samples=()),
        predictor(found=replace(ONE, p_aug=0.5)),
        predictor(found=replace(ONE, predictor=QUICK_PREDICTOR)),
        predictor(untested),
    ):
        assert other != predictor()
    assert predictor(work([TASK]), replace(ONE, n=3, generator=QUICK_GENERATOR)) == predictor()
    direct = replace(ONE, method="direct")
    assert keys.result(direct).key != keys.result(replace(direct, direct=replace(ONE.direct, first=1))).key


def test_keys_name_the_data_of_each_seed(tasks: WordFormTasks) -> None:
    rows = {row.name: settings(row, "turkish-8", WORD_FORMS) for row in read_rows(None, TABLE_2)}
    found = rows["recomb-1 + resampling"]
    of_splits = [tasks("turkish-8", split) for split in (0, 1)]
    keys, swapped = work(of_splits), work(of_splits[::-1])
    for name, stage in keys.before_predictors(found).items():
        assert stage.key != swapped.before_predictors(found)[name].key
    first, other = (each.predictors(found, [(), ()])[0].key for each in (keys, swapped))
    assert first == work(of_splits[:1]).predictors(found, [()])[0].key != other
    both = keys.before_predictors(rows["geca + recomb-1 + resampling"])
    assert both["samples by recombination"].key == keys.result(found).key
    assert both["samples by geca"].key == keys.result(rows["geca + resampling"]).key
    rare = rows["recomb-2 + resampling (as coded)"]
    changed = (rare, replace(rare, omega="rule"), replace(rare, omega="focused"), replace(rare, rare_tags="all"))
    changed += (replace(rare, rare_tags="tenses"),)
    assert len({keys.result(each).key for each in changed}) == len(changed)
