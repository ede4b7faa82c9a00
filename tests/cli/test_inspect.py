import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from commands import Run
from kinds_of_data import declension

from recombine.augmentation.resample import find_rare
from recombine.data import files
from recombine.own_data import choices


def inspected(run: Run, *arguments: object, stdin: str = "") -> dict[str, Any]:
    return run("inspect", *arguments, "--json", stdin=stdin).document


def test_counts_and_where_no_token_is_rare_what_is(run: Run) -> None:
    found = inspected(run, "-", "--epsilon", "0.5", stdin="a b\tX\na b\tX\na b\tY\na b c d\tX X X\n")
    assert (found["examples"], found["duplicates"], found["ambiguous_inputs"]) == (4, 1, 1)
    assert found["x"] == {"vocabulary": 4, "mean_length": 2.5, "max_length": 4}
    assert found["y"] == {"vocabulary": 2, "mean_length": 1.5, "max_length": 3}
    rare = {tuple(item["ngram"]): item["count"] for item in found["rare"]}
    assert rare == {("Y",): 1, ("c",): 1, ("d",): 1}  # of three different examples
    assert (found["tags"], found["test"]) == ({}, None)
    words, pairs = ("-", "--neighborhood", "none"), "a b\tX Y\nb c\tY Z\nc a\tZ X\n"
    found = inspected(run, *words, stdin=pairs)
    assert (found["epsilon"], found["rare"]) == (None, [])
    assert "Rare tokens: none. What augment keeps samples by: pairs" in run("inspect", *words, stdin=pairs).out


def test_overlap_with_a_test_set_and_tags_of_word_forms(run: Run, train: Path, words: Path, tmp_path: Path) -> None:
    test = tmp_path / "test.tsv"
    test.write_text("walk\tI_WALK\nwalk twice\tWRONG\nnod\tI_NOD\n")
    found = inspected(run, train, "--test", test)["test"]
    assert found == {"examples": 3, "pairs": 1, "inputs": 2, "unseen_tokens": ["I_NOD", "WRONG", "nod"]}
    options = ("--epsilon", "0.1", "--neighborhood", "none")
    tags = {"[PST]": 1, "[PL]": 12, "[PROG]": 12, "[PRS]": 12, "[SG]": 13, "[V]": 25}
    assert inspected(run, words, *options)["tags"] == tags
    assert "[PST] (1, rare), [PL] (12)," in run("inspect", words, *options).out


@pytest.mark.parametrize(("rule", "prototypes"), [("one-prototype", 1), ("long-short", 2), ("long-long", 2)])
def test_worked_examples_are_training_examples(run: Run, train: Path, rule: str, prototypes: int) -> None:
    same_tokens = [f"a b{' c' * times}\tX" for times in range(6)]  # long-long asks for such
    train.write_text(train.read_text() + "\n".join(same_tokens) + "\n")
    (coverage,) = inspected(run, train, "--neighborhood", rule)["coverage"]
    assert coverage["rule"] == rule
    assert 0 < coverage["share"] <= 1
    known = {(example.x, example.y) for example in files.read(train)}
    assert len(coverage["examples"]) == 3
    for worked in coverage["examples"]:
        assert len(worked) == 1 + prototypes
        assert all((tuple(example["x"]), tuple(example["y"])) in known for example in worked)


