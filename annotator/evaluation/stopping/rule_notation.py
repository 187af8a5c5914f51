"""Stopping rules with their settings in one line: knee, in-a-row(in_a_row=30), target-set(target=0.9, alpha=0.1)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotator.errors import InvalidValueError
from annotator.evaluation.stopping.reviewed_topic import ReviewedTopic
from annotator.evaluation.stopping.stopping_rules import (
    USUAL_SETTINGS,
    Rho,
    StoppingAnswer,
    StoppingSettings,
    decide,
    find_rule,
)

# The settings of each rule.
TAKES: Mapping[str, tuple[str, ...]] = {
    "target-set": ("target", "alpha"),
    "hypergeometric": ("target", "alpha"),
    "autostop": ("target",),
    "knee": ("rho",),
    "budget": ("budget",),
    "hypergeometric-retrospective": ("target", "alpha"),
    "in-a-row": ("in_a_row",),
    "keep-or-drop": (),
}
# Rules that look at the order of documents, which the strategy makes only from its first choice on.
OF_CHOICES = frozenset({"in-a-row"})
# A name, and settings in brackets.
FORM = re.compile(r"([A-Za-z-]+)\s*(?:\(([^()]*)\))?")


@dataclass(frozen=True)
class WrittenRule:
    """A stopping rule and its settings; as a string in the notation that `parse_rule` reads."""

    name: str
    settings: StoppingSettings = USUAL_SETTINGS

    def __str__(self) -> str:
        """The name, and in brackets the settings that differ from the usual ones."""
        values = {name: getattr(self.settings, name) for name in TAKES[self.name]}
        changed = [
            f"{name}={_shown(value)}" for name, value in values.items() if value != getattr(USUAL_SETTINGS, name)
        ]
        return f"{self.name}({', '.join(changed)})" if changed else self.name

    def decide(self, topic: ReviewedTopic, begun: int) -> StoppingAnswer:
        """The answer of the rule for a topic whose first `begun` documents were judged before the strategy chose."""
        return decide(self.name, topic.after(begun) if self.name in OF_CHOICES else topic, self.settings)


def _shown(value: float | Rho | None) -> str:
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}"  # without an exponent
    return str(value.value if isinstance(value, Rho) else value)


def parse_rule(written: str) -> WrittenRule | None:
    """Read a rule; None for text of another form.

    Raises `InvalidValueError` for an unknown rule, for a setting that the rule does not take, and for an invalid value.
    """
    form = FORM.fullmatch(written.strip())
    if form is None:
        return None
    name = form[1].lower()
    find_rule(name)
    values: dict[str, Any] = {}
    for part in (form[2] or "").split(","):
        if not part.strip():
            continue
        setting, _, value = (each.strip() for each in part.partition("="))
        setting = setting.replace("-", "_")
        if setting not in TAKES[name]:
            raise _not_taken(name, setting)
        values[setting] = _read(name, setting, value)
    return WrittenRule(name, StoppingSettings(**values))


def _not_taken(name: str, setting: str) -> InvalidValueError:
    if not TAKES[name]:
        return InvalidValueError(
            "The stopping rule %(name)s takes no %(setting)s; it takes nothing.", name=name, setting=setting
        )
    return InvalidValueError(
        "The stopping rule %(name)s takes no %(setting)s; it takes %(takes)s.",
        name=name,
        setting=setting,
        takes=", ".join(TAKES[name]),
    )


def _read(name: str, setting: str, value: str) -> float | int | Rho:
    if setting == "rho" and value in set(Rho):
        return Rho(value)
    if setting in {"in_a_row", "budget"} and re.fullmatch("[0-9]{1,9}", value):
        return int(value)
    if setting in {"target", "alpha"} and re.fullmatch(r"[0-9]*\.?[0-9]+(e-?[0-9]{1,3})?", value):
        return float(value)
    raise InvalidValueError(
        "The stopping rule %(name)s cannot have %(setting)s=%(value)s.", name=name, setting=setting, value=value
    )
