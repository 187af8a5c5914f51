"""Passkeys of accounts: added, used after the password and alone, renamed, removed, and refused."""

from dataclasses import replace
from datetime import timedelta

import pytest
from build import NOW, member, news, user
from passkey_device import Device
from pyotp import TOTP
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.storage import Passkey, RecoveryCode, Role, UsedChallenge
from annotator.storage.people.accounts import Person, lock_user
from annotator.workflows.people import accounts, erasure, passkeys, second_factor
from annotator.workflows.people.passkey_protocol import PasskeySite, request_options
from annotator.workflows.people.passkeys import ClonedPasskeyError, PasskeyRequest, UsedAtOnceError, new_challenge
from annotator.workflows.people.second_factor import Proof

SITE = PasskeySite("https://pool.example.org", "pool.example.org")
OTHER_SITE = PasskeySite("https://other.example.org", "other.example.org")
SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
LATER = NOW + timedelta(minutes=10)


@pytest.fixture
def jo(session: Session) -> int:
    return user(session, "jo")


def asked(site: PasskeySite = SITE) -> PasskeyRequest:
    return PasskeyRequest(site, new_challenge(), NOW + timedelta(days=1))


def added(session: Session, user_id: int, device: Device, name: str = "laptop") -> list[str]:
    """The recovery codes of an account that has added the passkey of this device."""
    request = asked(PasskeySite(device.origin, device.host))
    options = passkeys.ask_for_new(session, user_id, request.site, request.challenge)
    response, handle = device.create(options), options["user"]["id"]
    generation = lock_user(session, user_id).sign_in_generation
    _, codes = passkeys.add_passkey(
        session, user_id, generation, request, response, name=name, user_handle=handle, at=NOW
    )
    session.flush()
    return list(codes)


def proof(session: Session, user_id: int, device: Device) -> Proof:
    """What the device has signed as second factor of this account."""
    request = asked()
    options = passkeys.ask_for_known(session, user_id, request.site, request.challenge)
    return Proof(passkey=passkeys.check_signature(session, request, device.get(options)))


def alone(session: Session, device: Device) -> Person:
    request = asked()
    response = device.get(request_options(request.site, request.challenge))
    return passkeys.sign_in(session, passkeys.check_signature(session, request, response), at=LATER)


def test_the_first_passkey_turns_on_the_second_factor_and_ends_the_sessions(session: Session, jo: int) -> None:
    codes = added(session, jo, Device())
    assert len(codes) == 10
    assert second_factor.is_on(session, jo)
    assert accounts.load_person(session, jo, 0) is None
    assert [row.has_second_factor for row in accounts.list_users(session)] == [True]
    assert added(session, jo, Device(), "phone") == []
    state = second_factor.show_state(session, jo)
    assert state is not None
    assert (state.app_since, state.codes_left) == (None, 10)
    assert [row.name for row in state.passkeys] == ["laptop", "phone"]


def test_an_app_beside_passkeys_keeps_the_recovery_codes(session: Session, jo: int) -> None:
    codes = added(session, jo, Device())
    _, others = second_factor.turn_on(session, jo, 1, SECRET, TOTP(SECRET).at(NOW), at=NOW)
    assert others == ()
    session.flush()
    second_factor.turn_off(session, jo, Proof(codes[0]), at=NOW)
    state = second_factor.show_state(session, jo)
    assert state is not None
    assert (state.app_since, state.codes_left) == (None, 9)


def test_adding_begins_with_a_name(session: Session, jo: int) -> None:
    assert passkeys.check_adding(session, jo, "  my   laptop ") == "my laptop"
    for name in ("", " ", "x" * 65, "a\u202eb"):
        with pytest.raises(InvalidValueError, match="1 to 64 printable"):
            passkeys.check_adding(session, jo, name)
    for _ in range(passkeys.MOST_PASSKEYS):
        added(session, jo, Device())
    with pytest.raises(ConflictError, match="at most 20 passkeys"):
        passkeys.check_adding(session, jo, "laptop")
    with pytest.raises(ConflictError, match="at most 20 passkeys"):
        added(session, jo, Device())


