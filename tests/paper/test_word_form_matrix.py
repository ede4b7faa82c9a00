"""The rows of Table 2: their settings, and all of them from end to end with networks whose figures mean nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch
from word_forms import write_language

from recombine.data import files
from recombine.decoding.generate import Decoding
from recombine.inflection import is_tag
from recombine.neighborhoods import Tagged
from recombine.paper.as_coded import TaggedAsCoded
from recombine.paper.keys import Keys
from recombine.paper.matrix import Matrix
from recombine.paper.records import read_records
from recombine.paper.reports import class_reports
from recombine.paper.rows import TABLE_2, Row, read_rows
from recombine.paper.scale import word_form_scale
from recombine.paper.settings import WORD_FORMS, Settings, settings
from recombine.paper.stages import Cache
from recombine.paper.tables import word_form_cells, word_forms_in_order
from recombine.paper.tasks import WordFormTasks
from recombine.training.presets import SMALL_WORD_FORM_GENERATOR, WORD_FORM_GENERATOR, WORD_FORM_PREDICTOR

RESULTS = Path(__file__).parent.parent.parent / "results/table2"
ROWS = {row.name: row for row in read_rows(None, TABLE_2)}


def of(name: str) -> Settings:
    return settings(ROWS[name], "turkish-8", WORD_FORMS)


def test_the_rows_are_the_papers_in_its_order_then_what_its_code_did_and_ours() -> None:
    ours = [name for name in ROWS if name.endswith((")", "agreement"))]
    assert list(ROWS)[-len(ours) :] == ours
    assert next(iter(ROWS)) == "baseline"
    without_figures = {"recomb-1 + resampling (any rare tag)"}
    assert {record["row"] for record in read_records(RESULTS)} == ROWS.keys() - without_figures


def test_rows_have_the_papers_protocol() -> None:
    for name in ROWS:
        found = of(name)
        network = replace(
            WORD_FORM_PREDICTOR.network,
            copying="gated" if "gated" in name else "penalized",
            forget_bias=0.0 if "as coded" in name else 1.0,
        )
        predictor = replace(WORD_FORM_PREDICTOR, network=network, own_epochs=True)
        assert (found.n, found.p_aug, found.predictor) == (180, None, predictor)
        assert found.rare_tags == ("all" if "any rare tag" in name else "named")
        assert found.agreement == ("agreement" in name)
        assert found.sampling.batch == (512 if found.prototypes == 2 else 1024)
        more = "geca" in name and "resampling" in name
        assert found.geca.gaps == 1 + more
        assert found.geca.fewest_gaps_first or not more or "agreement" in name
        assert found.resampler.epsilon == (0.0085 if "rarer tags" in name else 0.02)
        if "as coded" not in name:
            focused = "agreement" in name or ("recomb-2" in name and "resampling" in name)
            assert found.omega == ("focused" if focused else "rule")
        assert found.resampling == ("resampling" in name and name != "baseline + resampling")
        assert found.generator.network.latent == (2 if "VAE" in name else 0)
        if "as coded" not in name:
            assert found.sampling.decoding == Decoding("mixed", 0.5)
            assert (found.sampling.novelty, found.sampling.surplus) == ("pair", 1.0)
            network = replace(found.generator.network, latent=0)
            assert replace(found.generator, network=network) == replace(WORD_FORM_GENERATOR, max_steps=1575)
    assert of("recomb-1").neighborhood == Tagged(prototypes=1)
    assert of("recomb-2").neighborhood == Tagged()
    assert [of(name).prototypes for name in ("learned aug", "recomb-1", "recomb-2")] == [0, 1, 2]
    assert [each.method for each in of("geca + recomb-1 + resampling").sources] == ["geca", "recombination"]


def test_what_is_as_coded_differs_from_the_text_in_what_the_code_did() -> None:
    one, two = of("recomb-1 + resampling (as coded)"), of("recomb-2 + resampling (as coded)")
    assert one.neighborhood == two.neighborhood == TaggedAsCoded()
    assert (one.omega, two.omega) == ("rule", "rare")
    assert (one.sampling.decoding.temperature, two.sampling.decoding.temperature) == (1.0, 0.5)
    assert {one.sampling.novelty, two.sampling.novelty} == {"nothing"}
    network = replace(WORD_FORM_GENERATOR.network, copying="symbol", forget_bias=0.0)
    assert one.generator == two.generator == replace(WORD_FORM_GENERATOR, max_steps=1575, network=network)
    assert of("learned aug + resampling (as coded)").generator == replace(one.generator, epochs=100)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("conll2018")
    write_language(folder, "turkish")
    return folder


def test_networks_have_the_size_that_is_asked_for(source: Path) -> None:
    row = ROWS["recomb-1 + resampling + VAE"]
    sizes = {size: word_form_scale(source, size).settings(row, "turkish-8") for size in ("paper", "small", "tiny")}  # type: ignore[arg-type]
    assert [found.generator.network.hidden for found in sizes.values()] == [
        1024,
        SMALL_WORD_FORM_GENERATOR.network.hidden,
        16,
    ]
    assert all(found.generator.network.latent == 2 and found.resampling for found in sizes.values())
    assert all(found.predictor.own_epochs for found in sizes.values())  # whatever rows are beside a row


def test_keys_name_the_data_of_each_seed(source: Path) -> None:
    tasks, found = WordFormTasks(source), of("recomb-1 + resampling")
    of_splits = [tasks("turkish-8", split) for split in (0, 1)]
    keys = Keys(of_splits, [0, 1], "cpu")
    swapped = Keys(of_splits[::-1], [0, 1], "cpu")
    for name, stage in keys.before_predictors(found).items():
        assert stage.key != swapped.before_predictors(found)[name].key
    first, other = (each.predictors(found, [(), ()])[0].key for each in (keys, swapped))
    assert first == Keys(of_splits[:1], [0], "cpu").predictors(found, [()])[0].key != other
    both = keys.before_predictors(of("geca + recomb-1 + resampling"))
    assert both["samples by recombination"].key == keys.samples(found).key
    assert both["samples by geca"].key == keys.samples(of("geca + resampling")).key
    rare = of("recomb-2 + resampling (as coded)")
    changed = (rare, replace(rare, omega="rule"), replace(rare, omega="focused"), replace(rare, rare_tags="all"))
    assert len({keys.samples(each).key for each in changed}) == len(changed)


@pytest.fixture(scope="module")
def run(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """All rows on two splits."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("table2")
    scale = word_form_scale(source, "tiny")

    tiny = scale.settings

    def shorter(row: Row, split: str) -> Settings:
        found = tiny(row, split)
        steps = 40 if "recomb-1" in row.name else 4
        return replace(
            found,
            generator=replace(found.generator, max_steps=steps),
            predictor=replace(found.predictor, epochs=1),
            sampling=replace(found.sampling, patience=2, batch=32),
            n=4,
        )

    stages: list[str] = []

    @contextmanager
    def progress(what: str, effort: float) -> Iterator[None]:
        assert effort > 0
        stages.append(what)
        yield

    scale = replace(scale, settings=shorter, task=cache(scale.task))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recombine.augmentation.sampler.LEAST", 4)
        Matrix(
            list(ROWS.values()),
            ["turkish-8"],
            [0, 1],
            output=folder,
            cache=Cache(folder / ".cache"),
            device=torch.device("cpu"),
            progress=progress,
            scale=scale,
        ).run()
    return folder, stages


