"""The base class of forms, which shows errors next to the input; numeric fields; confirmation pages."""

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
    """A form; its fields validate the format of the input, the workflow the rest."""

    refusal: AnnotatorError | None = None

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Catch errors of a workflow and keep them for the page; the block ends and its transaction is rolled back."""
        try:
            yield
        except AnnotatorError as error:
            self.refusal = error

    @property
    def refused(self) -> bool:
        """Whether the input was rejected."""
        return bool(self.errors) or self.refusal is not None

    @property
    def status(self) -> int:
        """The HTTP status of the page with the rejected form: a name that does not exist is invalid input here."""
        if isinstance(self.refusal, BusyError | ConflictError | NotAllowedError):
            return status_of(self.refusal)
        return UNPROCESSABLE


def done(sentence: str, endpoint: str, **values: Any) -> ResponseReturnValue:  # noqa: ANN401 - as `url_for`
    """Redirect to a page after a stored form, and show there what was done."""
    flash(sentence)
    return redirect(url_for(endpoint, **values), 303)


def unix_lines(text: str | None) -> str | None:
    """Convert the line ends sent by browsers to line feeds, so that unchanged text stays equal."""
    return text.replace("\r\n", "\n") if text else text


class WholeNumberField(IntegerField):  # type: ignore[misc]  # wtforms ships no types
    """A field for an integer."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Parse the number; `ValueError` if malformed."""
        try:
            super().process_formdata(valuelist)
        except ValueError as error:
            raise ValueError(gettext("Write a whole number.")) from error


class NumberField(FloatField):  # type: ignore[misc]  # wtforms ships no types
    """A field for a number such as 2.5."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Parse the number; `ValueError` if malformed."""
        try:
            super().process_formdata(valuelist)
        except ValueError as error:
            raise ValueError(gettext("Write a number, such as 2.5.")) from error


CONFIRMED = "confirmed"


# Each page has its own token.
NOT_REPEATED = {CONFIRMED, "csrf_token"}


def is_confirmed() -> bool:
    """Whether the form was sent from the confirmation page."""
    return request.form.get(CONFIRMED) == "y"


def confirmation(
    title: str,
    *,
    figures: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    button: str,
    back: str,
    destroys: bool = False,
) -> str:
    """The confirmation page with an effect and the submitted fields of the form, without files.

    The button is red if it takes something away (`destroys`).
    """
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
        destroys=destroys,
    )
