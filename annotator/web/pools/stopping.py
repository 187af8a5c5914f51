"""When to stop judging: found against judged documents, estimated recall, stopping rules, and decisions to stop."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.evaluation.stopping.stopping_rules import RULES, USUAL_SETTINGS, StoppingSettings
from annotator.spreadsheets import csv_text
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal, status_of
from annotator.web.site.forms import done
from annotator.web.site.language import gettext
from annotator.web.site.memories import kept_report
from annotator.web.site.query_string import number_given, part_of_report, share_given
from annotator.workflows.qrels.stopping import StoppingPart, StoppingReport, StoppingRequest, stopping_report
from annotator.workflows.qrels.stopping_decisions import decide_topic

blueprint = Blueprint("stopping", __name__)


@blueprint.get("/collections/<slug>/pool/stopping")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The rules for all topics or one: `?topic=3&target=0.9&alpha=0.05&in_a_row=50&budget=200&page=2`."""
    found, refused = None, None
    try:
        found = _report(slug)
    except AnnotatorError as refusal:
        refused = refusal
    return page_or_refusal(_page(found, refused), refused)


@blueprint.get("/collections/<slug>/pool/stopping.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """The answers of the rules for every topic, or another table (`?by=decisions`), as CSV."""
    part = part_of_report(StoppingPart, request.args.get("by", StoppingPart.TOPICS))
    wanted = StoppingRequest(_settings(), topics=_topics())
    headings, rows = database().read(stopping_report, slug, wanted).table(part)
    return download(csv_text([headings, *rows]), f"{slug}-stopping-{part}.csv", CSV)


@blueprint.post("/collections/<slug>/pool/stopping")
@collection_page(Role.ORGANISER)
def decide(slug: str) -> ResponseReturnValue:
    """Record the decision to stop a topic, or (`stops` is empty) to go on with it."""
    form = request.form
    topic, reason, stops = form.get("topic", ""), form.get("reason", ""), bool(form.get("stops"))
    rule = (form.get("rule") or None) if stops else None
    try:
        with database().transaction() as session:
            made = decide_topic(
                session, slug, topic, stops=stops, reason=reason, rule=rule, by_id=the_person().id, at=now()
            )
            if stops:
                details = {"rule": rule, "reason": reason, "judged": made.judged, "relevant": made.relevant}
                note(session, "pool.stop", slug, subject=topic, details=details)
            else:
                note(session, "pool.resume", slug, subject=topic, details={"reason": reason})
    except AnnotatorError as refusal:
        status = 422 if isinstance(refusal, InvalidValueError) else status_of(refusal)
        return _page(_report(slug), refusal), status
    if stops:
        return done(gettext("Judging of topic %(topic)s is stopped.", topic=topic), ".show", slug=slug)
    return done(gettext("Judging of topic %(topic)s goes on.", topic=topic), ".show", slug=slug)


def _page(found: StoppingReport | None, refused: AnnotatorError | None) -> str:
    given = {name: request.args.get(name, "") for name in ("topic", "target", "alpha", "in_a_row", "budget")}
    return render_template(
        "pools/stopping.html",
        found=found,
        refused=refused,
        given=given,
        asked={name: value for name, value in given.items() if value},
        written={name: request.form.get(name, "") for name in ("topic", "rule", "reason")},
        rules=RULES,
        usual=USUAL_SETTINGS,
    )


def _report(slug: str) -> StoppingReport:
    wanted = StoppingRequest(_settings(), topics=_topics(), page=number_given("page", least=1) or 1)
    return kept_report(slug, (stopping_report, wanted), lambda session: stopping_report(session, slug, wanted))


def _topics() -> tuple[str, ...]:
    return tuple(number for written in request.args.getlist("topic") if (number := written.strip()))


def _settings() -> StoppingSettings:
    return StoppingSettings(
        target=share_given("target", USUAL_SETTINGS.target),
        alpha=share_given("alpha", USUAL_SETTINGS.alpha),
        in_a_row=number_given("in_a_row", least=1) or USUAL_SETTINGS.in_a_row,
        budget=number_given("budget", least=1),
    )
