"""What "auto" stands for, as far as data decide it: each choice is a function of the examples, and gives its reason."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Generic, TypeVar

from recombine.augmentation.drawing import distinct_examples
from recombine.augmentation.geca import GECA
from recombine.augmentation.resample import Resampler
from recombine.errors import NoNeighborhood, RecombineError
from recombine.example import Example
from recombine.inflection import are_inflections, is_tag
from recombine.neighborhoods import ALONE, NEIGHBORHOODS, Effort, LongShort, Neighborhoods, Rule, trial_step

Chosen = TypeVar("Chosen", covariant=True)

TOKENS, PAIRS, NOTHING = "tokens", "pairs", "nothing"
"""What can be rare."""

EPSILONS = (0.02, 0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4)
"""Shares below which a token may count as rare, those that are tried first first."""

FEW, LARGEST = 5, 0.05
"""What at most so many examples have may count as rare, too, if these are fewer than that share."""

UNCOMMON, GAP = 0.1, 3
"""What fewer than that share of the examples have is rare, too, if all else is so many times as frequent."""

EXCEPTION = 0.25
"""What more than this share of the examples have is no exception, so it is not called rare."""

ENOUGH = 0.75
"""A neighborhood rule will do if so many of the examples have a neighborhood by it."""

LEAST_RATE, MOST_RATE = 0.01, 0.2
"""The bounds of mixing rates, which are the paper's lowest and highest."""


@dataclass(frozen=True, slots=True)
class Choice(Generic[Chosen]):
    """A decision that was made from the data.

    Attributes:
        name: What was chosen, in a word or two.
        value: What was chosen.
        reason: What in the data speaks for it.
    """

    name: str
    value: Chosen
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def rarity(examples: Sequence[Example]) -> Choice[Resampler | None]:
    """Chooses what is rare, by which samples are kept (section 4.1); of word forms only tags count.

    - ``tokens``: those in fewer than 2 % of the different examples; where 2 % are next to nothing, those in at most
      five and fewer than 5 % of them, or in a single one. Where more than a quarter of the examples have such a token,
      the bound is lowered until the rare is an exception. Where there is none, those in fewer than 10 % of them, if all
      others are at least three times as frequent.
    - ``pairs``: where no token is rare, two neighboring tokens of an input that were never seen together; not of word
      forms, whose tags have an order, so that an unseen pair is no new bundle of tags but a wrong one.
    - ``nothing``: where neither tells samples apart. All samples are kept.

    Args:
        examples: The training examples, at least one.
    """
    distinct = distinct_examples(examples, least=1, who="resampling")
    relevant = is_tag if are_inflections(distinct) else None
    resampler = Resampler(relevant=relevant).fit(distinct)
    rarest = [found.probability for found in map(resampler.rarest, distinct) if found is not None]
    for epsilon in (*_epsilons(len(distinct)), *_gap(rarest, len(distinct))):
        holders = sum(probability < epsilon for probability in rarest)
        if 0 < holders <= EXCEPTION * len(distinct):
            found = replace(resampler, epsilon=epsilon).fit(distinct)
            what = what_is_rare(found)
            return Choice(TOKENS, found, f"{what}; {holders:,} of {len(distinct):,} examples have one")
    if min(rarest, default=1.0) < max(EPSILONS[0], _share(1, len(distinct))):
        reason = f"nothing in particular: more than {EXCEPTION:.0%} of the examples have a rare token"
        return Choice(NOTHING, None, reason)
    return _unseen_pairs(distinct) if relevant is None else Choice(NOTHING, None, "nothing: no tag is rare")


def what_is_rare(resampler: Resampler) -> str:
    """Returns how many tokens or tags are rare, and below which share."""
    noun = f"{'tag' if resampler.relevant is is_tag else 'token'}{'' if len(resampler.rare_) == 1 else 's'}"
    return f"{len(resampler.rare_):,} {noun} in fewer than {resampler.epsilon:.2%} of the examples"


def _epsilons(examples: int) -> list[float]:
    """Returns the shares below which something may count as rare, among so many examples, the largest first."""
    most = max(EPSILONS[0], min(_share(FEW, examples), LARGEST), _share(1, examples))
    by_count = (_share(count, examples) for count in range(1, FEW + 1))
    return sorted({epsilon for epsilon in (most, *EPSILONS, *by_count) if epsilon <= most}, reverse=True)


def _gap(rarest: Sequence[float], examples: int) -> list[float]:
    """Returns the share below which is what is far less frequent than all else, if there is such.

    Args:
        rarest: The share of the examples that have each one's rarest token.
        examples: How many examples there are.
    """
    counts = sorted({round(share * examples) for share in rarest})
    return [_share(a, examples) for a, b in pairwise(counts) if a < UNCOMMON * examples and b >= GAP * a][-1:]


def _share(count: int, examples: int) -> float:
    """Returns the epsilon by which just those tokens are rare that at most `count` of the examples have."""
    return min(1.0, (count + 0.5) / examples)


