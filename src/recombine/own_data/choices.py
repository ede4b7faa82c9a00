"""What "auto" stands for: each choice is a function of the examples, and gives its reason."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

from recombine.augmentation.frames import RULES, FrameAndSpan
from recombine.augmentation.geca import GECA
from recombine.augmentation.resample import PAIRS, Rare
from recombine.data.code import code_suits
from recombine.errors import NoNeighborhood
from recombine.example import Example
from recombine.inflection import are_inflections
from recombine.neighborhoods import ALONE, Effort, LongShort, Neighborhoods, Rule, trial_step

Chosen = TypeVar("Chosen", covariant=True)

ENOUGH = 0.75  # a neighborhood rule will do if this share of the examples has a neighborhood by it
LEAST_RATE, MOST_RATE = 0.01, 0.2  # the bounds of mixing rates, which are the paper's lowest and highest

SAMPLES, EACH, MOST_SAMPLES = 400, 4, 10_000
"""How many samples are made by default; rules that exchange parts make so many for each example, up to a bound."""


@dataclass(frozen=True, slots=True)
class Choice(Generic[Chosen]):
    """A decision that was made from the data: its name in a word or two, and what in the data speaks for it."""

    name: str
    value: Chosen
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def tokens_chosen(examples: Sequence[Example], kind: str) -> dict[str, Choice[Any]]:
    """Returns the choice of what a token is, where that is other than usual."""
    if kind == "words":
        return {}
    suits = code_suits(examples) if kind == "code" else None
    return {"tokens": Choice(kind, kind, suits or "as the examples were read")}


def rule_names(examples: Sequence[Example], rare: Rare) -> tuple[str, ...]:
    """Chooses the neighborhood rules to try, in order, by the training examples and what is rare in them.

    Word forms have the tagged rule. In other data, spans are tried first. Where they cannot be found, a rare token is
    mostly seen in short examples, so it comes from a short second prototype; if pairs are missing, both prototypes are
    long. So the paper has it on SCAN. Examples that share most of their words differ by parts, which can be swapped.
    """
    if are_inflections(examples):
        return ("tagged",)
    two = ("long-long", "long-short") if rare.kind == PAIRS else ("long-short", "long-long")
    return (FrameAndSpan.name, *two, "swap", "one-prototype")


def rule_named(name: str) -> Rule:
    """Returns the rule of a name, with settings that suit any data."""
    # With each left-over token counted once, second prototypes are short, and rare words often among them.
    return LongShort(removal="distinct") if name == LongShort.name else RULES[name]()


class Trial(NamedTuple):
    """What a neighborhood rule finds for the examples (for some if they are many), and the share that it covers."""

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
        if prototypes is None or (prototypes == found.prototypes if found.parts else prototypes <= found.prototypes):
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

    If the examples, all different, are many, some of them tell whether a rule will do, and only the chosen rule is
    applied to all. Rules that do not have as many prototypes as are asked for are passed over.
    """
    tried = trials(examples, rules, prototypes=prototypes, seed=seed, effort=effort)
    if not tried:
        names = " or ".join(rule.name for rule in rules)
        raise NoNeighborhood(
            f"a {names} neighborhood has no {prototypes} prototypes.", hint="Ask for fewer, or choose another rule."
        )
    rule, best, coverage = max(tried, key=lambda trial: trial.coverage)
    if not len(best):
        accounts = "; ".join(f"{trial.found.rule}: {trial.found.account}" for trial in tried)
        raise NoNeighborhood(
            f"no example has a neighborhood ({accounts}).",
            hint="Give more examples, above all such as differ in a part.",
        )
    if trial_step(len(examples)) > 1:
        best = rule.build(examples, seed, effort)
        coverage = best.coverage(examples)
    reason = f"{coverage:.0%} of the examples can be rebuilt from others, in {len(best):,} ways"
    return Choice(best.rule, best, reason)


def geca(examples: Sequence[Example]) -> Choice[GECA]:
    """Chooses GECA's fragments: whole words, or up to four characters of word forms."""
    if are_inflections(examples):
        return Choice("one gap of four", GECA(fragment_size=4, gaps=1), "word forms, whose sides share characters")
    return Choice("two gaps of one", GECA(), "words")


def how_many(examples: int) -> int:
    """Chooses how many samples are made by rules that exchange parts, which can make many, of so many examples.

    Of 204 examples with held-out templates of GeoQuery a predictor had 67 % right with 400 samples, 72 % with 2,000.
    """
    return min(MOST_SAMPLES, max(SAMPLES, EACH * examples))


def mixing_rate(originals: int, augmented: int) -> Choice[float]:
    """Chooses p_aug, how often a predictor sees a new example: their share, but within the paper's rates."""
    share = augmented / (originals + augmented)
    rate = min(MOST_RATE, max(LEAST_RATE, share)) if augmented else 0.0
    bounded = "" if rate == share else f", kept within {LEAST_RATE} and {MOST_RATE}"
    return Choice(f"{rate:.2g}", rate, f"{augmented:,} new examples beside {originals:,}{bounded}")