def test_another_factor_is_added_only_with_the_present_one(session: Session, jo: int) -> None:
    device = Device()
    codes = added(session, jo, device)
    wrong = Proof("123456")
    with pytest.raises(InvalidValueError, match="code is wrong"):
        second_factor.begin_passkey(session, jo, 1, wrong, name="phone", at=LATER)
    with pytest.raises(InvalidValueError, match="code is wrong"):
        second_factor.begin(session, jo, 1, wrong, at=LATER)
    mine = proof(session, jo, device)
    assert second_factor.begin_passkey(session, jo, 1, mine, name=" phone ", at=LATER) == "phone"
    assert len(second_factor.begin(session, jo, 1, Proof(codes[0]), at=LATER)) == 32
    with pytest.raises(InvalidValueError, match="used already"):
        second_factor.begin(session, jo, 1, Proof(codes[0]), at=LATER)


def test_a_session_that_has_ended_adds_and_removes_nothing(session: Session, jo: int) -> None:
    device = Device()
    added(session, jo, device)
    [row] = passkeys.list_passkeys(session, jo)
    request, handle = asked(), new_challenge()
    options = passkeys.ask_for_new(session, jo, request.site, request.challenge)
    accounts.set_password(session, "jo", "hash-of-the-administrator", at=NOW)
    with pytest.raises(ConflictError, match="your session was ended meanwhile"):
        second_factor.remove_passkey(session, jo, 1, row.number, proof(session, jo, device), at=LATER)
    erasure.forget_user(session, "jo")
    response = Device().create(options)
    with pytest.raises(ConflictError, match="your session was ended meanwhile"):
        passkeys.add_passkey(session, jo, 1, request, response, name="x", user_handle=handle, at=NOW)
    assert session.scalars(select(Passkey)).all() == []


def test_the_same_passkey_is_added_once(session: Session, jo: int) -> None:
    device = Device()
    added(session, jo, device)
    options = passkeys.ask_for_new(session, jo, SITE, new_challenge())
    assert [one["id"] for one in options["excludeCredentials"]] == [session.scalar(select(Passkey.credential))]
    kim = user(session, "kim")
    for account in (jo, kim):
        with pytest.raises(ConflictError, match="added already"):
            added(session, account, device)
    assert not second_factor.is_on(session, kim)


def test_all_passkeys_of_an_account_have_its_handle(session: Session, jo: int) -> None:
    for device in (Device(), Device()):
        added(session, jo, device)
    added(session, user(session, "kim"), Device())
    handles = session.scalars(select(Passkey.user_handle).order_by(Passkey.id)).all()
    assert handles[0] == handles[1] != handles[2]


def test_a_passkey_signs_in_after_the_password(session: Session, jo: int) -> None:
    device = Device(verifies=False)  # such as a security key without PIN
    added(session, jo, device)
    accepted = second_factor.sign_in(session, jo, 1, proof(session, jo, device), at=LATER)
    assert accepted is not None
    assert (accepted.person.name, accepted.codes_left) == ("jo", None)
    assert [row.last_used_at for row in passkeys.list_passkeys(session, jo)] == [LATER]
    with pytest.raises(ConflictError, match="password again"):
        second_factor.sign_in(session, jo, 0, proof(session, jo, device), at=LATER)


def test_a_passkey_signs_in_alone_if_its_device_checks_the_person(session: Session, jo: int) -> None:
    device = Device()
    added(session, jo, device)
    assert alone(session, device) == Person(jo, "jo", administrator=False, generation=1)
    device.verifies = False
    with pytest.raises(NotAllowedError, match="With this passkey alone nobody can sign in"):
        alone(session, device)


def test_a_passkey_that_was_made_without_check_stays_a_second_factor_when_a_pin_is_set(
    session: Session, jo: int
) -> None:
    device = Device(verifies=False)
    added(session, jo, device)
    device.verifies = True  # a thief can set the PIN of a security key without one
    with pytest.raises(NotAllowedError, match="or asked for none when it was added"):
        alone(session, device)
    assert second_factor.sign_in(session, jo, 1, proof(session, jo, device), at=LATER) is not None
    added(session, jo, Device(), "phone")
    assert [row.signs_in_alone for row in passkeys.list_passkeys(session, jo)] == [False, True]


@pytest.mark.parametrize("handle", ["", "YWE"])
def test_a_passkey_that_names_no_account_or_another_does_not_sign_in_alone(
    session: Session, jo: int, handle: str
) -> None:
    device = Device()
    added(session, jo, device)
    device.handle = handle
    with pytest.raises(NotAllowedError, match="With this passkey alone nobody can sign in"):
        alone(session, device)


