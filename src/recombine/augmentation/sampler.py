"""Draws samples from trained networks: prototypes from Ω, decoding, and what is kept (section 4, appendix B)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from recombine.augmentation.batches import Batch, Batches, Drawing
from recombine.augmentation.collected import SHOWN, Collected, Scored
from recombine.augmentation.drawing import turned_down
from recombine.augmentation.known import Known, KnownInputs, are_pairs, key_of
from recombine.augmentation.protocol import NOTHING_RARE, Samples, Validator
from recombine.augmentation.settings import SamplingSettings
from recombine.data.vocabulary import EOS, PAD, SEP, UNK, Vocabulary
from recombine.example import Example, Provenance, Tokens
from recombine.execution.executor import SERIAL, Executor
from recombine.execution.progress import Report
from recombine.models.recombiner import Recombiner
from recombine.training.corpus import encoded
from recombine.training.renaming import Twins

Prototypes = Callable[[int, np.random.Generator], np.ndarray]
"""Draws so many prototype tuples: indices of examples, (count, n)."""

Validators = Validator | Sequence[Validator | None] | None
"""What all samples must satisfy, or those of each replica."""

UNFINISHED, MALFORMED, DUPLICATE = "too long", "not one input and one output", "drawn before"
KNOWN = {"pair": "known", "input": "with a known input", "both": "with a known input or output"}
"""By what must be new. Of known inputs the output may be wrong, but no better one is needed."""
WRONG_SIDE = "with a token on the wrong side"

NARROWER = 0.75
"""Where no more than so many of the networks that draw still want samples, the others stop drawing."""


@dataclass(frozen=True)
class _Wish:
    """What the samples of one replica must satisfy; candidates that have no ids but common ones do not."""

    accept: Validator | None
    common: frozenset[int] = frozenset()
    is_common: torch.Tensor | None = None  # the same, of all ids (V,), on the device

    def nothing_rare(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tells which candidates (B, T) have common ids only."""
        none = torch.zeros_like(tokens[:, 0], dtype=torch.bool)
        return none if self.is_common is None else self.is_common[tokens].all(-1)


class _Candidates:
    """Those of what one replica drew in one go that are worth a look, on the host."""

    def __init__(self, batch: Batch, row: int, numbers: torch.Tensor, longest: int | None) -> None:
        generated = batch.generated
        self.width, self.own = batch.width, generated.own
        self.numbers: list[int] = numbers.tolist()  # their places among all that were drawn
        self.chosen = batch.chosen[row, self.numbers]
        self.tokens: list[list[int]] = generated.tokens[row, numbers, :longest].tolist()
        self.entries: list[list[int]] = generated.entries[row, numbers].tolist()
        self.scores: list[float] = generated.log_probability[row, numbers].tolist()
        self.output_scores: list[float] = generated.output_log_probability[row, numbers].tolist()
        self.least: list[float] = generated.least_log_probability[row, numbers].exp().tolist()


