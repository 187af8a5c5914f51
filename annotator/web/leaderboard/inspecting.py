"""Detailed views of the leaderboard's data: one run, all topics, one topic, or two runs."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.web.collections.observer_policy import READERS, policy_shown
from annotator.web.collections.scope_wanted import ScopeWanted
from annotator.web.qrels.qrels import GradesWanted
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, the_place
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import seed_given
from annotator.workflows.leaderboard import inspecting
from annotator.workflows.leaderboard.compared_runs import ComparedRuns, comparable_runs, compare_runs
from annotator.workflows.leaderboard.inspected_tables import (
    PAIR_TABLES,
    RUN_TABLES,
    TOPIC_TABLES,
    TOPICS_TABLES,
    table_csv,
)
from annotator.workflows.leaderboard.inspecting import (
    USUAL_SEED,
    USUAL_TOP,
    Choices,
    GradesChosen,
    InspectedRun,
    InspectedTopic,
    InspectedTopics,
)
from annotator.workflows.runs.scoring_scope import scope_choices

blueprint = Blueprint("inspecting", __name__)

Found = TypeVar("Found")

# The query string arguments of these pages; links keep no others.
GRADES = ("qrels", "policy", "judge")
SCOPE = ("round", "residual", "task")
SAID = ("tag", "number", "first", "second", "m", "topic", "top", "depth", "seed", "baseline", *GRADES, *SCOPE)
MOST_SHOWN = 200  # documents in a table of a page; the file has all
MOST_LYING = 40  # more bars than this are drawn vertically


@blueprint.get("/collections/<slug>/leaderboard/run")
@collection_page(*READERS)
def run(slug: str) -> ResponseReturnValue:
    """A run (`?tag=`) by a measure (`&m=`): unjudged documents to rank `&top=`, the curve of one topic (`&topic=`)."""
    return _page(slug, "leaderboard/inspecting/run.html", lambda: _run(slug))


@blueprint.get("/collections/<slug>/leaderboard/run.csv")
@collection_page(*READERS)
def run_csv(slug: str) -> ResponseReturnValue:
    """One table (`?table=`) of a run as CSV."""
    text = table_csv(RUN_TABLES, _table(), _run(slug))
    return download(text, f"{slug}-run-{_table()}.csv", CSV)


@blueprint.get("/collections/<slug>/leaderboard/topics")
@collection_page(*READERS)
def topics(slug: str) -> ResponseReturnValue:
    """The difficulty of each topic by a measure (`?m=`)."""
    return _page(slug, "leaderboard/inspecting/topics.html", lambda: _topics(slug))


@blueprint.get("/collections/<slug>/leaderboard/matrix")
@collection_page(*READERS)
def matrix(slug: str) -> ResponseReturnValue:
    """The scores of all runs on all topics by a measure (`?m=`)."""
    return _page(slug, "leaderboard/inspecting/matrix.html", lambda: _topics(slug))


@blueprint.get("/collections/<slug>/leaderboard/matrix.csv")
@collection_page(*READERS)
def matrix_csv(slug: str) -> ResponseReturnValue:
    """The scores of all runs on all topics as CSV, a line each."""
    return download(table_csv(TOPICS_TABLES, "scores", _topics(slug)), f"{slug}-topic-scores.csv", CSV)


@blueprint.get("/collections/<slug>/leaderboard/topics.csv")
@collection_page(*READERS)
def topics_csv(slug: str) -> ResponseReturnValue:
    """The difficulty of each topic as CSV."""
    text = table_csv(TOPICS_TABLES, "topics", _topics(slug))
    return download(text, f"{slug}-difficulties.csv", CSV)


@blueprint.get("/collections/<slug>/leaderboard/topic")
@collection_page(*READERS)
def topic(slug: str) -> ResponseReturnValue:
    """A topic (`?number=`) by a measure (`&m=`), with documents retrieved to rank `&depth=` of each run, or at any."""
    return _page(slug, "leaderboard/inspecting/topic.html", lambda: _topic(slug))


@blueprint.get("/collections/<slug>/leaderboard/topic.csv")
@collection_page(*READERS)
def topic_csv(slug: str) -> ResponseReturnValue:
    """One table (`?table=`) of a topic as CSV."""
    text = table_csv(TOPIC_TABLES, _table(), _topic(slug))
    return download(text, f"{slug}-topic-{_table()}.csv", CSV)


@blueprint.get("/collections/<slug>/leaderboard/pair")
@collection_page(*READERS)
def pair(slug: str) -> ResponseReturnValue:
    """Two runs (`?first=&second=`) by a measure (`&m=`), both lists of a `&topic=`; without runs, the choice."""
    tags = database().read(comparable_runs, slug)
    is_chosen = bool(_argument("first") and _argument("second"))
    return _page(slug, "leaderboard/inspecting/pair.html", (lambda: _pair(slug)) if is_chosen else None, tags=tags)


@blueprint.get("/collections/<slug>/leaderboard/pair.csv")
@collection_page(*READERS)
def pair_csv(slug: str) -> ResponseReturnValue:
    """One table (`?table=`) of two runs as CSV."""
    text = table_csv(PAIR_TABLES, _table(), _pair(slug))
    return download(text, f"{slug}-pair-{_table()}.csv", CSV)


def _run(slug: str) -> InspectedRun:
    top, topic_ = _number("top", USUAL_TOP), _argument("topic") or None
    found = database().read(
        inspecting.inspect_run,
        slug,
        _argument("tag"),
        measure=_measure(),
        top=top,
        topic=topic_,
        baseline=_argument("baseline") or None,
        grades=_grades(),
    )
    return replace(found, choices=_unnamed(found.choices))


def _topics(slug: str) -> InspectedTopics:
    found = database().read(inspecting.inspect_topics, slug, measure=_measure(), grades=_grades())
    return replace(found, choices=_unnamed(found.choices))


def _topic(slug: str) -> InspectedTopic:
    depth = _number("depth", 0) if _argument("depth") else None
    found = database().read(
        inspecting.inspect_topic, slug, _argument("number"), measure=_measure(), depth=depth, grades=_grades()
    )
    # Only organisers see who searched: it may be a judge.
    searchers = found.searchers if the_place().organises else {}
    return replace(found, choices=_unnamed(found.choices), searchers=searchers)


def _pair(slug: str) -> ComparedRuns:
    if not (_argument("first") and _argument("second")):
        raise InvalidValueError("Choose two runs.")
    grades = _grades()
    found = database().read(
        compare_runs,
        slug,
        _argument("first"),
        _argument("second"),
        measure=_measure(),
        topic=_argument("topic") or None,
        top=_number("top", USUAL_TOP),
        seed=seed_given(USUAL_SEED),
        grades=grades,
        with_texts=the_place().organises,
        all_tasks=grades.task is None,  # as the choice of the task on the page says
    )
    return replace(found, choices=_unnamed(found.choices))


def _unnamed(choices: Choices) -> Choices:
    state = choices.state
    return replace(choices, state=replace(state, policy=state.policy and policy_shown(state.policy)))


def _page(slug: str, template: str, look: Callable[[], Found] | None, **more: object) -> ResponseReturnValue:
    """The page, or the page with the reason why there is nothing to show; without `look`, the choice alone."""
    found, refused = None, None
    try:
        found = look() if look else None
    except AnnotatorError as refusal:
        refused = refusal
    scopes = database().read(scope_choices, slug)
    given = {name: _argument(name) for name in SAID}
    kept = {name: given[name] for name in GRADES if given[name]}
    grades = {**kept, **ScopeWanted.of_form().query}
    page = render_template(
        template,
        found=found,
        refused=refused,
        scopes=scopes,
        given=given,
        address={name: value for name, value in given.items() if value},
        grades=grades,
        kept=kept,
        scope=ScopeWanted.of_form(),
        same={"m": _measure(), **grades},
        measure=_measure(),
        most_shown=MOST_SHOWN,
        most_lying=MOST_LYING,
        usual_top=USUAL_TOP,
        usual_seed=USUAL_SEED,
        **more,
    )
    return page_or_refusal(page, refused)


def _argument(name: str) -> str:
    return request.args.get(name, "").strip()


def _grades() -> GradesChosen:
    wanted, scope = GradesWanted.of_request(), ScopeWanted.of_request()
    return GradesChosen(
        *(_argument("qrels") or LIVE, wanted.judge, wanted.policy), *(scope.round, scope.residual, scope.task)
    )


def _measure() -> str:
    return _argument("m") or USUAL_MEASURE


def _table() -> str:
    return _argument("table")


def _number(name: str, usual: int) -> int:
    written = _argument(name)
    try:
        return int(written) if written else usual
    except ValueError:
        raise InvalidValueError("“%(written)s” is not a whole number.", written=written) from None
