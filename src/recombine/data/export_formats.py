"""The files that each toolkit reads, line by line, and the command to train with."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from recombine.data import sigmorphon_format, tokenization
from recombine.data.export_mix import Mix
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.inflection import Inflection, is_inflection, split_analysis

SPACE = "▁"
"""Stands for a token that is a space, where spaces stand between tokens."""

_RESERVED = {"<s>", "</s>", "<unk>", "<pad>", "<blank>"}
_OBFUSCATED = re.compile(r"<.*>|\[.*\]|\{.*\}")


@dataclass(frozen=True, slots=True)
class Files:
    """What to write.

    Attributes:
        lines: The lines of each file, by its name.
        how: How to train with them, in Markdown.
    """

    lines: Mapping[str, Iterable[str]]
    how: str


@dataclass(frozen=True)
class Mixture:
    """What is to be exported.

    Attributes:
        originals: The original training examples.
        new: The new ones.
        mix: How often training is to see a new one.
        tokens: What a token is: ``"words"`` or ``"characters"``.
    """

    originals: Sequence[Example]
    new: Sequence[Example]
    mix: Mix
    tokens: str

    @property
    def word_forms(self) -> bool:
        """Whether all examples are word forms: lemma, tags ▷ form."""
        return all(map(is_inflection, self.all))

    @property
    def characters(self) -> bool:
        """Whether tokens are characters, so that nothing need stand between them."""
        return self.tokens == "characters" or self.word_forms

    @property
    def all(self) -> Iterator[Example]:
        """Every example once."""
        return chain(self.originals, self.new)

    @property
    def repeated(self) -> Iterator[Example]:
        """Examples repeated as the mixture wants it, for toolkits without weights."""
        return chain(*[self.originals] * self.mix.originals, *[self.new] * self.mix.new)

    @property
    def repetition(self) -> str:
        """What was repeated, for people; nothing if nothing was."""
        mix = self.mix
        if mix.originals == mix.new == 1:
            return ""
        originals, new = mix.originals * len(self.originals), mix.new * len(self.new)
        times = f"Originals stand here {_times(mix.originals)} and new examples {_times(mix.new)}"
        return f"{times}, so that {new / (originals + new):.1%} of the lines are new examples.\n\n"

    def vocabulary(self) -> dict[str, None]:
        """All tokens, in order of first appearance."""
        return dict.fromkeys(token for example in self.all for token in (*example.x, *example.y))


def tsv(data: Mixture) -> Files:
    """Columns: input, output; of word forms lemma, form, tags."""
    if data.word_forms:
        lines: Iterable[str] = map(sigmorphon_format.render, data.repeated)
        columns = "lemma, form and tags"
    else:
        _check_joined(data)
        lines = ("\t".join(_joined(side, data.tokens) for side in (each.x, each.y)) for each in data.repeated)
        columns = f"input and output, as {'characters' if data.characters else 'words between spaces'}"
    # Predictors of our own count repetitions once.
    own = "`recombine train ORIGINALS --augmented NEW --p-aug P` mixes by itself and needs no such file."
    how = f"{data.repetition}Train with: any toolkit that reads columns between tabs; here: {columns}.\n\n{own}"
    return Files({"train.tsv": lines}, how)


def jsonl(data: Mixture) -> Files:
    """An object a line, with tokens, weight, and of a new example where it came from."""
    each = ((example, 1.0) for example in data.originals), ((example, data.mix.weight) for example in data.new)
    how = (
        'Each line: `{"x": tokens, "y": tokens, "weight": number, "method": augmenter or null}`.\n\n'
        "Train with: any loader that draws lines in proportion to `weight`, "
        "e.g. `torch.utils.data.WeightedRandomSampler(weights, num_samples=len(weights))`"
    )
    return Files({"train.jsonl": (_object(example, weight) for example, weight in chain(*each))}, how)


def yoyodyne(data: Mixture) -> Files:
    """Columns as the parser of yoyodyne splits them, and the part of its configuration that tells it how."""
    for token in () if data.word_forms else data.vocabulary():
        if len(token) > 1 and _OBFUSCATED.fullmatch(token):
            raise _unfit(token, "yoyodyne keeps symbols of the form <...>, [...] and {...} to itself.")
    if not data.word_forms:
        _check_joined(data)
    separator = "" if data.characters else " "
    config = [
        "# The part of a configuration that tells yoyodyne how to read train.tsv.",
        "data:",
        "  model_dir: model",
        "  train: train.tsv",
        "  source_col: 1",
        "  target_col: 2",
        f"  features_col: {3 if data.word_forms else 0}",
        f'  source_sep: "{separator}"',
        f'  target_sep: "{separator}"',
        '  features_sep: ";"',
    ]
    command = "yoyodyne fit --config MODEL.yaml --config data.yaml --data.val VALIDATION.tsv"
    how = f"{data.repetition}Train in this folder with: `{command}`"
    return Files({"train.tsv": _quoted(data), "data.yaml": config}, how)


def fairseq(data: Mixture) -> Files:
    """Parallel files of tokens between spaces."""
    _check_spaced(data)
    lines = {
        "train.src": (_spaced(example.x) for example in data.repeated),
        "train.tgt": (_spaced(example.y) for example in data.repeated),
    }
    how = (
        f"{data.repetition}Train in this folder with: "
        "`fairseq-preprocess --source-lang src --target-lang tgt --trainpref train --destdir data-bin && "
        "fairseq-train data-bin --arch lstm --optimizer adam --lr 0.001 --max-tokens 4000 --max-epoch 100 "
        "--disable-validation`"
    )
    return Files(lines, how)


def opennmt(data: Mixture) -> Files:
    """Parallel files of tokens between spaces, originals and new ones apart, and a configuration that weighs them."""
    _check_spaced(data)
    parts = {"original": data.originals, "new": data.new}
    lines: dict[str, Iterable[str]] = {}
    config = [
        "# Take so many examples of each corpus in turn.",
        "data:",
    ]
    for (name, examples), weight in zip(parts.items(), data.mix.turns(), strict=True):
        lines[f"src-{name}.txt"] = [_spaced(example.x) for example in examples]
        lines[f"tgt-{name}.txt"] = [_spaced(example.y) for example in examples]
        config += [
            f"  {name}:",
            f"    path_src: src-{name}.txt",
            f"    path_tgt: tgt-{name}.txt",
            f"    weight: {weight}",
        ]
    config += ["save_data: run", "src_vocab: run/vocab.src", "tgt_vocab: run/vocab.tgt", "save_model: run/model"]
    command = "onmt_build_vocab -config config.yaml -n_sample -1 && onmt_train -config config.yaml"
    return Files({**lines, "config.yaml": config}, f"Train in this folder with: `{command}`")


def hugging_face(data: Mixture) -> Files:
    """Two splits with strings for tokenizers and tokens for everybody else."""
    how = (
        "Train in this folder with:\n\n```python\nfrom datasets import interleave_datasets, load_dataset\n\n"
        'splits = load_dataset("json", data_files={"original": "original.jsonl", "new": "new.jsonl"})\n'
        'train = interleave_datasets([splits["original"], splits["new"]], '
        f"probabilities={_probabilities(data.mix)}, seed=0, "
        'stopping_strategy="all_exhausted")\n```'
    )
    parts = {"original.jsonl": data.originals, "new.jsonl": data.new}
    characters = data.characters
    return Files(
        {name: (_row(each, characters=characters) for each in examples) for name, examples in parts.items()}, how
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _probabilities(mix: Mix) -> list[float]:
    new = round(mix.share, 6)
    return [round(1 - new, 6), new]


def _object(example: Example, weight: float) -> str:
    method = example.provenance.method if example.provenance else None
    document = {"x": example.x, "y": example.y, "weight": weight, "method": method}
    return json.dumps(document, ensure_ascii=False)


def _row(example: Example, *, characters: bool) -> str:
    row = {
        "input": _text(example.x, characters=characters),
        "output": _text(example.y, characters=characters),
        "input_tokens": example.x,
        "output_tokens": example.y,
    }
    return json.dumps(row, ensure_ascii=False)


def _text(side: Tokens, *, characters: bool) -> str:
    """Returns a side as people write it: words between spaces, characters side by side and tags after them."""
    if not characters:
        return " ".join(side)
    word, tags = split_analysis(side)
    return "".join(word) + "".join(f" {tag}" for tag in tags)


def _quoted(data: Mixture) -> Iterator[str]:
    """Yields lines of columns with quotation marks where yoyodyne, which reads them as CSV, expects some."""
    separator = "" if data.characters else " "
    word_forms = data.word_forms
    for example in data.repeated:
        columns: tuple[str, ...] = (separator.join(example.x), separator.join(example.y))
        if word_forms:
            form = Inflection.from_fields(example.x, example.y)
            columns = (form.lemma, form.form, ";".join(form.tags))
        line = io.StringIO()
        csv.writer(line, delimiter="\t", lineterminator="").writerow(columns)
        yield line.getvalue()


def _joined(side: Tokens, tokens: str) -> str:
    return tokenization.join(side, tokens)


def _check_joined(data: Mixture) -> None:
    """Raises the error for a token that would not be one any more when it is read back."""
    for token in data.vocabulary():
        if tokenization.split(token, data.tokens) != (token,):
            other = "words" if data.tokens == "characters" else "characters"
            raise _unfit(token, f"It would be read as something else; try `tokens={other!r}`, or `to='jsonl'`.")


def _spaced(side: Tokens) -> str:
    return " ".join(SPACE if token == " " else token for token in side)


def _check_spaced(data: Mixture) -> None:
    """Raises the error for a token that cannot stand between spaces."""
    found = data.vocabulary()
    for token in found:
        if token in _RESERVED:
            raise _unfit(token, "The toolkit keeps this symbol to itself.")
        if token != " " and any(map(str.isspace, token)):
            raise _unfit(token, "The toolkit would take it apart at the white space; try `to='jsonl'`.")
    if " " in found and SPACE in found:
        raise _unfit(SPACE, "It stands for a space, which is among the tokens too; try `to='jsonl'`.")


def _unfit(token: str, hint: str) -> RecombineError:
    return RecombineError(f"the token {token!r} cannot be exported.", hint=hint)
