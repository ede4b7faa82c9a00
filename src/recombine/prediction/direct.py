"""Direct inference (section 5, appendix E): p(y | x) from the recombination network itself, without a predictor."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from torch import Tensor

from recombine.augmentation.protocol import unfitted
from recombine.augmentation.recombination import Recombination
from recombine.data.vocabulary import EOS, PAD, SEP, UNK
from recombine.decoding.generate import Decoding, generate
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example, Tokens
from recombine.models.device import fast_products
from recombine.models.noise import Noise
from recombine.models.scoring import score
from recombine.neighborhoods.index import Integers, distinct, remainder
from recombine.neighborhoods.search import check_counts, check_delta
from recombine.prediction.predictor import Prediction
from recombine.training.corpus import encoded

RULES = ("long-short", "one-prototype")
"""The neighborhoods whose like can be retrieved for an input: a near example, and one with what that lacks."""

CPU_BATCH, GPU_BATCH = 512, 16384
"""Sequences worked on at a time by default: by each network on a CPU, by all together on a GPU."""

CHUNK = 256
"""How many sequences at a time are compared with all training inputs."""


class Retriever:
    r"""Finds tuples of prototypes for inputs; outputs play no part.

    A first prototype's input x1 is near to x, 0 < lev < delta, and lacks some of its tokens. A second one's is near to
    [x\x1], the sequence of the distinct tokens that x1 lacks, lev < delta; as in the authors' code it need not hold all
    of them. The nearest are taken and, of those equally near, the ones that come first among the examples. Where none
    is near, random ones take their place: they depend on x and the seed, not on the other inputs.

    Args:
        examples: The training examples, all different, at least two.
        prototypes: n: 0, 1 or 2.
        first: How many first prototypes an input has at most.
        second: How many second prototypes each of them has at most.
        delta: The bound on both distances, itself excluded.
        seed: Same seed, same random prototypes.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        prototypes: int,
        *,
        first: int = 5,
        second: int = 5,
        delta: float = 0.5,
        seed: int = 0,
    ) -> None:
        check_counts(first=first, second=second)
        check_delta(delta)
        self.prototypes, self.first, self.second, self.delta, self.seed = prototypes, first, second, delta, seed
        tokens = dict.fromkeys(token for example in examples for token in example.x)
        self._names = {token: chr(number) for number, token in enumerate(tokens)}
        self._inputs = [self._renamed(example.x) for example in examples]
        self._lengths = np.array([len(x) for x in self._inputs])

    def retrieve(self, inputs: Sequence[Tokens]) -> list[Integers]:
        """Returns each input's tuples of prototypes: positions among the examples (tuples, n), at least one tuple."""
        if not self.prototypes:
            return [np.empty((1, 0), np.int32) for _ in inputs]
        xs = [self._renamed(x) for x in inputs]
        rngs = [np.random.default_rng([self.seed, *map(ord, x)]) for x in xs]
        firsts = [
            self._firsts(x, near) or self._random(self.first, rng)
            for x, near, rng in zip(xs, self._by_distance(xs), rngs, strict=True)
        ]
        if self.prototypes == 1:
            return [np.array(found, np.int32).reshape(-1, 1) for found in firsts]
        seconds = self._seconds([self._rest(x, d1) for x, found in zip(xs, firsts, strict=True) for d1 in found])
        tuples = []
        for x, found, rng in zip(xs, firsts, rngs, strict=True):
            pairs = [(d1, seconds[self._rest(x, d1)] or self._random(self.second, rng, but=d1)) for d1 in found]
            tuples.append(np.array([(d1, d2) for d1, others in pairs for d2 in others], np.int32))
        return tuples

    def _renamed(self, x: Tokens) -> str:
        """Returns the input as a string, one code point a token; the names of unknown tokens hold for this input."""
        names = self._names
        unknown = dict.fromkeys(token for token in x if token not in names)
        if unknown:
            names = names | {token: chr(len(names) + number) for number, token in enumerate(unknown)}
        return "".join([names[token] for token in x])

    def _by_distance(self, sequences: Sequence[str]) -> Iterator[list[int]]:
        """Yields, for each sequence, the examples whose inputs are within delta of it, nearest first."""
        for start in range(0, len(sequences), CHUNK):
            chunk = sequences[start : start + CHUNK]
            cutoff = int(self.delta * max(self._lengths.max(), *map(len, chunk))) + 1
            edits = cdist(chunk, self._inputs, scorer=Levenshtein.distance, score_cutoff=cutoff, dtype=np.int32)
            for sequence, row in zip(chunk, edits, strict=True):
                lev = row / np.maximum(self._lengths, len(sequence))
                near = np.flatnonzero(lev < self.delta)
                yield near[lev[near].argsort(kind="stable")].tolist()

    def _firsts(self, x: str, near: list[int]) -> list[int]:
        found = []
        for d1 in near:
            if self._rest(x, d1):  # and so the two inputs differ
                found.append(d1)
                if len(found) == self.first:
                    break
        return found

    def _seconds(self, rests: Sequence[str]) -> dict[str, list[int]]:
        """Returns the second prototypes for each of the sequences of tokens that are left over."""
        different = list(dict.fromkeys(rests))  # they recur from input to input
        return {rest: near[: self.second] for rest, near in zip(different, self._by_distance(different), strict=True)}

    def _rest(self, x: str, d1: int) -> str:
        return distinct(remainder(x, self._inputs[d1]))

    def _random(self, count: int, rng: np.random.Generator, *, but: int | None = None) -> list[int]:
        others = len(self._inputs) - (but is not None)
        drawn: list[int] = rng.choice(others, min(count, others), replace=False).tolist()
        return [place + (but is not None and place >= but) for place in drawn]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An output that was found.

    Attributes:
        ids: Its token ids, up to EOS.
        y: What they mean.
    """

    ids: np.ndarray
    y: Tokens


@dataclass
class Question:
    """An input on its way to an answer.

    Attributes:
        x: The input.
        tuples: Its prototypes (tuples, n): positions among the training examples.
        prefix: The ids of x ▷, which every output follows.
        candidates: The different outputs that each replica found.
        scores: Their log-probabilities.
    """

    x: Tokens
    tuples: Integers
    prefix: list[int]
    candidates: list[list[Candidate]] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)

    @property
    def longest(self) -> int:
        """The length of the longest candidate, with x ▷ before it."""
        return len(self.prefix) + max(len(candidate.ids) for found in self.candidates for candidate in found)

    @property
    def sequences(self) -> np.ndarray:
        """How many sequences each replica has to judge: every candidate with every tuple."""
        return len(self.tuples) * np.array([len(found) for found in self.candidates])

    def ranked(self) -> list[list[Prediction]]:
        """Returns the candidates of each replica, best first; of equals, the one found first."""
        return [
            sorted(
                [Prediction(candidate.y, score) for candidate, score in zip(found, scores, strict=True)],
                key=lambda prediction: -prediction.log_probability,
            )
            for found, scores in zip(self.candidates, self.scores, strict=True)
        ]


def chunks(
    questions: Sequence[Question],
    batch: int,
    *,
    sequences: Callable[[Question], int | np.ndarray],
    alike: Callable[[Question], int] = lambda _: 0,
) -> Iterator[list[Question]]:
    """Yields questions in order, in chunks of one question or of at most a number of sequences.

    Args:
        questions: What to divide.
        batch: The most sequences of a chunk.
        sequences: How many a question has: for all replicas, or for each.
        alike: What all questions of a chunk must have in common.
    """
    chunk: list[Question] = []
    total: int | np.ndarray = 0
    for question in questions:
        own = sequences(question)
        if chunk and (np.max(total + own) > batch or alike(question) != alike(chunk[0])):
            yield chunk
            chunk, total = [], 0
        chunk.append(question)
        total = total + own
    if chunk:
        yield chunk


class DirectInference:
    """Predicts with a population of recombination networks, each on its own.

    Tuples of prototypes are retrieved for x alone. From each of them the network, made to begin with x ▷, goes on
    greedily: these are the candidates. They are ranked by p(y | x), the mean over the tuples of p(y | x, tuple). This
    marginalises, as the text says and the authors' code does; the equation that the text refers to adds up logarithms.
    All tuples of an input count alike, as in the code, however well they explain x. Candidates that did not end in
    time, or that hold a second ▷, count only where there are no others.

    Args:
        augmenter: Fitted; for n = 0 there is one candidate, the network's own.
        first: How many first prototypes are retrieved for an input.
        second: How many second prototypes are retrieved for each of them.
        delta: How far their inputs may be from what they are to be near to; see `Retriever`.
        seed: Of the random prototypes that stand in where none is near, and of dropout.
        dropout: Whether the network's `state_dropout` acts while candidates are sought, as in the authors' code; then
            those of one input depend on the inputs beside it. Candidates are always judged without.
        batch: How many sequences each network works on at a time, which is what memory grows with; None: as many as
            suit the device.
    """

    def __init__(
        self,
        augmenter: Recombination,
        *,
        first: int = 5,
        second: int = 5,
        delta: float = 0.5,
        seed: int = 0,
        dropout: bool = False,
        batch: int | None = None,
    ) -> None:
        self.augmenter, self.first, self.second, self.delta = augmenter, first, second, delta
        self.seed, self.dropout, self.batch = seed, dropout, batch

    def predict(self, inputs: Sequence[Tokens]) -> list[list[Prediction]]:
        """Returns each network's predictions for the inputs: one list for each seed."""
        return [[candidates[0] for candidates in replica] for replica in self.rank(inputs)]

    def rank(self, inputs: Sequence[Tokens]) -> list[list[list[Prediction]]]:
        """Returns each network's candidates for each input, at least one, the most probable first.

        Raises:
            RecombineError: If the augmenter is not fitted or has a latent variable, or memory does not suffice.
        """
        check_counts(batch=self.batch)
        questions = self._questions(list(dict.fromkeys(inputs)))
        run = _Run(self.augmenter)
        batch = self.batch or run.suitable_batch
        try:
            # Sequences of one shape go together: padding is most of the work otherwise.
            questions.sort(key=lambda question: (len(question.x), run.width(question)))
            asked = chunks(questions, batch, sequences=lambda q: len(q.tuples), alike=lambda q: len(q.x))
            for number, chunk in enumerate(asked):
                run.answer(chunk, self._noise(run.device, number) if self.dropout else None)
            questions.sort(key=lambda question: (question.longest, run.width(question)))
            for chunk in chunks(questions, batch, sequences=lambda q: q.sequences):
                run.judge(chunk)
        except torch.OutOfMemoryError as error:
            raise RecombineError(
                f"the GPU's memory does not suffice for {batch} sequences at a time.",
                hint=f"Lower direct inference's batch, e.g. to {max(1, batch // 4)}.",
            ) from error
        ranked = {question.x: question.ranked() for question in questions}
        return [[ranked[x][replica] for x in inputs] for replica in range(len(self.augmenter.seeds))]

    def _questions(self, inputs: Sequence[Tokens]) -> list[Question]:
        augmenter = self.augmenter
        if augmenter.examples_ is None:
            raise unfitted("Recombination")
        rule = augmenter.rule.name
        if augmenter.prototypes and rule not in RULES:
            raise RecombineError(
                f"direct inference retrieves prototypes as {' and '.join(RULES)} neighborhoods have them; "
                f"this network was trained on {rule} ones.",
                hint="Train one with another neighborhood.",
            )
        if augmenter.fitted_.model.latent is not None:
            raise RecombineError("direct inference needs a network without a latent variable.", hint="Set latent to 0.")
        retriever = Retriever(
            augmenter.examples_,
            augmenter.prototypes,
            first=self.first,
            second=self.second,
            delta=self.delta,
            seed=self.seed,
        )
        return [
            Question(x, tuples, augmenter.vocabulary_.encode((*x, SEPARATOR))[:-1])
            for x, tuples in zip(inputs, retriever.retrieve(inputs), strict=True)
        ]

    def _noise(self, device: torch.device, chunk: int) -> Noise:
        seeds = [np.random.SeedSequence([self.seed, seed, chunk]) for seed in self.augmenter.seeds]
        return Noise([int(seed.generate_state(1)[0]) for seed in seeds], device)


