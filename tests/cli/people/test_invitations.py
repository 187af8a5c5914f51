"""`annotator invitations`, `tokens`, `members import`, and the links and sign-outs of `users`."""

from pathlib import Path

import pytest
from build import HASH
from cli.command_line import CommandLine
from csv_cells import unquoted
from sqlalchemy import select

from annotator.storage import AuditEvent, Database
from annotator.web.site.context import now
from annotator.workflows.people import accounts, invitations, tokens

PASSWORD = "correct horse"
SITE = "https://trec.example.org"


def secret_of(link: str) -> str:
    address, _, secret = link.strip().partition("/join?key=")
    assert address in {SITE, "http://127.0.0.1:8000"}
    return secret


def test_a_link_to_a_role_is_printed_listed_and_withdrawn(news: CommandLine, sqlite_database: Database) -> None:
    words = ("--role", "participant", "--team", "red", "--note", "Kim", "--days", "3", "--address", f"{SITE}/")
    link = news.done("invitations", "add", "news", *words)
    with sqlite_database.reading() as session:
        assert invitations.open_invitation(session, secret_of(link), now=now()).team == "red"
        noted = session.scalars(select(AuditEvent).where(AuditEvent.action == "invitations.add")).one()
    # The note is a name: the log has the number alone.
    assert (noted.subject, "Kim" in str(vars(noted))) == ("1", False)
    sqlite_database.close()
    [[number, whom, role, team, state, *_]] = news.table("invitations", "list", "news")
    assert (whom, role, team, state) == ("Kim", "participant", "red", "open")
    assert news.talk("invitations", "remove", "news", number) == f"The link {number} is not valid any more.\n"
    assert news.table("invitations", "list", "news")[0][4] == "withdrawn"
    assert news.refused("invitations", "remove", "news", "99") == ["There is no invitation 99."]


def test_a_link_to_an_account_is_printed_listed_and_withdrawn(news: CommandLine, sqlite_database: Database) -> None:
    link = news.done("users", "invitations", "add", "--note", "Kim", "--days", "3", "--address", SITE)
    with sqlite_database.reading() as session:
        opened = invitations.open_invitation(session, secret_of(link), now=now())
    sqlite_database.close()
    assert (opened.role, opened.team) == (None, None)
    [[number, whom, state, *_]] = news.table("users", "invitations", "list")
    assert (whom, state) == ("Kim", "open")
    assert news.table("invitations", "list", "news") == []
    assert news.talk("users", "invitations", "remove", number) == f"The link {number} is not valid any more.\n"
    assert news.table("users", "invitations", "list")[0][2] == "withdrawn"


@pytest.mark.parametrize("address", ["trec.example.org", "ftp://x", "https://", "https://x/?a=1", "http://[", ""])
def test_an_address_that_is_none_is_wrong_usage_and_nothing_is_made(news: CommandLine, address: str) -> None:
    result = news("invitations", "add", "news", "--role", "judge", "--address", address)
    assert result.exit_code == 2
    assert "It is no address such as" in result.stderr
    assert news.table("invitations", "list", "news") == []


def test_people_of_a_file_get_accounts_roles_and_links(news: CommandLine, sqlite_database: Database) -> None:
    Path("people.csv").write_text("name,role,team\njo,judge,\npat,participant,red\n")
    result = news("members", "import", "news", "people.csv", "-o", "links.csv", "--address", SITE)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Roles given: 2; links: 2.\n"
    lines = unquoted(Path("links.csv").read_text()).splitlines()
    assert lines[0] == "name,role,team,link"
    assert Path("links.csv").stat().st_mode & 0o777 == 0o600
    with sqlite_database.transaction() as session:
        assert invitations.accept_password(session, secret_of(lines[1].split(",")[3]), HASH, at=now()).name == "jo"
        assert accounts.sign_in(session, "jo", PASSWORD) is not None
    sqlite_database.close()
    assert news.table("members", "list", "news") == [["jo", "judge", "-", "-"], ["pat", "participant", "red", "-"]]


