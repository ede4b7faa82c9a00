"""``recombine predict``, ``evaluate``, ``score`` and ``audit``: outputs and samples, and how good they are."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from recombine.cli import files
from recombine.cli.options import AUTO, STANDARD, check_json
from recombine.cli.printing import counted, percent, print_json, print_table, say, say_next, working
from recombine.cli.training import enough_memory, use_threads
from recombine.data.files import names_columns, write
from recombine.data.output import all_or_none
from recombine.data.text import join, split
from recombine.data.vocabulary import Vocabulary, told_unseen
from recombine.errors import RecombineError, unknown
from recombine.evaluation.metrics import audit, exact_match, micro_f1, novel
from recombine.example import SEPARATOR, Example, Provenance, Tokens
from recombine.inflection import ANALYSIS, INFLECTION, are_of_word_forms, are_word_forms, directed, is_tag

if TYPE_CHECKING:
    from recombine.prediction.predictor import Prediction, Predictor

NOTHING = "<nothing>"
"""Stands in a file for a predicted output without tokens, which no file can hold; no gold output equals it."""

TEXTS = "input,output"
"""The keys of texts in JSON lines that were written beside their tokens."""

GOLD = ("scan",)  # the names of gold functions

_PHRASES = {
    "n": "samples",
    "novel": "new, not in the training data",
    "duplicates": "equal to an earlier sample",
    "contradicted": "contradicted by another sample",
    "well_formed": "with a well-formed input",
    "right": "exactly right",
    "right_and_novel": "exactly right and new",
    "inputs_in_test": "with an input of the test set",
    "pairs_in_test": "equal to a test pair",
}


def predict_cli(
    model: str,
    inputs: str,
    *,
    output: str = STANDARD,
    beam: int = 1,
    all_seeds: bool = False,
    device: str = AUTO,
    threads: int | None = None,
    reading: files.Reading,
    force: bool = False,
    json: bool = False,
) -> None:
    """Writes each input with the output that a predictor gives for it (default: the predictor of the first seed).

    Example:
      recombine predict predictor scan/test.tsv -o predicted.tsv

    In files of lemma, form, tags, the input is what was the input in training.

    Options:
      inputs INPUT: Inputs, one a line, or examples, whose outputs are ignored.
      output FILE: Columns if the name ends in .tsv or .csv, else JSONL with provenance; - is standard output. Several
        networks write one file each: FILE.0.jsonl, FILE.1.jsonl, …
      all_seeds: Ask every network, not only the first.
    """
    from recombine.training.stored import direction_of

    check_json(json, output, "predictions")
    predictor, vocabulary = _load(model, device)
    targets = files.numbered(output, len(predictor.seeds) if all_seeds else 1)
    files.check_free(targets, force=force or files.is_unfinished(output))
    tokens, reading = reading.tokens, reading.for_model(model, predictor.notes)
    asked = reading.read_inputs(inputs, direction_of(predictor.notes))
    if forms := are_of_word_forms(vocabulary.tokens):
        words = {token for x in asked for token in x}
        direction = INFLECTION if any(map(is_tag, words)) else ANALYSIS
        # Forms that were read as words are taken apart, except for those that have been written apart.
        if tokens is None and direction == ANALYSIS and any(len(word) > 1 for word in words):
            asked = [split(" ".join(x), "characters") for x in asked]
        say(files.DIRECTIONS[direction])
        files.warn_of_direction(model, predictor.notes, direction)
    reading.warn_of_swapped(inputs, asked, predictor.notes)
    use_threads(threads)
    predictions = _predict(predictor, asked, beam)[: len(targets)]
    empty = 0
    with files.working_on(output, targets) as goes_on, all_or_none(targets):
        for target, each in zip(targets, predictions, strict=True):
            pairs = []
            for x, prediction in zip(asked, each, strict=True):
                y = tuple(token for token in prediction.y if token != SEPARATOR)  # which no file can hold
                y = y if join(y, reading.kind).strip() or reading.kind != "code" else ()
                empty += not y
                origin = Provenance("prediction", log_probability=prediction.log_probability)
                pairs.append(Example(x, y or (NOTHING,), origin))
            format = files.format_of(target)
            kind = "characters" if forms and format == "jsonl" else reading.kind  # predictions may be no word forms
            write(pairs, target, format=format, tokens=kind, force=force or goes_on)
    unseen = vocabulary.unseen([Example(x, ()) for x in asked])
    if json:
        print_json({"outputs": targets, "inputs": len(asked), "unseen_tokens": unseen})
    about_empty = f" {empty:,} of them have no tokens, written as {NOTHING}." if empty else ""
    about_unseen = f" {told_unseen(unseen)}" if unseen else ""
    say(f"Predicted {counted(len(asked), 'output')}.{about_empty}{about_unseen}")
    if output != STANDARD:
        say_next("score", "--gold", None, "--predicted", targets[0], *reading.beside(targets[0]).options)


def evaluate_cli(
    model: str,
    test: str,
    *,
    beam: int = 1,
    device: str = AUTO,
    threads: int | None = None,
    reading: files.Reading,
    json: bool = False,
) -> None:
    """Scores predictors on a test set by exact match and micro-F1, for each seed and over all of them.

    Example:
      recombine evaluate predictor scan/test.tsv

    Word forms are read in the direction that was trained, analysis or inflection.

    Options:
      test TEST: Test examples; - is standard input.
    """
    from recombine.evaluation.significance import summarize
    from recombine.training.stored import direction_of

    predictor, vocabulary = _load(model, device)
    reading = reading.for_model(model, predictor.notes)
    examples = reading.read_for_prediction(test, None if reading.columns else direction_of(predictor.notes))
    files.warn_of_direction(model, predictor.notes, files.say_direction(examples))
    reading.warn_of_swapped(test, [example.x for example in examples], predictor.notes)
    use_threads(threads)
    predictions = _predict(predictor, [example.x for example in examples], beam)
    scores = {
        seed: _score([(example.y, guess.y) for example, guess in zip(examples, each, strict=True)])
        for seed, each in zip(predictor.seeds, predictions, strict=True)
    }
    measures = ("exact_match", "micro_f1")
    over_all = {name: summarize([score[name] for score in scores.values()]) for name in measures}
    unseen = vocabulary.unseen(examples)
    with_unseen = sum(not {*unseen}.isdisjoint((*example.x, *example.y)) for example in examples)
    if json:
        summaries = {name: asdict(summary) for name, summary in over_all.items()}
        print_json({"scores": scores, **summaries, "unseen_tokens": unseen, "with_unseen": with_unseen})
    else:
        rows = [(f"seed {seed}", *(f"{score[name]:.4f}" for name in measures)) for seed, score in scores.items()]
        mean = ("mean", *(f"{found.mean:.4f} ± {found.deviation:.4f}" for found in over_all.values()))
        print_table([*rows, mean] if len(rows) > 1 else rows, header=("", "exact match", "micro-F1"))
    if unseen:
        say(f"{told_unseen(unseen)} They are in {with_unseen:,} of {counted(len(examples), 'test example')}.")
    fits = reading.beside("predicted.tsv") == reading  # and no space is a token among words, as in forms of two words
    fits = fits and not (reading.kind == "words" and any(" " in example.d for example in examples))
    predicted = "predicted.tsv" if fits else "predicted.jsonl"
    say_next("predict", model, test, *reading.options, "-o", predicted)


def score_cli(
    *, gold: str, predicted: str, train: str | None = None, reading: files.Reading, json: bool = False
) -> None:
    """Scores predictions by exact match and micro-F1.

    Example:
      recombine score --gold test.tsv --predicted predictions.tsv

    Files of lemma, form, tags are scored as analyses: the form is the input, lemma and tags are the output. Micro-F1
    asks of each token whether the other output has it: order and number of repetitions do not count.

    Options:
      gold FILE: Inputs with the right outputs.
      predicted FILE: The same inputs in the same lines, with predicted outputs.
      train FILE: Training word forms, to score those with unseen tags (NOVEL) too.
    """
    files.check_one_standard_input(gold, predicted, train)
    reading = reading.settled(gold)
    by_text = reading.kind == "code"  # what counts is the text, whatever tokens a network made it of
    has_texts = by_text and predicted.endswith(files.JSONL) and names_columns(predicted, TEXTS)
    guessed = (replace(reading, columns=TEXTS) if has_texts else reading).read(predicted)
    right = reading.read_for_prediction(gold)
    if by_text:
        texts = [(join(each.x, "code"), join(each.y, "code")) for each in guessed]
        guessed = [Example(split(x, "code"), split(y, "code")) for x, y in texts]
    if are_word_forms(right):  # predictions, which may be no word forms, have their inputs' direction
        guessed = directed(guessed, ANALYSIS) if reading.names_word_forms(predicted) else guessed
        analysed = not any(is_tag(token) for example in guessed for token in example.x)
        right = directed(right, ANALYSIS if analysed else INFLECTION)
    _check_aligned(right, guessed, *map(files.name_of, (gold, predicted)))
    files.say_direction(right)
    pairs = [(one.y, other.y) for one, other in zip(right, guessed, strict=True)]
    scores: dict[str, dict[str, float] | None] = {"all": _score(pairs)}
    if train is not None:
        new = [pair for pair, is_new in zip(pairs, novel(right, reading.read(train)), strict=True) if is_new]
        scores["novel"] = _score(new) if new else None
    if json:
        print_json(scores)
        return
    rows = [
        (name, f"{score['n']:,}", f"{score['exact_match']:.4f}", f"{score['micro_f1']:.4f}")
        for name, score in scores.items()
        if score
    ]
    print_table(rows, header=("items", "n", "exact match", "micro-F1"))


def audit_cli(
    samples: str,
    *,
    train: str,
    test: str | None = None,
    gold: str | None = None,
    reading: files.Reading,
    json: bool = False,
) -> None:
    """Counts how many samples are new, repeated, contradicted, in the test set and, with --gold, right.

    Example:
      recombine audit augmented.jsonl --train scan/train.tsv --gold scan

    Options:
      samples SAMPLES: What an augmenter wrote; - is standard input.
      train FILE: What it was fitted to.
      gold NAME: What knows the right outputs: scan, SCAN's interpreter.
    """
    from recombine.data.scan import interpret

    files.check_one_standard_input(samples, train, test)
    if gold is not None and gold not in GOLD:
        raise unknown("gold function", gold, GOLD)
    reading = reading.settled(train)
    made, examples = reading.read(samples), reading.read(train)
    files.warn_of_strange_tokens(examples, made)
    tests = None if test is None else reading.read(test)
    found = audit(made, gold=interpret if gold else None, train=examples, test=tests)
    if json:
        print_json({**asdict(found), "shares": found.shares})
    else:
        shares: dict[str, float | None] = {"n": 1.0, **found.shares}
        counts = {name: count for name, count in asdict(found).items() if count is not None}
        print_table((_PHRASES[name], f"{count:,}", percent(shares[name] or 0.0)) for name, count in counts.items())
    estimates = [each.provenance.details.get("right") for each in made if each.provenance]
    if made and len(told := [float(each) for each in estimates if each is not None]) == len(made):
        say(f"By the estimates that they carry, about {sum(told) / len(told):.0%} of them are right.")
    say_next("train", train, "--augmented", samples, *reading.options, "-o", "predictor")


def _load(model: str, device: str) -> "tuple[Predictor, Vocabulary]":
    from recombine.prediction.predictor import Predictor

    with enough_memory():
        predictor = Predictor.load(model, device=device)
    assert predictor.vocabulary_ is not None
    return predictor, predictor.vocabulary_


def _predict(predictor: "Predictor", inputs: Sequence[Tokens], beam: int) -> "list[list[Prediction]]":
    """Returns each network's predictions, by beam search if the beam is wider than 1."""
    from recombine.decoding.generate import Decoding

    with enough_memory(), working(f"Predicting {len(inputs):,} outputs"):
        return predictor.predict(inputs, Decoding("beam", width=beam) if beam > 1 else Decoding("greedy"))


def _score(pairs: Sequence[tuple[Tokens, Tokens]]) -> dict[str, float]:
    """Returns how many pairs of right and predicted outputs there are, exact match and micro-F1."""
    gold, predicted = zip(*pairs, strict=True)
    return {"n": len(gold), "exact_match": exact_match(gold, predicted), "micro_f1": micro_f1(gold, predicted)}


def _check_aligned(right: list[Example], guessed: list[Example], gold: str, predicted: str) -> None:
    for number, (one, other) in enumerate(zip(right, guessed, strict=False), start=1):
        if one.x != other.x:
            raise RecombineError(
                f"the input is {' '.join(other.x)!r}, but {' '.join(one.x)!r} in the same line of {gold}.",
                place=f"{predicted}:{number}",
                hint="Both files must have the same inputs in the same order.",
            )
    if len(right) != len(guessed):
        message = f"the file has {len(guessed):,} examples, but {gold} has {len(right):,}."
        raise RecombineError(message, place=predicted, hint="Expected one prediction for each gold output.")