def test_a_response_is_accepted_once_and_not_late(session: Session, jo: int) -> None:
    device = Device(counts=False)
    added(session, jo, device)
    first = proof(session, jo, device)
    assert second_factor.sign_in(session, jo, 1, first, at=LATER) is not None
    with pytest.raises(InvalidValueError, match="was accepted already"):
        second_factor.sign_in(session, jo, 1, first, at=LATER)
    second = proof(session, jo, device)
    with pytest.raises(InvalidValueError, match="too long ago"):
        second_factor.sign_in(session, jo, 1, second, at=NOW + timedelta(days=2))
    third = proof(session, jo, device)
    assert third.passkey is not None
    request = replace(third.passkey.request, until=NOW + timedelta(days=4))
    later = NOW + timedelta(days=3)
    in_time = Proof(passkey=replace(third.passkey, request=request))
    assert second_factor.sign_in(session, jo, 1, in_time, at=later) is not None
    session.flush()
    assert len(session.scalars(select(UsedChallenge)).all()) == 1, "those that have expired are deleted"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_uses_that_were_checked_at_once_one_is_accepted_and_none_is_called_a_copy(
    session: Session, jo: int, order: tuple[int, int]
) -> None:
    device = Device()
    added(session, jo, device)
    both = [proof(session, jo, device) for _ in range(2)]
    first, second = (both[number] for number in order)
    assert second_factor.sign_in(session, jo, 1, first, at=LATER) is not None
    with pytest.raises(UsedAtOnceError, match="at the same moment: use it again"):
        second_factor.sign_in(session, jo, 1, second, at=LATER)
    assert second_factor.sign_in(session, jo, 1, proof(session, jo, device), at=LATER) is not None


def test_a_passkey_that_was_removed_since_its_signature_was_checked_is_refused(session: Session, jo: int) -> None:
    device = Device()
    added(session, jo, device)
    added(session, jo, Device(), "phone")
    generation = lock_user(session, jo).sign_in_generation
    checked = proof(session, jo, device)
    [row, _] = passkeys.list_passkeys(session, jo)
    passkeys.remove_passkeys(session, "jo", row.number)
    with pytest.raises(NotAllowedError, match="This passkey opens no account here"):
        second_factor.renew_codes(session, jo, checked, at=LATER)
    assert lock_user(session, jo).sign_in_generation == generation + 1


def test_a_device_that_counts_backwards_is_refused_as_a_copy(session: Session, jo: int) -> None:
    device = Device()
    added(session, jo, device)
    device.count = 6
    assert alone(session, device).name == "jo"
    for count in (6, 0, 3):
        device.count = count
        with pytest.raises(ClonedPasskeyError, match="somebody may have a copy") as refused:
            alone(session, device)
        assert refused.value.account == "jo"
    device.count = 7
    assert alone(session, device).name == "jo"


def test_a_device_that_has_counted_must_count_on(session: Session, jo: int) -> None:
    device = Device()
    added(session, jo, device)
    assert alone(session, device).name == "jo"
    device.count, device.counts = 0, False
    with pytest.raises(ClonedPasskeyError):
        alone(session, device)


def test_a_passkey_of_somebody_else_or_another_site_does_not_help(session: Session, jo: int) -> None:
    mine, theirs, elsewhere = Device(), Device(), Device(origin=OTHER_SITE.origin, host=OTHER_SITE.host)
    kim = user(session, "kim")
    added(session, jo, mine)
    added(session, kim, theirs)
    with pytest.raises(NotAllowedError, match="opens no account here"):
        second_factor.sign_in(session, jo, 1, proof(session, kim, theirs), at=LATER)
    added(session, jo, elsewhere)
    options = passkeys.ask_for_known(session, jo, SITE, "c")
    assert len(options["allowCredentials"]) == 1
    elsewhere.origin, elsewhere.host = SITE.origin, SITE.host
    with pytest.raises(NotAllowedError, match="opens no account here"):
        alone(session, elsewhere)
    with pytest.raises(NotFoundError, match=r"no passkey for other\.example\.org"):
        passkeys.ask_for_known(session, kim, OTHER_SITE, "c")


