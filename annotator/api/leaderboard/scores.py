"""Scores: the leaderboard, which participants see as far as it is released, and a team's own scores."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import Response
from marshmallow import INCLUDE, Schema, fields

from annotator.api.runs.task_query import TaskQuery
from annotator.api.site.access import SEE_SCORES, gate_of
from annotator.api.site.door import JSON, Call, Gives, Takes, as_json, operation, resource_of, text
from annotator.api.site.values import Text, counted, one_of
from annotator.errors import NotAllowedError, NotFoundError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, View
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.outputs.registry import WRITTEN_BY
from annotator.evaluation.significance.means import IntervalMethod
from annotator.storage import Role, ScoresShown
from annotator.web.collections.observer_policy import policy_shown, released_grades
from annotator.web.leaderboard.own_scores import own_scores, require_round_of_reader
from annotator.web.site.context import database, the_place
from annotator.web.site.downloads import CSV
from annotator.web.site.memories import score_cache
from annotator.workflows.leaderboard import leaderboard, leaderboard_standing
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.people.tokens import Scope

resource = resource_of("scores", "Scores of all runs, by measures that equal trec_eval's.")

JSON_NAME = "json"
FORMATS = WRITTEN_BY["leaderboard show"]
MEDIA = sorted({one.media for one in FORMATS.values()} - {JSON})
FORMATS_DESCRIBED = (
    "Exact values: those of JSON, the columns of CSV, TSV, JSON lines and Parquet, or each value by run, topic and "
    "measure; or the output of trec_eval or ir_measures."
)
BESIDE_CSV = "beside-csv"
ORGANISERS_ALONE = ("baseline", "qrels", "policy", "judge")


class ScopeQuery(TaskQuery):
    """Whether only the runs of one round, and those of one task, are scored, and how."""

    round = counted(
        load_default=None,
        metadata={"description": "Only the runs of this round; for participants one that their team took part in."},
    )
    residual = fields.Boolean(
        load_default=True,
        metadata={"description": "With a round: on the residual collection, without documents judged before it."},
    )


class BoardQuery(ScopeQuery):
    """The measures, the grades and the output format of a leaderboard."""

    m = fields.List(Text, load_default=list, metadata={"description": "A measure, such as nDCG@10; repeatable."})
    sort = Text(
        load_default=None,
        metadata={"description": "Sort by one of the measures, run or team; by default the first measure."},
    )
    letters = fields.Boolean(load_default=False)
    interval = one_of([one.value for one in IntervalMethod], load_default=IntervalMethod.T.value)
    compat = one_of(
        [one.value for one in Compat],
        load_default=Compat.TREC_EVAL_10.value,
        metadata={"description": "The version of trec_eval to follow: version 9 compares scores as 32-bit numbers."},
    )
    baseline = Text(load_default=None, metadata={"description": "Test every run against this one. For organisers."})
    qrels = counted(load_default=None, metadata={"description": "A kept version of the qrels. For organisers."})
    policy = Text(load_default=None, metadata={"description": "Settle by this policy. For organisers."})
    judge = Text(load_default=None, metadata={"description": "Only the grades of one judge. For organisers."})
    per_topic = fields.Boolean(load_default=False)
    format = one_of(list(FORMATS), load_default=JSON_NAME, metadata={"description": FORMATS_DESCRIBED})


class OwnQuery(ScopeQuery):
    """The measures, the run and the format; the first measure is also shown topic by topic."""

    run = Text(load_default=None, metadata={"description": "Only this run of the team."})
    task = Text(
        load_default=None,
        metadata={
            "description": "The runs of this task, by its key, on its topics; by default those of the first task in "
            "which the team has a run, where there are tasks."
        },
    )
    m = fields.List(Text, load_default=list, metadata={"description": "A measure, such as nDCG@10; repeatable."})
    per_topic = fields.Boolean(load_default=False)
    format = one_of(
        [*FORMATS, BESIDE_CSV],
        load_default=JSON_NAME,
        metadata={
            "description": f"{FORMATS_DESCRIBED} “beside-csv” has each run by measure and topic, with the worst, "
            "the median and the best of all runs where the organisers show them."
        },
    )


class Board(Schema):
    """The leaderboard; every value is exact, and the fingerprint names the grades."""

    class Meta:
        """Allow further fields."""

        unknown = INCLUDE

    measures = fields.List(fields.String, required=True)
    topics = fields.List(fields.String, required=True)
    source = fields.String(
        required=True,
        metadata={
            "description": "The number of the kept version of the qrels, or live; then the task and the round, if any."
        },
    )
    policy = fields.String(required=True, allow_none=True)
    grades = fields.Integer(required=True)
    fingerprint = fields.String(required=True)
    rows = fields.List(fields.Dict, required=True)


@operation(
    resource, "GET", "/collections/<slug>/leaderboard", SEE_SCORES, Gives(Board, media=MEDIA), Takes(query=BoardQuery)
)
def show_leaderboard(call: Call) -> Response:
    """Score every run: for organisers by the current grades, unless they request others.

    Participants see it once the whole leaderboard is released. For them, and from then on for observers, it is computed
    from the version of the qrels of the release, named by `source`, or "live" if released scores follow the current
    grades.
    """
    asked = call.query
    _refuse_unless_allowed(asked)
    require_round_of_reader(call.slug, asked["round"])
    view = View(IntervalMethod(asked["interval"]), asked["baseline"], asked["letters"], asked["sort"])
    board = database().read(
        leaderboard.build_leaderboard,
        call.slug,
        asked["m"] or leaderboard.default_measures(asked["format"]),
        grades=_grades(asked),
        view=view,
        cache=score_cache(),
        before=None if _sees_all() else the_place().collection.scores_released_at,
    )
    board.require_sort()
    return _answer(board, asked)


@operation(
    resource,
    "GET",
    "/collections/<slug>/scores",
    gate_of([Scope.READ, Scope.RUNS], [Role.PARTICIPANT]),
    Gives(Board, media=MEDIA),
    Takes(query=OwnQuery),
)
def show_own_scores(call: Call) -> Response:
    """Show the scores of the caller's team, once they are released; `source` names the grades.

    These are the version of the qrels of the release, or "live", the current grades. If the organisers show it,
    `beside` compares the topics of one run with the worst, the median and the best of all runs.
    """
    run, as_csv = call.query["run"], call.query["format"] == BESIDE_CSV
    measures = call.query["m"] or leaderboard.default_measures(JSON_NAME if as_csv else call.query["format"])
    grades = released_grades(call.query["round"], residual=call.query["residual"], task=call.query["task"])
    found = own_scores(call.slug, measures, run=run, grades=grades, with_all=as_csv)
    board = found.board
    if run is not None:
        if found.standing is None:
            raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=run)
        board = replace(board, rows=tuple(row for row in board.rows if row.tag == run))
    if as_csv:
        shown = [one for one in found.standings if run in {None, one.run}]
        beside = the_place().sees is not ScoresShown.OWN
        return text(leaderboard_standing.standings_csv(shown, beside=beside), CSV)
    if found.standing is None or the_place().sees is ScoresShown.OWN:
        return _answer(board, call.query)
    return _answer(board, call.query, {"beside": leaderboard_standing.standing_as_json(found.standing)})


def _answer(whole: Leaderboard, asked: Mapping[str, Any], more: Mapping[str, object] | None = None) -> Response:
    """The leaderboard as JSON, with the fields of `more` added."""
    board = replace(whole, policy=whole.policy and policy_shown(whole.policy))
    name = asked["format"]
    if name == JSON_NAME:
        return as_json({**leaderboard.as_json(board, per_topic=asked["per_topic"]), **(more or {})})
    return text(leaderboard.scores_of_board(board, name, per_topic=asked["per_topic"]), FORMATS[name].media)


def _grades(asked: Mapping[str, Any]) -> GradesFrom:
    """The grades to score by: for organisers the requested ones (default: live), for others those of the release."""
    number = asked["round"]
    if not the_place().organises:
        released = released_grades(number, residual=asked["residual"], task=asked["task"])
        return replace(released, compat=asked["compat"])
    return GradesFrom(
        policy=asked["policy"],
        judge=asked["judge"],
        version=asked["qrels"],
        compat=asked["compat"],
        round=number,
        residual=number is not None and asked["residual"],
        task=asked["task"],
    )


def _sees_all() -> bool:
    """Whether the caller may see every run before the release."""
    return bool(the_place().roles & {Role.ORGANISER, Role.OBSERVER})


def _refuse_unless_allowed(asked: Mapping[str, Any]) -> None:
    """Raise `NotAllowedError` for unreleased scores and for parameters that only organisers may use."""
    if not _sees_all() and the_place().sees is not ScoresShown.WHOLE:
        raise NotAllowedError("The organisers do not show participants the leaderboard, or do not show it yet.")
    if not the_place().organises and any(asked[name] is not None for name in ORGANISERS_ALONE):
        raise NotAllowedError("Only organisers choose the grades that runs are scored by.")
