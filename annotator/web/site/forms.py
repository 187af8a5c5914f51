"""What every form has: it keeps a refusal, so that the page says it beside what was entered."""

from collections.abc import Iterator
from contextlib import contextmanager

from flask_wtf import FlaskForm

from annotator.errors import AnnotatorError, BusyError, ConflictError, NotAllowedError
from annotator.web.site.error_pages import status_of

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


def unix_lines(text: str | None) -> str | None:
    """Undo the line ends that browsers send, so that the same text stays the same."""
    return text.replace("\r\n", "\n") if text else text
