"""`annotator users` and `annotator members`."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from pyotp import TOTP

from annotator.storage import Database, Passkey
from annotator.workflows.people import identities, second_factor
from annotator.workflows.people.accounts import sign_in
from annotator.workflows.people.identities import ProvenIdentity
from annotator.workflows.people.second_factor import Proof

PASSWORD = "correct horse"


def signs_in(database: Database, name: str, password: str) -> bool:
    with database.reading() as session:
        return sign_in(session, name, password) is not None


def test_a_user_is_added_with_a_password_from_standard_input(annotator: CommandLine, sqlite_database: Database) -> None:
    assert annotator.talk("users", "add", "jo", given=f"{PASSWORD}\n") == "Added the user jo.\n"
    assert signs_in(sqlite_database, "jo", PASSWORD)


def test_a_password_is_the_first_line_of_its_file(annotator: CommandLine, sqlite_database: Database) -> None:
    Path("password").write_text(f"{PASSWORD}\r\nnot this\n")
    annotator.done("users", "add", "ola", "--administrator", "--password-file", "password")
    assert signs_in(sqlite_database, "ola", PASSWORD)
    [[name, administrator, can_sign_in, *_]] = annotator.table("users", "list")
    assert (name, administrator, can_sign_in) == ("ola", "yes", "yes")


@pytest.mark.parametrize("password", ["", "short\n", "\ncorrect horse\n"])
def test_a_password_that_is_too_short_is_refused(annotator: CommandLine, password: str) -> None:
    assert annotator.refused("users", "add", "jo", given=password) == ["A password has between 8 and 256 characters."]
    assert annotator.table("users", "list") == []


def test_a_password_file_that_is_no_text_is_refused(annotator: CommandLine) -> None:
    Path("password").write_bytes(b"\xff\xfe\xff")
    assert annotator.refused("users", "add", "jo", "--password-file", "password") == [
        "The file “password” is not text in UTF-8."
    ]


def test_a_name_that_is_taken_is_refused(annotator: CommandLine) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    assert annotator.refused("users", "add", "Jo", given=PASSWORD) == ["The name “jo” is taken."]


def test_a_new_password_replaces_the_old_one(annotator: CommandLine, sqlite_database: Database) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    annotator.done("users", "set", "jo", "--password", given="another horse\n")
    assert signs_in(sqlite_database, "jo", "another horse")
    assert not signs_in(sqlite_database, "jo", PASSWORD)


def test_nobody_gets_no_new_password(annotator: CommandLine) -> None:
    assert annotator.refused("users", "set", "gus", "--password", given=PASSWORD) == ["There is no user “gus”."]


def test_members_come_and_go(news: CommandLine) -> None:
    for name in ("jo", "pat"):
        news.done("users", "add", name, given=PASSWORD)
    news.done("members", "add", "news", "jo", "--role", "judge")
    news.done("members", "add", "news", "pat", "--role", "participant", "--team", "words")
    assert news.table("members", "list", "news") == [["jo", "judge", "-", "-"], ["pat", "participant", "words", "-"]]
    news.done("members", "remove", "news", "jo", "--role", "judge")
    assert news.table("members", "list", "news") == [["pat", "participant", "words", "-"]]


def test_the_last_organiser_is_neither_removed_nor_forgotten(news: CommandLine) -> None:
    news.done("users", "add", "ola", given=PASSWORD)
    news.done("members", "add", "news", "ola", "--role", "organiser")
    refusal = ["Without “ola” nobody who can sign in would organise “news”: make somebody else an organiser first."]
    assert news.refused("members", "remove", "news", "ola", "--role", "organiser") == refusal
    assert news.refused("users", "remove", "ola", "--yes") == refusal
    assert news.table("members", "list", "news") == [["ola", "organiser", "-", "-"]]
    news.done("users", "add", "kim", given=PASSWORD)
    news.done("members", "add", "news", "kim", "--role", "organiser")
    news.done("members", "remove", "news", "ola", "--role", "organiser")


def test_a_role_is_given_once_and_to_somebody(news: CommandLine) -> None:
    news.done("users", "add", "jo", given=PASSWORD)
    news.done("members", "add", "news", "jo", "--role", "judge")
    assert news.refused("members", "add", "news", "jo", "--role", "judge") == ["“jo” has the role judge already."]
    assert news.refused("members", "add", "news", "gus", "--role", "judge") == ["There is no user “gus”."]
    assert news.refused("members", "remove", "news", "jo", "--role", "organiser") == [
        "“jo” does not have the role organiser."
    ]


def test_a_judge_becomes_a_participant_only_by_force(news: CommandLine) -> None:
    news.done("users", "add", "jo", given=PASSWORD)
    news.done("members", "add", "news", "jo", "--role", "judge")
    asked = ["members", "add", "news", "jo", "--role", "participant", "--team", "red"]
    [refusal] = news.refused(*asked)
    assert refusal.startswith("“jo” has the role judge, which excludes the role participant")
    news.done(*asked, "--force")
    assert news.table("members", "list", "news") == [["jo", "judge", "-", "-"], ["jo", "participant", "red", "-"]]


def test_a_second_factor_is_reset(annotator: CommandLine, sqlite_database: Database) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    assert annotator.refused("users", "reset-second-factor", "jo") == ["“jo” has no second factor."]
    assert annotator.refused("users", "reset-second-factor", "gus") == ["There is no user “gus”."]
    at = datetime.now(UTC)
    with sqlite_database.transaction() as session:
        secret = second_factor.begin(session, 1, 0, Proof(), at=at)
        second_factor.turn_on(session, 1, 0, secret, TOTP(secret).at(at), at=at)
    assert [row[3] for row in annotator.table("users", "list")] == ["yes"]
    done = annotator.talk("users", "reset-second-factor", "jo")
    assert done == "jo signs in without a second factor now.\n"
    assert [row[3] for row in annotator.table("users", "list")] == ["no"]
    assert annotator.table("audit", "list")[0][4:6] == ["users.second-factor-reset", "jo"]


def test_passkeys_are_listed_and_removed(annotator: CommandLine, sqlite_database: Database) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    assert annotator.table("users", "passkeys", "list") == []
    assert annotator.refused("users", "passkeys", "list", "gus") == ["There is no user “gus”."]
    assert annotator.refused("users", "passkeys", "remove", "jo") == ["“jo” has no passkeys."]
    at = datetime.now(UTC)
    with sqlite_database.transaction() as session:
        for number, name in enumerate(("laptop", "phone", "=key")):
            secret = str(number)
            session.add(
                Passkey(
                    user_id=1,
                    credential=secret,
                    public_key=secret,
                    user_handle=secret,
                    host="localhost",
                    name=name,
                    sign_count=0,
                    verified=name == "laptop",
                    added_at=at,
                )
            )
    assert [row[3] for row in annotator.table("users", "list")] == ["yes"]
    said = annotator.talk("users", "set", "jo", "--password", given=PASSWORD)
    assert "Passkeys that still open the account: 3." in said
    rows = annotator.table("users", "passkeys", "list", "jo")
    assert [row[:5] for row in rows] == [
        ["1", "jo", "laptop", "localhost", "yes"],
        ["2", "jo", "phone", "localhost", "no"],
        ["3", "jo", "=key", "localhost", "no"],
    ]
    assert "'=key" in annotator.done("users", "passkeys", "list", "--format", "csv")
    assert annotator.talk("users", "passkeys", "remove", "jo", "2") == (
        "Passkeys removed: 1. jo is signed out everywhere.\n"
    )
    assert annotator.refused("users", "passkeys", "remove", "jo", "2") == ["“jo” has no passkey 2."]
    assert annotator("users", "set", "jo", "--machine", "--remove-passkeys").exit_code == 2
    for count in (2, 0):
        said = annotator.talk("users", "set", "jo", "--password", "--remove-passkeys", given=PASSWORD)
        assert said.endswith(f"The user jo has a new password.\nPasskeys removed: {count}.\n")
    assert [row[3] for row in annotator.table("users", "list")] == ["no"]
    assert [row[4] for row in annotator.table("audit", "list")[:3]] == [
        "users.password",
        "users.passkey-remove",
        "users.password",
    ]


def test_identities_at_a_provider_are_listed_and_unlinked(annotator: CommandLine, sqlite_database: Database) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    refused = annotator.refused("users", "set", "jo", "--unlink-identities")
    assert refused == ["“jo” is linked with no identity at a provider."]
    assert annotator.refused("users", "set", "gus", "--unlink-identities") == ["There is no user “gus”."]
    with sqlite_database.transaction() as session:
        for identity in (ProvenIdentity("https://id.example.org", "7", "jo@uni.example"), ProvenIdentity("x", "8")):
            identities.link_identity(session, 1, identity, at=datetime.now(UTC))
    assert json.loads(annotator.done("users", "list", "--format", "json"))[0]["identities"] == "jo@uni.example, 8"
    done = annotator.talk("users", "set", "jo", "--unlink-identities")
    assert done == "jo signs in by name and password alone now. Identities unlinked: 2.\n"
    assert [row[4] for row in annotator.table("users", "list")] == ["-"]
    assert annotator.table("audit", "list")[0][4:6] == ["users.identity-unlink", "jo"]
    assert signs_in(sqlite_database, "jo", PASSWORD)
