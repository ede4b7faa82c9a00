"""The few-shot morphology splits, the replay of the authors' draws, and downloads from a folder in place of the web."""

import hashlib
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recombine.data import sigmorphon
from recombine.data.sigmorphon import FewShot, few_shot, few_shots, locate, replay_neighbor_draws
from recombine.errors import RecombineError
from recombine.inflection import Inflection

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "sigmorphon2018"
ORDER = list(product(sigmorphon.HINTS, sigmorphon.SPLITS))

Splits = dict[tuple[int, int], FewShot]


@cache
def drawn(language: str) -> tuple[list[Inflection], Splits]:
    """Returns the word forms of a language and all splits, drawn once for all tests."""
    path = PUBLISHED / f"{language}-train-high"
    if not path.exists():
        pytest.skip(f"the published SIGMORPHON file {path} is not here, so no split was drawn from it")
    records = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    forms = [Inflection(lemma, tuple(tags.split(";")), form) for lemma, form, tags in records]
    return forms, dict(zip(ORDER, few_shots(forms), strict=True))


def count_novel(test: tuple[Inflection, ...], train: tuple[Inflection, ...]) -> int:
    seen = {form.tags for form in train}
    return sum(form.tags not in seen for form in test)


def synthetic(past: int, future: int, other: int, types: int = 10) -> list[Inflection]:
    """A language with these numbers of forms of each kind, spread over a number of types."""
    counts = {"PST": past, "FUT": future, "PRS": other}
    return [
        Inflection(f"lemma{place}", ("V", tag, str(place % types)), f"form{place}")
        for tag, count in counts.items()
        for place in range(count)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["spanish", "swahili", "turkish"])
def test_every_split_has_its_sizes_and_hints_and_shares_nothing(language: str) -> None:
    forms, splits = drawn(language)
    for (hints, _), split in splits.items():
        tests = (split.past, split.future, split.other)
        assert [len(split.train), *map(len, tests)] == [1000, 100, 100, 100]
        together = set(split.train).union(*tests)
        assert len(together) == 1300
        assert together <= set(forms)
        assert [sum(tag in form.tags for form in split.train) for tag in ("PST", "FUT")] == [hints, hints]
        assert all("PST" in form.tags for form in split.past)
        assert all("FUT" in form.tags for form in split.future)
        assert not any({"PST", "FUT"} & set(form.tags) for form in split.other)
    assert few_shot(forms, hints=4, split=2) == splits[4, 2]  # alone as among all
    if language == "spanish":  # the published trace of the stream of past and future forms
        tested, trained = splits[16, 0], splits[4, 0].train
        assert (count_novel(tested.future, trained), count_novel(tested.past, trained)) == (64, 86)


# Counted over splits 0 to 4 with 8 hints in an independent replay of the authors' program. The counts of other forms
# depend on every draw of RandomState(0), neighbor shuffles included.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "other", "future", "past"),
    [
        ("spanish", [0, 0, 0, 0, 0], (40, 58), (72, 84)),
        ("swahili", [0, 1, 1, 0, 1], (51, 66), (87, 93)),
        ("turkish", [4, 1, 0, 2, 3], (68, 79), (87, 94)),
    ],
)
def test_novel_tags_are_as_many_as_in_an_independent_replay(
    language: str, other: list[int], future: tuple[int, int], past: tuple[int, int]
) -> None:
    splits = [drawn(language)[1][8, split] for split in sigmorphon.SPLITS]
    assert [count_novel(split.other, split.train) for split in splits] == other
    for kind, bounds in (("future", future), ("past", past)):
        counts = [count_novel(getattr(split, kind), split.train) for split in splits]
        assert (min(counts), max(counts)) == bounds


def test_splits_differ_repeated_records_count_once_and_at_most_twenty_forms_of_a_type_are_drawn() -> None:
    forms = synthetic(200, 200, 1300)
    first, second = few_shot(forms, hints=4, split=0), few_shot(forms, hints=4, split=1)
    assert {*first.past} != {*second.past}
    assert {*first.other} != {*second.other}
    assert few_shot([*forms, *forms], hints=4, split=1) == second
    many = [Inflection(f"x{place}", ("V", "PST", "MANY"), f"y{place}") for place in range(500)]
    split = few_shot([*many, *forms], hints=4, split=0)
    assert 1 <= sum("MANY" in form.tags for form in (*split.train, *split.past)) <= 20


JUST_ENOUGH = synthetic(104, 104, 1200)  # for 4 hints


@pytest.mark.parametrize(
    ("forms", "hints", "split", "message"),
    [
        (synthetic(103, 200, 1300), 4, 0, r"too few PST forms: 103 usable of 103.*4 hints and 100 tests need 104"),
        (synthetic(200, 400, 1300, types=5), 4, 0, r"too few PST forms: 100 usable of 200, at most 20 for each tag"),
        (synthetic(200, 200, 1199), 4, 0, r"neither PST nor FUT: 1199, and 1200 are needed"),
        (synthetic(200, 0, 1300), 4, 0, r"too few FUT forms: 0 usable of 0"),
        (JUST_ENOUGH, 5, 0, r"no splits with 5 hints\. Choose from 4, 8, 16\."),
        (JUST_ENOUGH, 8, 5, r"no split 5\. Choose"),
    ],
)
def test_a_split_that_cannot_be_drawn(forms: list[Inflection], hints: int, split: int, message: str) -> None:
    with pytest.raises(RecombineError, match=message):
        few_shot(forms, hints=hints, split=split)
    assert len(few_shot(JUST_ENOUGH, hints=4, split=0).past) == 100


