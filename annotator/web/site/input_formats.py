"""The format of uploaded files: chosen in a form, and reported after they were read."""

from collections.abc import Sequence

from flask import flash
from wtforms import SelectChoice, SelectField

from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.formats.registry import FORMATS
from annotator.files import InputFile
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.translate import say
from annotator.workflows.site.input_sources import formats_summary


def format_field(holds: Holds, label: str | None = None) -> SelectField:
    """A field for the format of files; empty when it is to be detected."""

    def choices() -> list[SelectChoice]:
        detected = SelectChoice("", gettext("detected from the content"))
        return [detected, *(SelectChoice(one.name, gettext(one.title)) for one in FORMATS[holds])]

    return SelectField(label or lazy_gettext("Format"), choices=choices, default="")


def report_formats(holds: Holds, files: Sequence[InputFile]) -> None:
    """Show on the next page as what each file was read."""
    for sentence in formats_summary(holds, files):
        flash(say(sentence))
