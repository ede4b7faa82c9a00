"""Direct inference (section 5, appendix E): p(y | x) from the recombination network itself, without a predictor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from recombine.augmentation.drawing import unfitted
from recombine.augmentation.recombination import Recombination
from recombine.data.vocabulary import BOS, EOS, PAD, SEP, UNK, Vocabulary
from recombine.decoding.generate import Decoding, generate
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Tokens
from recombine.models.copying import target_log_probability
from recombine.models.noise import Noise
from recombine.neighborhoods.ragged import Integers
from recombine.neighborhoods.rule import check_counts
from recombine.prediction.predictor import Prediction
from recombine.prediction.retrieval import Retriever
from recombine.training.corpus import encoded, padded

RULES = ("long-short", "one-prototype")
"""The neighborhoods whose like can be retrieved for an input: a near example, and one with what that lacks."""


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
        batch: How many tuples each network works on at a time, which is what memory grows with.
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
        batch: int = 512,
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
        try:
            for number, chunk in enumerate(_chunks(questions, self.batch)):
                run.answer(chunk, self._noise(run.device, number) if self.dropout else None)
            # Candidates are judged in rounds, so questions with as many of them go together.
            for chunk in _chunks(sorted(questions, key=_Question.rounds), self.batch):
                run.judge(chunk)
        except torch.OutOfMemoryError as error:
            raise RecombineError(
                f"the GPU's memory does not suffice for {self.batch} tuples of prototypes at a time.",
                hint=f"Lower direct inference's batch, e.g. to {max(1, self.batch // 4)}.",
            ) from error
        ranked = {question.x: question.ranked() for question in questions}
        return [[ranked[x][replica] for x in inputs] for replica in range(len(self.augmenter.seeds))]

    def _questions(self, inputs: Sequence[Tokens]) -> list["_Question"]:
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
        return [_Question(x, tuples) for x, tuples in zip(inputs, retriever.retrieve(inputs), strict=True)]

    def _noise(self, device: torch.device, chunk: int) -> Noise:
        seeds = [np.random.SeedSequence([self.seed, seed, chunk]) for seed in self.augmenter.seeds]
        return Noise([int(seed.generate_state(1)[0]) for seed in seeds], device)


@dataclass
class _Question:
    """An input on its way to an answer; lists have an entry for each replica."""

    x: Tokens
    tuples: Integers  # (tuples, n)
    candidates: list[dict[tuple[int, ...], Tokens]] = field(default_factory=list)  # ids, up to EOS, and what they mean
    scores: list[list[float]] = field(default_factory=list)

    def rounds(self) -> int:
        """The most candidates of any replica."""
        return max(map(len, self.candidates))

    def ranked(self) -> list[list[Prediction]]:
        """The candidates of each replica, best first; of equals, the one found first."""
        return [
            sorted(map(Prediction, candidates.values(), scores), key=lambda p: -p.log_probability)
            for candidates, scores in zip(self.candidates, self.scores, strict=True)
        ]


def _chunks(questions: Sequence[_Question], batch: int) -> Iterator[list[_Question]]:
    """Yields questions of one length, in order, as many as have at most so many tuples together, or one."""
    chunk: list[_Question] = []
    tuples = 0
    for question in sorted(questions, key=lambda question: len(question.x)):
        tuples += len(question.tuples)
        if chunk and (tuples > batch or len(question.x) != len(chunk[0].x)):
            yield chunk
            chunk, tuples = [], len(question.tuples)
        chunk.append(question)
    if chunk:
        yield chunk


class _Run:
    """The networks at work on chunks of questions, whose B tuples lie one question's after the other's."""

    def __init__(self, augmenter: Recombination) -> None:
        assert augmenter.examples_ is not None
        self.model, self.vocabulary = augmenter.fitted_.model, augmenter.vocabulary_
        self.device = self.model.embed.weight.device
        self.table = encoded([example.d for example in augmenter.examples_], self.vocabulary, self.device)
        # An output may become as long as the longest training example, x and y together.
        self.steps = self.table.shape[1]

    def answer(self, chunk: Sequence[_Question], noise: Noise | None) -> None:
        """Finds the candidates of a chunk's questions."""
        generated = generate(
            self.model,
            self._prototypes(chunk),
            self.steps,
            Decoding("greedy"),
            noise,
            prefix=self._prefix(chunk),
        )
        # Entries below zero are written; the others number the tokens that can be copied.
        entries = (generated.entries - self.model.architecture.vocabulary).cpu().numpy()
        tokens = generated.tokens.cpu().numpy()
        ends = np.cumsum([len(question.tuples) for question in chunk])
        for question, start, end in zip(chunk, [0, *ends], ends, strict=False):
            question.candidates = [
                _candidates(question.x, self.vocabulary, tokens[replica, start:end], entries[replica, start:end])
                for replica in range(self.model.replicas)
            ]

    @torch.no_grad()
    def judge(self, chunk: Sequence[_Question]) -> None:
        """Computes log p(y | x) for all candidates of a chunk's questions, one of each question at a time."""
        model, prefix = self.model, self._prefix(chunk)
        counts = np.array([len(question.tuples) for question in chunk])
        starts = np.cumsum(counts) - counts
        context = model.remember(self._prototypes(chunk))
        before = torch.cat([torch.full_like(prefix[..., :1], BOS), prefix[..., :-1]], dim=-1)
        state, _ = model.decode(context, context.state, before.transpose(1, 2))
        totals = []
        for number in range(max(question.rounds() for question in chunk)):
            target = self._targets(chunk, number)
            so_far = torch.cat([prefix, target[..., :-1]], dim=-1)
            previous = so_far[..., prefix.shape[-1] - 1 :]
            _, scores = model.decode(context, state, previous.transpose(1, 2), start=prefix.shape[-1])
            own = so_far if model.architecture.own_attention else so_far[..., :0]
            target = target.transpose(1, 2)  # (R, T, B)
            log_p, _ = target_log_probability(model.entries(scores), model.sources(context, own), target)
            each = log_p.masked_fill(target == PAD, 0).sum(1).double().cpu().numpy()  # (R, B)
            totals.append(np.logaddexp.reduceat(each, starts, axis=1) - np.log(counts))
        for place, question in enumerate(chunk):
            question.scores = [
                [float(totals[number][replica, place]) for number in range(len(candidates))]
                for replica, candidates in enumerate(question.candidates)
            ]

    def _prototypes(self, chunk: Sequence[_Question]) -> Tensor:
        """Returns the tuples' prototypes (R, B, n, S)."""
        tuples = torch.from_numpy(np.concatenate([question.tuples for question in chunk])).long()
        sequences = self.table[tuples.to(self.device)]
        longest = int((sequences != PAD).sum(-1).max()) if sequences.numel() else 0
        return sequences[..., :longest].expand(self.model.replicas, -1, -1, -1)

    def _prefix(self, chunk: Sequence[_Question]) -> Tensor:
        """Returns the tokens x ▷ for each tuple (R, B, P)."""
        ids = np.array([self.vocabulary.encode((*question.x, SEPARATOR))[:-1] for question in chunk])
        repeated = np.repeat(ids, [len(question.tuples) for question in chunk], axis=0)
        return torch.from_numpy(repeated).to(self.device).expand(self.model.replicas, -1, -1)

    def _targets(self, chunk: Sequence[_Question], number: int) -> Tensor:
        """Returns one candidate of each question, or its last where it has fewer, for each tuple (R, B, T)."""
        ids = padded(
            [
                list(candidates)[min(number, len(candidates) - 1)]
                for replica in range(self.model.replicas)
                for candidates in (question.candidates[replica] for question in chunk)
            ]
        )
        by_replica = ids.reshape(self.model.replicas, len(chunk), -1)
        repeated = np.repeat(by_replica, [len(question.tuples) for question in chunk], axis=1)
        return torch.from_numpy(repeated).to(self.device)