def test_a_stranger_with_the_id_of_a_passkey_is_refused(session: Session, jo: int) -> None:
    device = Device()
    added(session, jo, device)
    stranger = Device(id=device.id, handle=device.handle)
    with pytest.raises(InvalidValueError, match="is not right"):
        alone(session, stranger)
    with pytest.raises(NotAllowedError, match="opens no account here"):
        alone(session, Device())


def test_an_account_without_password_is_not_opened(session: Session, jo: int) -> None:
    device = Device()
    added(session, jo, device)
    lock_user(session, jo).password_hash = None
    with pytest.raises(NotAllowedError, match="opens no account here"):
        alone(session, device)


def test_the_last_passkey_takes_the_recovery_codes_along(session: Session, jo: int) -> None:
    first, second = Device(), Device()
    added(session, jo, first)
    added(session, jo, second, "phone")
    numbers = [row.number for row in passkeys.list_passkeys(session, jo)]
    with pytest.raises(InvalidValueError, match="code is wrong"):
        second_factor.remove_passkey(session, jo, 2, numbers[0], Proof("123456"), at=LATER)
    person = second_factor.remove_passkey(session, jo, 2, numbers[0], proof(session, jo, second), at=LATER)
    assert person.generation == 3
    assert len(session.scalars(select(RecoveryCode)).all()) == 10
    with pytest.raises(NotFoundError, match="no such passkey"):
        second_factor.remove_passkey(session, jo, 3, numbers[0], proof(session, jo, second), at=LATER)
    second_factor.remove_passkey(session, jo, 3, numbers[1], proof(session, jo, second), at=LATER)
    assert session.scalars(select(RecoveryCode)).all() == []
    assert not second_factor.is_on(session, jo)
    with pytest.raises(ConflictError, match="is off"):
        second_factor.remove_passkey(session, jo, 4, numbers[1], Proof("1"), at=LATER)


def test_a_passkey_has_another_name(session: Session, jo: int) -> None:
    added(session, jo, Device())
    [row] = passkeys.list_passkeys(session, jo)
    passkeys.rename_passkey(session, jo, row.number, "desk")
    assert [one.name for one in passkeys.list_passkeys(session, jo)] == ["desk"]
    with pytest.raises(InvalidValueError, match="1 to 64"):
        passkeys.rename_passkey(session, jo, row.number, " ")
    with pytest.raises(NotFoundError, match="no such passkey"):
        passkeys.rename_passkey(session, user(session, "kim"), row.number, "mine")


def test_an_administrator_removes_them(session: Session, jo: int) -> None:
    with pytest.raises(ConflictError, match="“jo” has no passkeys"):
        passkeys.remove_passkeys(session, "jo")
    for name in ("laptop", "phone", "key"):
        added(session, jo, Device(), name)
    generation = lock_user(session, jo).sign_in_generation
    first = passkeys.list_all_passkeys(session, "jo")[0]
    with pytest.raises(NotFoundError, match="“jo” has no passkey 999"):
        passkeys.remove_passkeys(session, "jo", 999)
    assert passkeys.remove_passkeys(session, "jo", first.number) == 1
    assert accounts.load_person(session, jo, generation) is None
    assert passkeys.remove_passkeys(session, "jo") == 2
    assert session.scalars(select(RecoveryCode)).all() == []
    with pytest.raises(NotFoundError, match="no user “nobody”"):
        passkeys.remove_passkeys(session, "nobody")


def test_a_reset_removes_passkeys_and_ends_the_sessions(session: Session, jo: int) -> None:
    added(session, jo, Device())
    second_factor.reset(session, "jo")
    assert not second_factor.is_on(session, jo)
    assert passkeys.list_all_passkeys(session) == []
    assert accounts.load_person(session, jo, 1) is None


def test_a_passkey_counts_where_a_second_factor_is_required(session: Session) -> None:
    news(session)
    ola = member(session, "ola", Role.ORGANISER)
    assert second_factor.is_missing(session, ola)
    added(session, ola, Device())
    assert not second_factor.is_missing(session, ola)


def test_passkeys_go_with_the_person(session: Session, jo: int) -> None:
    device = Device()
    added(session, jo, device)
    erasure.forget_user(session, "jo")
    assert session.scalars(select(Passkey)).all() == []
    with pytest.raises(NotAllowedError, match="opens no account here"):
        alone(session, device)