class Sampler:
    """Draws from a population of networks, each replica on its own.

    Args:
        model: R trained replicas, in evaluation mode.
        examples: The training examples.
        vocabulary: Their tokens.
        prototypes: Draws from Ω; one for all replicas or one for each.
        settings: How.
        twins: How many pairs of names the model knows twins by (see `twins`); 0: it knows all tokens by their own.
        owned: Which of the examples each replica was trained on; none: all on all.
    """

    def __init__(
        self,
        model: Recombiner,
        examples: Sequence[Example],
        vocabulary: Vocabulary,
        prototypes: Prototypes | Sequence[Prototypes],
        settings: SamplingSettings,
        *,
        twins: int = 0,
        owned: Sequence[range] = (),
    ) -> None:
        self.model, self.examples, self.vocabulary, self.settings = model, examples, vocabulary, settings
        self.prototypes = prototypes if isinstance(prototypes, Sequence) else [prototypes] * model.replicas
        self.device = model.embed.weight.device
        self._writable = model.architecture.vocabulary  # entries below are written, the others copied
        self.table = encoded([example.d for example in examples], vocabulary, self.device)
        self.twins = Twins.of(self.table, len(vocabulary), twins) if twins else None
        # A sequence may become as long as the longest that its network could have been trained on.
        self.steps = self.table.shape[1]
        parts: list[Sequence[Example]] = [[examples[place] for place in places] for places in owned]
        longest = [1 + max(len(example.d) for example in part) for part in parts]  # the end counts
        self._longest = [longest[replica % len(longest)] if longest else None for replica in range(model.replicas)]
        parts = parts or [examples]
        known = [Known(part, vocabulary) for part in parts]
        self._known = [known[replica % len(known)] for replica in range(model.replicas)]
        self._known_inputs = KnownInputs(
            known, steps=self.steps, vocabulary=model.architecture.vocabulary, device=self.device
        )

    def sample(
        self,
        n: int,
        seeds: Sequence[int],
        accept: Validators = None,
        *,
        report: Report | None = None,
        executor: Executor = SERIAL,
    ) -> list[Samples]:
        """Returns n samples from each replica, or fewer with an account of why; same seeds, same samples.

        Args:
            n: How many.
            seeds: One for each replica.
            accept: What samples must satisfy.
            report: Is told, after every batch, how many samples there are, of how many; there may never be as many.
            executor: Who draws batches; the samples are the same for all.
        """
        settings = self.settings
        wishes = [self._wish(each) for each in (accept if isinstance(accept, Sequence) else [accept] * len(seeds))]
        wanted = round(n * settings.surplus)
        collected = [Collected(settings.decoding.temperature) for _ in seeds]
        rngs = [np.random.default_rng([2, seed]) for seed in seeds]
        active = list(range(len(seeds)))
        worthless = self._worthless(wishes)
        batches = Batches(
            Drawing(self.model, self.table, self.steps, settings.decoding, self.twins, tuple(seeds), worthless),
            lambda: np.stack([self.prototypes[replica](settings.batch, rngs[replica]) for replica in active]),
            executor.on(self.device.type),
            self.device,
        )
        # Each is asked: one that is asked may lose patience.
        while wanting := [replica for replica in active if not collected[replica].over(n, wanted, settings)]:
            if len(wanting) <= NARROWER * len(active):
                batches.keep([active.index(replica) for replica in wanting])
                active[:] = wanting
            batch = batches.next(tuple(collected[replica].temperature for replica in active))
            for row, replica in enumerate(active):
                if replica in wanting:
                    self._collect(collected[replica], batch, row, replica, wanted, wishes[replica])
            if report is not None:
                done, total = sum(len(so_far.kept) for so_far in collected), wanted * len(seeds)
                report(done, total, f"{done:,} of {total:,}")
        batches.close()
        return [so_far.samples(n, settings) for so_far in collected]

    def _wish(self, accept: Validator | None) -> _Wish:
        tokens = getattr(accept, "common", None)
        if tokens is None:
            return _Wish(accept)
        common = {PAD, SEP, *self.vocabulary.encode(tuple(tokens))} - {UNK}
        is_common = torch.zeros(self._writable, dtype=torch.bool, device=self.device)
        is_common[sorted(common)] = True
        return _Wish(accept, frozenset(common), is_common)

    def _worthless(self, wishes: Sequence[_Wish]) -> torch.Tensor | None:
        """Returns the ids (R, V) of which inputs must have another, where nothing rare can come in outputs."""
        found = torch.zeros(len(wishes), self._writable, dtype=torch.bool, device=self.device)
        for row, wish, known in zip(found, wishes, self._known, strict=True):
            if wish.is_common is not None and wish.common.issuperset(known.output_tokens):
                row.copy_(wish.is_common)
        return found if found.any() else None

    def _collect(self, so_far: Collected, batch: Batch, row: int, replica: int, wanted: int, wish: _Wish) -> None:
        """Takes what it can use of one row of a batch."""
        tokens = batch.generated.tokens[row, :, : self._longest[replica]]
        passed_over = self._passed_over(so_far, tokens, replica, wish, batch.generated.stopped[row])
        looked_at = torch.ones_like(tokens[:, 0], dtype=torch.bool)
        for these in passed_over.values():
            looked_at &= ~these
        numbers = looked_at.nonzero()[:, 0]
        candidates = _Candidates(batch, row, numbers, self._longest[replica])
        so_far.drawn += len(tokens)
        seen_until = len(tokens)
        for place in range(len(candidates.tokens)):
            self._look(so_far, candidates, place, self._known[replica], wish)
            if len(so_far.kept) == wanted:
                seen_until = candidates.numbers[place]
                break
        for because, these in passed_over.items():
            if count := int(these[:seen_until].sum()):
                so_far.rejected[because] += count

    def _passed_over(
        self, so_far: Collected, tokens: torch.Tensor, replica: int, wish: _Wish, stopped: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Returns which of what was drawn (B,) are turned down without a look, by reason, each for one.

        Nearly all may be, and a look at each takes longer than to draw it. Some are kept to be looked at.
        """
        found = {NOTHING_RARE: stopped}
        pairs, nothing_rare = are_pairs(tokens), wish.nothing_rare(tokens)
        if so_far.rejected[NOTHING_RARE] >= SHOWN:
            found[NOTHING_RARE] = stopped | (pairs & nothing_rare)
        novelty = self.settings.novelty
        if novelty not in ("nothing", "pair") and so_far.rejected[KNOWN[novelty]] >= SHOWN:
            found[KNOWN[novelty]] = pairs & ~nothing_rare & self._known_inputs.among(tokens, replica)
        return found

    def _look(self, so_far: Collected, candidates: _Candidates, place: int, known: Known, wish: _Wish) -> None:
        """Keeps one of the candidates, or counts why not."""
        ids, reason = self._judge(candidates.tokens[place], so_far.seen, known, wish.common)
        if reason is None:
            so_far.seen.add(key_of(ids))
            example = self._example(ids, candidates, place)
            reason = turned_down(example, wish.accept)
        if reason is None:
            so_far.keep(*self._scored(example, candidates, place))
            return
        shown = reason not in (UNFINISHED, MALFORMED) and so_far.rejected[reason] < SHOWN
        so_far.reject(reason, self._example(ids, candidates, place) if shown else None)

    def _scored(self, example: Example, candidates: _Candidates, place: int) -> tuple[Tokens, Scored]:
        """Returns what there may be only one sample of, and the sample with its scores."""
        if self.settings.confidence == "pair":
            return example.d, Scored(example, candidates.scores[place], candidates.least[place])
        score = candidates.output_scores[place] / (len(example.y) + 1)  # the end counts, too
        return example.x, Scored(example, score, candidates.least[place])

    def _judge(
        self, ids: list[int], seen: set[bytes], known: Known, common: frozenset[int]
    ) -> tuple[list[int], str | None]:
        """Returns a candidate's ids without EOS, and why it is turned down, if it is."""
        if EOS not in ids:
            return ids, UNFINISHED
        ids = ids[: ids.index(EOS)]
        if ids.count(SEP) != 1 or ids[0] == SEP or ids[-1] == SEP or UNK in ids:
            return ids, MALFORMED
        if common.issuperset(ids):
            return ids, NOTHING_RARE
        if not known.takes_sides(ids):
            return ids, WRONG_SIDE
        if known.holds(ids, self.settings.novelty):
            return ids, KNOWN[self.settings.novelty]
        return ids, DUPLICATE if key_of(ids) in seen else None

    def _example(self, ids: list[int], candidates: _Candidates, number: int) -> Example:
        middle = ids.index(SEP)
        tokens = self.vocabulary.decode(ids)
        prototypes = tuple(self.examples[i].with_provenance(None) for i in candidates.chosen[number])
        sources = tuple(self._source(candidates, number, t, middle, prototypes) for t in range(len(ids)) if t != middle)
        provenance = Provenance("recombination", prototypes, log_probability=candidates.scores[number], sources=sources)
        return Example(tokens[:middle], tokens[middle + 1 :], provenance)

    def _source(
        self, candidates: _Candidates, number: int, t: int, middle: int, prototypes: tuple[Example, ...]
    ) -> str:
        """Says where token t came from, in the words of `Provenance.sources`."""
        place = candidates.entries[number][t] - self._writable
        if place < 0:
            return "written"
        own = candidates.own[t]
        if place < own:
            return f"own:{_position(place, middle)}"
        # Prototypes are padded to a common width, so a place says which prototype and where.
        k, j = divmod(place - own, candidates.width)
        return f"{k + 1}:{_position(j, len(prototypes[k].x))}"


def _position(place: int, middle: int) -> int:
    """Turns a place in x ▷ y into a position among the tokens of x and y, from 1; ▷ itself counts as its left."""
    return place + 1 if place < middle else place
