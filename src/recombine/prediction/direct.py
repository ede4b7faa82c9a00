"""Direct inference (section 5, appendix E): p(y | x) from the recombination network itself, without a predictor."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from recombine.augmentation.drawing import unfitted
from recombine.augmentation.recombination import Recombination
from recombine.data.vocabulary import EOS, PAD, SEP, UNK
from recombine.decoding.generate import Decoding, generate
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Tokens
from recombine.models.device import fast_products
from recombine.models.noise import Noise
from recombine.models.scoring import score
from recombine.neighborhoods.search import check_counts
from recombine.prediction.predictor import Prediction
from recombine.prediction.questions import Candidate, Question, chunks
from recombine.prediction.retrieval import Retriever
from recombine.training.corpus import encoded

RULES = ("long-short", "one-prototype")
"""The neighborhoods whose like can be retrieved for an input: a near example, and one with what that lacks."""

CPU_BATCH, GPU_BATCH = 512, 16384
"""How many sequences are worked on at a time unless told: by each network on a CPU, by all together on a GPU."""


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
