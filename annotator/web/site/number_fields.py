"""Fields for numbers that say what to write when something else was written."""

from wtforms import FloatField, IntegerField

from annotator.web.site.language import gettext


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
