"""Frozen results as what JSON can say, and back, by the types of their fields."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from annotator.evaluation.metrics.figures import SentenceEnum

Result = TypeVar("Result")


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Take a result apart into dictionaries, lists, texts, numbers, booleans and None."""
    if isinstance(value, SentenceEnum):
        return value.name  # its sentence may be worded anew
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [plain(inner) for inner in value]
    return value


def rebuilt(kind: type[Result], value: Mapping[str, object]) -> Result:
    """Build a result anew from what `plain` made of it; `KeyError` or `ValueError` for what is none."""
    built: Result = _built(kind, value)
    return built


def _built(kind: Any, value: Any) -> Any:  # noqa: ANN401 - types and values are known at run time alone
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if value is None else _built(next(one for one in inner if one is not type(None)), value)
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(_built(one, part) for one, part in zip(kinds, value, strict=True))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{field.name: _built(hints[field.name], value[field.name]) for field in fields(kind)})  # type: ignore[operator]  # a class
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind[value] if issubclass(kind, SentenceEnum) else kind(value)
    return value
