"""Originals and new examples together in a folder, as another toolkit reads them, with a README on how to train."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Self

from recombine.data.formats import SPACE, csv_row, texts
from recombine.data.output import all_or_none, check_free, locked, replacing, sweep
from recombine.data.text import check_kind, join, shown, split
from recombine.errors import RecombineError, unknown
from recombine.example import Example, Tokens
from recombine.inflection import Inflection, are_inflections, join_text, split_text

README = "README.md"

LEAST = 0.001
"""No example is seen less often than this; else thousands of others would be repeated."""

MOST = 4
"""A ratio of repetitions has this or less for its smaller number, so that files do not grow without need."""

_RESERVED = {"<s>", "</s>", "<unk>", "<pad>", "<blank>"}
_OBFUSCATED = re.compile(r"<.*>|\[.*\]|\{.*\}")

_Files = tuple[Mapping[str, Iterable[str]], str]
"""The lines of each file, by its name, and how to train with the files, in Markdown."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The files that were written, the README last, and what it says: how to train with them."""

    files: tuple[Path, ...]
    how: str


def check_toolkit(name: str) -> None:
    """Raises the error for a toolkit that is not in ``TOOLKITS``."""
    if name not in TOOLKITS:
        raise unknown("toolkit", name, TOOLKITS)


def export(
    originals: Sequence[Example],
    new: Sequence[Example],
    folder: str | Path,
    *,
    to: str,
    p_aug: float | None = None,
    tokens: str = "words",
    force: bool = False,
) -> Exported:
    """Writes originals and new examples for a toolkit: all files or none. After a kill, the same call starts over.

    Toolkits, named by ``TOOLKITS``, that take weights are given weights; for the others examples are repeated. `p_aug`
    is the probability that a training example is a new one; None: all count alike. `tokens` is what a token is where
    the toolkit splits strings: ``"words"``, ``"characters"`` or ``"code"``. Files are replaced only with `force`.
    """
    check_toolkit(to)
    check_kind(tokens)
    for examples, name in ((originals, "original"), (new, "new")):
        if not examples:
            raise RecombineError(f"there are no {name} examples to export.")
    contents, how = TOOLKITS[to](_Mixture(originals, new, Mix.of(len(originals), len(new), p_aug), tokens))
    if tokens == "code" and to not in ("tsv", "hf", "chat"):
        how += "\n\nTokens are those of `--tokens code`; `recombine.data.code.join` makes texts of them."
    paths = [Path(folder) / name for name in (*contents, README)]
    with locked(paths[-1]) as was_killed, all_or_none(paths):
        for path in paths:
            sweep(path)
            check_free(path, force=force or was_killed)
        for path, lines in zip(paths, (*contents.values(), [how]), strict=True):
            with replacing(path, force=force or was_killed) as stream:
                stream.writelines(f"{line}\n".encode() for line in lines)
    return Exported(tuple(paths), how)


@dataclass(frozen=True, slots=True)
class Mix:
    """How often training sees a new example, in four ways: for toolkits with weights, probabilities or neither.

    Attributes:
        share: The probability that a training example is a new one.
        weight: What a new example counts if an original counts 1.
        originals: How often each original is repeated where there are no weights; with `new`, as near as may be.
        new: How often each new example is repeated.
    """

    share: float
    weight: float
    originals: int
    new: int

    @classmethod
    def of(cls, originals: int, new: int, p_aug: float | None = None) -> Self:
        """Works out the mixture from the numbers of originals and new examples; without `p_aug`, all count alike."""
        if p_aug is None:
            return cls(share=new / (originals + new), weight=1.0, originals=1, new=1)
        if not 0 < p_aug < 1:
            raise RecombineError(f"p_aug is {p_aug:g}, expected more than 0 and less than 1.")
        if min(p_aug, 1 - p_aug) < LEAST:
            hint = f"Choose a rate between {LEAST:g} and {1 - LEAST:g}."
            raise RecombineError(f"p_aug is {p_aug:g}: examples would have to be repeated too often.", hint=hint)
        weight = Fraction(p_aug) / (1 - Fraction(p_aug)) * Fraction(originals, new)
        ratio = weight.limit_denominator(MOST) if weight >= 1 else 1 / (1 / weight).limit_denominator(MOST)
        return cls(share=p_aug, weight=float(weight), originals=ratio.denominator, new=ratio.numerator)

    def turns(self) -> tuple[int, int]:
        """Returns the share as whole numbers, e.g. 19 originals, then 1 new example."""
        rough, exact = (Fraction(self.share).limit_denominator(most) for most in (100, 10**9))
        share = rough if 0 < rough < 1 else exact
        return share.denominator - share.numerator, share.numerator


