"""Whether findings that come from elsewhere, as from an archive, are what this program would have kept itself."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from annotator.clicks.evaluation.logs.log_findings import LogFindings, findings_from_json
from annotator.errors import Sentence


def are_findings(options: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Tell whether `said` can be read as findings, everything in it of its kind, and `options` tell of the same log."""
    try:
        found = findings_from_json(said)
        tells_alike = options["kind"] == found.kind and tuple(options["variants"]) == found.variants
        names = all(isinstance(name, str) for name in (*options["files"], *found.variants))
        return tells_alike and names and len(found.variants) > 1 and _fits(LogFindings, found)
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        return False


def _fits(kind: Any, value: Any) -> bool:  # noqa: ANN401 - types and values are known at run time alone
    """Tell whether a value is of its field's kind, and so is all that is in it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return any(_fits(one, value) for one in inner)
    if origin is not None:
        return _all_fit(origin, inner, value)
    if isinstance(value, Sentence):
        return isinstance(str(value), str)  # raises where the words ask for what is not there
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        is_own = isinstance(value, kind)  # type: ignore[arg-type]  # a class
        return is_own and all(_fits(hints[field.name], getattr(value, field.name)) for field in fields(kind))
    if kind in {int, float}:
        return type(value) in {int, kind} and isfinite(value)
    return isinstance(value, kind)


def _all_fit(origin: object, inner: tuple[Any, ...], value: Any) -> bool:  # noqa: ANN401 - likewise
    """The same of a tuple, or of a mapping."""
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
        return isinstance(value, tuple) and len(kinds) == len(value) and all(map(_fits, kinds, value))
    return isinstance(value, Mapping) and all(
        _fits(inner[0], key) and _fits(inner[1], one) for key, one in value.items()
    )
