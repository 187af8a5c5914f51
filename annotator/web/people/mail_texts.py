"""The subject and the text of each kind of e-mail, in the language of its recipient."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import flask_babel  # type: ignore[import-untyped]  # typed by the module of languages

from annotator.storage import MailKind, Role
from annotator.storage.site.mail import DueMail
from annotator.storage.tables.mail import CHOSEN_BY_PEOPLE, Notice
from annotator.web.site.labels import ROLES
from annotator.web.site.language import gettext
from annotator.workflows.collections.answer_mail import About

MOST_LISTED = 50  # runs of one receipt
Content = Mapping[str, Any]
# The subject, and the paragraphs.
Words = tuple[str, list[str]]


def words_of(due: DueMail, site: str) -> tuple[str, str]:
    """The subject and the text of an e-mail; `site` is the address with which its links begin."""
    with flask_babel.force_locale(due.language):
        subject, paragraphs = TEXTS[due.kind](due.content, site)
        closing = [gettext("This message was sent by %(site)s.", site=site)]
        if due.kind in CHOSEN_BY_PEOPLE:
            closing.append(
                gettext("On the page of your account you can turn off such messages: %(link)s", link=f"{site}/account")
            )
    return subject, "\n\n".join([*paragraphs, "-- \n" + "\n".join(closing)]) + "\n"


def _invitation(content: Content, site: str) -> Words:
    if content["title"] is None:
        subject = gettext("Invitation")
        lead = gettext("You are invited to create an account.")
    else:
        title = content["title"]
        subject = gettext("Invitation to “%(title)s”", title=title)
        lead = gettext(
            "You are invited to “%(title)s”. Your role: %(role)s.", title=title, role=ROLES[Role(content["role"])]
        )
    return subject, [
        lead,
        gettext("This link works once, until %(moment)s:", moment=_moment(content["until"])),
        f"{site}{content['path']}",
        gettext("If you do not know what this is about, ignore this message."),
    ]


def _password(content: Content, site: str) -> Words:
    return gettext("A new password"), [
        gettext(
            "Somebody, perhaps you, asked for a new password for the account “%(name)s”. Choose it here; the link "
            "works once, until %(moment)s:",
            name=content["name"],
            moment=_moment(content["until"]),
        ),
        f"{site}{content['path']}",
        gettext("If it was not you, ignore this message: your password stays as it is."),
    ]


def _confirmation(content: Content, site: str) -> Words:
    return gettext("Confirm your e-mail address"), [
        gettext(
            "Somebody, perhaps you, gave this e-mail address for an account. Confirm it here, signed in to that "
            "account; the link works once, until %(moment)s:",
            moment=_moment(content["until"]),
        ),
        f"{site}{content['path']}",
        gettext("If it was not you, ignore this message: nothing else will be sent to you."),
    ]


def _receipt(content: Content, site: str) -> Words:
    runs = content["runs"]
    lines = [
        gettext(
            "%(tag)s, version %(version)d, SHA-256 %(checksum)s",
            tag=run["tag"],
            version=run["version"],
            checksum=run["sha256"],
        )
        for run in runs[:MOST_LISTED]
    ]
    if len(runs) > MOST_LISTED:
        lines.append(gettext("and %(count)d more", count=len(runs) - MOST_LISTED))
    return gettext("Runs received for “%(title)s”", title=content["title"]), [
        gettext(
            "Received for “%(title)s” at %(moment)s. Number of runs: %(count)d.",
            title=content["title"],
            moment=_moment(content["at"]),
            count=len(runs),
        ),
        "\n".join(lines),
        gettext("Receipts with all details: %(link)s", link=f"{site}/collections/{content['slug']}/runs"),
    ]


def _reminder(content: Content, site: str) -> Words:
    return gettext("The deadline of “%(title)s” is near", title=content["title"]), [
        gettext(
            "Runs for “%(title)s” can be sent until %(moment)s. Your team has sent none yet.",
            title=content["title"],
            moment=content["deadline"],
        ),
        f"{site}/collections/{content['slug']}/runs",
    ]


def _job(content: Content, site: str) -> Words:
    place = "" if content["slug"] is None else f"/collections/{content['slug']}"
    return gettext("Your job is done") if content["is_done"] else gettext("Your job has failed"), [
        *([] if content["title"] is None else [gettext("Collection: “%(title)s”", title=content["title"])]),
        gettext("What came of it: %(link)s", link=f"{site}{place}/jobs/{content['job']}"),
    ]


def _answer(content: Content, site: str) -> Words:
    title, place = content["title"], f"{site}/collections/{content['slug']}"
    match content["about"]:
        case About.ANNOUNCEMENT:
            return gettext("Announcement of “%(title)s”: %(subject)s", title=title, subject=content["subject"]), [
                gettext("The organisers of “%(title)s” announce: %(subject)s", title=title, subject=content["subject"]),
                gettext("Read it here: %(link)s", link=f"{place}/announcements"),
            ]
        case About.PUBLIC_ANSWER:
            return gettext("A question about “%(title)s” was answered", title=title), [
                gettext("The organisers of “%(title)s” answered a question for all participants.", title=title),
                gettext("Read it here: %(link)s", link=f"{place}/announcements"),
            ]
        case about:
            page = "team/questions" if about == About.TEAM_ANSWER else "judge/questions"
            return gettext("An answer to your question about “%(title)s”", title=title), [
                gettext("The organisers of “%(title)s” answered your question.", title=title),
                gettext("Read it here: %(link)s", link=f"{place}/{page}"),
            ]


def _notice(content: Content, site: str) -> Words:
    what, values = Notice(content["what"]), {"name": content["name"], "moment": _moment(content["at"])}
    if what is Notice.ADDRESS_CHANGED:
        subject = gettext("Your e-mail address was changed")
        lead = gettext("The account “%(name)s” has another e-mail address since %(moment)s.", **values)
    elif what is Notice.ADDRESS_REMOVED:
        subject = gettext("Your e-mail address was removed")
        lead = gettext("This e-mail address was removed from the account “%(name)s” at %(moment)s.", **values)
    elif what is Notice.PASSWORD_CHANGED:
        subject = gettext("Your password was changed")
        lead = gettext("The account “%(name)s” has a new password since %(moment)s.", **values)
    else:
        subject = gettext("Your password was changed")
        lead = gettext(
            "The account “%(name)s” has a new password since %(moment)s, set by an administrator or by a link from an "
            "organiser. This e-mail address was removed from the account: it can be given again.",
            **values,
        )
    return subject, [
        lead,
        gettext(
            "If it was not you, somebody else may use your account: inform an administrator of %(site)s at once.",
            site=site,
        ),
    ]


def _moment(written: str) -> str:
    """A stored moment as people read it, in UTC."""
    return datetime.fromisoformat(written).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


TEXTS: Mapping[MailKind, Callable[[Content, str], Words]] = {
    MailKind.INVITATION: _invitation,
    MailKind.PASSWORD: _password,
    MailKind.CONFIRMATION: _confirmation,
    MailKind.RECEIPT: _receipt,
    MailKind.REMINDER: _reminder,
    MailKind.JOB: _job,
    MailKind.ANSWER: _answer,
    MailKind.NOTICE: _notice,
}