class _Mixture:
    """What is to be exported: the parts, and `repeated` examples for toolkits without weights."""

    def __init__(self, originals: Sequence[Example], new: Sequence[Example], mix: Mix, tokens: str) -> None:
        self.originals, self.new, self.mix, self.tokens = originals, new, mix, tokens
        self.word_forms = are_inflections(chain(originals, new))
        self.characters = tokens == "characters" or self.word_forms
        self.vocabulary = dict.fromkeys(token for each in chain(originals, new) for token in (*each.x, *each.y))
        self.repeated = [*originals] * mix.originals + [*new] * mix.new
        self.repetition = ""
        if mix.originals != 1 or mix.new != 1:
            times = [f"{count} times" if count > 1 else "once" for count in (mix.originals, mix.new)]
            self.repetition = (
                f"Originals stand here {times[0]} and new examples {times[1]}, "
                f"so that {mix.new * len(new) / len(self.repeated):.1%} of the lines are new examples.\n\n"
            )

    def columns(self, tokens: str) -> Iterator[Tokens]:
        """Yields input and output of each repeated example, or lemma, form and tags if all are word forms."""
        if self.word_forms:
            forms = (Inflection.from_fields(example.x, example.y) for example in self.repeated)
            return ((form.lemma, form.form, ";".join(form.tags)) for form in forms)
        for token in () if tokens == "code" else self.vocabulary:  # code has its text back, whatever the tokens
            if split(token, tokens) != (token,):
                other = "words" if tokens == "characters" else "characters"
                raise _unfit(token, f"It would be read as something else; try `tokens={other!r}`, or `to='jsonl'`.")
        return ((join(example.x, tokens), join(example.y, tokens)) for example in self.repeated)

    def text(self, side: Tokens) -> str:
        """Returns tokens as one text, in which characters stand side by side and tags at the end."""
        return join_text(side) if self.characters else join(side, self.tokens)

    def spaced(self, sides: Iterable[Tokens]) -> Iterator[str]:
        """Yields tokens between spaces, if all can stand there."""
        for token in self.vocabulary:
            if token in _RESERVED:
                raise _unfit(token, "The toolkit reserves this symbol.")
            if token != " " and any(map(str.isspace, token)):
                raise _unfit(token, "The toolkit would take it apart at the white space; try `to='jsonl'`.")
        if (" " in self.vocabulary or self.characters) and SPACE in self.vocabulary:
            raise _unfit(SPACE, "It stands for a space; try `to='jsonl'`.")
        return (" ".join(SPACE if token == " " else token for token in side) for side in sides)


def _unfit(tokens: str | Tokens, hint: str) -> RecombineError:
    told = f"token {tokens!r}" if isinstance(tokens, str) else f"tokens {shown(str([*tokens]))}"
    return RecombineError(f"the {told} cannot be exported.", hint=hint)


def _tsv(data: _Mixture) -> _Files:
    kind = {"characters": "characters", "code": "texts", "words": "words between spaces"}[data.tokens]
    columns = "lemma, form and tags" if data.word_forms else f"input and output, as {kind}"
    # Our own predictors count repetitions once.
    own = "`recombine train ORIGINALS --augmented NEW --p-aug P` mixes by itself and needs no such file."
    how = f"{data.repetition}Train with: any toolkit that reads columns between tabs; here: {columns}.\n\n{own}"
    return {"train.tsv": map("\t".join, data.columns(data.tokens))}, how


_as_json = partial(json.dumps, ensure_ascii=False)


def _jsonl(data: _Mixture) -> _Files:
    kind = "characters" if data.characters else data.tokens
    objects = (
        {**texts(each, kind), "x": each.x, "y": each.y, "weight": weight, "method": method}
        for examples, weight in ((data.originals, 1.0), (data.new, data.mix.weight))
        for each in examples
        for method in [each.provenance and each.provenance.method]
    )
    how = (
        "Each line: texts (`input`, `output`), tokens (`x`, `y`), `weight`, and `method`: augmenter or null.\n\n"
        "Train with: any loader that draws lines in proportion to `weight`, "
        "e.g. `torch.utils.data.WeightedRandomSampler(weights, num_samples=len(weights))`"
    )
    return {"train.jsonl": map(_as_json, objects)}, how


