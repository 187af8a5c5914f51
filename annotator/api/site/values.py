"""Schema fields for texts, times and numbers that every supported database can store."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from marshmallow import ValidationError, fields, validate

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.input_formats import Holds
from annotator.moments import read_moment
from annotator.workflows.site.input_sources import FORMAT_NAMES

GREATEST = 2**31 - 1


class Text(fields.String):
    """A text without characters that some databases cannot store; JSON can escape characters that no form can send."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:  # noqa: ANN401 - the signature is marshmallow's
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in text):
            raise ValidationError("This has a character that cannot be stored: NUL, or half of a surrogate pair.")
        return text


class Moment(fields.AwareDateTime):
    """A time: written as ISO 8601 in UTC, parsed by `read_moment`."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str | None:  # noqa: ANN401 - the signature is marshmallow's
        del attr, obj, kwargs
        return None if value is None else value.astimezone(UTC).isoformat()

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:  # noqa: ANN401 - the signature is marshmallow's
        del attr, data, kwargs
        if not isinstance(value, str):
            raise self.make_error("invalid", input=value, obj_type=self.OBJ_TYPE)
        try:
            return read_moment(value)
        except InvalidValueError as error:
            raise ValidationError(str(error)) from error


def counted(least: int = 1, most: int = GREATEST, **options: Any) -> fields.Integer:  # noqa: ANN401 - marshmallow's options
    """An integer in a query string, where every value is text."""
    return fields.Integer(validate=validate.Range(least, most), **options)


def whole(least: int = 0, most: int = GREATEST, **options: Any) -> fields.Integer:  # noqa: ANN401 - marshmallow's options
    """An integer in JSON: “1”, 1.0 and true are rejected."""
    return fields.Integer(strict=True, validate=validate.Range(least, most), **options)


def one_of(values: Iterable[str], **options: Any) -> fields.String:  # noqa: ANN401 - marshmallow's options
    """A string that must be one of these values."""
    return fields.String(validate=validate.OneOf(list(map(str, values))), **options)


def input_format(holds: Holds) -> fields.String:
    """The format of the file that is sent."""
    return one_of(
        FORMAT_NAMES[holds],
        load_default=None,
        metadata={"description": "The format of the file; detected from its content by default."},
    )