def test_auto_finds_what_augment_finds(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"  # every word is common, "around right" was never seen: augment tries long-long first
    ways, verbs = ("left", "right", "back"), ("walk", "run", "look", "hop")
    lines = [f"{verb} {way}\t{verb.upper()} {way.upper()}" for verb in verbs for way in ways]
    lines += [
        f"{verb} around {way}\t{f'{verb.upper()} {way.upper()} ' * 2}" for verb in verbs for way in ("left", "back")
    ]
    path.write_text("\n".join(lines) + "\n")
    for file in (path, path.with_name("jump.tsv")):
        if not file.exists():
            file.write_text("\n".join([*lines, "jump\tJUMP JUMP JUMP"]) + "\n")
        examples = files.read(file)
        rules = map(choices.rule_named, choices.rule_names(examples, find_rare(examples)))
        learned = choices.neighborhoods(examples, list(rules)).value
        (shown,) = inspected(run, file)["coverage"]
        assert (shown["rule"], shown["account"]) == (learned.rule, learned.account)
        assert shown["share"] == learned.coverage(examples)


def test_which_rules_are_shown(run: Run, train: Path, words: Path) -> None:
    (shown,) = inspected(run, "-", stdin="a\tA\nb\tB\n")["coverage"]
    assert (shown["share"], shown["examples"]) == (0, [])
    for file, options, rules in (
        (train, (), ["spans"]),  # auto
        (words, (), ["tagged"]),
        (train, ("--neighborhood", "all"), ["one-prototype", "long-short", "long-long", "swap", "spans"]),
        (train, ("--neighborhood", "none"), []),
    ):
        assert [found["rule"] for found in inspected(run, file, *options)["coverage"]] == rules


@pytest.mark.parametrize("extra", [(), ("--epsilon", "0.02")])
def test_rare_is_what_augment_keeps_samples_by(run: Run, tmp_path: Path, extra: tuple[str, ...]) -> None:
    path = tmp_path / "few.tsv"
    files.write(declension(), path, format="sigmorphon")
    options = ("--neighborhood", "none", *extra)
    found = inspected(run, path, *options)
    assert [item["ngram"] for item in found["rare"]] == ([] if extra else [["[INS]"]])  # 4 of 184 are 2.2 %
    assert ("[INS] (4, rare)" in run("inspect", path, *options).out) == (not extra)
    augmented = run("augment", path, "--method", "geca", "--resample", "-n", "5", *extra, "-o", tmp_path / "new.jsonl")
    assert (augmented.code == 0) == (not extra)
    if not extra:
        assert found["rarity"] in augmented.err
        assert run("augment", path, "--method", "oversample", "-n", "5", "-o", tmp_path / "again.jsonl").ok
        assert all("[INS]" in example.x for example in files.read(tmp_path / "again.jsonl"))


def test_text_for_people(run: Run, train: Path, words: Path, tmp_path: Path) -> None:
    shown = run("inspect", words, "--neighborhood", "one-prototype").out  # word forms in one piece
    assert len(re.findall(r"^  target       \w+( \[\w+\]){3} ▷ \w+$", shown, flags=re.MULTILINE)) == 3
    done = run("inspect", train, "--test", train, "--neighborhood", "long-short")
    lines = [line.split() for line in done.out.splitlines()]
    assert ["examples", "29"] in lines
    assert "jump (1)" in run("inspect", train, "--epsilon", "0.05").out
    assert sum(line[:1] == ["target"] for line in lines) == 3
    assert sum(line[:2] == ["prototype", "2"] for line in lines) == 3
    assert done.last.startswith(f"Next: recombine augment {train} ")
    sounds = tmp_path / "sounds.tsv"  # single words, to be read as characters
    sounds.write_text("".join(f"{a}{b}i\t{b}:{a}\n" for a in "ptkbdg" for b in "aeiou"))
    *_, advice, following = run("inspect", sounds).err.splitlines()
    assert "give --tokens characters" in advice
    assert following == f"Next: recombine augment {sounds} --tokens characters -o augmented.jsonl"
    assert inspected(run, sounds, "--tokens", "characters")["x"]["vocabulary"] == 11


def test_words_have_the_number_of_the_tokens_that_they_call_for(run: Run, words: Path) -> None:
    verbs = ("walk", "look", "run", "nod")
    pairs = [(one, other) for one in verbs for other in verbs if one != other]
    lines = [f"please {a} then {b}\tGO {b.upper()} {a.upper()} {b.upper()}" for a, b in pairs]
    lines += [f"{verb}\tGO {verb.upper()}" for verb in verbs]
    shown = run("inspect", "-", "--neighborhood", "none", stdin="\n".join(lines)).out
    _, told = shown.split("Words and the tokens that they call for have the same number:\n")
    found = re.findall(r"^  please (\w+)¹ then (\w+)² ▷ GO (\w+)² (\w+)¹ (\w+)²$", told, flags=re.MULTILINE)
    single = re.findall(r"^  (\w+)¹ ▷ GO (\w+)¹$", told, flags=re.MULTILINE)
    assert len(found) + len(single) == 3
    for one, other, first, second, third in found:
        assert (first, second, third) == (other.upper(), one.upper(), other.upper())
    for each in inspected(run, "-", "--neighborhood", "none", stdin="\n".join(lines))["alignment"]:
        assert each["links"] == ([0, 1, 0, 2, 0, 2, 1, 2] if "please" in each["x"] else [1, 0, 1])
    nothing = "No word calls for a token of the outputs"
    assert nothing in run("inspect", "-", "--neighborhood", "none", stdin="a b\tX\nb a\tX\n").out
    assert nothing not in run("inspect", words, "--neighborhood", "none").out


FORMS = "lemma\tform\ttags\nwalk\twalked\tV;PST\nwalk\twalks\tV;PRS\n"


@pytest.mark.parametrize(
    ("text", "options", "named"),
    [
        ("natural question\tsql\nwalk\tWALK\nwalk twice\tWALK WALK\n", (), ("--columns", "natural question,sql")),
        ("input\toutput\nwalk\tWALK\nwalk twice\tWALK WALK\n", (), ("--columns", "input,output")),
        (FORMS, ("--columns", "1,2,3"), ("--columns", "lemma,form,tags")),
    ],
)
def test_what_looks_like_a_header_is_told_of_with_the_option_that_names_its_columns(
    run: Run, text: str, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    kind = ("--tokens", "characters") if options else ()
    done, skipped = (run("inspect", "-", *kind, *each, "--json", stdin=text) for each in (options, named))
    assert ("looks like column names" in done.err) == (" " not in text.split("\t")[0])
    assert f"give {shlex.join(named)}" in done.err or "natural" in text
    assert "looks like" not in skipped.err
    assert (done.document["examples"], skipped.document["examples"]) == (3, 2)


def test_contradictions_are_listed_with_their_lines(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(
        "input,output\na b,1\nc,2\na b,3\nc,2\na b,1\n" + "".join(f"d {n},{m}\n" for n in range(12) for m in "12")
    )
    shown = run("inspect", path, "--neighborhood", "none").out
    assert "  line 2, 6: a b ▷ 1\n  line 4: a b ▷ 3\n" in shown
    assert len(re.findall("^  line .*d ", shown, flags=re.MULTILINE)) == 18  # ten inputs with two outputs each
    found = inspected(run, path)
    assert found["ambiguous_inputs"] == 13
    assert found["contradictions"][0] == {"x": ["a", "b"], "y": ["1"], "lines": [2, 6]}