def _yoyodyne(data: _Mixture) -> _Files:
    """Columns, which yoyodyne reads as CSV, and the part of its configuration that says how to split them."""
    for token in () if data.word_forms else data.vocabulary:
        if len(token) > 1 and _OBFUSCATED.fullmatch(token):
            raise _unfit(token, "yoyodyne reserves symbols of the form <...>, [...] and {...}.")
    separator = "" if data.characters else " "
    settings = {
        **{"model_dir": "model", "train": "train.tsv", "source_col": 1, "target_col": 2},
        "features_col": 3 if data.word_forms else 0,
        **{"source_sep": f'"{separator}"', "target_sep": f'"{separator}"', "features_sep": '";"'},
    }
    config = ["# The part of a configuration that tells yoyodyne how to read train.tsv.", "data:"]
    config += [f"  {name}: {value}" for name, value in settings.items()]
    command = "yoyodyne fit --config MODEL.yaml --config data.yaml --data.val VALIDATION.tsv"
    how = f"{data.repetition}Train in this folder with: `{command}`"
    rows = data.columns("characters" if data.characters else "words")
    table = (csv_row(row, delimiter="\t") for row in rows)  # quoted as readers of CSV expect
    return {"train.tsv": table, "data.yaml": config}, how


def _fairseq(data: _Mixture) -> _Files:
    """Parallel files of tokens between spaces."""
    x, y = (data.spaced([getattr(example, side) for example in data.repeated]) for side in ("x", "y"))
    how = (
        f"{data.repetition}Train in this folder with: "
        "`fairseq-preprocess --source-lang src --target-lang tgt --trainpref train --destdir data-bin && "
        "fairseq-train data-bin --arch lstm --optimizer adam --lr 0.001 --max-tokens 4000 --max-epoch 100 "
        "--disable-validation`"
    )
    return {"train.src": x, "train.tgt": y}, how


def _opennmt(data: _Mixture) -> _Files:
    """Parallel files of tokens between spaces, originals and new ones apart, and a configuration that weighs them."""
    lines: dict[str, Iterable[str]] = {}
    config = ["# How many examples of each corpus are taken in turn.", "data:"]
    parts = {"original": data.originals, "new": data.new}
    for (name, examples), weight in zip(parts.items(), data.mix.turns(), strict=True):
        lines[f"src-{name}.txt"] = data.spaced([example.x for example in examples])
        lines[f"tgt-{name}.txt"] = data.spaced([example.y for example in examples])
        config += [f"  {name}:", f"    path_src: src-{name}.txt", f"    path_tgt: tgt-{name}.txt"]
        config.append(f"    weight: {weight}")
    config += ["save_data: run", "src_vocab: run/vocab.src", "tgt_vocab: run/vocab.tgt", "save_model: run/model"]
    command = "onmt_build_vocab -config config.yaml -n_sample -1 && onmt_train -config config.yaml"
    return {**lines, "config.yaml": config}, f"Train in this folder with: `{command}`"


def _hugging_face(data: _Mixture) -> _Files:
    """Two splits with strings for tokenizers and tokens for everybody else."""
    new = round(data.mix.share, 6)
    how = (
        "Train in this folder with:\n\n```python\nfrom datasets import interleave_datasets, load_dataset\n\n"
        'splits = load_dataset("json", data_files={"original": "original.jsonl", "new": "new.jsonl"})\n'
        'train = interleave_datasets([splits["original"], splits["new"]], '
        f"probabilities={[round(1 - new, 6), new]}, seed=0, "
        'stopping_strategy="all_exhausted")\n```'
    )

    def line(each: Example) -> str:
        texts = {"input": data.text(each.x), "output": data.text(each.y)}
        return _as_json({**texts, "input_tokens": each.x, "output_tokens": each.y})

    return {"original.jsonl": map(line, data.originals), "new.jsonl": map(line, data.new)}, how


def _chat(data: _Mixture) -> _Files:
    """Conversations of two messages: for many toolkits and services that tune chat models."""

    def message(role: str, side: Tokens) -> dict[str, str]:
        text = data.text(side)
        back = split_text(text) if data.characters else split(text, data.tokens)
        if back != side and data.tokens != "code":  # code has its text back, whatever the tokens
            raise _unfit(side, "As a text they would be read as others; try `to='jsonl'`.")
        return {"role": role, "content": text}

    lines = (_as_json({"messages": [message("user", each.x), message("assistant", each.y)]}) for each in data.repeated)
    how = f"{data.repetition}Train with: what takes JSON lines with `messages`, e.g. TRL's `SFTTrainer`."
    return {"train.jsonl": lines}, how


TOOLKITS: dict[str, Callable[[_Mixture], _Files]] = {
    "tsv": _tsv,
    "jsonl": _jsonl,
    "yoyodyne": _yoyodyne,
    "fairseq": _fairseq,
    "opennmt": _opennmt,
    "hf": _hugging_face,
    "chat": _chat,
}
"""What can be written, by name."""
