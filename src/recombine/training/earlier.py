"""Settings of models that earlier versions wrote, in the names that they have today."""

from typing import Any

RENAMED: dict[str, str] = {}
"""Today's names of settings by their former ones."""

VALUES: dict[tuple[str, str], str] = {}
"""Today's values by today's name of a setting and its former value."""

RETIRED = frozenset({"candidates", "covering", "fallback", "lemma", "pairs", "parity", "second_tags"})
"""Settings that rules for neighborhoods no longer have, on which no sample or prediction of a trained model depends."""


def upgraded(settings: Any) -> Any:  # noqa: ANN401
    """Returns settings as this version would have written them.

    Args:
        settings: What JSON can hold; only tables are changed.
    """
    if isinstance(settings, list):
        return [upgraded(each) for each in settings]
    if not isinstance(settings, dict):
        return settings
    retired = RETIRED if "budget" in settings else frozenset()  # all rules have one, and nothing else
    found: dict[str, Any] = {}
    for former, value in settings.items():
        if former not in retired:
            name: str = RENAMED.get(former) or former
            found[name] = VALUES.get((name, value), value) if isinstance(value, str) else upgraded(value)
    return found