class _Run:
    """The networks at work on chunks of questions."""

    def __init__(self, augmenter: Recombination) -> None:
        assert augmenter.examples_ is not None
        self.model, self.vocabulary = augmenter.fitted_.model, augmenter.vocabulary_
        self.device = self.model.embed.weight.device
        self.table = encoded([example.d for example in augmenter.examples_], self.vocabulary, self.device)
        self.lengths = np.array([len(example.d) + 1 for example in augmenter.examples_])
        # An output may become as long as the longest training example, x and y together.
        self.steps = self.table.shape[1]
        self._known: dict[bytes, Tokens] = {}

    def width(self, question: Question) -> int:
        """Returns the length of the longest prototype."""
        return int(self.lengths[question.tuples].max(initial=0))

    @property
    def suitable_batch(self) -> int:
        """How many sequences each network may work on at a time."""
        return max(1, GPU_BATCH // self.model.replicas) if self.device.type == "cuda" else CPU_BATCH

    def answer(self, chunk: Sequence[Question], noise: Noise | None) -> None:
        """Finds the candidates of questions whose inputs have one length."""
        counts = [len(question.tuples) for question in chunk]
        prefix = np.repeat([question.prefix for question in chunk], counts, axis=0)
        generated = generate(
            self.model,
            self._prototypes(np.concatenate([question.tuples for question in chunk])[None]),
            self.steps,
            Decoding("greedy"),
            noise,
            prefix=self._on_device(prefix[None]),
        )
        tokens = generated.tokens.cpu().numpy()  # (R, B, T)
        # Entries below zero are written; the others number the tokens that can be copied.
        ways = (generated.entries - self.model.architecture.vocabulary).cpu().numpy()
        whole = (tokens == EOS).any(-1) & ~(tokens == SEP).any(-1)
        ends = np.cumsum(counts).tolist()
        for question, start, end in zip(chunk, [0, *ends], ends, strict=False):
            for replica in range(self.model.replicas):
                rows, way = tokens[replica, start:end], ways[replica, start:end]
                kept = whole[replica, start:end]
                if kept.any():
                    rows, way = rows[kept], way[kept]
                question.candidates.append(self._candidates(question.x, rows, way))

    def _candidates(self, x: Tokens, tokens: np.ndarray, ways: np.ndarray) -> list[Candidate]:
        """Returns the different outputs among rows of generated ids.

        Args:
            x: The input that they follow.
            tokens: Token ids (rows, T), padded.
            ways: Which token each one was copied from; below zero: written.
        """
        found: dict[bytes, Candidate] = {}
        for row, way in zip(tokens, ways, strict=True):
            key = row.tobytes()
            if key not in found:
                ids = row[row != PAD]
                found[key] = Candidate(ids, self._spelled(x, ids, way))
        return list(found.values())

    def _spelled(self, x: Tokens, ids: np.ndarray, ways: np.ndarray) -> Tokens:
        """Returns what is before a second ▷ or the end, unknown tokens as in x, which they were copied from."""
        key = ids.tobytes()
        if key in self._known:  # most outputs are found again and again, by other tuples and other replicas
            return self._known[key]
        sequence = [*x, SEPARATOR]
        copied = {}
        listed: list[int] = ids.tolist()
        for place, (id_, way) in enumerate(zip(listed, ways.tolist(), strict=False)):
            if id_ == UNK:
                copied[place] = sequence[way]
            sequence.append(copied.get(place, ""))
        y = self.vocabulary.decode(listed[: listed.index(SEP)] if SEP in listed else listed, copied)
        if not copied:
            self._known[key] = y
        return y

    @torch.no_grad()
    def judge(self, chunk: Sequence[Question]) -> None:
        """Computes log p(y | x), the mean over the tuples, for all candidates of questions."""
        asked = [[(q, candidate) for q in chunk for candidate in q.candidates[r]] for r in range(self.model.replicas)]
        sizes = [[len(question.tuples) for question, _ in own] for own in asked]
        # A replica that has less to judge than another reads the first tuple and writes nothing.
        shape = len(asked), max(map(sum, sizes))
        all_tuples = np.concatenate([question.tuples for question in chunk])
        numbers = np.split(np.arange(len(all_tuples)), np.cumsum([len(question.tuples) for question in chunk])[:-1])
        of_question = {question.x: own for question, own in zip(chunk, numbers, strict=True)}
        places = np.zeros(shape, np.int64)
        targets = np.full((*shape, max(question.longest for question in chunk)), PAD, np.int64)
        given = np.zeros(shape, np.int64)  # how much of a target is x ▷
        for replica, own in enumerate(asked):
            start = 0
            for question, candidate in own:
                end, middle = start + len(question.tuples), len(question.prefix)
                places[replica, start:end] = of_question[question.x]
                targets[replica, start:end, :middle] = question.prefix
                targets[replica, start:end, middle : middle + len(candidate.ids)] = candidate.ids
                given[replica, start:end] = middle
                start = end
        with fast_products():
            # Every tuple is encoded once, for all candidates.
            context = self.model.remember(self._prototypes(all_tuples[None])).taken(self._on_device(places))
            log_p, _ = score(self.model, context, self._on_device(targets))  # (R, T, B)
        step = torch.arange(log_p.shape[1], device=self.device).view(1, -1, 1)
        judged = log_p.masked_fill(step < self._on_device(given).unsqueeze(1), 0)
        each = judged.sum(1, dtype=torch.double).cpu().numpy()  # (R, B)
        for replica, counts in enumerate(sizes):
            starts = np.cumsum([0, *counts[:-1]], dtype=np.int64)
            totals = np.logaddexp.reduceat(each[replica, : sum(counts)], starts) - np.log(counts)
            scores = iter(totals.tolist())
            for question in chunk:
                question.scores.append([next(scores) for _ in question.candidates[replica]])

    def _prototypes(self, tuples: np.ndarray) -> Tensor:
        """Returns the prototypes (R, B, n, S) of tuples (1 or R, B, n)."""
        longest = int(self.lengths[tuples].max(initial=0))
        return self.table[self._on_device(tuples).long(), :longest].expand(self.model.replicas, -1, -1, -1)

    def _on_device(self, array: np.ndarray) -> Tensor:
        """Returns an array (1 or R, ...) with an entry for each replica."""
        tensor = torch.from_numpy(array).to(self.device)
        return tensor.expand(self.model.replicas, *tensor.shape[1:])
