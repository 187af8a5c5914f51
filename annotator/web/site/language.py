"""The language of a page, and translations into it."""

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

import flask_babel  # type: ignore[import-untyped]  # typed by this module
from babel import Locale, negotiate_locale
from babel.numbers import format_decimal
from flask import Blueprint, Flask, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectChoice

from annotator.web.site.addresses import here, local_path
from annotator.web.site.context import settings
from annotator.web.site.sessions import cookie_name

LANGUAGES: Mapping[str, str] = {"en": "English", "ko": "한국어"}
DEFAULT = "en"
COOKIE = "annotator_language"
COOKIE_SECONDS = 365 * 24 * 3600
MOST_FORMATTED = 10_000  # numbers whose format is cached

blueprint = Blueprint("language", __name__)


def install(app: Flask, translations: Path) -> None:
    """Enable translations; a language without a catalogue falls back to English."""
    app.config["BABEL_TRANSLATION_DIRECTORIES"] = str(translations)
    flask_babel.Babel(app, locale_selector=chosen_language)
    app.context_processor(lambda: {"language": chosen_language(), "languages": LANGUAGES, "here": here()})


def chosen_language() -> str:
    """The language chosen by the reader, else the preferred one of the browser, else English."""
    chosen = request.cookies.get(cookie_name(COOKIE, secure=True)) or request.cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    # Werkzeug's best_match would select English for “ko-KR, en;q=0.5”.
    asked = [name for name, quality in request.accept_languages if quality > 0]
    return negotiate_locale(asked, LANGUAGES, sep="-") or DEFAULT


def language_choices() -> list[SelectChoice]:
    """The languages, for a form."""
    return [SelectChoice(code, name) for code, name in LANGUAGES.items()]


def gettext(text: str, **values: object) -> str:
    """The text in the reader's language, with `%(name)s` filled in when there are values."""
    said: str = flask_babel.gettext(text, **values)
    return said


def lazy_gettext(text: str) -> str:
    """A text that is translated when it is shown, for constants defined outside a request."""
    said: str = flask_babel.lazy_gettext(text)
    return said


def format_number(number: float, decimals: int = 0) -> str:
    """A number in the reader's locale, such as 9,139."""
    return _formatted(str(number), decimals, flask_babel.get_locale())


@lru_cache(MOST_FORMATTED)
def _formatted(number: str, decimals: int, locale: Locale) -> str:
    """A number formatted by Babel, cached because a table has hundreds, mostly the same ones."""
    return format_decimal(Decimal(number), format=f"#,##0{'.' if decimals else ''}{'0' * decimals}", locale=locale)


@blueprint.post("/language")
def choose() -> ResponseReturnValue:
    """Store the chosen language, and go back to the page."""
    answer = redirect(local_path(request.form.get("next")) or url_for("collection.home"), 303)
    chosen = request.form.get("language", "")
    if chosen in LANGUAGES:
        secure = settings().secure_cookies
        name = cookie_name(COOKIE, secure=secure)
        answer.set_cookie(name, chosen, max_age=COOKIE_SECONDS, httponly=True, samesite="Lax", secure=secure)
    return answer