def test_a_file_of_people_with_problems_is_refused_with_its_lines(news: CommandLine) -> None:
    given = "name,role\njo,boss\nkim,participant\n"
    told = news.refused("members", "import", "news", "-", given=given)
    assert [line.split(": ")[0] for line in told[:2]] == ["-:2", "-:3"]
    assert told[2] == "Nothing was stored. Problems found: 2."
    assert news.table("users", "list") == []


def test_a_token_is_printed_once_listed_and_revoked(news: CommandLine, sqlite_database: Database) -> None:
    news.done("users", "add", "pat", given=PASSWORD)
    news.done("members", "add", "news", "pat", "--role", "participant", "--team", "red")
    words = ("--name", "script", "--scopes", "runs,read", "--collection", "news", "--days", "30")
    secret = news.done("tokens", "add", "pat", *words).strip()
    with sqlite_database.reading() as session:
        owner = tokens.token_owner(session, secret, now=now())
    assert owner is not None
    assert owner.person.name == "pat"
    sqlite_database.close()
    [[number, user, name, scopes, slug, in_force, *_]] = news.table("tokens", "list", "pat")
    assert (user, name, scopes, slug, in_force) == ("pat", "script", "read,runs", "news", "yes")
    assert secret not in news.done("tokens", "list")
    assert news.talk("tokens", "remove", number) == "The token script opens nothing any more.\n"
    assert news.table("tokens", "list")[0][5] == "no"


def test_a_token_that_cannot_be_is_refused(news: CommandLine) -> None:
    news.done("users", "add", "pat", given=PASSWORD)
    assert news.refused("tokens", "add", "pat", "--name", "x", "--scopes", "write") == [
        "“write” is no scope: a token has some of read, runs, judge and organise."
    ]
    assert news.refused("tokens", "add", "gus", "--name", "x", "--scopes", "read") == ["There is no user “gus”."]
    assert news.refused("tokens", "add", "pat", "--name", "x", "--scopes", "read", "--collection", "news") == [
        "There is no collection “news”."
    ]
    assert news.refused("tokens", "remove", "7") == ["There is no token 7."]


def test_whoever_has_the_database_gives_new_passwords_and_signs_out(
    news: CommandLine, sqlite_database: Database
) -> None:
    news.done("users", "add", "jo", "--administrator", given=PASSWORD)
    link = news.done("users", "reset-password", "jo")
    with sqlite_database.reading() as session:
        assert invitations.open_invitation(session, secret_of(link), now=now()).account == "jo"
        before = accounts.sign_in(session, "jo", PASSWORD)
    sqlite_database.close()
    assert news.talk("users", "sign-out", "jo") == "jo is signed out everywhere.\n"
    with sqlite_database.reading() as session:
        assert before is not None
        assert accounts.load_person(session, before.id, before.generation) is None
    assert news.refused("users", "sign-out", "gus") == ["There is no user “gus”."]
    assert news.refused("users", "reset-password", "gus") == ["There is no user “gus”."]


def test_an_observer_is_a_member(news: CommandLine) -> None:
    news.done("users", "add", "oli", given=PASSWORD)
    assert news.talk("members", "add", "news", "oli", "--role", "observer") == "oli is now observer of news.\n"
    assert news.table("members", "list", "news") == [["oli", "observer", "-", "-"]]


def test_registration_is_opened_shown_and_closed(news: CommandLine) -> None:
    said = news.talk("members", "registration", "set", "news", "--until", "2099-05-01 23:59 AoE", "--most-teams", "60")
    assert said == "Teams can register on the page /tasks/news/registration. Teams so far: 0.\n"
    shown = news.done("members", "registration", "show", "news", "--format", "csv")
    assert '"most teams","60"' in shown
    assert '"page","/tasks/news/registration"' in shown
    assert news.talk("members", "registration", "remove", "news") == "No further team can register for news.\n"
    [refusal] = news.refused("members", "registration", "set", "news")
    assert refusal == "Until when may teams register? Give a moment."
