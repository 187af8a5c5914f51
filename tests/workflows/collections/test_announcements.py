"""Announcements: for participants or for all members, with e-mail to those who want it and may still read them."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, member, news
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage import EmailAddress, Mail, MailKind, Membership, Role
from annotator.storage.site.mail import record_sent
from annotator.workflows.collections import announcements, collection
from annotator.workflows.collections.announcements import NewAnnouncement
from annotator.workflows.runs.mail_taking import take_true_mail

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def people(session: Session) -> dict[str, int]:
    """A member of each role, all with an address."""
    news(session)
    found = {
        role.value: member(session, role.value, role, team="red" if role is Role.PARTICIPANT else None) for role in Role
    }
    for user_id in found.values():
        address = f"{user_id}@example.org"
        session.add(EmailAddress(user_id=user_id, address=address, language="en", unwanted=""))
    session.flush()
    return found


def announce(
    session: Session, title: str = "Topics", text: str = "They are *final*.", *, everyone: bool = False
) -> int:
    new = NewAnnouncement(title, text, for_everyone=everyone)
    return announcements.announce(session, SLUG, new, published_by_id=None, published_at=NOW)


def titles(session: Session, *, participates: bool) -> list[str]:
    return [row.title for row in announcements.list_announcements(session, SLUG, participates=participates)]


def recipients(session: Session) -> set[int | None]:
    session.flush()
    return set(session.scalars(select(Mail.user_id).where(Mail.kind == MailKind.ANSWER)))


def sent(session: Session) -> set[int | None]:
    session.flush()
    found = set()
    while (due := take_true_mail(session, now=LATER, kinds=["answers"], per_hour=99)) is not None:
        record_sent(session, due, at=LATER)
        found.add(due.user_id)
    return found


def test_participants_see_all_announcements_and_others_those_for_everyone(
    session: Session, people: dict[str, int]
) -> None:
    announce(session, "For teams")
    assert recipients(session) == {people["participant"]}
    announce(session, "For all", everyone=True)
    assert titles(session, participates=True) == ["For all", "For teams"]
    assert titles(session, participates=False) == ["For all"]
    assert recipients(session) == {people[role] for role in ("participant", "judge", "adjudicator", "observer")}


def test_an_announcement_is_changed_without_another_e_mail_and_withdrawn(
    session: Session, people: dict[str, int]
) -> None:
    number = announce(session)
    same, other = NewAnnouncement("Topics", "They are *final*."), NewAnnouncement("Topics", "They changed.")
    assert not announcements.change(session, SLUG, number, same, changed_at=LATER)
    assert announcements.change(session, SLUG, number, other, changed_at=LATER)
    shown = announcements.show_announcement(session, SLUG, number)
    assert (shown.text, shown.published_at, shown.changed_at) == ("They changed.", NOW, LATER)
    assert len(session.scalars(select(Mail)).all()) == 1
    announcements.withdraw(session, SLUG, number)
    assert titles(session, participates=True) == []
    assert sent(session) == set()
    with pytest.raises(NotFoundError, match=f"There is no announcement {number}"):
        announcements.withdraw(session, SLUG, number)
    assert announce(session) > number
    assert sent(session) == {people["participant"]}


@pytest.mark.usefixtures("people")
def test_an_e_mail_that_waits_has_the_title_as_it_was_corrected(session: Session) -> None:
    number = announce(session)
    announcements.change(session, SLUG, number, NewAnnouncement("Later", "They changed."), changed_at=LATER)
    session.flush()
    due = take_true_mail(session, now=LATER, kinds=["answers"], per_hour=99)
    assert due is not None
    assert due.content["subject"] == "Later"


def test_who_has_left_or_may_not_read_it_any_more_gets_no_e_mail(session: Session, people: dict[str, int]) -> None:
    number = announce(session, everyone=True)
    session.execute(delete(Membership).where(Membership.user_id == people["participant"]))
    new = NewAnnouncement("Topics", "For teams.", for_everyone=False)
    announcements.change(session, SLUG, number, new, changed_at=LATER)
    assert sent(session) == set()


@pytest.mark.usefixtures("people")
def test_a_closed_collection_still_announces(session: Session) -> None:
    collection.close_collection(session, SLUG)
    announce(session)
    assert titles(session, participates=True) == ["Topics"]


@pytest.mark.parametrize(
    ("title", "text", "message"),
    [
        (" ", "text", "a title and a text"),
        ("title", "\n", "a title and a text"),
        ("\u2060\u2800", "text", "a title and a text"),
        ("a" * 201, "text", "too long"),
        ("two\nlines", "text", "one line"),
        ("two\x85lines", "text", "one line"),
        ("title", "a" * 20_001, "too long"),
        ("nul\0", "text", "cannot be stored"),
    ],
)
@pytest.mark.usefixtures("people")
def test_an_announcement_that_does_not_fit_is_refused(session: Session, title: str, text: str, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        announce(session, title, text)
    assert titles(session, participates=True) == []


@pytest.mark.usefixtures("people")
def test_an_announcement_of_another_collection_is_not_found(session: Session) -> None:
    number = announce(session)
    news(session, "other")
    new = NewAnnouncement("a", "b")
    with pytest.raises(NotFoundError):
        announcements.change(session, "other", number, new, changed_at=LATER)
    with pytest.raises(NotFoundError):
        announcements.withdraw(session, "other", number)
    assert announcements.list_announcements(session, "other", participates=True) == []
