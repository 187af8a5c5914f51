"""A closer look at what stands behind the leaderboard: a run, the topics, a topic, or two runs."""

from collections.abc import Callable
from typing import TypeVar

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError
from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.context import database
from annotator.web.downloads import CSV, download
from annotator.web.error_pages import status_of
from annotator.web.grades_wanted import GradesWanted
from annotator.web.inspecting_tables import PAIR_TABLES, RUN_TABLES, TOPIC_TABLES, TOPICS_TABLES, table_csv
from annotator.workflows import inspecting
from annotator.workflows.inspecting import (
    LIVE,
    USUAL_MEASURE,
    USUAL_SEED,
    USUAL_TOP,
    GradesChosen,
    InspectedPair,
    InspectedRun,
    InspectedTopic,
    InspectedTopics,
)

blueprint = Blueprint("inspecting", __name__)

Found = TypeVar("Found")

# What an address may say; what else it says is not for the addresses of these pages.
GRADES = ("qrels", "policy", "judge")
SAID = ("tag", "number", "first", "second", "m", "topic", "top", "depth", "seed", *GRADES)
MOST_SHOWN = 200  # documents in a table of a page; the file has all
MOST_LYING = 40  # bars that lie below each other; more of them stand


@blueprint.get("/collections/<slug>/leaderboard/run")
@collection_page(Role.ORGANISER)
def run(slug: str) -> ResponseReturnValue:
    """A run (`?tag=`) by a measure (`&m=`), unjudged documents to rank `&top=`, the curve of one topic (`&topic=`)."""
    return _page("inspecting/run.html", lambda: _run(slug))


@blueprint.get("/collections/<slug>/leaderboard/run.csv")
@collection_page(Role.ORGANISER)
def run_csv(slug: str) -> ResponseReturnValue:
    """One table of the same (`?table=`)."""
    text = table_csv(RUN_TABLES, _table(), _run(slug))
    return download(text, f"{slug}-run-{_table()}.csv", CSV)


@blueprint.get("/collections/<slug>/leaderboard/topics")
@collection_page(Role.ORGANISER)
def topics(slug: str) -> ResponseReturnValue:
    """How hard each topic is, by a measure (`?m=`)."""
    return _page("inspecting/topics.html", lambda: _topics(slug))


@blueprint.get("/collections/<slug>/leaderboard/topics.csv")
@collection_page(Role.ORGANISER)
def topics_csv(slug: str) -> ResponseReturnValue:
    """The same."""
    text = table_csv(TOPICS_TABLES, "topics", _topics(slug))
    return download(text, f"{slug}-difficulties.csv", CSV)


@blueprint.get("/collections/<slug>/leaderboard/topic")
@collection_page(Role.ORGANISER)
def topic(slug: str) -> ResponseReturnValue:
    """A topic (`?number=`) by a measure (`&m=`), documents as found within `&depth=` of each run, or anywhere."""
    return _page("inspecting/topic.html", lambda: _topic(slug))


@blueprint.get("/collections/<slug>/leaderboard/topic.csv")
@collection_page(Role.ORGANISER)
def topic_csv(slug: str) -> ResponseReturnValue:
    """One table of the same (`?table=`)."""
    text = table_csv(TOPIC_TABLES, _table(), _topic(slug))
    return download(text, f"{slug}-topic-{_table()}.csv", CSV)


@blueprint.get("/collections/<slug>/leaderboard/pair")
@collection_page(Role.ORGANISER)
def pair(slug: str) -> ResponseReturnValue:
    """Two runs (`?first=&second=`) by a measure (`&m=`), with the documents of one topic (`&topic=`)."""
    return _page("inspecting/pair.html", lambda: _pair(slug))


@blueprint.get("/collections/<slug>/leaderboard/pair.csv")
@collection_page(Role.ORGANISER)
def pair_csv(slug: str) -> ResponseReturnValue:
    """One table of the same (`?table=`)."""
    text = table_csv(PAIR_TABLES, _table(), _pair(slug))
    return download(text, f"{slug}-pair-{_table()}.csv", CSV)


def _run(slug: str) -> InspectedRun:
    top, topic_ = _number("top", USUAL_TOP), _said("topic") or None
    with database().reading() as session:
        return inspecting.inspect_run(
            session, slug, _said("tag"), measure=_measure(), top=top, topic=topic_, grades=_grades()
        )


def _topics(slug: str) -> InspectedTopics:
    with database().reading() as session:
        return inspecting.inspect_topics(session, slug, measure=_measure(), grades=_grades())


def _topic(slug: str) -> InspectedTopic:
    depth = _number("depth", 0) if _said("depth") else None
    with database().reading() as session:
        return inspecting.inspect_topic(
            session, slug, _said("number"), measure=_measure(), depth=depth, grades=_grades()
        )


def _pair(slug: str) -> InspectedPair:
    topics_ = [_said("topic")] if _said("topic") else []
    top, seed = _number("top", USUAL_TOP), _number("seed", USUAL_SEED)
    with database().reading() as session:
        return inspecting.inspect_pair(
            session,
            slug,
            _said("first"),
            _said("second"),
            measures=(_measure(),),
            topics=topics_,
            top=top,
            seed=seed,
            grades=_grades(),
        )


def _page(template: str, look: Callable[[], Found]) -> ResponseReturnValue:
    """The page, or the same page with why there is nothing to see."""
    found, refused = None, None
    try:
        found = look()
    except AnnotatorError as refusal:
        refused = refusal
    given = {name: _said(name) for name in SAID}
    grades = {name: given[name] for name in GRADES if given[name]}
    page = render_template(
        template,
        found=found,
        refused=refused,
        given=given,
        address={name: said for name, said in given.items() if said},
        grades=grades,
        same={"m": _measure(), **grades},
        measure=_measure(),
        most_shown=MOST_SHOWN,
        most_lying=MOST_LYING,
        usual_top=USUAL_TOP,
        usual_seed=USUAL_SEED,
    )
    # That nothing is judged yet is no fault of the request.
    return page if refused is None or isinstance(refused, ConflictError) else (page, status_of(refused))


def _said(name: str) -> str:
    return request.args.get(name, "").strip()


def _grades() -> GradesChosen:
    wanted = GradesWanted.of_request()
    return GradesChosen(_said("qrels") or LIVE, wanted.judge, wanted.policy)


def _measure() -> str:
    return _said("m") or USUAL_MEASURE


def _table() -> str:
    return _said("table")


def _number(name: str, usual: int) -> int:
    written = _said(name)
    try:
        return int(written) if written else usual
    except ValueError:
        raise InvalidValueError("“%(written)s” is not a whole number.", written=written) from None
