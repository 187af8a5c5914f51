"""Scores: the leaderboard, for participants as far as it is released, and a team's own scores."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import Response
from marshmallow import INCLUDE, Schema, fields

from annotator.api.door import Call, Gives, Takes, as_json, operation, text
from annotator.api.door import resource as resource_of
from annotator.api.values import Text, counted, one_of
from annotator.errors import NotAllowedError
from annotator.storage import Role, ScoresShown
from annotator.web.context import database, the_place
from annotator.web.downloads import CSV
from annotator.web.live_scores import live_scores
from annotator.web.observing import policy_shown
from annotator.web.own_scores import own_scores
from annotator.workflows import leaderboard, leaderboard_standing, leaderboard_text
from annotator.workflows.leaderboard import DEFAULT_MEASURES, GradesFrom, IntervalMethod, Leaderboard, View
from annotator.workflows.tokens import Scope

resource = resource_of("scores", "Every run scored, by measures that equal trec_eval's.")

ORGANISERS_ALONE = ("baseline", "qrels", "policy", "judge", "round")


class BoardQuery(Schema):
    """By which measures, against which grades, and as what."""

    m = fields.List(Text, load_default=list, metadata={"description": "A measure, such as nDCG@10; repeatable."})
    sort = Text(load_default=None, metadata={"description": "The measure to sort by; the first unless said."})
    letters = fields.Boolean(load_default=False)
    interval = one_of([one.value for one in IntervalMethod], load_default=IntervalMethod.T.value)
    baseline = Text(load_default=None, metadata={"description": "Test every run against this one. For organisers."})
    qrels = counted(load_default=None, metadata={"description": "A kept version of the qrels. For organisers."})
    policy = Text(load_default=None, metadata={"description": "Settle by this policy. For organisers."})
    judge = Text(load_default=None, metadata={"description": "By the grades of one judge. For organisers."})
    round = counted(load_default=None, metadata={"description": "Only the runs of this round. For organisers."})
    residual = fields.Boolean(
        load_default=True, metadata={"description": "Of a round: without what was judged before."}
    )
    per_topic = fields.Boolean(load_default=False)
    format = one_of(["json", "csv"], load_default="json")


class OwnQuery(Schema):
    """As what; and which run beside the median and the best of all, by which measure."""

    run = Text(load_default=None, metadata={"description": "A run of the team; the first unless said."})
    m = Text(load_default=None, metadata={"description": "A measure of the leaderboard; the first unless said."})
    per_topic = fields.Boolean(load_default=False)
    format = one_of(["json", "csv"], load_default="json")


class Board(Schema):
    """The leaderboard; every value is exact, and the fingerprint names the grades."""

    class Meta:
        """There is more than is named."""

        unknown = INCLUDE

    measures = fields.List(fields.String, required=True)
    topics = fields.List(fields.String, required=True)
    source = fields.String(required=True)
    policy = fields.String(required=True, allow_none=True)
    grades = fields.Integer(required=True)
    fingerprint = fields.String(required=True)
    rows = fields.List(fields.Dict, required=True)


@operation(
    resource,
    "GET",
    "/collections/<slug>/leaderboard",
    scopes=[Scope.READ],
    roles=[Role.ORGANISER, Role.OBSERVER, Role.PARTICIPANT],
    takes=Takes(query=BoardQuery),
    gives=Gives(Board, media=[CSV]),
)
def show_leaderboard(call: Call) -> Response:
    """Score every run by what is judged at this moment; for participants once the whole of it is released to them."""
    asked = call.query
    _refuse_unless_allowed(asked)
    of_round = asked["round"]
    grades = GradesFrom(
        policy=asked["policy"],
        judge=asked["judge"],
        version=asked["qrels"],
        round=of_round,
        residual=of_round is not None and asked["residual"],
    )
    view = View(IntervalMethod(asked["interval"]), asked["baseline"], asked["letters"], asked["sort"])
    with database().reading() as session:
        board = leaderboard.build_leaderboard(
            session,
            call.slug,
            tuple(asked["m"]) or DEFAULT_MEASURES,
            grades=grades,
            view=view,
            memory=live_scores(),
            before=None if _sees_all() else the_place().collection.scores_released_at,
        )
    return _answer(board, asked)


@operation(
    resource,
    "GET",
    "/collections/<slug>/scores",
    scopes=[Scope.READ, Scope.RUNS],
    roles=[Role.PARTICIPANT],
    takes=Takes(query=OwnQuery),
    gives=Gives(Board, media=[CSV]),
)
def show_own_scores(call: Call) -> Response:
    """Show the scores of the caller's team, once they are released.

    Where the organisers show it, `beside` has the topics of one run beside the median and the best of all runs.
    """
    found = own_scores(call.slug)
    if found.standing is None or the_place().sees is ScoresShown.OWN:
        return _answer(found.board, call.query)
    return _answer(found.board, call.query, {"beside": leaderboard_standing.standing_as_json(found.standing)})


def _answer(whole: Leaderboard, asked: Mapping[str, Any], more: Mapping[str, object] | None = None) -> Response:
    """The leaderboard, in JSON with what more there is to say."""
    board = replace(whole, policy=whole.policy and policy_shown(whole.policy))
    if asked["format"] == "json":
        return as_json({**leaderboard_text.as_json(board, per_topic=asked["per_topic"]), **(more or {})})
    if asked["per_topic"]:
        return text(leaderboard_text.topics_csv(board), CSV)
    return text(leaderboard_text.leaderboard_csv(board), CSV)


def _sees_all() -> bool:
    """Whether the caller sees every run, released or not."""
    return bool(the_place().roles & {Role.ORGANISER, Role.OBSERVER})


def _refuse_unless_allowed(asked: Mapping[str, Any]) -> None:
    """Raise `NotAllowedError` for scores that are not released, and for what is the organisers' to choose."""
    if not _sees_all() and the_place().sees is not ScoresShown.WHOLE:
        raise NotAllowedError("The organisers do not show participants the leaderboard, or do not show it yet.")
    if not the_place().organises and any(asked[name] is not None for name in ORGANISERS_ALONE):
        raise NotAllowedError("Only organisers choose the grades that runs are scored by.")