def _candidates(x: Tokens, vocabulary: Vocabulary, rows: np.ndarray, ways: np.ndarray) -> dict[tuple[int, ...], Tokens]:
    """Returns the different outputs among rows of generated ids (tuples, T): those that are whole, if any are.

    Args:
        x: The input that they follow.
        vocabulary: Says what the ids mean.
        rows: Token ids, padded.
        ways: Which token each one was copied from; below zero: written.
    """
    found: dict[tuple[int, ...], Tokens] = {}
    for row, way in zip(rows.tolist(), ways.tolist(), strict=True):
        ids = tuple(id_ for id_ in row if id_ != PAD)
        if ids not in found:
            found[ids] = _spelled(x, vocabulary, ids, way)
    whole = {ids: y for ids, y in found.items() if ids[-1] == EOS and SEP not in ids}
    return whole or found


def _spelled(x: Tokens, vocabulary: Vocabulary, ids: tuple[int, ...], ways: list[int]) -> Tokens:
    """Returns what is before a second ▷ or the end, unknown tokens as they are in x, which they were copied from."""
    sequence = [*x, SEPARATOR]
    copied = {}
    for place, (id_, way) in enumerate(zip(ids, ways, strict=False)):
        if id_ == UNK:
            copied[place] = sequence[way]
        sequence.append(copied.get(place, ""))
    return vocabulary.decode(ids[: ids.index(SEP)] if SEP in ids else ids, copied)
