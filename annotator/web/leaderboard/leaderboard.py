"""The leaderboard: scores of every run by live grades or a stored version of the qrels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, View
from annotator.evaluation.metrics.names import DEFAULT_MEASURES, OFFERED_MEASURES
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.significance.means import IntervalMethod
from annotator.installed import installed_version
from annotator.reporting import report_html, section_titles
from annotator.storage import Role
from annotator.storage.qrels.qrels_versions import LIVE, version_number
from annotator.web.collections.observer_policy import READERS
from annotator.web.collections.scope_wanted import EVERY_RUN, ScopeWanted
from annotator.web.leaderboard import released_board
from annotator.web.leaderboard.board_cells import SORTED_BY_SCRIPT, board_for_template
from annotator.web.leaderboard.measures_wanted import NAMES, measures_wanted
from annotator.web.qrels.qrels import GradesWanted
from annotator.web.site.access import collection_page, signed_in_page
from annotator.web.site.background import long_page
from annotator.web.site.context import database, now, the_place
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.language import LANGUAGES, gettext
from annotator.web.site.memories import judges_memory, score_cache
from annotator.web.site.query_string import asked_word
from annotator.workflows.collections.collection import consensus_policies
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.leaderboard import split_names
from annotator.workflows.leaderboard.overview_report import (
    ALL_SECTIONS,
    ENGLISH,
    OverviewRequest,
    ReportSection,
    overview_report,
)
from annotator.workflows.leaderboard.scoring import list_measures
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.judges_to_choose import judges_to_choose
from annotator.workflows.qrels.qrels_versions import VersionView, list_versions
from annotator.workflows.runs.scoring_scope import NO_SCOPES, ScopeChoices, scope_choices

blueprint = Blueprint("leaderboard", __name__)

BEST = "best"  # the best run of each team


@dataclass(frozen=True)
class Wanted:
    """The choices in the query string."""

    grades: GradesWanted
    version: int | None
    measures: tuple[str, ...]
    view: View
    best_alone: bool
    scope: ScopeWanted = EVERY_RUN
    compat: Compat = Compat.TREC_EVAL_10

    @classmethod
    def of_request(cls) -> "Wanted":
        """Read `?m=AP&other=P@7&sort=AP&baseline=TAG&letters=y&interval=t&show=best&compat=9&qrels=3&judge=`."""
        said = {name: request.args.get(name, "").strip() for name in ("baseline", "sort", "letters", "show")}
        sort = None if said["sort"].startswith(SORTED_BY_SCRIPT) else said["sort"]
        view = View(_interval(), said["baseline"] or None, bool(said["letters"]), sort or None)
        return cls(
            *(GradesWanted.of_request(), _version(), measures_wanted(), view, said["show"] == BEST),
            *(ScopeWanted.of_request(), _compat()),
        )

    @property
    def grades_from(self) -> GradesFrom:
        """The grades to score by; with a stored version, the judge and the policy are ignored."""
        return GradesFrom(
            policy=self.grades.policy,
            judge=self.grades.judge,
            version=self.version,
            compat=self.compat.value,
            round=self.scope.round,
            residual=self.scope.residual,
            task=self.scope.task,
        )

    @property
    def query(self) -> dict[str, object]:
        """The choices as query string arguments."""
        view = self.view
        given: dict[str, object] = {
            "m": None if self.measures == DEFAULT_MEASURES else self.measures,
            "sort": view.sort,
            "baseline": view.baseline,
            "letters": "y" if view.letters else None,
            "interval": None if view.interval is IntervalMethod.T else view.interval.value,
            "compat": None if self.compat is Compat.TREC_EVAL_10 else self.compat.value,
            "show": BEST if self.best_alone else None,
            "qrels": self.version,
        }
        return {**{name: value for name, value in given.items() if value}, **self.scope.query, **self.grades.query}


@dataclass(frozen=True)
class Choices:
    """The choices of the form other than measures."""

    judges: Sequence[str] = ()
    versions: Sequence[VersionView] = ()
    scopes: ScopeChoices = NO_SCOPES


@dataclass(frozen=True)
class Scored:
    """A leaderboard with the notes of its measures, or the reason why there is none."""

    board: Leaderboard | None
    helps: Mapping[str, str]
    refusal: AnnotatorError | None = None


@blueprint.get("/collections/<slug>/leaderboard")
@collection_page(Role.ORGANISER, Role.OBSERVER, Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """All runs scored by the measures of the query string (`?m=nDCG@10&m=AP`); for participants once released."""
    if not the_place().organises:
        return released_board.page(slug, measures_wanted())
    try:
        wanted = Wanted.of_request()
        scored = _scored(slug, wanted)
    except (InvalidValueError, NotFoundError) as refusal:
        plain = View()
        wanted = Wanted(GradesWanted.of_request(), None, measures_wanted(), plain, best_alone=False)
        scored = Scored(None, {}, refusal)
    with database().reading() as session:
        choices = Choices(
            judges_to_choose(session, slug, judges_memory()),
            qrels_versions.list_versions(session, slug),
            scope_choices(session, slug),
        )
    page = render_template(
        "leaderboard/show.html",
        scored=scored,
        **board_for_template(scored.board),
        sort_link=lambda name: url_for(".show", slug=slug, **{**wanted.query, "sort": name}),
        holes=_holes_link(slug, wanted),
        wanted=wanted,
        offered=OFFERED_MEASURES,
        choices=choices,
        policies=consensus_policies(),
    )
    # Missing judgements are not an error of the request.
    if scored.refusal is None or isinstance(scored.refusal, ConflictError):
        return page
    return page, status_of(scored.refusal)


def _holes_link(slug: str, wanted: Wanted) -> Callable[[int], str] | None:
    """The address of the holes down to a depth, of the same task; None for those who may not see them."""
    if not the_place().organises:
        return None
    return lambda depth: url_for("pools.holes", slug=slug, depth=depth, task=wanted.scope.task)


@blueprint.get("/collections/<slug>/leaderboard.csv")
@collection_page(Role.ORGANISER, Role.OBSERVER, Role.PARTICIPANT)
def as_csv(slug: str) -> ResponseReturnValue:
    """The leaderboard as CSV in full precision."""
    if not the_place().organises:
        return released_board.file(slug, measures_wanted())
    board = _board(slug, Wanted.of_request())
    return download(leaderboard.leaderboard_csv(board), f"{slug}-leaderboard.csv", CSV)


def _interval() -> IntervalMethod:
    written = request.args.get("interval", "").strip() or IntervalMethod.T
    try:
        return IntervalMethod(written)
    except ValueError:
        raise InvalidValueError("Intervals are t or bootstrap, not “%(written)s”.", written=written) from None


def _compat() -> Compat:
    written = request.args.get("compat", "").strip() or Compat.TREC_EVAL_10.value
    try:
        return Compat(written)
    except ValueError:
        raise InvalidValueError("The trec_eval to follow is 9 or 10, not “%(version)s”.", version=written) from None


def _version() -> int | None:
    written = request.args.get("qrels", "").strip() or LIVE
    return None if written == LIVE else version_number(written)


def _board(slug: str, wanted: Wanted) -> Leaderboard:
    board = database().read(
        leaderboard.build_leaderboard,
        slug,
        wanted.measures,
        grades=wanted.grades_from,
        view=wanted.view,
        cache=score_cache(),
    )
    if not wanted.best_alone:
        return board
    # The best run of a team with a single run is included; runs without a team are not.
    several = {row.team for row in board.rows if row.best_of_team}
    return replace(board, rows=tuple(row for row in board.rows if row.best_of_team or row.team not in several))


def _scored(slug: str, wanted: Wanted) -> Scored:
    try:
        board = _board(slug, wanted)
    except (InvalidValueError, NotFoundError, ConflictError) as refusal:
        return Scored(None, {}, refusal)
    return Scored(board, leaderboard.measure_help(board.measures))


@blueprint.get("/measures")
@signed_in_page
def measures() -> ResponseReturnValue:
    """Every measure with its definition, range, edge cases and parameters."""
    return render_template("leaderboard/measures.html", measures=list_measures())


@blueprint.get("/collections/<slug>/report")
@collection_page(*READERS)
def report(slug: str) -> ResponseReturnValue:
    """The form for the sections, measures, qrels and language of a report."""
    with database().reading() as session:
        versions, scopes = list_versions(session, slug), scope_choices(session, slug)
    return render_template(
        "leaderboard/report/show.html",
        versions=versions,
        scopes=scopes,
        scope=ScopeWanted.of_task(),
        usual=" ".join(DEFAULT_MEASURES),
        sections=section_titles(gettext),
        report_languages=LANGUAGES,
    )


@blueprint.get("/collections/<slug>/report.html")
@collection_page(*READERS)
@long_page("report.file")
def report_file(slug: str) -> ResponseReturnValue:
    """The report as an HTML file: `?m=AP P@10&qrels=1&part=task&part=leaderboard&language=ko&task=KEY`."""
    task = ScopeWanted.of_task().task
    wanted = OverviewRequest(_measures_of_report(), asked_word("qrels", LIVE), _sections(), _language(), task)
    with database().reading() as session:
        report = overview_report(session, slug, wanted, made_at=now(), version=installed_version(), cache=score_cache())
    return download(report_html(report), f"{slug}-report.html", "text/html")


def _sections() -> tuple[ReportSection, ...]:
    """The chosen sections; all without a choice."""
    try:
        return tuple(map(ReportSection, request.args.getlist("part"))) or ALL_SECTIONS
    except ValueError:
        raise InvalidValueError("The report has no such section.") from None


def _language() -> str:
    written = asked_word("language", ENGLISH)
    if written not in LANGUAGES:
        raise InvalidValueError("The report is in English (en) or Korean (ko), not “%(language)s”.", language=written)
    return written


def _measures_of_report() -> tuple[str, ...]:
    """The measures of the query string, separated by blanks, without duplicates."""
    written = NAMES.findall(request.args.get("m", ""))
    return tuple(dict.fromkeys(name for names in written for name in split_names(names))) or DEFAULT_MEASURES
