"""Formats values for pages: times, numbers, scores, sentences."""

import re
from datetime import UTC, datetime

from flask import Flask
from markupsafe import Markup

from annotator.moments import write_moment
from annotator.web.site import labels, safe_html
from annotator.web.site.language import format_number, gettext
from annotator.web.site.translate import say


def install(app: Flask) -> None:
    """Register the template filters and globals."""
    app.jinja_env.filters.update(
        moment=moment,
        deadline=deadline,
        number=format_number,
        score=score,
        signed=signed,
        say=say,
        explained=explained,
        document_html=safe_html.document_html,
        document_beginning=safe_html.document_beginning,
        guidelines_html=safe_html.guidelines_html,
    )
    app.jinja_env.globals.update(words=labels)


def moment(at: datetime) -> Markup:
    """A time to the minute in UTC, in a `time` element; `static/site/times.js` shows it in the reader's time zone."""
    at = at.astimezone(UTC)
    return Markup('<time datetime="{}">{} UTC</time>').format(at.isoformat(), at.strftime("%Y-%m-%d %H:%M"))


def deadline(at: datetime, written: str) -> Markup:
    """A deadline as entered and in UTC; `static/runs/deadline.js` adds the reader's local time and the time left."""
    at = at.astimezone(UTC)
    in_utc = write_moment(at)
    both = Markup("{} ({})").format(written, in_utc) if written not in {"", in_utc} else in_utc
    return Markup('<time datetime="{}" data-deadline>{}</time>').format(at.isoformat(), both)


def explained(text: str) -> str:
    """A docstring as translated text for readers, with line breaks only between paragraphs."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", gettext(text))


def score(value: float) -> str:
    """A score as trec_eval prints it: four decimals, counts as integers."""
    return f"{value}" if isinstance(value, int) else f"{value:z.4f}"


def signed(value: float, digits: int = 2) -> str:
    """A difference with its sign; one that rounds to 0 has no sign."""
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0:.{digits}f}"
