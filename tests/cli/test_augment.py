from collections import Counter
from pathlib import Path

import pytest
from commands import Outcome, Run, assert_is_sentence

from recombine.data import files


def augment(run: Run, source: object, *options: object, method: str = "geca", stdin: str = "") -> Outcome:
    return run("augment", source, "--method", method, *options, stdin=stdin)


def test_geca_writes_novel_pairs_with_provenance(run: Run, train: Path, tmp_path: Path) -> None:
    done = augment(run, train, "-n", 4, "-o", tmp_path / "new.jsonl")
    assert (done.code, done.out) == (0, "")
    made, known = files.read(tmp_path / "new.jsonl"), set(files.read(train))
    assert len(set(made)) == 4
    assert not known.intersection(made)
    assert all(set(sample.provenance.prototypes) <= known for sample in made)
    assert {sample.provenance.method for sample in made} == {"geca"}
    assert "4 of 4 samples." in done.err
    assert "have something rare in them; --resample makes only such." in done.err
    assert done.last == f"Next: recombine audit {tmp_path}/new.jsonl --train {train}"


def test_a_precision_that_cannot_be_is_refused_before_the_file_is_read(run: Run, train: Path, tmp_path: Path) -> None:
    train.write_text(f"{train.read_text()}no tab\n")  # would be an error, too
    refused = augment(run, train, "--precision", 0.2, "-o", tmp_path / "new.jsonl", method="auto")
    assert_is_sentence(refused, ["--precision is 0.2, expected at least 0.5", "likelier wrong than right"])
    train.write_text("gel\tgeldi\tV;PST\nno tabs\n")  # word forms may have any
    assert "expected 3" in augment(run, train, "--precision", 0.2, method="auto").err
    piped = augment(run, "-", "--precision", 0.2, method="auto", stdin="walk\tWALK\nrun\tRUN\n")
    assert_is_sentence(piped, ["precision is 0.2, expected at least 0.5"])


def test_forms_that_do_not_show_a_rare_tag_are_turned_down_unless_told(run: Run, tmp_path: Path) -> None:
    forms, new = tmp_path / "forms.tsv", tmp_path / "new.jsonl"
    presents = [f"{stem}ar\t{stem}o\tV;PRS" for stem in ("ban", "tin", "kol", "til")]
    forms.write_text("\n".join([*presents, "banar\tbanaba\tV;PST", "kolar\tkolaba\tV;PST"]) + "\n")

    def made(*options: str) -> tuple[set[str], str]:
        done = augment(run, forms, "-n", 20, "--epsilon", 0.5, "-o", new, "--force", *options)
        return {"".join(sample.y) for sample in files.read(new)}, done.err

    found, said = made()
    assert "tilaba" in found  # ti may stand for ko
    assert "tinati" not in found  # ti for ba, everywhere, leaves nothing of the past
    assert "with a rare tag that the form does not show" in said
    wild, said = made("--no-agreement")
    assert wild > found
    assert "tinati" in wild
    assert "does not show" not in said


def test_contradictory_examples_are_told_of(run: Run, train: Path, tmp_path: Path) -> None:
    words = ("augment", train, "--method", "geca", "-n", 2)
    assert "another output" not in run(*words, "-o", tmp_path / "one.jsonl").ok.err
    first = train.read_text().splitlines()[0].split("\t")[0]
    train.write_text(f"{train.read_text()}{first}\tOTHERWISE\n")
    assert "2 examples have an input that another has" in run(*words, "-o", tmp_path / "two.jsonl").ok.err
    pairs = [f"{size} {color}\t{size.upper()} {color.upper()}\n" for size in "abcdefgh" for color in "stuvwxyz"][:-3]
    for places, told in ((slice(1), False), (slice(9), True)):  # few are left out
        train.write_text("".join([*pairs, *(pair.replace("\n", " !\n") for pair in pairs[places])]))
        done = run("augment", train, "-n", 2, "-o", tmp_path / "new.jsonl", "--force").ok
        assert ("made of those that contradict each other, too" in done.err) == told


def test_nothing_to_make_is_an_error_without_a_file(run: Run, train: Path, tmp_path: Path) -> None:
    done = augment(run, train, "-o", tmp_path / "new.jsonl", "--epsilon", "0.001", method="oversample")
    assert (done.code, done.out) == (1, "")
    assert "larger epsilon" in done.err
    assert not (tmp_path / "new.jsonl").exists()


def test_a_shortfall_is_no_failure_and_told_as_are_coincidences_with_a_test_set(
    run: Run, train: Path, tmp_path: Path
) -> None:
    test = tmp_path / "test.tsv"
    test.write_text("jump twice\tI_JUMP I_JUMP\njump thrice\tNO\n")
    done = augment(run, train, "-n", 5000, "--test", test, "-o", tmp_path / "new.jsonl", "--json")
    report = done.document
    assert report["requested"] == 5000
    assert 0 < report["kept"] == len(files.read(tmp_path / "new.jsonl")) < 5000
    assert report["shortfall"]
    assert report["shortfall"] in done.err
    assert (report["pairs_in_test"], report["inputs_in_test"]) == (1, 2)
    assert "Of these, 1 are test pairs and 2 have a test input." in done.err


