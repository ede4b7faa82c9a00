"""Words or characters: what was chosen holds for the next command, and what was not chosen well is told of."""

import shlex
from pathlib import Path

import pytest
from commands import Outcome, Run

DATES = [f"{day} May {year}\t{year}-05-{day}" for day in range(10, 28, 2) for year in (1990, 1991, 2013)]
RARE = "10 June 1990\t1990-06-10"


@pytest.fixture
def dates(tmp_path: Path) -> Path:
    """Dates, to be read as characters; a month is rare."""
    path = tmp_path / "dates.tsv"
    path.write_text("\n".join([*DATES, RARE]) + "\n")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Dates in the second and third of four columns, below a header."""
    path = tmp_path / "table.tsv"
    rows = [f"{number}\t{line}\tnone" for number, line in enumerate([*DATES, RARE])]
    path.write_text("\n".join(["id\tsaid\tmeant\tremark", *rows]) + "\n")
    return path


LAYOUT = ("--columns", "said,meant")


def named(done: Outcome) -> list[str]:
    """Returns the words of the command that is named as the next one."""
    assert done.code == 0, done.err
    return shlex.split(done.last.removeprefix("Next: recombine "))


@pytest.mark.parametrize(
    "command",
    [
        ("inspect", "--neighborhood", "none"),
        ("augment", "--method", "oversample", "-n", 5, "--epsilon", 0.9),
        ("compare", "--methods", "oversample"),
    ],
)
def test_dates_as_words_are_told_of_at_once(run: Run, dates: Path, command: tuple[object, ...]) -> None:
    done = run(command[0], dates, *command[1:])
    assert done.err.startswith("Warning: nearly every output has only tokens of its own, such as '1990-05-10'")
    assert "--tokens characters" in done.err
    if command[0] == "compare":
        assert done.code == 2
        assert done.err.rstrip().endswith("Or take outputs apart: --tokens characters.")
    assert "Warning" not in run("inspect", dates, "--tokens", "characters", "--neighborhood", "none").err


@pytest.mark.parametrize(
    "command",
    [
        ("export", "{}", "{}", "-o", "x"),
        ("train", "{}", "--augmented", "{}", "--epochs", "1", "-o", "x"),
        ("audit", "--train", "{}", "{}"),
    ],
)
def test_words_and_characters_are_not_mixed_without_a_word(
    run: Run, dates: Path, tmp_path: Path, tiny: None, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("augment", dates, "--tokens", "characters", "--method", "geca", "-n", 5, "-o", "new.jsonl")
    files = iter((str(dates), "new.jsonl"))
    done = run(*(next(files) if word == "{}" else word for word in command))
    assert "of the new examples, such as '" in done.err
    assert "--tokens characters" in done.err


def test_samples_are_read_by_the_command_that_is_named_as_they_were_written(
    run: Run, dates: Path, table: Path, tmp_path: Path
) -> None:
    def made(file: Path, *options: str, name: str) -> list[str]:
        words = ("--tokens", "characters", *options, "--method", "oversample", "-n", 5, "-o", tmp_path / name)
        return named(run("augment", file, *words))

    for file, options, name in ((dates, (), "dates.jsonl"), (table, LAYOUT, "table.jsonl")):
        found = run(*made(file, *options, name=name), "--json").document
        assert (found["n"], found["novel"]) == (5, 0)
    # A TSV file of two columns is not read by the columns of another.
    found = run(*made(table, *LAYOUT, name="o.tsv"), "--neighborhood", "none", "--json").document
    assert (found["examples"], found["y"]["max_length"]) == (5, len("1990-06-10"))


def test_names_of_columns_apply_to_the_files_that_have_them(run: Run, table: Path, tmp_path: Path) -> None:
    test, new = tmp_path / "test.csv", tmp_path / "new.csv"
    test.write_text('said,"meant"\n28 May 1990,1990-05-28\n')
    options = (*LAYOUT, "--tokens", "characters")
    assert run("augment", table, *options, "--method", "oversample", "-n", 5, "--test", test, "-o", new).ok
    assert new.read_text().startswith("input,output\n")
    found = run("audit", new, "--train", table, "--test", test, *options, "--json").ok
    assert (found.document["n"], found.document["novel"]) == (5, 0)
    assert f"{new} does not name the columns said,meant: it is read without" in found.err
    plain = tmp_path / "plain.tsv"
    plain.write_text("28 May 1990\t1990-05-28\n")
    plain.with_name("new.jsonl").write_text('{"x": "a", "y": "b"}\n')
    for file, options in ((plain, LAYOUT), (plain.with_name("new.jsonl"), ("--columns", "2,3"))):  # it has neither
        assert run("inspect", file, *options).code == 2


@pytest.mark.parametrize("options", [(), LAYOUT, ("--format", "tsv")])
def test_inspect_hands_its_options_on(run: Run, dates: Path, table: Path, options: tuple[str, ...]) -> None:
    file = table if options == LAYOUT else dates
    for tokens in ((), ("--tokens", "characters")):  # without, it advises it for dates
        words = named(run("inspect", file, *tokens, *options, "--neighborhood", "none"))
        assert words == ["augment", str(file), "--tokens", "characters", *options, "-o", "augmented.jsonl"]


def test_from_training_to_a_score(
    run: Run, table: Path, tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trained = run("train", table, *LAYOUT, "--tokens", "characters", "--epochs", 1, "-o", "predictor")
    evaluate = [str(table) if word == "FILE" else word for word in named(trained)]
    score = named(run(*named(run(*evaluate))))
    done = run(*(str(table) if word == "FILE" else word for word in score), "--json")
    assert done.document["all"]["n"] == len(DATES) + 1


def test_columns_in_another_order_than_expected_are_told_of(run: Run, tmp_path: Path) -> None:
    verbs = [f"{first}{last}ar" for first in "bdlmn" for last in "eiou"]
    lines = [f"{verb}\t{verb}{ending}\t{tag}" for verb in verbs for ending, tag in (("é", "V;FUT"), ("", "V;NFIN"))]
    orders = {"lemma-form-tags": (0, 1, 2), "lemma-tags-form": (0, 2, 1), "tags-lemma-form": (2, 0, 1)}
    for name, order in orders.items():
        path = tmp_path / f"{name}.tsv"
        path.write_text("".join("\t".join(line.split("\t")[at] for at in order) + "\n" for line in lines), "utf-8")
        done = run("inspect", path, "--format", "sigmorphon").ok
        assert ("has tags of its own" in done.err) == (order[2] != 2)
    done = run("inspect", tmp_path / "lemma-tags-form.tsv", "--tokens", "characters", "--columns", "1,3,2")
    assert (done.code, "Warning" in done.err) == (0, False)
