"""The pages of a task that everybody may read, for the site and as files for another web site.

Each page is whole without scripts: the leaderboard in another order is a page of its own.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from annotator.evaluation.publishing.public_board import PublicTask
from annotator.installed import asset_folder, installed_version
from annotator.reporting.blocks import count, score
from annotator.reporting.page_environment import page_environment
from annotator.reporting.words import Words
from annotator.workflows.leaderboard.leaderboard import measure_help
from annotator.workflows.leaderboard.overview_report import ENGLISH, LANGUAGES

TEMPLATE = "leaderboard/public/page.html"
MESSAGE = "leaderboard/public/message.html"
STYLE = "leaderboard/public.css"
NAMES: Mapping[str, str] = {ENGLISH: "English", "ko": "한국어"}
TASK, BOARD = "index", "leaderboard"
# The same for each file, so that equal pages give an equal archive; the first that zip can hold.
WRITTEN_AT = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class PageLinks:
    """The addresses in a page: of the task, of the leaderboard by order, of the page by language, and of the style.

    `parts` are the addresses of the leaderboards of several tasks, by key. Without an address the style is part of the
    page, and registration is not linked.
    """

    task: str
    boards: Mapping[str, str]
    languages: Mapping[str, str]
    style: str | None = None
    registration: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)


def public_page(task: PublicTask, links: PageLinks, *, language: str, order: str | None = None) -> bytes:
    """Render the page of the task, or the leaderboard in an order; equal arguments give equal bytes."""
    words = Words(language)
    html = (
        page_environment(language)
        .get_template(TEMPLATE)
        .render(
            task=task,
            links=links,
            language=language,
            languages=NAMES,
            is_board=order is not None,
            sorted_by=order,
            style=_style(),
            version=installed_version(),
            help={name: words.explain(text) for name, text in _measures_of(task).items()},
            count=lambda number: count(number).text,
            score=lambda value: score(value).text,
            moment=_moment,
            say=words.say,
        )
    )
    return html.encode()


def _measures_of(task: PublicTask) -> Mapping[str, str]:
    return {} if task.results is None else measure_help(task.results.board.measures)


def message_page(title: str, text: str, *, language: str, style: str) -> bytes:
    """A page with one message, for readers who came to a page that is not public."""
    template = page_environment(language).get_template(MESSAGE)
    return template.render(title=title, text=text, language=language, style=style).encode()


def site_files(task: PublicTask) -> dict[str, bytes]:
    """The content of every file of a web site, by name: all pages in all languages, linked relative to each other."""
    files: dict[str, bytes] = {}
    bases: Mapping[str | None, str] = {key: _board_name(place) for place, key in enumerate(task.boards)} or {
        None: BOARD
    }
    for language in LANGUAGES:
        task_file = _file(TASK, language)
        parts = {key: _file(base, language) for key, base in bases.items() if key is not None}
        for key, base in bases.items():
            shown = task.with_board_of(key)
            boards = {order: _board_file(base, place, language) for place, order in enumerate(shown.orders)}
            links = PageLinks(task_file, boards, {one: _file(TASK, one) for one in LANGUAGES}, parts=parts)
            if task_file not in files:
                files[task_file] = public_page(shown, links, language=language)
            for place, order in enumerate(shown.orders):
                of_languages = {one: _board_file(base, place, one) for one in LANGUAGES}
                links = PageLinks(task_file, boards, of_languages, parts=parts)
                files[boards[order]] = public_page(shown, links, language=language, order=order)
    return files


def zipped_site(task: PublicTask, folder: str) -> bytes:
    """The files of the web site in one folder of a zip file."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, content in site_files(task).items():
            entry = ZipInfo(f"{folder}/{name}", WRITTEN_AT)
            entry.compress_type = ZIP_DEFLATED
            archive.writestr(entry, content)
    return stream.getvalue()


def _board_name(place: int) -> str:
    """The name of the leaderboard of a task, without its ending; keys could make two names one."""
    return f"{BOARD}-task{place + 1}" if place else BOARD


def _board_file(base: str, place: int, language: str) -> str:
    return _file(f"{base}-{place + 1}" if place else base, language)


def _file(name: str, language: str) -> str:
    return f"{name}.html" if language == ENGLISH else f"{name}.{language}.html"


@cache
def _style() -> str:
    return (asset_folder("static") / STYLE).read_text(encoding="utf-8")


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
