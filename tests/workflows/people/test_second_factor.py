"""Second factors: codes by time, recovery codes, and who is required to have one."""

from datetime import datetime, timedelta

import pytest
from build import NOW, member, news, user
from pyotp import TOTP
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import RecoveryCode, Role
from annotator.workflows.people import accounts, erasure, second_factor
from annotator.workflows.people.second_factor import Proof

# The SHA-1 secret of RFC 6238, Appendix B, in base 32.
RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
STEP = timedelta(seconds=30)
FULL_WIDTH_ZERO = 0xFF10


def code_at(at: datetime, secret: str = RFC_SECRET) -> str:
    return TOTP(secret).at(at)


@pytest.fixture
def jo(session: Session) -> int:
    return user(session, "jo")


@pytest.fixture
def codes(session: Session, jo: int) -> list[str]:
    """The recovery codes of jo, whose second factor was turned on at `NOW`."""
    _, made = second_factor.turn_on(session, jo, 0, RFC_SECRET, code_at(NOW), at=NOW)
    session.flush()
    return list(made)


def signs_in(session: Session, jo: int, code: str, at: datetime) -> bool:
    return second_factor.sign_in(session, jo, 1, Proof(code), at=at) is not None


# RFC 6238, Appendix B: the last six of its eight digits.
@pytest.mark.parametrize(
    ("seconds", "code"), [(59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")]
)
def test_the_codes_are_those_of_the_rfc(session: Session, jo: int, seconds: int, code: str) -> None:
    at = datetime.fromtimestamp(seconds, tz=NOW.tzinfo)
    second_factor.turn_on(session, jo, 0, RFC_SECRET, code, at=at)
    assert second_factor.is_on(session, jo)


def test_it_begins_with_a_secret_and_stores_nothing(session: Session, jo: int) -> None:
    secrets = {second_factor.begin(session, jo, 0, Proof(), at=NOW) for _ in range(3)}
    assert [len(secret) for secret in secrets] == [32] * 3
    assert not second_factor.is_on(session, jo)


def test_the_address_names_account_and_site() -> None:
    address = second_factor.address_for_app(RFC_SECRET, "jo", "pool.example.org:8000")
    assert address == (f"otpauth://totp/annotator:jo%40pool.example.org%3A8000?secret={RFC_SECRET}&issuer=annotator")


def test_a_wrong_first_code_turns_nothing_on(session: Session, jo: int) -> None:
    for code in ("", "000000", "287082x", code_at(NOW - 2 * STEP), code_at(NOW + 2 * STEP)):
        with pytest.raises(InvalidValueError, match="clock of the phone"):
            second_factor.turn_on(session, jo, 0, RFC_SECRET, code, at=NOW)
    assert second_factor.show_state(session, jo) is None


def test_a_session_that_has_ended_turns_nothing_on(session: Session, jo: int) -> None:
    accounts.sign_out_everywhere(session, "jo", at=NOW)
    with pytest.raises(ConflictError, match="your session was ended meanwhile"):
        second_factor.begin(session, jo, 0, Proof(), at=NOW)
    with pytest.raises(ConflictError, match="your session was ended meanwhile"):
        second_factor.turn_on(session, jo, 0, RFC_SECRET, code_at(NOW), at=NOW)
    assert not second_factor.is_on(session, jo)


@pytest.mark.usefixtures("codes")
def test_turning_on_ends_the_sessions_and_cannot_be_done_twice(session: Session, jo: int) -> None:
    assert accounts.load_person(session, jo, 0) is None
    with pytest.raises(ConflictError, match="on already"):
        second_factor.begin(session, jo, 1, Proof(), at=NOW)
    with pytest.raises(ConflictError, match="on already"):
        second_factor.turn_on(session, jo, 1, RFC_SECRET, code_at(NOW + STEP), at=NOW + STEP)


@pytest.mark.usefixtures("codes")
def test_a_code_is_accepted_once_and_none_before_it(session: Session, jo: int) -> None:
    at = NOW + 10 * STEP
    assert not signs_in(session, jo, code_at(NOW), NOW)  # it turned the second factor on
    assert signs_in(session, jo, code_at(at), at)
    assert not signs_in(session, jo, code_at(at), at + timedelta(seconds=5))
    assert not signs_in(session, jo, code_at(at - STEP), at)
    assert signs_in(session, jo, code_at(at + STEP), at + STEP)


@pytest.mark.usefixtures("codes")
@pytest.mark.parametrize(("steps", "expected"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_clocks_may_differ_by_one_code(session: Session, jo: int, steps: int, *, expected: bool) -> None:
    at = NOW + 10 * STEP
    assert signs_in(session, jo, code_at(at + steps * STEP), at) is expected


@pytest.mark.usefixtures("codes")
def test_a_code_may_be_typed_in_groups_or_full_width(session: Session, jo: int) -> None:
    first, second = NOW + 10 * STEP, NOW + 20 * STEP
    code = code_at(first)
    assert signs_in(session, jo, f" {code[:3]} {code[3:]} ", first)
    wide = "".join(chr(FULL_WIDTH_ZERO + int(digit)) for digit in code_at(second))
    assert signs_in(session, jo, wide, second)


@pytest.mark.usefixtures("codes")
def test_an_older_password_or_none_opens_nothing(session: Session, jo: int) -> None:
    at = NOW + 10 * STEP
    for account, generation in ((jo, 0), (user(session, "kim"), 0)):
        with pytest.raises(ConflictError, match="Sign in with name and password again"):
            second_factor.sign_in(session, account, generation, Proof(code_at(at)), at=at)


def test_each_recovery_code_signs_in_once(session: Session, jo: int, codes: list[str]) -> None:
    assert len(set(codes)) == 10
    assert {len(code) for code in codes} == {29}
    accepted = second_factor.sign_in(session, jo, 1, Proof(codes[3].upper().replace("-", " ")), at=NOW)
    assert accepted is not None
    assert (accepted.person.name, accepted.codes_left) == ("jo", 9)
    assert not signs_in(session, jo, codes[3], NOW)
    stored = session.scalars(select(RecoveryCode.fingerprint)).all()
    assert not {code.replace("-", "") for code in codes} & set(stored)


@pytest.mark.usefixtures("codes")
def test_codes_of_another_person_do_not_help(session: Session, jo: int, codes: list[str]) -> None:
    kim = user(session, "kim")
    second_factor.turn_on(session, kim, 0, "A" * 32, code_at(NOW, "A" * 32), at=NOW)
    assert second_factor.sign_in(session, kim, 1, Proof(codes[0]), at=NOW) is None
    assert signs_in(session, jo, codes[0], NOW)


def test_new_recovery_codes_end_the_earlier_ones(session: Session, jo: int, codes: list[str]) -> None:
    with pytest.raises(InvalidValueError, match="wrong, or it was used"):
        second_factor.renew_codes(session, jo, Proof("123456"), at=NOW)
    new = second_factor.renew_codes(session, jo, Proof(codes[0]), at=NOW)
    assert not signs_in(session, jo, codes[1], NOW)
    assert signs_in(session, jo, new[0], NOW)
    state = second_factor.show_state(session, jo)
    assert state is not None
    assert (state.app_since, state.codes_left) == (NOW, 9)


def test_it_is_turned_off_by_a_code(session: Session, jo: int, codes: list[str]) -> None:
    with pytest.raises(InvalidValueError, match="wrong, or it was used"):
        second_factor.turn_off(session, jo, Proof(code_at(NOW)), at=NOW)  # used for turning on
    second_factor.turn_off(session, jo, Proof(codes[0]), at=NOW)
    assert not second_factor.is_on(session, jo)
    assert session.scalars(select(RecoveryCode)).all() == []
    with pytest.raises(ConflictError, match="is off"):
        second_factor.turn_off(session, jo, Proof(codes[1]), at=NOW)


@pytest.mark.usefixtures("codes")
def test_an_administrator_resets_it(session: Session, jo: int) -> None:
    assert [row.has_second_factor for row in accounts.list_users(session)] == [True]
    second_factor.reset(session, "jo")
    assert not second_factor.is_on(session, jo)
    assert [row.has_second_factor for row in accounts.list_users(session)] == [False]
    with pytest.raises(ConflictError, match="has no second factor"):
        second_factor.reset(session, "jo")
    with pytest.raises(NotFoundError, match="no user “nobody”"):
        second_factor.reset(session, "nobody")


def test_organisers_and_administrators_may_be_required_to_have_one(session: Session) -> None:
    news(session)
    ids: dict[str, int] = {
        role: member(session, role.value, role) for role in (Role.ORGANISER, Role.JUDGE, Role.OBSERVER)
    }
    ids["administrator"] = user(session, "admin", administrator=True)
    missing = {role for role, id_ in ids.items() if second_factor.is_missing(session, id_)}
    assert missing == {Role.ORGANISER, "administrator"}
    second_factor.turn_on(session, ids[Role.ORGANISER], 0, RFC_SECRET, code_at(NOW), at=NOW)
    assert not second_factor.is_missing(session, ids[Role.ORGANISER])


@pytest.mark.usefixtures("codes")
def test_it_goes_with_the_person(session: Session, jo: int) -> None:
    erasure.forget_user(session, "jo")
    assert second_factor.show_state(session, jo) is None
    assert session.scalars(select(RecoveryCode)).all() == []
