"""Draws samples from trained networks: prototypes from Ω, decoding, and what is accepted (section 4, appendix B)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Literal, NamedTuple

import numpy as np
import torch

from recombine.augmentation.batches import Batch, Batches, Drawing
from recombine.augmentation.protocol import NOTHING_RARE, Novelty, Samples, Validator, turned_down
from recombine.data.vocabulary import EOS, PAD, SEP, UNK, Vocabulary
from recombine.decoding.generate import Decoding
from recombine.example import Example, Provenance, Tokens
from recombine.execution.executor import SERIAL, Executor
from recombine.execution.progress import Report
from recombine.models.recombiner import Recombiner
from recombine.neighborhoods import Omega
from recombine.neighborhoods.neighborhood import CUT
from recombine.training.corpus import encoded
from recombine.training.renaming import Twins

Validators = Validator | Sequence[Validator | None] | None
"""What all samples must satisfy, or those of each replica."""

UNFINISHED, MALFORMED, DUPLICATE = "too long", "malformed (no clear end of the input or output)", "drawn before"
KNOWN = {"pair": "known", "input": "with a known input", "both": "with a known input or output"}
"""By what must be new. Of known inputs the output may be wrong, but no better one is needed."""
WRONG_SIDE = "with a token on the wrong side"

NARROWER = 0.75
"""Networks that have enough samples stop drawing once at most this share of those that draw still wants some."""

LEAST = 20
"""Patience is not lost before there were draws enough for this many samples."""

SHOWN = 20
"""How many rejected pairs are recorded for each reason, at most, to be looked at."""

EVEN = 0.5
"""Of an output with a token that is less probable than all others together, a network is not sure."""

SURE = 0.98
"""Of an output without a token less probable than this, a network is sure. Which of these is the surest says nothing:
the surest 400 of 1,600 samples for around-right, all right, were short, and had "left" a third as often."""

TIME_OVER = "the time for drawing was over"
LESS_SURE = "with a surer output for the same input"
SURPLUS = "less sure than those kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingSettings:
    """How samples are drawn and which are kept.

    Attributes:
        decoding: How tokens are chosen.
        novelty: What must be new: the pair; the input, since another output for a known input could only contradict
            it; both the input and the output, as in the authors' code for SCAN; or nothing, as in that for word forms.
        surplus: Collect this many times n samples, if they can be had, and return the n of the highest confidence.
        confidence: What that is: the mean log-probability of the tokens of y, given x (``output``), which tells right
            outputs from wrong ones whatever was drawn for x, so that of several outputs for one x, of which at most one
            is right, the surest is kept, and of inputs those that were drawn first among all whose outputs the network
            is sure of; or log p(d) (``pair``), as in the authors' code, which prefers short samples.
        patience: Candidates that may be drawn for each one kept; where it takes more, the temperature is raised.
        warmer: By how much it is raised.
        max_temperature: The temperature at which, patience being lost once more, drawing ends with fewer samples.
        batch: Candidates drawn at a time by each replica.
    """

    decoding: Decoding = field(default_factory=Decoding)
    novelty: Novelty | Literal["nothing"] = "input"
    surplus: float = 4.0
    confidence: Literal["output", "pair"] = "output"
    patience: int = 100
    warmer: float = 0.2
    max_temperature: float = 1.0
    batch: int = 512


class Scored(NamedTuple):
    """A sample, how sure of it the network is, and the probability of the least probable token of its output."""

    example: Example
    score: float
    least: float


@dataclass
class Collected:
    """What one replica has so far, by which rules, and how patient it still is."""

    temperature: float
    known: "Known"
    judge: Validator | None
    common: np.ndarray  # the ids (V,) of which a candidate must have others
    accepted: dict[Tokens, Scored] = field(default_factory=dict)  # by what may be kept only once
    seen: set[bytes] = field(default_factory=set)
    rejected: Counter[str] = field(default_factory=Counter)
    turned_down: list[Example] = field(default_factory=list)
    drawn: int = 0  # at this temperature, as the next
    accepted_before: int = 0
    given_up: bool = False
    timed_out: bool = False

    def accept(self, key: Tokens, sample: Scored) -> None:
        """Keeps a sample, unless one with the same key has a higher score; the other of the two is turned down."""
        if key in self.accepted:
            sample, worse = sorted((self.accepted[key], sample), key=lambda scored: -scored.score)
            self.reject(LESS_SURE, worse.example)
        self.accepted[key] = sample

    def reject(self, reason: str, example: Example | None) -> None:
        """Counts a candidate that is turned down; some that are pairs are kept, with the reason, to be looked at."""
        self.rejected[reason] += 1
        if example is not None and self.rejected[reason] <= SHOWN:
            assert example.provenance is not None
            provenance = replace(example.provenance, details={"rejected": reason})
            self.turned_down.append(example.with_provenance(provenance))

    def over(self, n: int, wanted: int, settings: SamplingSettings) -> bool:
        """Tells whether there is nothing more to draw; where patience is lost, raises the temperature first.

        For a surplus beyond n it is not raised: what comes at higher temperatures would hardly be among the best.
        """
        gained = len(self.accepted) - self.accepted_before
        if len(self.accepted) < wanted and self.drawn >= settings.patience * max(LEAST, gained):
            fixed = settings.decoding.strategy in ("greedy", "beam")
            self.given_up = fixed or self.temperature >= settings.max_temperature or len(self.accepted) >= n
            self.temperature = min(settings.max_temperature, self.temperature + settings.warmer)
            self.drawn, self.accepted_before = 0, len(self.accepted)
        return self.given_up or len(self.accepted) >= wanted

    def samples(self, n: int, settings: SamplingSettings) -> Samples:
        """Returns the n samples of the highest confidence, with an account of what was turned down."""
        alike = settings.confidence == "output"  # those that it is sure of stay in the order in which they were drawn
        best = sorted(self.accepted.values(), key=lambda each: 0 if alike and each.least >= SURE else -each.score)[:n]
        count, rejected, shortfall, warning = len(self.accepted), dict(self.rejected), "", ""
        if count < n:
            draws = f"another took more than {settings.patience} draws, at temperature {self.temperature:g}"
            more = f"{TIME_OVER}. Give more (max_time){', or ask for fewer' * bool(count)}"
            shortfall = f"Stopped at {count}: {more if self.timed_out else draws}."
        if count > n:
            rejected[SURPLUS] = count - n
        unsure = sum(scored.least < EVEN for scored in best)
        if 2 * unsure > len(best):
            warning = (
                f"The network is not sure of the outputs of {unsure} of these: look at them before you use them. "
                "Longer training may help; spans and GECA need none."
            )
        examples = tuple(scored.example for scored in best)
        return Samples(examples, n, rejected, shortfall, tuple(self.turned_down), warning)


class Known:
    """The training examples of a replica: pairs, inputs and outputs as bytes of their ids, and which ids each side has.

    As many tokens as the longest example has, the end being one, a sequence may have, too (`longest`).
    """

    def __init__(self, examples: Sequence[Example], vocabulary: Vocabulary, size: int) -> None:
        self.longest = 1 + max(len(example.d) for example in examples)
        self.pairs, self.inputs, self.outputs = set[bytes](), set[bytes](), set[bytes]()
        self.in_x, self.in_y = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        for example in examples:
            ids = np.array(vocabulary.encode(example.d)[:-1], np.int32)
            middle = len(example.x)
            x, y = ids[:middle], ids[middle + 1 :]
            for found, key in ((self.pairs, ids), (self.inputs, x), (self.outputs, y)):
                found.add(key.tobytes())
            self.in_x[x] = self.in_y[y] = True


class Sampler:
    """Draws from a population of networks, each replica on its own.

    Args:
        model: R trained replicas, in evaluation mode.
        examples: The training examples.
        vocabulary: Their tokens.
        prototypes: Ω, for each replica.
        settings: How samples are drawn and which are kept.
        twins: How many pairs of names the model knows twins by (see `twins`); 0: it knows all tokens by their own.
        owned: Which of the examples each replica was trained on, or all on all.

    Attributes:
        known: What each replica was trained on.
    """

    def __init__(
        self,
        model: Recombiner,
        examples: Sequence[Example],
        vocabulary: Vocabulary,
        prototypes: Sequence[Omega],
        settings: SamplingSettings,
        *,
        twins: int = 0,
        owned: Sequence[range] = (),
    ) -> None:
        self.model, self.examples, self.vocabulary, self.settings = model, examples, vocabulary, settings
        self.prototypes, self.device = prototypes, model.embed.weight.device
        self._writable = model.architecture.vocabulary  # entries below are written, the others copied
        self.table = encoded([example.d for example in examples], vocabulary, self.device)
        self.twins = Twins.of(self.table, len(vocabulary), twins) if twins else None
        parts = [[examples[place] for place in places] for places in owned or [range(len(examples))]]
        known = [Known(part, vocabulary, self._writable) for part in parts]
        self.known = [known[replica % len(parts)] for replica in range(model.replicas)]

    def sample(
        self,
        n: int,
        seeds: Sequence[int],
        accept: Validators = None,
        *,
        seconds: float | None = None,
        report: Report | None = None,
        executor: Executor = SERIAL,
    ) -> list[Samples]:
        """Returns n samples from each replica, or fewer with an account of why; same seeds, same samples.

        No batch is drawn after so many seconds. The report is told, after every batch, how many samples there are, of
        how many; there may never be as many. The samples are the same whichever executor draws batches.
        """
        began = monotonic()
        settings = self.settings
        rules = accept if isinstance(accept, Sequence) else [accept] * len(seeds)
        wanted = round(n * settings.surplus)
        collected = [
            Collected(settings.decoding.temperature, known, rule, self._common(rule))
            for known, rule in zip(self.known, rules, strict=True)
        ]
        rngs = [np.random.default_rng([2, seed]) for seed in seeds]
        active = list(range(len(seeds)))
        skip_without, steps = self._skip_without(collected), max(known.longest for known in self.known)
        batches = Batches(
            Drawing(self.model, self.table, steps, settings.decoding, self.twins, tuple(seeds), skip_without),
            lambda: np.stack([self.prototypes[replica](settings.batch, rngs[replica]) for replica in active]),
            executor.on(self.device.type),
        )
        # Each is asked: one that is asked may lose patience.
        while wanting := [replica for replica in active if not collected[replica].over(n, wanted, settings)]:
            if len(wanting) <= NARROWER * len(active):
                batches.narrow([active.index(replica) for replica in wanting])
                active[:] = wanting
            chosen, batch = batches.next(tuple(collected[replica].temperature for replica in active))
            for row, replica in enumerate(active):
                if replica in wanting:
                    self._collect(collected[replica], wanted, batch, row, chosen[row])
            if seconds is not None and monotonic() - began > seconds:
                for so_far in collected:
                    so_far.given_up, so_far.timed_out = True, not so_far.given_up
            if report is not None:
                done, total = sum(len(so_far.accepted) for so_far in collected), wanted * len(seeds)
                report(done, total, f"{done:,} of {total:,}")
        batches.close()
        return [so_far.samples(n, settings) for so_far in collected]

    def _common(self, accept: Validator | None) -> np.ndarray:
        """Returns the ids (V,) of which a candidate must have others: what the validator calls common, or none."""
        common = np.zeros(self._writable, np.bool_)
        tokens = getattr(accept, "common", None)
        if tokens is not None:
            common[[PAD, SEP, *self.vocabulary.encode(tuple(tokens))]] = True
            common[UNK] = False
        return common

    def _skip_without(self, collected: Sequence[Collected]) -> torch.Tensor | None:
        """Returns the ids (R, V) of which inputs must have one, where nothing rare can come in outputs."""
        found = np.stack([~(each.common & each.common[each.known.in_y].all()) for each in collected])
        return None if found.all() else torch.from_numpy(found).to(self.device)

    def _collect(self, so_far: Collected, wanted: int, batch: Batch, row: int, chosen: np.ndarray) -> None:
        """Takes what it can use of one row of a batch: keeps candidates or counts why not, until there are enough."""
        novelty, stopped, known = self.settings.novelty, batch.stopped[row], so_far.known
        tokens = batch.tokens[row, :, : known.longest].astype(np.int32)
        # What one look at all of them tells: nearly all may be turned down, and a look at each takes longer.
        ending, parting = tokens == EOS, tokens == SEP
        ends, middles = ending.argmax(-1), parting.argmax(-1)
        one_each = (parting.sum(-1) == 1) & (middles > 0) & (middles < ends - 1) & (tokens != UNK).all(-1)
        steps = np.arange(tokens.shape[1])
        in_x, in_y = steps < middles[:, None], (steps > middles[:, None]) & (steps < ends[:, None])
        wrong_side = ((in_x & ~known.in_x[tokens]) | (in_y & ~known.in_y[tokens])).any(-1)
        nothing_rare = so_far.common[tokens].all(-1)
        flaws: list[str] = np.select(
            [stopped, ~ending.any(-1), ~one_each, nothing_rare, wrong_side],
            [NOTHING_RARE, UNFINISHED, MALFORMED, NOTHING_RARE, WRONG_SIDE],
            "",
        ).tolist()
        so_far.drawn += len(tokens)
        for place, (flaw, end, middle) in enumerate(zip(flaws, ends.tolist(), middles.tolist(), strict=True)):
            ids = tokens[place, :end]
            key, reason = ids.tobytes(), flaw or None
            if reason is None and novelty != "nothing":
                is_known = key in known.pairs
                is_known |= novelty != "pair" and ids[:middle].tobytes() in known.inputs
                is_known |= novelty == "both" and ids[middle + 1 :].tobytes() in known.outputs
                reason = KNOWN[novelty] if is_known else None
            if reason is None and key in so_far.seen:
                reason = DUPLICATE
            if reason is None:
                so_far.seen.add(key)
                example = self._example(ids.tolist(), middle, batch, (row, place), chosen[place])
                reason = turned_down(example, so_far.judge)
            if reason is None:
                least = float(np.exp(batch.least_log_probability[row, place]))
                if self.settings.confidence == "pair":
                    so_far.accept(example.d, Scored(example, float(batch.log_probability[row, place]), least))
                else:
                    scored = len(example.y) + 1  # the end counts, too
                    score = float(batch.output_log_probability[row, place]) / scored
                    so_far.accept(example.x, Scored(example, score, least))
                if len(so_far.accepted) == wanted:
                    return
            elif flaw in (UNFINISHED, MALFORMED) or stopped[place] or so_far.rejected[reason] >= SHOWN:
                so_far.reject(reason, None)
            else:
                so_far.reject(reason, self._example(ids.tolist(), middle, batch, (row, place), chosen[place]))

    def _example(
        self, ids: list[int], middle: int, batch: Batch, place: tuple[int, int], chosen: np.ndarray
    ) -> Example:
        """Returns the candidate at a place of a batch, with its score and where each token came from."""
        tokens = self.vocabulary.decode(ids)
        prototypes = tuple(self.examples[i].with_provenance(None) for i in chosen)
        wholes = {
            f"whole of prototype {k}": str(origin)
            for k, i in enumerate(chosen, start=1)
            if (cut := self.examples[i].provenance) is not None and cut.method == CUT
            for origin in cut.prototypes
        }

        def source(t: int, entry: int) -> str:
            entry -= self._writable
            if entry < 0:
                return "written"
            if entry < batch.own[t]:
                return f"own:{position(entry, middle)}"
            # Prototypes are padded to a common width, so an entry says which prototype and where.
            k, j = divmod(entry - batch.own[t], batch.width)
            return f"{k + 1}:{position(j, len(prototypes[k].x))}"

        def position(place: int, middle: int) -> int:
            """From a place in x ▷ y to a position among the tokens of x and y, from 1; ▷ itself counts as its left."""
            return place + 1 if place < middle else place

        entries = batch.entries[place][: len(ids)].tolist()
        sources = tuple(source(t, entry) for t, entry in enumerate(entries) if t != middle)
        score = float(batch.log_probability[place])
        provenance = Provenance("recombination", prototypes, log_probability=score, sources=sources, details=wholes)
        return Example(tokens[:middle], tokens[middle + 1 :], provenance)
