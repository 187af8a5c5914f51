"""Taking a topic along: documents held for a day, and the script that opens the judging screen without a network."""

from pathlib import Path

from flask import Blueprint, Response, current_app, flash, redirect, url_for
from flask.typing import ResponseReturnValue

from annotator.storage import Role
from annotator.web.judging.judging_protocol import as_json, for_judges, install
from annotator.web.site.access import collection_page
from annotator.web.site.adaptive import choose_if_few
from annotator.web.site.context import database, now, the_person
from annotator.web.site.language import gettext
from annotator.workflows.judging import taking_along
from annotator.workflows.judging.judge_access import JudgeHere

blueprint = Blueprint("taking_along", __name__)
protocol = Blueprint("taking_along_protocol", __name__)
install(protocol)

WORKER = "judging/offline/worker.js"


@protocol.post("/collections/<slug>/judge/topics/<path:number>/taken")
@for_judges
def take(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:
    """Hold the documents of a topic for a day; the script loads each by its assignment."""
    if judge.is_adaptive:
        choose_if_few(slug, number, judge.id)
    taken = database().attempt(lambda session: taking_along.take_along(session, slug, number, judge.id, now=now()))
    return as_json({"assignments": taken.assignments, "until": taken.until.isoformat()})


@protocol.post("/collections/<slug>/judge/topics/<path:number>/taken/return")
@for_judges
def give_back(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:
    """Return to the queue what was taken along of a topic, as the script asks."""
    count = database().attempt(lambda session: taking_along.give_back(session, slug, number, judge.id, now=now()))
    return as_json({"returned": count})


@blueprint.post("/collections/<slug>/judge/taken/return/<path:number>")
@collection_page(Role.JUDGE)
def give_back_from_list(slug: str, number: str) -> ResponseReturnValue:
    """Return to the queue what was taken along of a topic, from the list of topics."""
    judge_id = the_person().id
    count = database().attempt(lambda session: taking_along.give_back(session, slug, number, judge_id, now=now()))
    flash(gettext("Documents back in the queue: %(count)d.", count=count))
    return redirect(url_for("judging.topics", slug=slug), 303)


@blueprint.get("/collections/<slug>/judge/worker.js")
@collection_page(Role.JUDGE)
def worker(slug: str) -> Response:  # noqa: ARG001 - its address is the scope: the judging pages of this collection
    """The service worker, below whose address the pages are that it may open."""
    script = (Path(current_app.static_folder or "") / WORKER).read_bytes()
    return Response(script, mimetype="text/javascript", headers={"Cache-Control": "no-cache"})
