"""Takes from the outbox what is sent next, and gives up what is not true any more."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from annotator.storage import MailKind
from annotator.storage.site.mail import DueMail, recipient_now, record_stale, send_to, take_mail, wants_mail
from annotator.workflows.collections.answer_mail import answer_mail_now
from annotator.workflows.runs.reminders import is_reminder_needed
from annotator.workflows.site.jobs import can_open_result

MOST_STALE = 50  # given up in one transaction
# These go to the account, wherever its e-mail goes by now; others to the address for which they were written.
TO_ACCOUNTS = (MailKind.RECEIPT, MailKind.REMINDER, MailKind.JOB, MailKind.ANSWER)


def take_true_mail(session: Session, *, now: datetime, kinds: Collection[str], per_hour: int) -> DueMail | None:
    """Take the e-mail that is sent next, as `take_mail` does; days may have passed since it was queued.

    Returns None as well after many in a row that are not true any more: the rest is for the next transaction.
    """
    for _ in range(MOST_STALE):
        due = take_mail(session, now=now, kinds=kinds, per_hour=per_hour)
        if due is None:
            return None
        true = _as_it_is_now(session, due, now) if wants_mail(session, due.user_id, due.kind) else None
        if true is not None:
            return true
        record_stale(session, due)
    return None


def _as_it_is_now(session: Session, due: DueMail, now: datetime) -> DueMail | None:
    content = _content_now(session, due, now)
    if content is None or due.user_id is None or due.kind not in TO_ACCOUNTS:
        return None if content is None else replace(due, content=content)
    to = recipient_now(session, due.user_id)
    return None if to is None else send_to(session, replace(due, content=content), to)


def _content_now(session: Session, due: DueMail, now: datetime) -> Mapping[str, Any] | None:
    match due.kind:
        case MailKind.REMINDER:
            is_true = is_reminder_needed(session, due.user_id, due.once, now=now)
        case MailKind.ANSWER:
            return answer_mail_now(session, due.user_id, due.content)
        case MailKind.JOB:
            is_true = can_open_result(session, due.user_id, due.content.get("slug"))
        case _:
            is_true = True
    return due.content if is_true else None