def test_a_pipe_gives_the_same_bytes_as_files(run: Run, train: Path, tmp_path: Path) -> None:
    augment(run, train, "-n", 5, "-o", tmp_path / "new.jsonl")
    done = augment(run, "-", "-n", 5, "-o", "-", stdin=train.read_text())
    assert done.out == (tmp_path / "new.jsonl").read_text()


def test_paradigms_are_for_word_forms(run: Run, words: Path, train: Path, tmp_path: Path) -> None:
    assert run("augment", words, "--method", "paradigms", "-n", 3, "-o", tmp_path / "new.tsv").ok
    assert {"PST"} <= {tag for form in files.read_inflections(tmp_path / "new.tsv") for tag in form.tags}
    assert_is_sentence(run("augment", train, "--method", "paradigms"), ["needs word forms", "--method auto"])


def test_more_gaps_fill_up_what_one_does_not_give(run: Run, words: Path, tmp_path: Path) -> None:
    made = {}
    for gaps in (None, 1, 2):
        options = () if gaps is None else ("--gaps", gaps)
        done = augment(run, words, "-n", 200, "-o", tmp_path / f"{gaps}.tsv", *options).ok
        assert ("With --gaps 2 there are more" in done.err) == (gaps is None)
        made[gaps] = set(files.read_inflections(tmp_path / f"{gaps}.tsv"))
    assert made[None] == made[1] < made[2]
    assert not made[2] & {*files.read_inflections(words)}


def test_samples_that_contradict_each_other_are_told_of(run: Run, tmp_path: Path) -> None:
    train, new = tmp_path / "train.tsv", tmp_path / "new.jsonl"
    train.write_text("p a\tP A\np b\tP B\np c\tP C\nq a\tQ A\nq c\tS C\n")  # so q b is Q B, and S B
    done = run("augment", train, "--method", "geca", "-n", 30, "-o", new, "--json").ok
    samples = files.read(new)
    times = Counter(sample.x for sample in samples)
    expected = sum(times[sample.x] > 1 for sample in samples)
    assert done.document["contradicted"] == expected > 0
    assert f"{expected} have an input that another has with another output" in done.err
    audited = " ".join(run("audit", new, "--train", train).out.split())
    assert f"contradicted by another sample {expected} " in audited


@pytest.mark.parametrize("format", [(), ("--format", "sigmorphon")])
def test_samples_of_word_forms_are_audited_next(run: Run, tmp_path: Path, format: tuple[str, ...]) -> None:
    forms = [f"{a}{b}\t{a}{b}{end}\tN;{tag}" for a in "bcdf" for b in "ou" for end, tag in (("a", "SG"), ("i", "PL"))]
    (tmp_path / "forms.tsv").write_text("\n".join([*forms, "ho\thoa\tN;SG"]) + "\n")
    output = tmp_path / "new.tsv"
    options = ("--method", "geca", "--no-resample", "-n", 1, "-o", output, *format)
    done = run("augment", tmp_path / "forms.tsv", *options).ok
    following = done.last.removeprefix("Next: recombine ").split()
    assert following[0] == "audit"
    assert run(*following).code == 0


@pytest.mark.usefixtures("tiny_in_agreement")
def test_by_default_a_network_makes_samples_that_are_rare_and_agree(run: Run, train: Path, tmp_path: Path) -> None:
    options = ("-n", 5, "--epochs", 10, "--device", "cpu", "--threads", 1)
    done = run("augment", train, *options, "-o", tmp_path / "new.jsonl").ok
    made = files.read(tmp_path / "new.jsonl")
    assert made
    assert all("jump" in sample.x and "I_JUMP" in sample.y for sample in made)
    assert "with a word whose counterpart is missing on the other side" in done.err


def test_checks_turn_samples_down(run: Run, train: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    done = augment(run, train, "-n", 100, "--check", "cut -f 2 | grep -q WALK", "-o", new, "--json").ok
    assert done.document["rejected"]["turned down by 'cut -f 2 | grep -q WALK'"] > 0
    assert all(any("WALK" in token for token in sample.y) for sample in files.read(new))
    for check, words in (("jsn", ["cannot be run"]), ("json", ["turns down the training examples"])):
        assert_is_sentence(augment(run, train, "--check", check), words)


def test_a_new_folder_is_told_of(run: Run, train: Path, tmp_path: Path) -> None:
    new = tmp_path / "not" / "there" / "new.jsonl"
    assert f"The folder {new.parent} is new.\n" in augment(run, train, "-n", 4, "-o", new).ok.err
    assert "is new" not in augment(run, train, "-n", 4, "-o", new, "--force").ok.err
