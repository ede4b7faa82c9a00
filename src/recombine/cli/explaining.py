"""Shows in one glance where the tokens of a sample came from."""

from recombine.example import Example


def explained(sample: Example) -> list[str]:
    """Returns lines for people: the sample with a mark at each token that says where it came from, then its prototypes.

    A number is a prototype's; = marks a token copied from the sample itself; no mark, a token that was written.
    """
    provenance = sample.provenance
    if provenance is None:
        return [str(sample)]
    sources = provenance.sources or ("written",) * (len(sample.x) + len(sample.y))
    tokens = [f"{token}{_mark(source)}" for token, source in zip((*sample.x, *sample.y), sources, strict=True)]
    middle = len(sample.x)
    lines = [f"{' '.join(tokens[:middle])} ▷ {' '.join(tokens[middle:])}"]
    return lines + [f"  {_SUPERSCRIPTS[k]} {prototype}" for k, prototype in enumerate(provenance.prototypes, start=1)]


_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"


def _mark(source: str) -> str:
    kind = source.partition(":")[0]
    if kind == "written":
        return ""
    return "⁼" if kind == "own" else _SUPERSCRIPTS[int(kind)]
