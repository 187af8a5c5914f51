"""Two runs of the participant's own team, compared by released scores: means, topics and tests, no documents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, InvalidValueError, NotAllowedError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.storage import Role
from annotator.web.collections.observer_policy import released_grades
from annotator.web.collections.scope_wanted import ScopeWanted
from annotator.web.leaderboard.own_scores import compare_own_runs, own_scores
from annotator.web.site.access import collection_page
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import seed_given
from annotator.workflows.leaderboard.compared_runs import ComparedScores
from annotator.workflows.leaderboard.inspected_tables import SCORE_PAIR_TABLES, table_csv
from annotator.workflows.leaderboard.inspecting import USUAL_SEED
from annotator.workflows.runs.scoring_scope import NO_SCOPES

blueprint = Blueprint("own_pair", __name__)


@dataclass(frozen=True)
class PairWanted:
    """The runs and the options of the query string, as they were written."""

    first: str
    second: str
    measure: str
    seed: str

    @classmethod
    def of_request(cls) -> "PairWanted":
        """Read `?first=TAG&second=TAG&m=AP&seed=1`."""
        first, second, measure, seed = (request.args.get(name, "").strip() for name in ("first", "second", "m", "seed"))
        return cls(first, second, measure or USUAL_MEASURE, seed)

    @property
    def query(self) -> dict[str, object]:
        """The choice as query string arguments, with that of the round and the task."""
        given = {"first": self.first, "second": self.second, "m": self.measure, "seed": self.seed}
        return {**{name: value for name, value in given.items() if value}, **ScopeWanted.of_form().query}

    def compare(self, slug: str) -> ComparedScores:
        """Compare the runs; `InvalidValueError` without two and for a malformed seed, else as `compare_own_runs`."""
        if not (self.first and self.second):
            raise InvalidValueError("Choose two runs.")
        scope, seed = ScopeWanted.of_request(), seed_given(USUAL_SEED)
        grades = released_grades(scope.round, residual=scope.residual, task=scope.task)
        return compare_own_runs(slug, self.first, self.second, measure=self.measure, seed=seed, grades=grades)


@blueprint.get("/collections/<slug>/scores/pair")
@collection_page(Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """Two runs of the team (`?first=&second=`) by a measure (`&m=`); without runs, the choice."""
    wanted, scope = PairWanted.of_request(), ScopeWanted.of_form()
    found, refused = None, None
    tags: Sequence[str] = ()
    scopes = NO_SCOPES
    try:
        grades = released_grades(scope.round, residual=scope.residual, task=scope.task)
        own = own_scores(slug, [USUAL_MEASURE], grades=grades, task_of=wanted.first or None)
        tags, scopes = [row.tag for row in own.board.rows], own.scopes
        scope = replace(scope, task=own.task)
        found = wanted.compare(slug) if wanted.first and wanted.second else None
    except NotAllowedError:
        raise
    except AnnotatorError as refusal:
        refused = refusal
    page = render_template(
        "runs/submissions/pair.html",
        found=found,
        refused=refused,
        tags=tags,
        scopes=scopes,
        wanted=wanted,
        scope=scope,
        usual_seed=USUAL_SEED,
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/scores/pair.csv")
@collection_page(Role.PARTICIPANT)
def as_csv(slug: str) -> ResponseReturnValue:
    """One table (`?table=`) of the comparison as CSV."""
    table = request.args.get("table", "").strip()
    text = table_csv(SCORE_PAIR_TABLES, table, PairWanted.of_request().compare(slug))
    return download(text, f"{slug}-pair-{table}.csv", CSV)
