"""The files of experiments, as they are and as users may write them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recombine.augmentation.resample import Resampler
from recombine.data.scan import interpret
from recombine.errors import RecombineError
from recombine.paper.records import read_records
from recombine.paper.rows import SPLITS, TABLE_2, Row, chosen, read_rows
from recombine.paper.scale import word_form_scale
from recombine.paper.settings import WORD_FORMS, Settings, described, settings
from recombine.paper.tasks import task
from recombine.training.presets import SMALL_WORD_FORM_GENERATOR

RESULTS = Path(__file__).parent.parent.parent / "results"
ROWS = {row.name: row for row in read_rows()}
WORD_FORM_ROWS = {row.name: row for row in read_rows(None, TABLE_2)}


def of(name: str, split: str) -> Settings:
    return settings(ROWS[name], split)


def word_forms(name: str) -> Settings:
    return settings(WORD_FORM_ROWS[name], "turkish-8", WORD_FORMS)


RENAMED = {"enough": "stop_at_lr", "only_lacking": "hide_shared_tokens", "warmest": "max_temperature"}
"""What older records call settings."""

CHANGED = {("learned aug + resampling (as coded)", "generator.epochs")}
"""What was changed, or not said, when a row was run."""


def flat(found: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """Settings by path."""
    settings: dict[str, Any] = {}
    for name, value in found.items():
        path = f"{within}{RENAMED.get(name, name)}"
        settings |= flat(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return settings


def in_words_of_today(found: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by path, but for sorting, which changes no figure; that a rule is as coded was no part of its name."""
    settings = {path: "penalized" if value == "reluctant" else value for path, value in flat(found).items()}
    rule, coded = settings.pop("neighborhood.rule"), settings.get("neighborhood.fallback")
    settings["rule"] = rule.removesuffix(" as coded")
    settings["as coded"] = rule.endswith("as coded") or coded or bool(settings.get("neighborhood.candidates"))
    return {path: value or False for path, value in settings.items() if not path.endswith("sorting")}


@pytest.mark.parametrize(("folder", "rows", "base"), [("table1", ROWS, None), ("table2", WORD_FORM_ROWS, WORD_FORMS)])
def test_rows_are_as_they_were_when_their_figures_came_about(
    folder: str, rows: dict[str, Row], base: Settings | None
) -> None:
    """What no record says, since it is newer, has its default."""
    default = in_words_of_today(described(base or Settings()))
    for record in read_records(RESULTS / folder):
        now = in_words_of_today(described(settings(rows[record["row"]], record["column"], base)))
        then = in_words_of_today(record["settings"])
        changed = {path for path, value in now.items() if value != then.get(path, default.get(path, value))}
        assert {(record["row"], path) for path in changed} <= CHANGED


def test_learned_aug_has_the_steps_of_the_text_or_those_of_the_authors_code() -> None:
    def steps(name: str) -> int:
        return word_forms(name).generator.duration(1000).steps

    assert steps("learned aug + resampling") == 375
    for coded in ("steps as coded", "tenses", "as coded", "as coded + tenses"):
        assert steps(f"learned aug + resampling ({coded})") == 1_575
    by_steps, tenses = (word_forms(f"learned aug + resampling ({name})") for name in ("steps as coded", "tenses"))
    text = word_forms("learned aug + resampling")
    assert repr(replace(by_steps, generator=text.generator)) == repr(text)
    assert repr(replace(tenses, rare_tags="named")) == repr(by_steps)


def test_the_rows_are_the_papers_in_its_order_and_then_ours() -> None:
    published = [name for name, row in ROWS.items() if row.published]
    assert list(ROWS)[: len(published)] == published
    assert published[0] == "baseline"
    assert published[-1] == "direct inference"
    assert {record["row"] for record in read_records(RESULTS / "table1")} == ROWS.keys()
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


def test_the_rows_are_the_papers_in_its_order_then_what_its_code_did_and_ours() -> None:
    ours = [name for name in WORD_FORM_ROWS if name.endswith((")", "agreement")) or name.startswith("paradigms")]
    assert list(WORD_FORM_ROWS)[-len(ours) :] == ours
    assert next(iter(WORD_FORM_ROWS)) == "baseline"
    run = {record["row"] for record in read_records(RESULTS / "table2")}
    assert run == WORD_FORM_ROWS.keys() - {"learned aug + resampling (steps as coded)"}


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
    with pytest.raises(RecombineError, match="no regular file") as error:
        read_rows(tmp_path)
    assert error.value.place == str(tmp_path / "mine.toml")


def names(rows: list[Row]) -> list[str]:
    return [row.name for row in rows]


def test_rows_are_chosen_by_name_and_split() -> None:
    rows = list(ROWS.values())
    assert names(chosen(rows, None, SPLITS)) == list(ROWS)
    assert "direct inference" not in names(chosen(rows, None, ["around-right"]))
    assert names(chosen(rows, ["recomb-2", "baseline"], ["jump"])) == ["baseline", "recomb-2"]
    assert {"geca", "recomb-2 + spans"} <= set(names(chosen(rows, None, ["opposite-right", "turn-left"])))
    for names_, splits, message in (
        (["recomb2"], SPLITS, r"unknown row 'recomb2'. Did you mean 'recomb-2'\? The rows are: baseline"),
        (None, ["turn-right"], "unknown split 'turn-right'.*The splits are: .*turn-left"),
        (["direct inference"], ["around-right"], "the row 'direct inference' is run on jump only"),
    ):
        with pytest.raises(RecombineError, match=message):
            chosen(rows, names_, splits)
