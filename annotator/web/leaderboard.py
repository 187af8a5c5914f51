"""The leaderboard: every run scored against the grades of this moment."""

import re
from dataclasses import dataclass

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.context import database
from annotator.web.downloads import CSV, download
from annotator.web.error_pages import status_of
from annotator.web.grades_wanted import GradesWanted
from annotator.workflows import leaderboard, qrels
from annotator.workflows.collection import consensus_policies
from annotator.workflows.leaderboard import DEFAULT_MEASURES, Leaderboard, split_names

blueprint = Blueprint("leaderboard", __name__)

# The page offers these to tick; any other can be written beside them.
OFFERED_MEASURES = (
    *("nDCG@10", "nDCG@20", "nDCG", "AP", "P@5", "P@10", "P@20", "R@100", "R@1000", "RR", "RR@10"),
    *("Rprec", "Bpref", "Success@1", "Success@10", "Judged@10", "NumRet", "NumRel", "NumRelRet"),
)


# What blanks part, but not those inside brackets or beside a comma; what commas part is for `split_names` to say.
NAMES = re.compile(r"(?:[^\s(]|\([^)]*\)?)+")
COMMA = re.compile(r"\s*,\s*")


@dataclass(frozen=True)
class Scored:
    """A leaderboard with what its measures say of themselves, or why there is none."""

    board: Leaderboard | None
    helps: dict[str, str]
    refusal: AnnotatorError | None = None


@blueprint.get("/collections/<slug>/leaderboard")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Every run scored by the measures on the query string (`?m=nDCG@10&m=AP`)."""
    wanted, measures = GradesWanted.of_request(), _measures()
    scored = _scored(slug, wanted, measures)
    with database().reading() as session:
        judges = qrels.grading_judges(session, slug)
    page = render_template(
        "leaderboard/show.html",
        scored=scored,
        wanted=wanted,
        measures=measures,
        offered=OFFERED_MEASURES,
        judges=judges,
        policies=consensus_policies(),
    )
    # That nothing is judged yet is no fault of the request.
    if scored.refusal is None or isinstance(scored.refusal, ConflictError):
        return page
    return page, status_of(scored.refusal)


@blueprint.get("/collections/<slug>/leaderboard.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """The same, comma-separated in full precision."""
    board = _board(slug, GradesWanted.of_request(), _measures())
    return download(leaderboard.leaderboard_csv(board), f"{slug}-leaderboard.csv", CSV)


def _measures() -> tuple[str, ...]:
    """The measures that were ticked and those that were written, in their order, each once."""
    other = COMMA.sub(",", request.args.get("other", "").strip(", "))
    written = [name for names in NAMES.findall(other) for name in split_names(names)]
    return tuple(dict.fromkeys([*request.args.getlist("m"), *written])) or DEFAULT_MEASURES


def _board(slug: str, wanted: GradesWanted, measures: tuple[str, ...]) -> Leaderboard:
    with database().reading() as session:
        return leaderboard.build_leaderboard(session, slug, measures, policy=wanted.policy, judge=wanted.judge)


def _scored(slug: str, wanted: GradesWanted, measures: tuple[str, ...]) -> Scored:
    try:
        board = _board(slug, wanted, measures)
    except (InvalidValueError, NotFoundError, ConflictError) as refusal:
        return Scored(None, {}, refusal)
    return Scored(board, leaderboard.measure_help(board.measures))