def _unseen_pairs(distinct: Sequence[Example]) -> Choice[Resampler | None]:
    """Chooses pairs that were never seen, if there can be any."""
    words = {token for example in distinct for token in example.x}
    pairs = {pair for example in distinct for pair in pairwise(example.x)}
    if not 0 < len(pairs) < len(words) ** 2:
        return Choice(
            NOTHING, None, "nothing: no token is rare, nor is there a pair of input tokens that was never seen"
        )
    unseen = Resampler(epsilon=0.5 / len(distinct), ngram=2, side="x").fit(distinct)
    reason = f"pairs of input tokens, of which {len(pairs):,} of {len(words) ** 2:,} were seen; no token is rare"
    return Choice(PAIRS, unseen, reason)


def rule_names(examples: Sequence[Example], rare: Choice[Resampler | None]) -> tuple[str, ...]:
    """Chooses the neighborhood rules to try, in order.

    Word forms have the tagged rule. Else a rare token, which is mostly seen in short examples, comes from a short
    second prototype; where it is pairs that are missing, both prototypes are long. So the paper has it on SCAN. Where
    examples share most of their words, they differ by parts, which can be swapped.

    Args:
        examples: The training examples.
        rare: What is rare in them.
    """
    if are_inflections(examples):
        return ("tagged",)
    two = ("long-long", "long-short") if rare.name == PAIRS else ("long-short", "long-long")
    return (*two, "swap", "one-prototype")


def rule_named(name: str) -> Rule:
    """Returns the rule of a name, with settings that suit any data."""
    # With each left-over token counted once, second prototypes are short, and rare words often among them.
    return LongShort(removal="distinct") if name == LongShort.name else NEIGHBORHOODS[name]()


@dataclass(frozen=True, slots=True)
class Trial:
    """What a neighborhood rule finds for the examples, or of many for some of them.

    Attributes:
        rule: The rule.
        found: What it finds.
        coverage: The share of these examples that have a neighborhood.
    """

    rule: Rule
    found: Neighborhoods
    coverage: float


def trials(
    examples: Sequence[Example],
    rules: Sequence[Rule],
    *,
    prototypes: int | None = None,
    seed: int = 0,
    effort: Effort = ALONE,
) -> list[Trial]:
    """Tries rules in turn, until one will do; arguments as for ``neighborhoods``."""
    looked_at = examples[:: trial_step(len(examples))]
    tried: list[Trial] = []
    for rule in rules:
        found = rule.build(examples, seed, replace(effort, trial=True, report=None))
        if prototypes is None or prototypes <= found.prototypes:
            tried.append(Trial(rule, found, found.coverage(looked_at)))
            if tried[-1].coverage >= ENOUGH:
                break
    return tried


def neighborhoods(
    examples: Sequence[Example],
    rules: Sequence[Rule],
    *,
    prototypes: int | None = None,
    seed: int = 0,
    effort: Effort = ALONE,
) -> Choice[Neighborhoods]:
    """Chooses the first rule by which three quarters of the examples have a neighborhood, or else the best.

    Of many examples, some tell whether a rule will do, and only the chosen one is asked for all.

    Args:
        examples: The training examples, all different.
        rules: The rules to try, in order.
        prototypes: How many prototypes are needed; None: any number.
        seed: For the random choices of rules.
        effort: Who searches, and who is told how it goes.

    Raises:
        NoNeighborhood: If no example has one.
        RecombineError: If no rule has so many prototypes.
    """
    tried = trials(examples, rules, prototypes=prototypes, seed=seed, effort=effort)
    if not tried:
        names = " or ".join(rule.name for rule in rules)
        raise RecombineError(
            f"a {names} neighborhood has no {prototypes} prototypes.", hint="Ask for fewer, or choose another rule."
        )
    chosen = max(tried, key=lambda trial: trial.coverage)
    best, coverage = chosen.found, chosen.coverage
    if not len(best):
        accounts = "; ".join(f"{trial.found.rule}: {trial.found.account}" for trial in tried)
        raise NoNeighborhood(
            f"no example has a neighborhood ({accounts}).",
            hint="Give more examples, above all such as differ in a part.",
        )
    if trial_step(len(examples)) > 1:
        best = chosen.rule.build(examples, seed, effort)
        coverage = best.coverage(examples)
    reason = f"{coverage:.0%} of the examples can be rebuilt from others, in {len(best):,} ways"
    return Choice(best.rule, best, reason)


def geca(examples: Sequence[Example]) -> Choice[GECA]:
    """Chooses GECA's fragments: whole words, or up to four characters of word forms."""
    if are_inflections(examples):
        return Choice("one gap of four", GECA(fragment_size=4, gaps=1), "word forms, whose sides share characters")
    return Choice("two gaps of one", GECA(), "words")


def mixing_rate(originals: int, augmented: int) -> Choice[float]:
    """Chooses p_aug, how often a predictor sees a new example: their share, but within the paper's rates.

    Args:
        originals: How many different training examples there are.
        augmented: How many new ones.
    """
    share = augmented / (originals + augmented)
    rate = min(MOST_RATE, max(LEAST_RATE, share)) if augmented else 0.0
    bounded = "" if rate == share else f", kept within {LEAST_RATE} and {MOST_RATE}"
    return Choice(f"{rate:.2g}", rate, f"{augmented:,} new examples beside {originals:,}{bounded}")
