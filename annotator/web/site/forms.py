"""The base of all forms, which shows a refusal beside the input; fields for numbers; confirmation of an effect."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf import FlaskForm
from wtforms import FloatField, IntegerField

from annotator.errors import AnnotatorError, BusyError, ConflictError, NotAllowedError
from annotator.web.site.error_pages import status_of
from annotator.web.site.language import gettext

UNPROCESSABLE = 422


class Form(FlaskForm):  # type: ignore[misc]  # flask_wtf ships no types
    """A form; its fields check the shape of the input, and the workflow the rest."""

    refusal: AnnotatorError | None = None

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Keep what a workflow refuses; the block ends there and its transaction is rolled back."""
        try:
            yield
        except AnnotatorError as error:
            self.refusal = error

    @property
    def refused(self) -> bool:
        """Whether anything is wrong with what was entered."""
        return bool(self.errors) or self.refusal is not None

    @property
    def status(self) -> int:
        """The HTTP status of the page that shows the form again: a name that does not exist is wrong input here."""
        if isinstance(self.refusal, BusyError | ConflictError | NotAllowedError):
            return status_of(self.refusal)
        return UNPROCESSABLE


def done(sentence: str, endpoint: str, **values: Any) -> ResponseReturnValue:  # noqa: ANN401 - as `url_for`
    """Go to a page once what a form asked for is stored, and say there what was done."""
    flash(sentence)
    return redirect(url_for(endpoint, **values), 303)


def unix_lines(text: str | None) -> str | None:
    """Undo the line ends that browsers send, so that the same text stays the same."""
    return text.replace("\r\n", "\n") if text else text


class WholeNumberField(IntegerField):  # type: ignore[misc]  # wtforms ships no types
    """A whole number."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Take the number in; `ValueError` when it is none."""
        try:
            super().process_formdata(valuelist)
        except ValueError as error:
            raise ValueError(gettext("Write a whole number.")) from error


class NumberField(FloatField):  # type: ignore[misc]  # likewise
    """A number, such as 2.5."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Take the number in; `ValueError` when it is none."""
        try:
            super().process_formdata(valuelist)
        except ValueError as error:
            raise ValueError(gettext("Write a number, such as 2.5.")) from error


CONFIRMED = "confirmed"


# Each page has a new token.
NOT_REPEATED = {CONFIRMED, "csrf_token"}


def is_confirmed() -> bool:
    """Whether the form was sent from the page that shows its effect."""
    return request.form.get(CONFIRMED) == "y"


def confirmation(
    title: str, *, figures: Mapping[str, str] | None = None, notes: Sequence[str] = (), button: str, back: str
) -> str:
    """The page that shows an effect, with the fields of the form as they were sent; files cannot be among them."""
    fields = [(name, value) for name, value in request.form.items(multi=True) if name not in NOT_REPEATED]
    return render_template(
        "site/confirm.html",
        title=title,
        figures=figures or {},
        notes=notes,
        action=request.full_path.rstrip("?"),
        fields=fields,
        button=button,
        back=back,
    )
