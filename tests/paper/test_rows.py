"""The files of experiments, as they are and as users may write them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from recombine.augmentation.resample import Resampler
from recombine.data.scan import interpret
from recombine.decoding.generate import Decoding
from recombine.errors import RecombineError
from recombine.neighborhoods import LongLong, LongShort, Tagged
from recombine.paper.as_coded import LongLongAsCoded, LongShortAsCoded, TaggedAsCoded
from recombine.paper.records import read_records
from recombine.paper.rows import SPLITS, TABLE_2, Row, chosen, read_rows
from recombine.paper.scale import word_form_scale
from recombine.paper.settings import WORD_FORMS, Direct, Settings, settings
from recombine.paper.tasks import task
from recombine.training.presets import SCAN_GENERATOR, SCAN_PREDICTOR, SMALL_WORD_FORM_GENERATOR
from recombine.training.presets import WORD_FORM_GENERATOR as GENERATOR
from recombine.training.presets import WORD_FORM_PREDICTOR as PREDICTOR

RESULTS = Path(__file__).parent.parent.parent / "results"
ROWS = {row.name: row for row in read_rows()}
WORD_FORM_ROWS = {row.name: row for row in read_rows(None, TABLE_2)}


def of(name: str, split: str) -> Settings:
    return settings(ROWS[name], split)


def word_forms(name: str) -> Settings:
    return settings(WORD_FORM_ROWS[name], "turkish-8", WORD_FORMS)


def assert_same(found: Settings, expected: Settings) -> None:
    assert repr(found) == repr(expected)  # of augmenters, which are fitted, equality is identity


def test_the_rows_are_the_papers_in_its_order_and_then_ours() -> None:
    published = [name for name, row in ROWS.items() if row.published]
    assert list(ROWS)[: len(published)] == published
    assert published[0] == "baseline"
    assert published[-1] == "direct inference"
    without_figures = {"recomb-2 + agreement"}
    assert {record["row"] for record in read_records(RESULTS / "table1")} == ROWS.keys() - without_figures
    assert [name for name, row in ROWS.items() if row.splits == ("jump",)] == [
        "recomb-2 + VAE",
        "recomb-2 - copying",
        "direct inference",
        "recomb-2 + stand-ins",
        "recomb-2 + VAE (as coded)",
        "direct inference (as coded)",
    ]


def test_published_figures_are_those_of_the_paper() -> None:
    figures = {(name, split): figure for name, row in ROWS.items() for split, figure in row.published.items()}
    assert figures["geca", "around-right"] == (0.98, 0.02)
    assert figures["recomb-2 + resampling", "jump"] == (0.87, 0.08)
    assert figures["recomb-1 + resampling", "around-right"] == (0.17, 0.07)
    assert figures["direct inference", "jump"] == (0.57, 0.05)
    assert [key for key, figure in figures.items() if figure is None] == [
        ("learned aug + resampling", "jump"),
        ("learned aug + resampling", "around-right"),
        ("recomb-1 + resampling", "jump"),
    ]
    assert len(figures) == 17
    assert not any("stand-ins" in name for name, _ in figures)


@pytest.mark.parametrize("split", SPLITS)
def test_rows_have_the_papers_protocol(split: str) -> None:
    for name, row in ROWS.items():
        if split not in row.splits or "as coded" in name:
            continue
        found = settings(row, split)
        assert (found.n, found.p_aug) == (400, {"jump": 0.01, "around-right": 0.2}[split])
        assert found.predictor == replace(SCAN_PREDICTOR, stop_at_lr=1 / 8)
        long_long = LongLong(difference="one-sided" if "twins" in name else "symmetric")
        assert found.neighborhood == {"jump": LongShort(removal="distinct"), "around-right": long_long}[split]
        assert found.resampling == ("resampling" in name)
        assert found.sampling.novelty == "both"
        assert bool(found.generator.stand_ins) == ("stand-ins" in name)
        assert bool(found.generator.twins) == found.generator.network.hide_shared_tokens == ("twins" in name)
    assert [of(name, split).prototypes for name in ("learned aug", "recomb-1 + resampling", "recomb-2")] == [0, 1, 2]


def test_the_authors_scripts_have_a_row_of_their_own() -> None:
    jump, around_right = (settings(ROWS["recomb-2 (as coded)"], split) for split in SPLITS)
    assert (jump.neighborhood, around_right.neighborhood) == (LongShortAsCoded(), LongLongAsCoded())
    for found, learning in ((jump, (32, 2e-3, 8)), (around_right, (64, 1e-3, 3))):
        assert (found.generator.batch, found.generator.lr, found.generator.epochs) == learning
        assert (found.generator.network.reach, found.generator.network.forget_bias) == (16, 2)
        assert (found.predictor.network.forget_bias, found.deviations) == (0, 0)
    assert (jump.n, around_right.n) == (400, 300)
    assert around_right.sampling.decoding == Decoding("mixed", 0.2)
    for split, found in (("jump", jump), ("around-right", around_right)):
        assert_same(of("recomb-2 + resampling (as coded)", split), replace(found, resampling=True))
        assert_same(of("geca (predictor as coded)", split), replace(of("geca", split), predictor=found.predictor))
        drawn = replace(found.sampling, decoding=Decoding("mixed", {"jump": 0.4, "around-right": 0.5}[split]))
        one = replace(found, resampling=True, prototypes=1, sampling=drawn)
        assert_same(of("recomb-1 + resampling (as coded)", split), one)
    latent = replace(jump.generator, network=replace(jump.generator.network, latent=32))
    assert_same(of("recomb-2 + VAE (as coded)", "jump"), replace(jump, generator=latent))
    assert_same(of("direct inference (as coded)", "jump"), replace(jump, method="direct", direct=Direct(dropout=True)))
    sure = replace(around_right.sampling, surplus=4.0, confidence="output")
    ours = replace(around_right, resampling=True, agreement=True, deviations=None, sampling=sure)
    assert_same(of("recomb-2 + resampling + agreement (as coded)", "around-right"), ours)
    twins = of("recomb-2 + twins", "around-right")
    renamed = of("recomb-2 + twins (predictor as coded)", "around-right")
    assert_same(renamed, replace(twins, predictor=around_right.predictor))


def test_recomb_2_is_as_the_text_has_it_where_it_can_be() -> None:
    jump, around = of("recomb-2", "jump"), of("recomb-2", "around-right")
    assert jump.generator == replace(SCAN_GENERATOR, max_steps=5_000)
    assert around.generator == replace(SCAN_GENERATOR, max_steps=5_000, epochs=3)
    assert jump.sampling.decoding == Decoding("beam", width=4)
    assert around.sampling.decoding == Decoding("mixed", temperature=0.4)
    network = jump.generator.network
    assert of("recomb-2 + VAE", "jump").generator.network == replace(network, latent=32)
    assert of("recomb-2 - copying", "jump").generator.network == replace(network, copying="none")
    assert (
        replace(of("direct inference", "jump"), method="recombination", direct=jump.direct).generator == jump.generator
    )


def test_the_rows_are_the_papers_in_its_order_then_what_its_code_did_and_ours() -> None:
    ours = [name for name in WORD_FORM_ROWS if name.endswith((")", "agreement"))]
    assert list(WORD_FORM_ROWS)[-len(ours) :] == ours
    assert next(iter(WORD_FORM_ROWS)) == "baseline"
    without_figures = {"recomb-1 + resampling (any rare tag)"}
    assert {record["row"] for record in read_records(RESULTS / "table2")} == WORD_FORM_ROWS.keys() - without_figures


def test_rows_of_word_forms_have_the_papers_protocol() -> None:
    for name in WORD_FORM_ROWS:
        found = word_forms(name)
        network = replace(
            PREDICTOR.network,
            copying="gated" if "gated" in name else "penalized",
            forget_bias=0.0 if "as coded" in name else 1.0,
        )
        predictor = replace(PREDICTOR, network=network, own_epochs=True)
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
            assert replace(found.generator, network=network) == replace(GENERATOR, max_steps=1575)
    assert word_forms("recomb-1").neighborhood == Tagged(prototypes=1)
    assert word_forms("recomb-2").neighborhood == Tagged()
    assert [word_forms(name).prototypes for name in ("learned aug", "recomb-1", "recomb-2")] == [0, 1, 2]
    assert [each.method for each in word_forms("geca + recomb-1 + resampling").sources] == ["geca", "recombination"]


def test_what_is_as_coded_differs_from_the_text_in_what_the_code_did() -> None:
    one, two = word_forms("recomb-1 + resampling (as coded)"), word_forms("recomb-2 + resampling (as coded)")
    assert one.neighborhood == two.neighborhood == TaggedAsCoded()
    assert (one.omega, two.omega) == ("rule", "rare")
    assert (one.sampling.decoding.temperature, two.sampling.decoding.temperature) == (1.0, 0.5)
    assert {one.sampling.novelty, two.sampling.novelty} == {"nothing"}
    network = replace(GENERATOR.network, copying="symbol", forget_bias=0.0)
    assert one.generator == two.generator == replace(GENERATOR, max_steps=1575, network=network)
    assert word_forms("learned aug + resampling (as coded)").generator == replace(one.generator, epochs=100)


def test_networks_have_the_size_that_is_asked_for() -> None:
    row = WORD_FORM_ROWS["recomb-1 + resampling + VAE"]
    sizes = {size: word_form_scale(None, size).settings(row, "turkish-8") for size in ("paper", "small", "tiny")}  # type: ignore[arg-type]
    small = SMALL_WORD_FORM_GENERATOR.network.hidden
    assert [found.generator.network.hidden for found in sizes.values()] == [1024, small, 16]
    assert all(found.generator.network.latent == 2 and found.resampling for found in sizes.values())
    assert all(found.predictor.own_epochs for found in sizes.values())  # whatever rows are beside a row


@pytest.mark.parametrize(("split", "words"), [("jump", "jump"), ("around-right", "around right")])
def test_resampling_keeps_what_is_rare_by_training_counts_alone(split: str, words: str) -> None:
    data = task(split)
    found = of("recomb-2 + resampling", split).resampler
    rare = Resampler(found.epsilon, found.ngram, found.side).fit(data.train)
    assert all(rare(example) is None for example in data.test)
    kept = [example for example in data.train if rare(example) is None]
    assert [" ".join(example.x) for example in kept] == (["jump"] if split == "jump" else [])
    assert all(words in " ".join(example.x) for example in data.test)


def test_the_task_is_scan_without_repetitions() -> None:
    found = task("jump")
    assert len(found.train) == len(set(found.train)) == 13_204
    assert len(found.test) == 7_706
    assert found.gold is interpret
    assert [pair.x for pair in found.train if "jump" in pair.x] == [("jump",)]
    with pytest.raises(RecombineError, match="unknown split"):
        task("jmp")


def write(folder: Path, content: str, name: str = "mine.toml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_users_add_rows_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, 'name = "mine"\nlike = "recomb-2 + resampling"\nn = 5\n[jump]\nn = 6\n[jump.generator]\nlr = 1\n')
    *_, mine = read_rows(tmp_path)
    assert (mine.name, mine.splits, mine.published, mine.note) == ("mine", SPLITS, {}, "")
    jump, around, like = settings(mine, "jump"), settings(mine, "around-right"), of("recomb-2 + resampling", "jump")
    assert (jump.n, around.n) == (6, 5)
    assert jump.generator == replace(like.generator, lr=1.0)
    assert around.generator == of("recomb-2 + resampling", "around-right").generator


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name = ", "this is no TOML"),
        ("n = 3", "the document lacks 'name'"),
        ('name = "a,b"', "expected the name of the row, without commas"),
        ('name = "recomb-2"', "there is a row 'recomb-2' already"),
        ('name = "recomb 2"', "there is a row 'recomb-2' already"),
        ('name = "a"\nlike = "b"', "like is 'b'; expected the name of a row in an earlier file"),
        ('name = "a"\nsplits = "jump"', "splits is 'jump'; expected a list."),
        ('name = "a"\nsplits = []', "splits is empty"),
        ('name = "a"\njump = 3', "jump is 3; expected a table"),
        ('name = "a"\npublished = 3', "published is 3; expected a table"),
        ('name = "a"\n[published]\njump = 0.5', "published.jump is 0.5; expected"),
        ('name = "a"\n[published]\nlength = "-"', "unknown split 'length'"),
    ],
)
def test_files_that_are_no_rows(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(RecombineError, match=re.escape(message)) as error:
        read_rows(write(tmp_path, content))
    assert error.value.place == str(tmp_path / "mine.toml")


def test_settings_that_there_are_not_are_found_when_a_row_is_resolved(tmp_path: Path) -> None:
    *_, mine = read_rows(write(tmp_path, 'name = "a"\n[around-right.generator]\nsteps = 3'))
    settings(mine, "jump")
    with pytest.raises(RecombineError, match=r"unknown setting 'generator\.steps'") as error:
        settings(mine, "around-right")
    assert error.value.place == str(tmp_path / "mine.toml")


def test_folders_that_have_no_files_of_rows(tmp_path: Path) -> None:
    with pytest.raises(RecombineError, match="there are no experiments here"):
        read_rows(tmp_path)
    (tmp_path / "mine.toml").mkdir()
    with pytest.raises(RecombineError, match="cannot be read: Is a directory") as error:
        read_rows(tmp_path)
    assert error.value.place == str(tmp_path / "mine.toml")


def names(rows: list[Row]) -> list[str]:
    return [row.name for row in rows]


def test_rows_are_chosen_by_name_and_split() -> None:
    rows = list(ROWS.values())
    assert names(chosen(rows, None, SPLITS)) == list(ROWS)
    assert "direct inference" not in names(chosen(rows, None, ["around-right"]))
    assert names(chosen(rows, ["recomb-2", "baseline"], ["jump"])) == ["baseline", "recomb-2"]
    for names_, splits, message in (
        (["recomb2"], SPLITS, r"unknown row 'recomb2'. Did you mean 'recomb-2'\? The rows are: baseline"),
        (None, ["length"], "unknown split 'length'"),
        (["direct inference"], ["around-right"], "the row 'direct inference' is run on jump only"),
    ):
        with pytest.raises(RecombineError, match=message):
            chosen(rows, names_, splits)
