"""Types of options that are days and moments, written in any way that `read_moment` reads."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import click

from annotator.errors import InvalidValueError
from annotator.moments import read_day, read_moment


class MomentType(click.ParamType[Any]):
    """What one of the functions of `annotator.moments` reads."""

    def __init__(self, name: str, read: Callable[[str], date | datetime]) -> None:
        """Keep how it is called in the help, and what reads it."""
        self.name = name
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - the signature is click's
        """Read what was written; what is no moment is wrong usage."""
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except InvalidValueError as error:
            self.fail(str(error), param, ctx)


MOMENT = MomentType("moment", read_moment)
DAY = MomentType("day", read_day)
