"""Draws samples from trained networks: prototypes from Ω, decoding, and what is accepted (section 4, appendix B)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
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
from recombine.training.corpus import encoded, padded
from recombine.training.renaming import Twins

Prototypes = Callable[[int, np.random.Generator], np.ndarray]
"""Draws a number of prototype tuples: indices of examples, (count, n)."""

Validators = Validator | Sequence[Validator | None] | None
"""What all samples must satisfy, or those of each replica."""

UNFINISHED, MALFORMED, DUPLICATE = "too long", "not one input and one output", "drawn before"
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

LESS_SURE = "with an input that has a surer output"
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
            is right, the surest is kept; or log p(d) (``pair``), as in the authors' code, which prefers short samples.
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
    """What one replica has so far, and how patient it still is."""

    temperature: float
    accepted: dict[Tokens, Scored] = field(default_factory=dict)  # by what may be kept only once
    seen: set[bytes] = field(default_factory=set)
    rejected: Counter[str] = field(default_factory=Counter)
    turned_down: list[Example] = field(default_factory=list)
    drawn: int = 0  # at this temperature, as the next
    accepted_before: int = 0
    given_up: bool = False

    def accept(self, key: Tokens, sample: Scored) -> None:
        """Keeps a sample, unless one with the same key has a higher score; the other of the two is turned down."""
        if key in self.accepted:
            sample, worse = sorted((self.accepted[key], sample), key=lambda scored: -scored.score)
            self.reject(LESS_SURE, worse.example)
        self.accepted[key] = sample

    def reject(self, reason: str, example: Example | None) -> None:
        """Counts a candidate that is turned down; some that are pairs are kept to be looked at."""
        self.rejected[reason] += 1
        if example is not None and self.rejected[reason] <= SHOWN:
            self.turned_down.append(_because(example, reason))

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
        """Returns the n samples of the highest scores, with an account of what was turned down."""
        best = sorted(self.accepted.values(), key=lambda scored: -scored.score)[:n]
        shortfall = ""
        if len(best) < n:
            shortfall = (
                f"{_counted(len(self.accepted))} had come when it took more than {settings.patience} draws to "
                f"find another, at temperature {self.temperature:g}."
            )
        examples = tuple(scored.example for scored in best)
        warning = _warning([scored.least for scored in best])
        rejected = dict(self.rejected)
        if len(self.accepted) > n:
            rejected[SURPLUS] = len(self.accepted) - n
        return Samples(examples, n, rejected, shortfall, tuple(self.turned_down), warning)


def _counted(kept: int) -> str:
    return f"Only {kept} new ones" if kept > 1 else "Only one new one" if kept else "No new one"


def _warning(least: Sequence[float]) -> str:
    """Warns if most outputs are such that the network is not sure of them."""
    unsure = sum(probability < EVEN for probability in least)
    if 2 * unsure <= len(least):
        return ""
    return (
        f"The network is not sure of the outputs of {unsure} of these: look at them before you use them. "
        "Longer training may help, and GECA needs none."
    )


def _because(example: Example, reason: str) -> Example:
    """Returns the example with the reason for its rejection among the details of its provenance."""
    assert example.provenance is not None
    return example.with_provenance(replace(example.provenance, details={"rejected": reason}))


class Known:
    """The training examples of a replica."""

    def __init__(self, examples: Sequence[Example], vocabulary: Vocabulary) -> None:
        inputs = [vocabulary.encode(example.x)[:-1] for example in examples]
        outputs = [vocabulary.encode(example.y)[:-1] for example in examples]
        self.inputs, self.outputs = set(map(key_of, inputs)), set(map(key_of, outputs))
        self.pairs = {key_of([*x, SEP, *y]) for x, y in zip(inputs, outputs, strict=True)}
        self.input_tokens, self.output_tokens = set(chain(*inputs)), set(chain(*outputs))

    def takes_sides(self, ids: list[int]) -> bool:
        """Tells whether all tokens of the input are of known inputs, and all of the output of known outputs."""
        middle = ids.index(SEP)
        return self.input_tokens.issuperset(ids[:middle]) and self.output_tokens.issuperset(ids[middle + 1 :])

    def holds(self, ids: list[int], novelty: str) -> bool:
        """Tells whether something that must be new is not."""
        if novelty == "nothing":
            return False
        middle = ids.index(SEP)
        return (
            key_of(ids) in self.pairs
            or (novelty != "pair" and key_of(ids[:middle]) in self.inputs)
            or (novelty == "both" and key_of(ids[middle + 1 :]) in self.outputs)
        )


class KnownInputs:
    """Finds candidates with known inputs, which nearly all are, in one go: by sums of random codes.

    Args:
        known: The training examples of some replicas; the others have the same in turn.
        steps: The most tokens of a candidate.
        vocabulary: Number of token ids.
        device: Where candidates are.
    """

    def __init__(self, known: Sequence[Known], *, steps: int, vocabulary: int, device: torch.device) -> None:
        codes = np.random.default_rng(5).integers(-(2**63), 2**63, (steps + 1, vocabulary))
        self._codes = torch.from_numpy(codes).to(device)
        self._known = [self._input_codes(self._rows(each).to(device)) for each in known]

    def among(self, tokens: torch.Tensor, replica: int) -> torch.Tensor:
        """Tells which candidates (B, T) of a replica have an input that is known."""
        return torch.isin(self._input_codes(tokens), self._known[replica % len(self._known)])

    def _input_codes(self, tokens: torch.Tensor) -> torch.Tensor:
        """Returns a number for the input in each row (B, T), that is for what comes before ▷."""
        places = torch.arange(tokens.shape[-1], device=tokens.device) % len(self._codes)
        in_x = (tokens == SEP).cumsum(-1) == 0
        return torch.where(in_x, self._codes[places, tokens], 0).sum(-1)

    @staticmethod
    def _rows(known: Known) -> torch.Tensor:
        inputs = [[*np.frombuffer(key, dtype=np.int32).tolist(), SEP] for key in sorted(known.inputs)]
        return torch.from_numpy(padded(inputs))


def are_pairs(tokens: torch.Tensor) -> torch.Tensor:
    """Tells which candidates (B, T) have come to an end and are one input and one output."""
    ends = tokens == EOS
    parts = (tokens == SEP).sum(-1)
    first, last = tokens[:, 0], tokens.gather(-1, (ends.int().argmax(-1, keepdim=True) - 1).clamp(min=0))[:, 0]
    return ends.any(-1) & (parts == 1) & (first != SEP) & (last != SEP) & (tokens != UNK).all(-1)


def key_of(ids: Sequence[int]) -> bytes:
    """Returns token ids as a key of sets."""
    return np.asarray(ids, dtype=np.int32).tobytes()


@dataclass(frozen=True)
class AcceptRule:
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
        rules = [
            self._accept_rule(each) for each in (accept if isinstance(accept, Sequence) else [accept] * len(seeds))
        ]
        wanted = round(n * settings.surplus)
        collected = [Collected(settings.decoding.temperature) for _ in seeds]
        rngs = [np.random.default_rng([2, seed]) for seed in seeds]
        active = list(range(len(seeds)))
        skip_without = self._skip_without(rules)
        batches = Batches(
            Drawing(self.model, self.table, self.steps, settings.decoding, self.twins, tuple(seeds), skip_without),
            lambda: np.stack([self.prototypes[replica](settings.batch, rngs[replica]) for replica in active]),
            executor.on(self.device.type),
            self.device,
        )
        # Each is asked: one that is asked may lose patience.
        while wanting := [replica for replica in active if not collected[replica].over(n, wanted, settings)]:
            if len(wanting) <= NARROWER * len(active):
                batches.narrow([active.index(replica) for replica in wanting])
                active[:] = wanting
            batch = batches.next(tuple(collected[replica].temperature for replica in active))
            for row, replica in enumerate(active):
                if replica in wanting:
                    self._collect(collected[replica], batch, row, replica, wanted, rules[replica])
            if report is not None:
                done, total = sum(len(so_far.accepted) for so_far in collected), wanted * len(seeds)
                report(done, total, f"{done:,} of {total:,}")
        batches.close()
        return [so_far.samples(n, settings) for so_far in collected]

    def _accept_rule(self, accept: Validator | None) -> AcceptRule:
        tokens = getattr(accept, "common", None)
        if tokens is None:
            return AcceptRule(accept)
        common = {PAD, SEP, *self.vocabulary.encode(tuple(tokens))} - {UNK}
        is_common = torch.zeros(self._writable, dtype=torch.bool, device=self.device)
        is_common[sorted(common)] = True
        return AcceptRule(accept, frozenset(common), is_common)

    def _skip_without(self, rules: Sequence[AcceptRule]) -> torch.Tensor | None:
        """Returns the ids (R, V) of which inputs must have one, where nothing rare can come in outputs."""
        found = torch.ones(len(rules), self._writable, dtype=torch.bool, device=self.device)
        for row, rule, known in zip(found, rules, self._known, strict=True):
            if rule.is_common is not None and rule.common.issuperset(known.output_tokens):
                row.copy_(~rule.is_common)
        return None if found.all() else found

    def _collect(self, so_far: Collected, batch: Batch, row: int, replica: int, wanted: int, rule: AcceptRule) -> None:
        """Takes what it can use of one row of a batch."""
        tokens = batch.generated.tokens[row, :, : self._longest[replica]]
        passed_over = self._passed_over(so_far, tokens, replica, rule, batch.generated.stopped[row])
        looked_at = torch.ones_like(tokens[:, 0], dtype=torch.bool)
        for these in passed_over.values():
            looked_at &= ~these
        numbers = looked_at.nonzero()[:, 0]
        candidates = _Candidates(batch, row, numbers, self._longest[replica])
        so_far.drawn += len(tokens)
        seen_until = len(tokens)
        for place in range(len(candidates.tokens)):
            self._look(so_far, candidates, place, self._known[replica], rule)
            if len(so_far.accepted) == wanted:
                seen_until = candidates.numbers[place]
                break
        for because, these in passed_over.items():
            if count := int(these[:seen_until].sum()):
                so_far.rejected[because] += count

    def _passed_over(
        self, so_far: Collected, tokens: torch.Tensor, replica: int, rule: AcceptRule, stopped: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Returns which of what was drawn (B,) are turned down without a look, by reason, each for one.

        Nearly all may be, and a look at each takes longer than to draw it. Some are kept to be looked at.
        """
        found = {NOTHING_RARE: stopped}
        pairs, nothing_rare = are_pairs(tokens), rule.nothing_rare(tokens)
        if so_far.rejected[NOTHING_RARE] >= SHOWN:
            found[NOTHING_RARE] = stopped | (pairs & nothing_rare)
        novelty = self.settings.novelty
        if novelty not in ("nothing", "pair") and so_far.rejected[KNOWN[novelty]] >= SHOWN:
            found[KNOWN[novelty]] = pairs & ~nothing_rare & self._known_inputs.among(tokens, replica)
        return found

    def _look(self, so_far: Collected, candidates: _Candidates, place: int, known: Known, rule: AcceptRule) -> None:
        """Keeps one of the candidates, or counts why not."""
        ids, reason = self._judge(candidates.tokens[place], so_far.seen, known, rule.common)
        if reason is None:
            so_far.seen.add(key_of(ids))
            example = self._example(ids, candidates, place)
            reason = turned_down(example, rule.accept)
        if reason is None:
            so_far.accept(*self._scored(example, candidates, place))
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
