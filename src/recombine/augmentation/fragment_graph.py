"""GECA's inference: fragments that were seen in one template may stand for each other in all.

Only fragments that share a template matter, never pairs of templates; and of all templates, the few that were seen
with more than one filling.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from recombine.augmentation.fragments import Fragments, Gapping
from recombine.augmentation.gappings import Gappings

_CACHED = 4096


class Evidence(NamedTuple):
    """Why some fragments may stand for others.

    Attributes:
        support: How many templates were seen with both.
        template: The first of them.
    """

    support: int
    template: str


class FragmentGraph:
    """Who may stand for whom: fragments are neighbors if some template was seen with both.

    The edges are not stored but read off the templates, since a template with m fillings makes m² of them.

    Attributes:
        fillings: The templates that were seen with more than one filling, each with its fillings.
    """

    def __init__(self, gappings: Gappings) -> None:
        self._index(_shared_templates(gappings))

    def _index(self, fillings: dict[str, tuple[Fragments, ...]]) -> None:
        self.fillings = fillings
        self._templates: dict[Fragments, list[str]] = {}
        for template, found in fillings.items():
            for fragments in found:
                self._templates.setdefault(fragments, []).append(template)
        self.substitutes = lru_cache(_CACHED)(self._substitutes)
        self.evidence = lru_cache(_CACHED)(self._evidence)

    def __getstate__(self) -> dict[str, tuple[Fragments, ...]]:
        return self.fillings  # caches cannot be copied, and the rest follows

    def __setstate__(self, fillings: dict[str, tuple[Fragments, ...]]) -> None:
        self._index(fillings)

    def __iter__(self) -> Iterator[Fragments]:
        return iter(self._templates)

    def _substitutes(self, fragments: Fragments) -> tuple[Fragments, ...]:
        """Returns what may stand for the fragments; among them, harmlessly, themselves."""
        templates = self._templates[fragments]
        if len(templates) == 1:
            return self.fillings[templates[0]]
        return tuple(dict.fromkeys(other for template in templates for other in self.fillings[template]))

    def _evidence(self, fragments: Fragments, substitute: Fragments) -> Evidence:
        """Returns why the substitute may stand for the fragments."""
        shared = [template for template in self._templates[fragments] if substitute in self.fillings[template]]
        return Evidence(support=len(shared), template=shared[0])

    def overlaps(self, gapping: Gapping, substitute: Fragments) -> bool:
        """Tells whether the substitute has a fragment in common with each filling of the template."""
        fillings = self.fillings.get(gapping.template, (gapping.fragments,))
        return all(not set(substitute).isdisjoint(filling) for filling in fillings)


def _shared_templates(gappings: Gappings) -> dict[str, tuple[Fragments, ...]]:
    """Returns the templates with more than one filling."""
    fillings: dict[str, list[Fragments]] = {}
    for number in gappings.repeated():
        fragments, template = gappings[number]
        fillings.setdefault(template, []).append(fragments)
    return {template: tuple(found) for template, found in fillings.items() if len(found) > 1}
