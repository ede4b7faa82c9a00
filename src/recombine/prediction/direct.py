"""Direct inference (section 5, appendix E): p(y | x) from the recombination network itself, without a predictor."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain, groupby, islice

import numpy as np
import torch
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from torch import Tensor

from recombine.augmentation.protocol import unfitted
from recombine.augmentation.recombination import Recombination
from recombine.data.vocabulary import EOS, PAD, SEP
from recombine.decoding.generate import Decoding, generate
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Tokens
from recombine.models.device import fast_products
from recombine.models.noise import Noise
from recombine.models.scoring import score
from recombine.neighborhoods.index import Integers, distinct, remainder
from recombine.neighborhoods.search import check_counts, check_delta
from recombine.prediction.predictor import Prediction, copied_tokens
from recombine.training.corpus import encoded, padded

RULES = ("long-short", "one-prototype")
"""The neighborhoods whose like can be retrieved for an input: a near example, and one with what that lacks."""

CPU_BATCH, GPU_BATCH = 512, 16384
"""Sequences worked on at a time by default: by each network on a CPU, by all together on a GPU."""

CHUNK = 256
"""How many sequences at a time are compared with all training inputs."""


def _renamed(x: Tokens, names: Mapping[str, str]) -> str:
    """Returns the input as a string, one code point a token; the names of unknown tokens hold for this input."""
    unknown = dict.fromkeys(token for token in x if token not in names)
    own = {token: chr(len(names) + number) for number, token in enumerate(unknown)}
    return "".join([names.get(token) or own[token] for token in x])


def _by_distance(sequences: Sequence[str], known: Sequence[str], delta: float) -> Iterator[list[int]]:
    """Yields, for each sequence, the known ones, by number, that are within delta of it, nearest first."""
    lengths = np.array([len(x) for x in known])
    for start in range(0, len(sequences), CHUNK):
        chunk = sequences[start : start + CHUNK]
        cutoff = int(delta * max(lengths.max(), *map(len, chunk))) + 1
        edits = cdist(chunk, known, scorer=Levenshtein.distance, score_cutoff=cutoff, dtype=np.int32)
        for sequence, row in zip(chunk, edits, strict=True):
            lev = row / np.maximum(lengths, len(sequence))
            near = np.flatnonzero(lev < delta)
            yield near[lev[near].argsort(kind="stable")].tolist()


def _random(count: int, size: int, rng: np.random.Generator, *, but: int | None = None) -> list[int]:
    """Draws different numbers below a size, and not a certain one."""
    others = size - (but is not None)
    drawn: list[int] = rng.choice(others, min(count, others), replace=False).tolist()
    return [place + (but is not None and place >= but) for place in drawn]


@dataclass
class Question:
    """An input on its way to an answer; candidates are the different outputs that each replica found."""

    x: Tokens
    tuples: Integers  # its prototypes (tuples, n): positions among the training examples
    prefix: list[int]  # the ids of x ▷, which every output follows
    candidates: list[dict[tuple[int, ...], Tokens]] = field(default_factory=list)  # by token ids up to EOS
    scores: list[list[float]] = field(default_factory=list)  # log-probabilities of the candidates

    def ranked(self, replica: int) -> list[Prediction]:
        """Returns the candidates of a replica, the most probable first."""
        found = map(Prediction, self.candidates[replica].values(), self.scores[replica])
        return sorted(found, key=lambda prediction: -prediction.log_probability)

    @property
    def longest(self) -> int:
        """The length of the longest candidate, with x ▷ before it."""
        return len(self.prefix) + max(len(ids) for found in self.candidates for ids in found)

    @property
    def sequences(self) -> np.ndarray:
        """How many sequences each replica has to judge: every candidate with every tuple."""
        return len(self.tuples) * np.array([len(found) for found in self.candidates])


def chunks(
    questions: Iterable[Question], batch: int, sequences: Callable[[Question], int | np.ndarray]
) -> Iterator[list[Question]]:
    """Yields questions in order, in chunks of one question or of at most `batch` sequences.

    `sequences` says how many a question has, for all replicas or for each.
    """
    chunk: list[Question] = []
    total: int | np.ndarray = 0
    for question in questions:
        own = sequences(question)
        if chunk and np.max(total + own) > batch:
            yield chunk
            chunk, total = [], 0
        chunk.append(question)
        total = total + own
    if chunk:
        yield chunk


@dataclass(frozen=True, kw_only=True)
class Direct:
    """How direct inference goes about it.

    Attributes:
        first: How many first prototypes are retrieved for an input at most.
        second: How many second prototypes are retrieved for each of them at most.
        delta: How far their inputs may be from what they are to be near to, itself excluded; see `retrieve`.
        dropout: Whether the network's `state_dropout` acts while candidates are sought, as in the authors' code; then
            those of one input depend on the inputs beside it. Candidates are always judged without.
        batch: How many sequences each network works on at a time, which is what memory grows with; None: as many as
            suit the device.
    """

    first: int = 5
    second: int = 5
    delta: float = 0.5
    dropout: bool = False
    batch: int | None = None


@dataclass(frozen=True)
class DirectInference(Direct):
    """Predicts with a population of recombination networks, each on its own.

    Tuples of prototypes are retrieved for x alone. From each of them the network, made to begin with x ▷, goes on
    greedily: these are the candidates. They are ranked by p(y | x), the mean over the tuples of p(y | x, tuple), as in
    the text and the authors' code; the equation that the text refers to adds up logarithms. All tuples of an input
    count alike. Candidates that did not end in time, or that hold a second ▷, count only where there are no others.

    Attributes:
        augmenter: Fitted; for n = 0 there is one candidate, the network's own.
        seed: Of the random prototypes that stand in where none is near, and of dropout.
    """

    augmenter: Recombination
    _: KW_ONLY
    seed: int = 0

    def predict(self, inputs: Sequence[Tokens]) -> list[list[Prediction]]:
        """Returns each network's predictions for the inputs: one list for each seed."""
        return [[candidates[0] for candidates in replica] for replica in self.rank(inputs)]

    def rank(self, inputs: Sequence[Tokens]) -> list[list[list[Prediction]]]:
        """Returns each network's candidates for each input, at least one, the most probable first."""
        check_counts(batch=self.batch)
        different = list(dict.fromkeys(inputs))
        retrieved = zip(different, self.retrieve(different), strict=True)
        encode = self.augmenter.vocabulary_.encode
        questions = [Question(x, tuples, encode((*x, SEPARATOR))[:-1]) for x, tuples in retrieved]
        run = _Run(self.augmenter)
        if run.model.latent is not None or self.augmenter.recipe.twins:
            raise RecombineError(
                "direct inference needs a network without a latent variable and without twins.",
                hint="Set latent and twins to 0.",
            )
        on_gpu, replicas = run.device.type == "cuda", run.model.replicas
        batch = self.batch or (max(1, GPU_BATCH // replicas) if on_gpu else CPU_BATCH)
        try:
            # Sequences of one shape go together: padding is most of the work otherwise.
            questions.sort(key=lambda question: (len(question.x), run.width(question.tuples)))
            of_a_length = [list(same) for _, same in groupby(questions, key=lambda question: len(question.x))]
            asked = chain.from_iterable(chunks(same, batch, lambda q: len(q.tuples)) for same in of_a_length)
            for number, chunk in enumerate(asked):
                seeds = [np.random.SeedSequence([self.seed, seed, number]) for seed in self.augmenter.seeds]
                noise = Noise([int(seed.generate_state(1)[0]) for seed in seeds], run.device)
                run.answer(chunk, noise if self.dropout else None)
            questions.sort(key=lambda question: (question.longest, run.width(question.tuples)))
            for chunk in chunks(questions, batch, lambda question: question.sequences):
                run.judge(chunk)
        except torch.OutOfMemoryError as error:
            raise RecombineError(
                f"the GPU's memory does not suffice for {batch} sequences at a time.",
                hint=f"Lower direct inference's batch, e.g. to {max(1, batch // 4)}.",
            ) from error
        asked_for = {question.x: question for question in questions}
        return [[asked_for[x].ranked(replica) for x in inputs] for replica in range(replicas)]

    def retrieve(self, inputs: Sequence[Tokens]) -> list[Integers]:
        r"""Returns each input's tuples of prototypes: positions among the examples (tuples, n), at least one tuple.

        A first prototype's input x1 is near to x, 0 < lev < delta, and lacks some of its tokens. A second one's is near
        to [x\x1], the sequence of the distinct tokens that x1 lacks, lev < delta; as in the authors' code it need not
        hold all of them. The nearest are taken and, of those equally near, the ones that come first among the examples.
        Where none is near, random ones take their place: they depend on x and the seed, not on the other inputs.
        Outputs play no part.
        """
        augmenter, examples = self.augmenter, self.augmenter.examples_
        check_counts(first=self.first, second=self.second)
        check_delta(self.delta)
        if examples is None:
            raise unfitted("Recombination")
        if not augmenter.prototypes:
            return [np.empty((1, 0), np.int32) for _ in inputs]
        if augmenter.rule.name not in RULES:
            raise RecombineError(
                f"direct inference retrieves prototypes as {' and '.join(RULES)} neighborhoods have them; "
                f"this network was trained on {augmenter.rule.name} ones.",
                hint="Train one with another neighborhood.",
            )
        tokens = dict.fromkeys(token for example in examples for token in example.x)
        names = {token: chr(number) for number, token in enumerate(tokens)}
        known, xs = [_renamed(example.x, names) for example in examples], [_renamed(x, names) for x in inputs]
        rngs = [np.random.default_rng([self.seed, *map(ord, x)]) for x in xs]

        def rest(x: str, d1: int) -> str:
            return distinct(remainder(x, known[d1]))

        firsts = []
        for x, near, rng in zip(xs, _by_distance(xs, known, self.delta), rngs, strict=True):
            lacking = (d1 for d1 in near if rest(x, d1))  # and so the two inputs differ
            firsts.append(list(islice(lacking, self.first)) or _random(self.first, len(known), rng))
        if augmenter.prototypes == 1:
            return [np.array(found, np.int32).reshape(-1, 1) for found in firsts]
        # Rests recur from input to input.
        rests = list(dict.fromkeys(rest(x, d1) for x, found in zip(xs, firsts, strict=True) for d1 in found))
        others = {
            each: near[: self.second] for each, near in zip(rests, _by_distance(rests, known, self.delta), strict=True)
        }
        tuples = []
        for x, found, rng in zip(xs, firsts, rngs, strict=True):
            pairs = [(d1, others[rest(x, d1)] or _random(self.second, len(known), rng, but=d1)) for d1 in found]
            tuples.append(np.array([(d1, d2) for d1, seconds in pairs for d2 in seconds], np.int32))
        return tuples


class _Run:
    """The networks at work on chunks of questions."""

    def __init__(self, augmenter: Recombination) -> None:
        assert augmenter.examples_ is not None
        self.model, self.vocabulary = augmenter.fitted_.model, augmenter.vocabulary_
        self.device = self.model.embed.weight.device
        self.table = encoded([example.d for example in augmenter.examples_], self.vocabulary, self.device)
        self.lengths = np.array([len(example.d) + 1 for example in augmenter.examples_])

    def width(self, tuples: np.ndarray) -> int:
        """Returns the length of the longest prototype."""
        return int(self.lengths[tuples].max(initial=0))

    def answer(self, chunk: Sequence[Question], noise: Noise | None) -> None:
        """Finds the candidates of questions whose inputs have one length."""
        counts = [len(question.tuples) for question in chunk]
        prefix = np.repeat([question.prefix for question in chunk], counts, axis=0)
        generated = generate(
            self.model,
            self._prototypes(np.concatenate([question.tuples for question in chunk])),
            self.table.shape[1],  # an output may become as long as the longest training example, x and y together
            Decoding("greedy"),
            noise,
            prefix=self._on_device(prefix[None]),
        )
        places = (generated.entries - self.model.architecture.vocabulary).tolist()
        for tokens, ways in zip(generated.tokens.tolist(), places, strict=True):  # of each replica
            start = 0
            for question in chunk:
                rows = range(start, start + len(question.tuples))
                start = rows.stop
                found: dict[tuple[int, ...], Tokens] = {}
                for row in [row for row in rows if EOS in tokens[row] and SEP not in tokens[row]] or rows:
                    ids = tuple(id_ for id_ in tokens[row] if id_ != PAD)
                    if ids not in found:
                        copied = copied_tokens(ids, ways[row], generated.own, before=(*question.x, SEPARATOR))
                        y = ids[: ids.index(SEP)] if SEP in ids else ids  # what is before a second ▷ or the end
                        found[ids] = self.vocabulary.decode(y, copied)
                question.candidates.append(found)

    @torch.no_grad()
    def judge(self, chunk: Sequence[Question]) -> None:
        """Computes log p(y | x), the mean over the tuples, for all candidates of questions."""
        # What each replica judges: with which tuple, after how many tokens of x ▷, which sequence.
        asked: list[list[tuple[int, int, list[int]]]] = [[] for _ in range(self.model.replicas)]
        start = 0
        for question in chunk:
            tuples = range(start, start + len(question.tuples))
            start, given = tuples.stop, len(question.prefix)
            for own, found in zip(asked, question.candidates, strict=True):
                own += [(place, given, [*question.prefix, *ids]) for ids in found for place in tuples]
        most = max(map(len, asked))
        for own in asked:  # where there is less to judge than elsewhere, the first tuple is read and nothing written
            own += [(0, 0, [])] * (most - len(own))
        places, before = (np.array([[each[i] for each in own] for own in asked]) for i in range(2))
        targets = padded([sequence for own in asked for _, _, sequence in own]).reshape(len(asked), most, -1)
        with fast_products():
            # Every tuple is encoded once, for all candidates.
            prototypes = self._prototypes(np.concatenate([question.tuples for question in chunk]))
            context = self.model.remember(prototypes).taken(self._on_device(places))
            log_p, _ = score(self.model, context, self._on_device(targets))  # (R, T, B)
        step = torch.arange(log_p.shape[1], device=self.device).view(1, -1, 1)
        judged = log_p.masked_fill(step < self._on_device(before).unsqueeze(1), 0)
        for number, own_p in enumerate(judged.sum(1, dtype=torch.double).cpu().numpy()):  # of each replica (B,)
            start = 0
            for question in chunk:
                shape = len(question.candidates[number]), len(question.tuples)
                each = own_p[start : start + math.prod(shape)].reshape(shape)
                question.scores.append((np.logaddexp.reduce(each, axis=1) - math.log(shape[1])).tolist())
                start += math.prod(shape)

    def _prototypes(self, tuples: np.ndarray) -> Tensor:
        """Returns the prototypes (R, B, n, S) of tuples (B, n)."""
        places = self._on_device(tuples[None]).long()
        return self.table[places, : self.width(tuples)]

    def _on_device(self, array: np.ndarray) -> Tensor:
        """Returns an array (1 or R, ...) with an entry for each replica."""
        tensor = torch.from_numpy(array).to(self.device)
        return tensor.expand(self.model.replicas, *tensor.shape[1:])
