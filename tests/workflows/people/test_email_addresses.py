"""E-mail addresses of accounts, links to a new password, and invitations by e-mail."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from build import NOW, PASSWORD, member, news, user
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.passwords import hash_known_password
from annotator.storage import EmailAddress, Mail, MailKind, Role
from annotator.storage.site.mail import Letter, queue_for_account, take_mail
from annotator.storage.tables.mail import Notice
from annotator.workflows.people import accounts, email_addresses, erasure, forgotten_password, invitations
from annotator.workflows.people.email_addresses import EmailSettings, show_email
from annotator.workflows.people.invitations import InvitationRequest, InvitationState
from annotator.workflows.site import mail
from annotator.workflows.site.mail import MailState

NORA = "Nora@example.org"
LATER = NOW + timedelta(minutes=10)


@pytest.fixture
def jo(session: Session) -> int:
    return user(session, "jo")


def mails(session: Session, kind: MailKind) -> list[Mail]:
    session.flush()
    found = select(Mail).where(Mail.kind == kind).order_by(Mail.id).execution_options(populate_existing=True)
    return list(session.scalars(found))


def secret_in(one: Mail) -> str:
    return str(one.content["path"]).partition("?key=")[2]


def asked(session: Session, user_id: int, address: str = NORA, **others: Any) -> str:  # noqa: ANN401 - of the call
    """The secret of a link that was sent to confirm an address."""
    email_addresses.ask_to_confirm(session, user_id, address, **{"language": "ko", "at": NOW, **others})
    return secret_in(mails(session, MailKind.CONFIRMATION)[-1])


def with_address(session: Session, user_id: int, address: str = NORA) -> None:
    email_addresses.confirm(session, user_id, asked(session, user_id, address), at=NOW)


def test_an_address_is_confirmed_by_the_link_that_was_sent_to_it(session: Session, jo: int) -> None:
    secret = asked(session, jo, " Nora@EXAMPLE.org ")
    (sent,) = mails(session, MailKind.CONFIRMATION)
    assert (sent.address, sent.language, sent.user_id) == (NORA, "ko", jo)
    assert show_email(session, jo, now=NOW) == EmailSettings(None, NORA, "ko")
    assert email_addresses.confirm(session, jo, secret, at=NOW) == NORA
    assert show_email(session, jo, now=NOW) == EmailSettings(NORA, None, "ko")
    with pytest.raises(NotFoundError, match="used already"):
        email_addresses.confirm(session, jo, secret, at=NOW)
    with pytest.raises(ConflictError, match="your address already"):
        asked(session, jo)


def test_the_earlier_address_stays_until_the_new_one_is_confirmed(session: Session, jo: int) -> None:
    with_address(session, jo)
    first = asked(session, jo, "one@example.org")
    second = asked(session, jo, "two@example.org")
    assert show_email(session, jo, now=NOW).address == NORA
    # The link to the first is not sent any more, and not valid.
    assert [one.address for one in mails(session, MailKind.CONFIRMATION)] == ["two@example.org"]
    with pytest.raises(NotFoundError, match="replaced by a later one"):
        email_addresses.confirm(session, jo, first, at=NOW)
    late = NOW + email_addresses.VALID_FOR
    assert show_email(session, jo, now=late).new_address is None
    with pytest.raises(NotFoundError, match="has expired"):
        email_addresses.confirm(session, jo, second, at=late)


def test_a_link_confirms_for_no_other_account(session: Session, jo: int) -> None:
    secret = asked(session, jo)
    with pytest.raises(NotFoundError, match="another account"):
        email_addresses.confirm(session, user(session, "kim"), secret, at=NOW)


def test_two_accounts_may_have_one_address_so_that_nobody_learns_whose_it_is(session: Session, jo: int) -> None:
    kim = user(session, "kim")
    with_address(session, jo)
    with_address(session, kim)
    assert forgotten_password.send_password_links(session, NORA, at=NOW) == ["jo", "kim"]


@pytest.mark.parametrize("written", ["nora", "a@b@c", "nora@example.org\nBcc: all@example.org", "nöra@example.org", ""])
def test_what_is_no_address_is_refused(session: Session, jo: int, written: str) -> None:
    with pytest.raises(InvalidValueError, match="is no e-mail address"):
        asked(session, jo, written)
    assert mails(session, MailKind.CONFIRMATION) == []


def test_only_what_is_wanted_is_sent_to_a_confirmed_address(session: Session, jo: int) -> None:
    letter = Letter(MailKind.JOB, {"job": 1})
    queue_for_account(session, None, letter, at=NOW)
    queue_for_account(session, jo, letter, at=NOW)
    secret = asked(session, jo)
    queue_for_account(session, jo, letter, at=NOW)
    assert mails(session, MailKind.JOB) == []
    email_addresses.confirm(session, jo, secret, at=NOW)
    queue_for_account(session, jo, letter, at=NOW)
    email_addresses.choose_mail(session, jo, language="en", wanted=[MailKind.RECEIPT])
    queue_for_account(session, jo, letter, at=NOW)
    queue_for_account(session, jo, Letter(MailKind.RECEIPT, {"runs": []}), at=NOW)
    assert [one.language for one in mails(session, MailKind.JOB)] == ["ko"]
    assert [one.language for one in mails(session, MailKind.RECEIPT)] == ["en"]


def test_a_person_removes_the_address_and_what_waits_for_it(session: Session, jo: int) -> None:
    with_address(session, jo)
    email_addresses.remove_email(session, jo, at=NOW)
    assert [one.kind for one in session.scalars(select(Mail))] == [MailKind.NOTICE]
    assert show_email(session, jo, now=NOW) == EmailSettings()


def test_nobody_deletes_the_email_of_others_by_naming_their_address(session: Session, jo: int) -> None:
    kim = user(session, "kim")
    with_address(session, kim)
    forgotten_password.send_password_links(session, "kim", at=NOW)
    invitations.invite(session, None, InvitationRequest(email=NORA), made_by_id=None, at=NOW)
    asked(session, jo)
    email_addresses.remove_email(session, jo, at=NOW)
    assert [one.user_id for one in mails(session, MailKind.PASSWORD)] == [kim]
    with_address(session, jo)
    erasure.forget_user(session, "jo")
    assert [one.user_id for one in mails(session, MailKind.PASSWORD)] == [kim]
    assert len(mails(session, MailKind.INVITATION)) == 1
    assert show_email(session, kim, now=NOW).address == NORA


def by_an_administrator(session: Session) -> None:
    accounts.set_password(session, "jo", hash_known_password("another one"), at=NOW)


def by_a_link_of_somebody_else(session: Session) -> None:
    secret = invitations.invite_to_password(session, None, "jo", made_by_id=None, at=NOW)
    invitations.accept_password(session, secret, hash_known_password("another one"), at=NOW)


@pytest.mark.parametrize("renew", [by_an_administrator, by_a_link_of_somebody_else])
def test_a_new_password_from_others_deletes_an_address_that_an_intruder_may_have_given(
    session: Session, jo: int, renew: Callable[[Session], None]
) -> None:
    with_address(session, jo)
    waiting = asked(session, jo, "other@example.org")
    renew(session)
    assert show_email(session, jo, now=NOW) == EmailSettings()
    assert forgotten_password.send_password_links(session, NORA, at=NOW) == []
    with pytest.raises(NotFoundError):
        email_addresses.confirm(session, jo, waiting, at=NOW)


def test_one_s_own_new_password_keeps_the_address(session: Session, jo: int) -> None:
    with_address(session, jo)
    forgotten_password.send_password_links(session, "jo", at=NOW)
    (sent,) = mails(session, MailKind.PASSWORD)
    invitations.accept_password(session, secret_in(sent), hash_known_password("another one"), at=NOW)
    accounts.change_password(session, jo, "another one", hash_known_password(PASSWORD), at=NOW)
    assert show_email(session, jo, now=NOW).address == NORA


@pytest.mark.parametrize("change", ["remove", "confirm"])
def test_another_address_or_none_withdraws_links_to_a_new_password(session: Session, jo: int, change: str) -> None:
    with_address(session, jo)
    forgotten_password.send_password_links(session, "jo", at=NOW)
    (sent,) = mails(session, MailKind.PASSWORD)
    secret = secret_in(sent)
    if change == "remove":
        email_addresses.remove_email(session, jo, at=NOW)
    else:
        with_address(session, jo, "other@example.org")
    with pytest.raises(NotFoundError):
        invitations.open_invitation(session, secret, now=NOW)


def test_an_erased_person_has_no_address_and_gets_no_email(session: Session, jo: int) -> None:
    with_address(session, jo)
    invitations.invite(session, None, InvitationRequest(email=NORA), made_by_id=None, at=NOW)
    forgotten_password.send_password_links(session, "jo", at=NOW)
    session.flush()
    erasure.forget_user(session, "jo")
    assert session.scalars(select(Mail)).all() == []
    assert session.scalars(select(EmailAddress)).all() == []


@pytest.mark.parametrize("written", ["jo", "Nora@EXAMPLE.ORG", " nora@example.org"])
def test_a_link_to_a_new_password_goes_to_the_confirmed_address(session: Session, jo: int, written: str) -> None:
    with_address(session, jo)
    assert forgotten_password.send_password_links(session, written, at=NOW) == ["jo"]
    (sent,) = mails(session, MailKind.PASSWORD)
    assert (sent.address, sent.language, sent.until) == (NORA, "ko", NOW + forgotten_password.VALID_FOR)
    invitations.accept_password(session, secret_in(sent), hash_known_password("another one"), at=NOW)
    assert accounts.sign_in(session, "jo", "another one") is not None


@pytest.mark.parametrize("written", ["kim", "nobody", "kim@example.org", "", "@"])
def test_without_a_confirmed_address_no_link_is_sent(session: Session, written: str) -> None:
    kim = user(session, "kim")
    asked(session, kim, "kim@example.org")
    assert forgotten_password.send_password_links(session, written, at=NOW) == []
    assert mails(session, MailKind.PASSWORD) == []


def test_asking_again_sends_no_second_link_for_some_minutes_and_keeps_the_first(session: Session, jo: int) -> None:
    with_address(session, jo)
    assert forgotten_password.send_password_links(session, "jo", at=NOW) == ["jo"]
    assert forgotten_password.send_password_links(session, "jo", at=NOW + timedelta(minutes=4)) == []
    assert forgotten_password.send_password_links(session, "jo", at=LATER) == ["jo"]
    first, second = map(secret_in, mails(session, MailKind.PASSWORD))
    for secret in (first, second):
        assert invitations.open_invitation(session, secret, now=LATER).account == "jo"
    with pytest.raises(NotFoundError):
        invitations.open_invitation(session, first, now=NOW + forgotten_password.VALID_FOR)
    invitations.accept_password(session, first, hash_known_password("another one"), at=LATER)
    with pytest.raises(NotFoundError):
        invitations.open_invitation(session, second, now=LATER)


def test_an_account_has_few_links_that_are_valid_at_a_time(session: Session, jo: int) -> None:
    with_address(session, jo)
    asked_at = [NOW + timedelta(minutes=10) * turn for turn in range(forgotten_password.MOST_LINKS + 1)]
    sent = [forgotten_password.send_password_links(session, "jo", at=at) for at in asked_at]
    assert sent == [["jo"]] * forgotten_password.MOST_LINKS + [[]]
    assert len(mails(session, MailKind.PASSWORD)) == forgotten_password.MOST_LINKS
    after = NOW + forgotten_password.VALID_FOR
    assert forgotten_password.send_password_links(session, "jo", at=after) == ["jo"]


def change_address(session: Session, jo: int) -> None:
    with_address(session, jo, "other@example.org")


def remove_address(session: Session, jo: int) -> None:
    email_addresses.remove_email(session, jo, at=NOW)


def change_password(session: Session, jo: int) -> None:
    accounts.change_password(session, jo, PASSWORD, hash_known_password("another one"), at=NOW)


def password_by_an_administrator(session: Session, jo: int) -> None:
    assert jo
    by_an_administrator(session)


def password_by_a_link(session: Session, jo: int) -> None:
    assert jo
    by_a_link_of_somebody_else(session)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (change_address, Notice.ADDRESS_CHANGED),
        (remove_address, Notice.ADDRESS_REMOVED),
        (change_password, Notice.PASSWORD_CHANGED),
        (password_by_an_administrator, Notice.PASSWORD_BY_OTHERS),
        (password_by_a_link, Notice.PASSWORD_BY_OTHERS),
    ],
)
def test_the_earlier_address_gets_a_notice(
    session: Session, jo: int, change: Callable[[Session, int], None], what: Notice
) -> None:
    with_address(session, jo)
    change(session, jo)
    (notice,) = mails(session, MailKind.NOTICE)
    assert (notice.address, notice.language, notice.content["what"]) == (NORA, "ko", what)


def test_a_notice_is_sent_although_the_address_is_changed_and_removed(session: Session, jo: int) -> None:
    with_address(session, jo)
    change_address(session, jo)
    remove_address(session, jo)
    notices = [(one.address, one.content["what"]) for one in mails(session, MailKind.NOTICE)]
    assert notices == [(NORA, Notice.ADDRESS_CHANGED), ("other@example.org", Notice.ADDRESS_REMOVED)]
    due = take_mail(session, now=NOW, kinds=(), per_hour=500)
    assert due is not None
    assert (due.kind, due.address) == (MailKind.NOTICE, NORA)
    erasure.forget_user(session, "jo")
    assert mails(session, MailKind.NOTICE) == []


def test_without_a_confirmed_address_there_is_no_notice(session: Session, jo: int) -> None:
    asked(session, jo)
    change_password(session, jo)
    remove_address(session, jo)
    assert mails(session, MailKind.NOTICE) == []


def test_a_new_password_ends_the_other_links_and_asking_does_not_end_an_administrators(
    session: Session, jo: int
) -> None:
    with_address(session, jo)
    by_hand = invitations.invite_to_password(session, None, "jo", made_by_id=None, at=NOW)
    forgotten_password.send_password_links(session, "jo", at=NOW)
    (sent,) = mails(session, MailKind.PASSWORD)
    assert invitations.open_invitation(session, by_hand, now=NOW).account == "jo"
    invitations.accept_password(session, secret_in(sent), hash_known_password(PASSWORD), at=NOW)
    with pytest.raises(NotFoundError):
        invitations.open_invitation(session, by_hand, now=NOW)


def test_an_invitation_is_sent_when_it_is_made_and_the_list_says_so(session: Session) -> None:
    news(session)
    ola = member(session, "ola", Role.ORGANISER)
    wanted = InvitationRequest(Role.JUDGE, email=NORA, language="ko", note="secret note")
    made = invitations.invite(session, "news", wanted, made_by_id=ola, at=NOW)
    (sent,) = mails(session, MailKind.INVITATION)
    assert (sent.address, sent.language, sent.user_id) == (NORA, "ko", None)
    assert secret_in(sent) == made.secret
    # Neither who invited nor the note.
    assert set(sent.content) == {"title", "role", "path", "until"}
    (listed,) = invitations.list_invitations(session, "news", now=NOW)
    assert (listed.state, listed.mail, listed.problem) == (InvitationState.OPEN, MailState.WAITING, "")
    with pytest.raises(InvalidValueError, match="is no e-mail address"):
        invitations.invite(session, None, InvitationRequest(email="nora"), made_by_id=None, at=NOW)


def test_administrators_see_what_waits_send_it_again_and_remove_it(session: Session, jo: int) -> None:
    with_address(session, jo)
    queue_for_account(session, jo, Letter(MailKind.JOB, {"job": 1}), at=NOW)
    confirmation, job = mails(session, MailKind.CONFIRMATION)[0], mails(session, MailKind.JOB)[0]
    confirmation.sent_at, confirmation.next_at, confirmation.content = NOW, None, {}
    job.next_at, job.problem, job.epoch = None, "550 no such mailbox", "before"
    session.flush()
    assert mail.count_mail(session) == {MailState.WAITING: 0, MailState.SENT: 1, MailState.GIVEN_UP: 1}
    assert [(one.kind, one.state) for one in mail.list_mail(session)] == [
        (MailKind.JOB, MailState.GIVEN_UP),
        (MailKind.CONFIRMATION, MailState.SENT),
    ]
    (given_up,) = mail.list_mail(session, MailState.GIVEN_UP)
    assert given_up.problem == "550 no such mailbox"
    mail.retry_mail(session, job.id, at=LATER)
    session.flush()
    (again,) = mail.list_mail(session, MailState.WAITING)
    assert (again.next_at, again.asked_at, again.attempts) == (LATER, LATER, 0)
    assert job.epoch == confirmation.epoch
    with pytest.raises(ConflictError, match="was sent already"):
        mail.retry_mail(session, confirmation.id, at=LATER)
    job.content, job.problem = {}, "The link in it was used or withdrawn."
    with pytest.raises(ConflictError, match="is of no use any more: The link in it was used"):
        mail.retry_mail(session, job.id, at=LATER)
    # What waits is given up first; what was given up is deleted.
    for left in (1, 0):
        mail.remove_mail(session, job.id)
        session.flush()
        assert len(mails(session, MailKind.JOB)) == left
    with pytest.raises(NotFoundError, match="There is no e-mail"):
        mail.remove_mail(session, job.id)