def forms(tags: str) -> st.SearchStrategy[Inflection]:
    return st.builds(
        Inflection,
        lemma=st.text("abc", min_size=1, max_size=4),
        tags=st.lists(st.sampled_from(tags), min_size=1, max_size=4, unique=True).map(tuple),
        form=st.just("x"),
    )


@st.composite
def languages(draw: st.DrawFn) -> tuple[list[Inflection], list[Inflection]]:
    form = forms(draw(st.sampled_from(["PQ", "PQRST"])))  # few tags, so that second prototypes are often missing
    train = draw(st.lists(form, min_size=8, max_size=16))
    return train[: len(train) // 2 * 2], draw(st.lists(form, max_size=6))


def similarity(lemma: str, other: str) -> float:
    ours, theirs = Counter(lemma), Counter(other)
    return (ours & theirs).total() / (ours | theirs).total()


def draw_form_by_form(rng: np.random.RandomState, train: list[Inflection], held_out: list[Inflection]) -> None:
    tags = [set(form.tags) for form in train]
    for i, form in enumerate([*train, *held_out]):
        own = set(form.tags)
        candidates = [j for j in range(len(train)) if j != i and (i % 2 == 1 or tags[j] != own)]
        assume(len(candidates) >= 4)  # always so in the task
        rng.shuffle(list(candidates))
        candidates.sort(key=lambda j: (len(own ^ tags[j]), similarity(form.lemma, train[j].lemma), j))
        for first in candidates[:4]:
            second = [
                j
                for j in range(len(train))
                if j not in (i, first) and tags[j] not in (own, tags[first]) and not own - tags[first] - tags[j]
            ]
            if not second:
                rng.permutation([0, 1])


@settings(deadline=None)
@given(languages())
def test_replay_leaves_the_generator_where_the_literal_loop_does(
    language: tuple[list[Inflection], list[Inflection]],
) -> None:
    train, held_out = language
    literal, replayed = np.random.RandomState(0), np.random.RandomState(0)
    draw_form_by_form(literal, train, held_out)
    replay_neighbor_draws(replayed, train, held_out=held_out)
    assert literal.randint(2**31, size=4).tolist() == replayed.randint(2**31, size=4).tolist()


CONTENT = "hablar\thablé\tV;IND;PST;1;SG;PFV\n".encode()
NAME = "spanish-train-high"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of the shared task where it is published: in a folder, for which no connection is needed."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / NAME).write_bytes(CONTENT)
    monkeypatch.setattr(sigmorphon, "_FOLDER", folder.as_uri())
    monkeypatch.setitem(sigmorphon.SHA256, "spanish", hashlib.sha256(CONTENT).hexdigest())
    return folder / NAME


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of downloads in a user's cache that is not there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/recombine/sigmorphon2018"


def test_files_are_downloaded_once_and_others_are_refused_and_not_kept(web: Path, downloads: Path) -> None:
    web.write_bytes(b"<html>Welcome to our hotel's network</html>")
    with pytest.raises(RecombineError, match=f"not the expected file.* {NAME} by other means .*`source`"):
        locate("spanish")
    assert not downloads.exists()
    web.write_bytes(CONTENT)
    assert locate("spanish") == downloads / NAME
    (downloads / NAME).write_bytes(b"damaged")
    assert locate("spanish").read_bytes() == CONTENT
    assert [file.name for file in downloads.iterdir()] == [NAME]
    web.unlink()
    assert locate("spanish").read_bytes() == CONTENT


def test_downloads_that_fail_are_sentences(web: Path, downloads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for language in ("spanich", "../spanish", "SPANISH", ""):
        with pytest.raises(RecombineError, match=r"unknown language .*spanish, swahili, turkish\. For others, .*`sour"):
            locate(language)
    downloads.parents[1].write_text("in the way")
    with pytest.raises(RecombineError, match="the file cannot be written"):
        locate("spanish")
    monkeypatch.setattr(sigmorphon, "_FOLDER", "http://127.0.0.1:9")
    with pytest.raises(RecombineError, match=r"could not download .* swahili-train-high by other means .*`source`"):
        locate("swahili")


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("given", ["", "relative/folder", None])
def test_downloads_without_a_usable_setting(given: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert locate("spanish") == tmp_path / ".cache/recombine/sigmorphon2018" / NAME


def test_a_source_serves_any_language_that_it_holds_and_is_not_left(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for path in (source / "quechua-train-high", tmp_path / "secret-train-high"):
        path.write_bytes(CONTENT)
    assert locate("quechua", source) == source / "quechua-train-high"
    (tmp_path / "empty").mkdir()
    for language, folder, message in (
        ("quecha", source, r"unknown language 'quecha'\. Did you mean 'quechua'"),
        ("../secret", source, "unknown language"),
        ("spanish", tmp_path / "empty", "holds no file called LANGUAGE-train-high"),
        ("spanish", tmp_path / "nowhere", "no such folder"),
    ):
        with pytest.raises(RecombineError, match=message):
            locate(language, folder)


def test_official_hashes_are_those_of_the_published_files() -> None:
    if not PUBLISHED.is_dir():
        pytest.skip(f"the published SIGMORPHON files are not in {PUBLISHED}, so no hash was checked")
    files = {language: locate(language, PUBLISHED).read_bytes() for language in sigmorphon.SHA256}
    assert {name: hashlib.sha256(content).hexdigest() for name, content in files.items()} == sigmorphon.SHA256