def records(folder: Path) -> dict[str, dict]:  # type: ignore[type-arg]
    return {found["row"]: found for found in (json.loads(path.read_text("utf-8")) for path in folder.glob("*.json"))}


@pytest.mark.slow
def test_every_row_runs_from_end_to_end(run: tuple[Path, list[str]]) -> None:
    found = records(run[0])
    assert found.keys() == ROWS.keys()
    for row, record in found.items():
        assert (record["column"], record["seeds"], record["items"]) == ("turkish-8", [0, 1], [])
        assert record["dash"] or len(record["exact_match"]) == len(record["counts"]) == 2
        if record["settings"]["method"] != "none":
            assert sum(record["kept"]) or sum(sum(each.values()) for each in record["rejected"]), row
    # Three kinds of networks, as in the text, with a latent variable, and as coded.
    assert sum("2 recombination networks" in stage for stage in run[1]) == 9
    shown = word_forms_in_order(list(found.values()), list(ROWS.values()))
    assert len(word_form_cells(shown)) == len(ROWS) * 8
    assert class_reports(shown)


@pytest.mark.slow
def test_samples_of_both_methods_are_put_together(run: tuple[Path, list[str]]) -> None:
    found = records(run[0])
    both, geca, learned = (
        found[row]["kept"] for row in ("geca + recomb-1 + resampling", "geca + resampling", "recomb-1 + resampling")
    )
    assert both == [one + other for one, other in zip(geca, learned, strict=True)]
    assert sum(both)


@pytest.mark.slow
def test_samples_are_of_each_splits_own_training_set(run: tuple[Path, list[str]], source: Path) -> None:
    folder, _ = run
    tasks = word_form_scale(source, "tiny").task
    key = records(folder)["recomb-1 + resampling"]["stages"]["samples"]
    seen = 0
    for seed in (0, 1):
        train = set(tasks("turkish-8", seed).train)
        path = folder / f".cache/samples-{key}/{seed}.jsonl"
        for sample in files.iterate(path, format="jsonl") if path.read_text() else ():
            assert sample.provenance is not None
            assert set(sample.provenance.prototypes) <= train
            assert sample not in train
            assert any(map(is_tag, sample.x))
            seen += 1
    assert seen
