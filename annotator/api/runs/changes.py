"""Runs, continued: change their details, restore withdrawn ones."""

from marshmallow import Schema

from annotator.api.collections.audit import note
from annotator.api.runs.runs import RunReceipt, resource, shown_receipt
from annotator.api.site.access import SEND_RUNS, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Text, one_of, whole
from annotator.errors import InvalidValueError
from annotator.storage import RunType
from annotator.storage.runs.runs import RunDetails
from annotator.web.people.senders import own_team
from annotator.web.site.context import database, now
from annotator.workflows.runs import runs


class DetailsBody(Schema):
    """The details to change; those that are left out stay as they are."""

    team = Text(metadata={"description": "The team of the run; only organisers change it."})
    description = Text()
    type = one_of(RunType)
    priority = whole(1, metadata={"description": "The pooling priority among the runs of the team."})
    round = whole(1, metadata={"description": "The number of the round; only organisers change it."})
    task = Text(
        metadata={"description": "The key of the task; only organisers change it, which changes released scores."}
    )


@operation(
    resource,
    "PATCH",
    "/collections/<slug>/runs/<path:tag>",
    SEND_RUNS,
    Gives(RunReceipt),
    Takes(body=DetailsBody),
)
def change_run(call: Call) -> object:
    """Change the details of a run; participants those of their team's runs, until the deadline."""
    tag, given, team = call.path["tag"], dict(call.body), own_team()
    if not given:
        raise InvalidValueError("Name at least one detail to change.")
    if team is not None and "round" in given:
        raise InvalidValueError("Only organisers change the round of a run.")
    if team is not None and "task" in given:
        raise InvalidValueError("Only organisers change the task of a run.")
    run_type = RunType(given.pop("type")) if "type" in given else None
    details = RunDetails(**given, run_type=run_type)
    with database().transaction() as session:
        runs.change_run(session, call.slug, tag, details=details, at=now(), by_id=caller().id, team=team)
        note(session, "runs.edit", call.slug, subject=tag, details=vars(details))
    return _receipt(call.slug, tag)


@operation(resource, "POST", "/collections/<slug>/runs/<path:tag>/restore", SEND_RUNS, Gives(RunReceipt))
def restore_run(call: Call) -> object:
    """Restore a withdrawn run: it is pooled and scored again."""
    tag = call.path["tag"]
    with database().transaction() as session:
        runs.restore_run(session, call.slug, tag, at=now(), by_id=caller().id, team=own_team())
        note(session, "runs.restore", call.slug, subject=tag)
    return _receipt(call.slug, tag)


def _receipt(slug: str, tag: str) -> object:
    return shown_receipt(slug, database().read(runs.receipt_of, slug, tag, version=None, team=own_team()))
