"""The audit log: its actions, their details, and appending an entry. Entries are never changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum, auto
from typing import Any, TypeAlias, cast

from sqlalchemy import Connection, Table, event
from sqlalchemy.orm import Session

from annotator.storage.collections.collection import find_collection
from annotator.storage.tables.collections import POSTGRES_GUARDS, SQLITE_GUARDS, AuditEvent, Door

LONGEST_TEXT = 200
# Prefix of the consensus policy that takes one judge's grades; the judge's name follows.
ONE_JUDGE = "judge:"
# Replaces free text and names: the log keeps that there was a text, never its content.
HIDDEN = "…"
NO_MOMENT = "none"


class Subject(StrEnum):
    """What the subject of an entry names; erasing a person also clears subjects that may contain their name."""

    NONE = auto()
    ACCOUNT = auto()
    FREE = auto()  # names chosen by people: of files, tokens, click logs
    THING = auto()  # a tag, a number, a version, a short name


class Kind(StrEnum):
    """The type of a detail; each has a JSON form."""

    NUMBER = auto()
    FLAG = auto()
    CODE = auto()  # an enumerated code, a checksum or a key
    CODES = auto()
    MOMENT = auto()
    POLICY = auto()
    SCALE = auto()
    RUNS = auto()  # variant name → tag of its run
    HIDDEN = auto()


@dataclass(frozen=True)
class Action:
    """The subject type of an action, and the types of its permitted details."""

    subject: Subject = Subject.NONE
    details: Mapping[str, Kind] = field(default_factory=dict)


def _numbers(*names: str) -> dict[str, Kind]:
    return dict.fromkeys(names, Kind.NUMBER)


_ADDED_QUESTIONS = _numbers("added", "changed", "known", "pooled")
_ROLE = {"role": Kind.CODE, "team": Kind.CODE}

ACTIONS: Mapping[str, Action] = {
    "announcements.add": Action(Subject.THING, {"everyone": Kind.FLAG}),
    "announcements.change": Action(Subject.THING, {"everyone": Kind.FLAG}),
    "announcements.remove": Action(Subject.THING),
    "clarifications.add": Action(Subject.THING),
    "clarifications.remove": Action(Subject.THING),
    "clicks.add": Action(Subject.FREE, {"sha256": Kind.CODE}),
    "clicks.export": Action(Subject.FREE, {"table": Kind.CODE}),
    "clicks.link": Action(Subject.FREE, {"runs": Kind.RUNS}),
    "clicks.remove": Action(Subject.FREE),
    "collections.add": Action(details={"kind": Kind.CODE}),
    "collections.close": Action(),
    "collections.copy": Action(Subject.THING, _numbers("documents")),
    "collections.export": Action(details={"pseudonyms": Kind.FLAG, "format": Kind.CODE}),
    "collections.import": Action(Subject.FREE, _numbers("made")),
    "collections.publish": Action(details={"version": Kind.NUMBER, "veiled": Kind.FLAG, "texts": Kind.FLAG}),
    "collections.reopen": Action(),
    "collections.show-pseudonyms": Action(),
    "collections.restore": Action(),
    "collections.set": Action(
        details={
            "title": Kind.HIDDEN,
            "scale": Kind.SCALE,
            **_numbers("relevant_from", "judgements_wanted", "overlap_share", "reshow_share", "common_items"),
            "consensus_policy": Kind.POLICY,
            **dict.fromkeys(("judges_search", "judges_compare", "judges_highlight"), Kind.FLAG),
            **dict.fromkeys(("counts_machines", "shows_grades", "leaves_out_disputed"), Kind.FLAG),
            **dict.fromkeys(("judging_mode", "kind"), Kind.CODE),
            "deadline": Kind.MOMENT,
            **dict.fromkeys(("terms", "corpus"), Kind.HIDDEN),
            **_numbers("most_documents", "most_tag_characters", "most_runs", "pay_per_hour"),
            "tag_start": Kind.CODE,
            **dict.fromkeys(("plain_tags", "shares_docnos", "shares_qrels"), Kind.FLAG),
            "pay_currency": Kind.CODE,
        }
    ),
    "costs.add-column": Action(
        Subject.THING, {"name": Kind.HIDDEN, **dict.fromkeys(("key", "kind", "unit", "better"), Kind.CODE)}
    ),
    "costs.remove-column": Action(Subject.THING),
    "costs.set": Action(Subject.THING, {"facts": Kind.CODES}),
    "database.copy": Action(details=_numbers("rows")),
    "database.rebuild-tops": Action(details=_numbers("run")),
    "database.restore": Action(Subject.FREE),
    "database.upgrade": Action(details={"from": Kind.CODE, "to": Kind.CODE}),
    "deletions.add": Action(
        Subject.THING, {"kind": Kind.CODE, **_numbers("topics", "documents", "judgements", "judges")}
    ),
    "deletions.purge": Action(details=_numbers("deletions", "days")),
    "deletions.restore": Action(Subject.THING, {"kind": Kind.CODE}),
    "docnos.export": Action(),
    "docnos.import": Action(Subject.FREE, _numbers("docnos", "repeated")),
    "docnos.remove": Action(details=_numbers("docnos")),
    "documents.import": Action(Subject.FREE, _numbers("added", "filled", "changed", "unchanged")),
    "documents.let-stand": Action(details=_numbers("documents")),
    "documents.requeue": Action(details=_numbers("documents")),
    "guidelines.set": Action(Subject.THING),
    "hours.export": Action(details={"from": Kind.CODE, "to": Kind.CODE, "by": Kind.CODE}),
    "interleaving.export": Action(details={"method": Kind.CODE, **_numbers("depth", "lists", "seed")}),
    "invitations.accept": Action(Subject.ACCOUNT, {"role": Kind.CODE}),
    "invitations.add": Action(Subject.THING, {**_ROLE, "mailed": Kind.FLAG}),
    "invitations.withdraw": Action(Subject.THING),
    "jobs.cancel": Action(Subject.THING),
    "judgements.export": Action(details={"format": Kind.CODE, "pseudonyms": Kind.FLAG}),
    "judgements.import": Action(
        Subject.ACCOUNT, _numbers("added", "changed", "known", "unjudged", "pooled", "outside", "outside_pool")
    ),
    "machines.add": Action(Subject.THING, {"model": Kind.CODE, "host": Kind.CODE, "samples": Kind.NUMBER}),
    "machines.cancel": Action(Subject.THING),
    "machines.continue": Action(Subject.THING),
    "machines.run": Action(Subject.THING, {"documents": Kind.NUMBER, "host": Kind.CODE}),
    "mail.remove": Action(Subject.THING),
    "mail.retry": Action(Subject.THING),
    "members.add": Action(Subject.ACCOUNT, {**_ROLE, "forced": Kind.FLAG}),
    "members.import": Action(Subject.FREE, _numbers("people")),
    "members.remove": Action(Subject.ACCOUNT, {"role": Kind.CODE}),
    "pool.add": Action(Subject.THING, {"query": Kind.HIDDEN, "added": Kind.NUMBER}),
    "pool.build": Action(
        Subject.THING, {"strategy": Kind.CODE, "task": Kind.CODE, "log": Kind.HIDDEN, **_numbers("added", "depth")}
    ),
    "pool.export": Action(),
    "pool.resume": Action(Subject.THING, {"reason": Kind.HIDDEN}),
    "pool.stop": Action(Subject.THING, {"rule": Kind.CODE, "reason": Kind.HIDDEN, **_numbers("judged", "relevant")}),
    "qrels.export": Action(Subject.THING),
    "qrels.keep": Action(Subject.THING),
    "questionnaire.answer": Action(Subject.THING, {"questions": Kind.CODES}),
    "questionnaire.export": Action(details={"table": Kind.CODE}),
    "questionnaire.set": Action(Subject.THING, {"questions": Kind.CODES, "task": Kind.CODE}),
    "questions.answer": Action(Subject.THING, {"public": Kind.FLAG}),
    "registration.add": Action(Subject.ACCOUNT, {"team": Kind.CODE}),
    "registration.close": Action(),
    "registration.open": Action(details={"until": Kind.MOMENT, **_numbers("teams")}),
    "rounds.close": Action(Subject.THING, _numbers("qrels")),
    "rounds.open": Action(Subject.THING),
    "run-sources.remove": Action(Subject.THING),
    "run-sources.set": Action(Subject.THING, {**dict.fromkeys(("host", "dialect"), Kind.CODE), "nightly": Kind.FLAG}),
    "runs.edit": Action(
        Subject.THING,
        {
            **dict.fromkeys(("team", "run_type", "task"), Kind.CODE),
            "description": Kind.HIDDEN,
            **_numbers("priority", "round"),
        },
    ),
    "runs.export": Action(Subject.THING),
    "runs.import": Action(Subject.THING, dict.fromkeys(("sha256", "host", "dialect"), Kind.CODE)),
    "runs.restore": Action(Subject.THING),
    "runs.withdraw": Action(Subject.THING),
    "scores.export-pages": Action(),
    "scores.publish": Action(details={"scores": Kind.CODE, "veiled": Kind.FLAG, "guidelines": Kind.FLAG}),
    "scores.release": Action(details={"shown": Kind.CODE, "from": Kind.MOMENT, "qrels": Kind.NUMBER}),
    "scores.take-back": Action(),
    "sources.fetch": Action(details={"again": Kind.FLAG, "documents": Kind.NUMBER}),
    "sources.remove": Action(),
    "sources.set": Action(details={"kind": Kind.CODE}),
    "tasks.add": Action(Subject.THING),
    "tasks.remove": Action(Subject.THING),
    "tasks.set": Action(Subject.THING, {"fields": Kind.CODES}),
    "terms.accept": Action(),
    "test-questions.add": Action(Subject.THING, _ADDED_QUESTIONS),
    "test-questions.import": Action(Subject.FREE, _ADDED_QUESTIONS),
    "test-questions.remove": Action(Subject.THING),
    "together.export": Action(details={"table": Kind.CODE}),
    # Issued by command for another person: the account id, which remains after their name is erased.
    "tokens.add": Action(Subject.FREE, {"account": Kind.NUMBER, "scopes": Kind.CODES, "days": Kind.NUMBER}),
    "tokens.revoke": Action(Subject.FREE),
    "topics.accept": Action(Subject.THING),
    "topics.add": Action(Subject.THING),
    "topics.assign": Action(Subject.ACCOUNT, {"topics": Kind.CODES}),
    "topics.drop": Action(Subject.THING, {"reason": Kind.HIDDEN}),
    "topics.edit": Action(Subject.THING),
    "topics.import": Action(Subject.FREE, _numbers("added", "changed", "unchanged")),
    "topics.restore": Action(Subject.THING),
    "training.clear": Action(details={"documents": Kind.NUMBER, "answers": Kind.FLAG}),
    "training.import": Action(Subject.FREE, _numbers("documents")),
    "training.pass-mark": Action(details=_numbers("percent", "documents")),
    "users.add": Action(Subject.ACCOUNT, {"administrator": Kind.FLAG}),
    **dict.fromkeys(("users.email-asked", "users.email-confirmed", "users.email-removed"), Action(Subject.ACCOUNT)),
    "users.forget": Action(Subject.ACCOUNT),
    # Without the identity: its address would be kept for good.
    "users.identity-link": Action(Subject.ACCOUNT, {"issuer": Kind.CODE}),
    "users.identity-unlink": Action(Subject.ACCOUNT, {"issuer": Kind.CODE, **_numbers("identities")}),
    "users.mark-machine": Action(Subject.ACCOUNT),
    "users.mark-person": Action(Subject.ACCOUNT),
    **dict.fromkeys(("users.passkey-add", "users.passkey-rename", "users.passkey-refused"), Action(Subject.ACCOUNT)),
    "users.passkey-remove": Action(Subject.ACCOUNT, _numbers("passkeys")),
    "users.password": Action(Subject.ACCOUNT, {"tokens_revoked": Kind.FLAG, "by": Kind.CODE}),
    "users.password-link": Action(Subject.ACCOUNT, {"by": Kind.CODE}),
    "users.recovery-code": Action(Subject.ACCOUNT, _numbers("left")),
    "users.recovery-codes": Action(Subject.ACCOUNT),
    "users.second-factor-off": Action(Subject.ACCOUNT),
    "users.second-factor-on": Action(Subject.ACCOUNT),
    "users.second-factor-reset": Action(Subject.ACCOUNT),
    "users.sign-out": Action(Subject.ACCOUNT),
    "webhooks.add": Action(Subject.THING, {"events": Kind.CODES}),
    "webhooks.remove": Action(Subject.THING),
    "webhooks.test": Action(Subject.THING),
}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} in place of a text")
    text = str(value)  # str() of a StrEnum member is its code
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}{HIDDEN}"


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{type(value).__name__} in place of a number")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{type(value).__name__} in place of yes or no")
    return value


def _moment(value: object) -> str:
    return value.astimezone(UTC).isoformat(timespec="seconds") if isinstance(value, datetime) else _text(value)


def _policy(value: object) -> str:
    text = _text(value)
    return f"{ONE_JUDGE}{HIDDEN}" if text.startswith(ONE_JUDGE) else text


_PLAIN: Mapping[Kind, Callable[[Any], object]] = {
    Kind.NUMBER: _number,
    Kind.FLAG: _flag,
    Kind.CODE: _text,
    Kind.CODES: lambda value: [_text(one) for one in value],
    Kind.MOMENT: _moment,
    Kind.POLICY: _policy,
    Kind.SCALE: lambda value: [{"value": _number(grade.value), "name": _text(grade.name)} for grade in value],
    Kind.RUNS: lambda value: {_text(variant): _text(tag or "") for variant, tag in value.items()},
    Kind.HIDDEN: lambda value: HIDDEN if _text(value) else "",
}


def actions_of(*subjects: Subject) -> list[str]:
    """Names of the actions whose subject has one of these types."""
    return [name for name, action in ACTIONS.items() if action.subject in subjects]


def plain_details(action: str, details: Mapping[str, Any]) -> dict[str, Any]:
    """The details of an entry as JSON values; those that are None are left out.

    Raises `TypeError` for an undeclared action or detail and for a value of the wrong type: entries cannot be deleted,
    so nothing may be logged by accident.
    """
    if action not in ACTIONS:
        raise TypeError(f"The action {action} is not declared in {__name__}.")
    declared = ACTIONS[action].details
    if undeclared := details.keys() - declared.keys():
        raise TypeError(f"{action} has no detail {min(undeclared)}: declare it in {__name__}.")
    try:
        return {name: _PLAIN[declared[name]](value) for name, value in details.items() if value is not None}
    except (AttributeError, TypeError) as error:
        raise TypeError(f"A detail of {action} is not of its kind: {error}.") from error


# A session that the calling interfaces (web, API, command) only pass on.
Transaction: TypeAlias = Session


@dataclass(frozen=True)
class Actor:
    """Who acts: an account, or for a command the operating system's user."""

    door: Door
    name: str
    user_id: int | None = None


