"""Data with JSON in them, as Python users hand them over."""

import json
from collections.abc import Sequence
from pathlib import Path

import own_files
from tiny_networks import PREDICTOR

from recombine import GECA, Predictor, read
from recombine.data.files import write
from recombine.example import Example, Examples, Provenance
from recombine.own_data.inputs import as_examples

PAIRS = own_files.make("commands", 100).train


def test_json_is_code_unless_something_else_is_asked_for(tmp_path: Path) -> None:
    x, y = as_examples(PAIRS)[0].x, as_examples(PAIRS)[0].y
    assert y[:4] == ("{", '"', "intent", '"')
    assert as_examples(PAIRS, tokens="words")[0].y[0] == '{"intent":'
    assert as_examples([*PAIRS[:10], *[("stop", "nothing")] * 990])[0].y[0] == '{"intent":'
    assert as_examples([*PAIRS, ("stop", "nothing")])[0].y[0] == "{"  # words of inputs stand between marks
    assert as_examples([(x, y)]) == as_examples(PAIRS[:1])
    (tmp_path / "file.tsv").write_text("".join(f"{x}\t{y}\n" for x, y in PAIRS))
    assert read(tmp_path / "file.tsv") == as_examples(PAIRS)


def test_augmenters_give_texts_for_texts(tmp_path: Path) -> None:
    inputs, outputs = zip(*PAIRS, strict=True)
    geca = GECA(n=10)
    X, y = geca.fit_resample(inputs, outputs)
    assert geca.tokens_ == "code"
    assert str(geca.report_).splitlines()[1] == "tokens: code (all outputs are JSON)"
    right = own_files.oracle_of("commands").right
    assert len(X) > len(PAIRS)
    assert X[: len(PAIRS)] == inputs
    assert sum(map(right, X, y)) >= 0.9 * len(X)
    geca.save(tmp_path / "geca")
    assert geca.sample().tokens == "code"
    saved = (tmp_path / "geca" / "examples.jsonl").read_text().splitlines()
    assert [json.loads(line)["output"] for line in saved] == list(outputs)
    assert GECA.load(tmp_path / "geca").tokens_ == "code"


def test_predictors_read_and_write_texts(tmp_path: Path) -> None:
    from_texts = Predictor(network=PREDICTOR, epochs=1).fit(PAIRS)
    assert from_texts.tokens_ == Predictor(network=PREDICTOR, epochs=1).fit(as_examples(PAIRS)).tokens_ == "code"
    from_texts.save(tmp_path / "model")
    loaded = Predictor.load(tmp_path / "model")
    assert loaded.tokens_ == "code"
    assert isinstance(loaded.predict(PAIRS[0][0]), str)
    assert Predictor(network=PREDICTOR, epochs=1, tokens="words").fit(PAIRS).tokens_ == "words"


def test_what_a_token_was_in_a_file_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "file.tsv").write_text("".join(f"{x}\t{y}\n" for x, y in own_files.make("questions", 100).train))
    for kind in ("code", "characters"):
        examples = read(tmp_path / "file.tsv", tokens=kind)
        fitted = Predictor(network=PREDICTOR, epochs=1).fit(examples)
        fitted.save(tmp_path / kind)
        assert fitted.tokens_ == Predictor.load(tmp_path / kind).tokens_ == GECA().fit(examples).tokens_ == kind
        assert str(fitted.report_).splitlines()[1] == f"tokens: {kind} (as the examples were read)"
        GECA().fit(examples).save(tmp_path / f"geca-{kind}")
        assert GECA.load(tmp_path / f"geca-{kind}").tokens_ == kind
    assert Predictor(network=PREDICTOR, epochs=1).fit(list(examples)).tokens_ == "words"  # tokens are kept as given


def test_code_suits_texts_with_words_of_inputs_between_marks_not_tokens_dates_and_paths() -> None:
    def kind(pairs: Sequence[tuple[object, object]]) -> str:
        return as_examples(pairs).tokens

    assert kind([("what is in texas", "loc(texas)")]) == "code"
    assert kind([("what is in texas", "loc ( texas )")]) == "words"
    assert kind([(["in", "texas"], ["loc(", "texas,", ")"])]) == "words"
    assert kind([("march 3 2000", "2000-03-03"), ("delete bar", "rm -r bar/")]) == "words"
    others = [("jump twice", "JUMP JUMP")]
    assert kind([("in texas", "loc(texas)"), *19 * others]) == "code"
    assert kind([("in texas", "loc(texas)"), *20 * others]) == "words"


def test_examples_that_were_read_as_words_are_split_again_for_a_network_of_code(tmp_path: Path) -> None:
    texts = {name: "".join(f"{x}\t{y}\n" for x, y in pairs) for name, pairs in (("a", PAIRS), ("b", PAIRS[:3]))}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    code, words = read(tmp_path / "a"), read(tmp_path / "b", tokens="words")
    assert as_examples(words, tokens=code.tokens) == code[:3]
    assert as_examples(code[:3], tokens="words") == code[:3]  # a plain list: tokens are as they are


def test_only_texts_are_split_again(tmp_path: Path) -> None:
    tsv, new, forms = (tmp_path / name for name in ("geo.tsv", "new.jsonl", "forms.tsv"))
    pairs = [(f"what is the capital of {name}", f"answer(capital({name}))") for name in ("texas", "ohio", "iowa")]
    tsv.write_text("".join(f"{x}\t{y}\n" for x, y in pairs))
    forms.write_text("gel\tgeldi\tV;PST\n")
    geca = GECA().fit(read(tsv))
    geca.save(tmp_path / "geca")
    assert GECA.load(tmp_path / "geca").examples_ == geca.examples_
    for kind in ("words", "code"):  # of the texts beside the tokens
        write(geca.examples_, new, tokens=kind, force=True)
        assert read(new).tokens == kind
        assert as_examples(read(new), tokens="code") == read(tsv)
    assert as_examples(read(forms), tokens="code") == read(forms)
    new.write_text("".join(json.dumps({"input": x, "output": y}) + "\n" for x, y in pairs))
    assert as_examples(read(new, tokens="words"), tokens="code") == read(tsv)
    sample = Example(("a",), ("b(c)",), Provenance("geca", sources=("written", "1:2")))
    assert as_examples(Examples([sample], "words", from_texts=True), tokens="code")[0].y == sample.y