def guard_log(_table: Table, connection: Connection, **_options: object) -> None:
    """Create triggers that reject updates and deletes of log entries."""
    for statement in SQLITE_GUARDS if connection.dialect.name == "sqlite" else POSTGRES_GUARDS:
        connection.exec_driver_sql(statement)


event.listen(cast("Table", AuditEvent.__table__), "after_create", guard_log)


def record_in(
    session: Session,
    actor: Actor,
    action: str,
    slug: str | None,
    *,
    at: datetime,
    subject: object = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry to the log of the collection with that short name, or to the site's log when it is None."""
    collection_id = find_collection(session, slug).id if slug is not None else None
    record(session, actor, action, at=at, collection_id=collection_id, subject=str(subject), details=details)


def record(
    session: Session,
    actor: Actor,
    action: str,
    *,
    at: datetime,
    collection_id: int | None = None,
    subject: str = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry in the transaction of the action itself: a rolled-back action has no entry.

    People's names go into the subject and never into the details, which erasure does not change. Raises `TypeError` as
    `plain_details` does.
    """
    session.add(
        AuditEvent(
            at=at,
            user_id=actor.user_id,
            name=actor.name,
            door=actor.door,
            collection_id=collection_id,
            action=action,
            subject=subject,
            details=plain_details(action, details or {}),
        )
    )
