"""Many people from a file: all of them or none, each problem with its line, a link for each new account."""

import csv
import io
from collections.abc import Sequence
from contextlib import suppress

import pytest
from build import HASH, LIMIT, NOW, SLUG, member, news, user
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import FileRefusedError, InvalidValueError, Problems
from annotator.evaluation.formats.people_format import PersonRow, parse_people
from annotator.files import InputFile
from annotator.storage import Database, Invitation, Membership, Role, User
from annotator.workflows.people import accounts, invitations, members
from annotator.workflows.people.members import NewMember, PeopleFile


def read(text: str) -> PeopleFile:
    return members.read_people(InputFile("people.csv", text.encode()), unpacked_limit=LIMIT)


def add(session: Session, text: str) -> list[NewMember]:
    added = members.add_people(session, SLUG, read(text), made_by_id=None, at=NOW)
    session.flush()
    return added


def problems_of(text: str) -> list[str]:
    with pytest.raises(FileRefusedError) as refused:
        read(text)
    return [f"{problem.line}: {problem.sentence}" for problem in refused.value.problems]


def test_accounts_and_roles_come_from_a_file_with_links_to_passwords(session: Session) -> None:
    news(session)
    added = add(session, "name,role,team\njo,judge,\npat,participant,red\n")
    assert [(row.name, row.role, row.team) for row in members.list_members(session, SLUG)] == [
        ("jo", Role.JUDGE, None),
        ("pat", Role.PARTICIPANT, "red"),
    ]
    assert accounts.sign_in(session, "jo", "") is None
    secret = added[0].secret
    assert secret is not None
    assert invitations.accept_password(session, secret, HASH, at=NOW).name == "jo"
    assert accounts.sign_in(session, "jo", "correct horse") is not None


def test_the_links_come_back_as_a_file(session: Session) -> None:
    news(session)
    user(session, "kim")
    added = add(session, "name,role\njo,judge\njo,observer\nkim,judge\n")
    rows = list(csv.DictReader(io.StringIO(members.links_csv(added, "https://site/join?key="))))
    assert [row["name"] for row in rows] == ["jo", "jo", "kim"]
    # One account has one link, and who had an account before has none: nobody takes it over.
    assert [row["link"].startswith("https://site/join?key=") for row in rows] == [True, False, False]
    assert session.scalar(select(func.count()).select_from(Invitation)) == 1


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_heading_shows_how_fields_are_parted(separator: str) -> None:
    text = "Role,Name,Team\njudge,jo,\n\nparticipant,pat,red team\n".replace(",", separator)
    assert [(row.name, row.role, row.team, row.line) for row in read(text).rows] == [
        ("jo", "judge", "", 2),
        ("pat", "participant", "red team", 4),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("jo,judge\n", "1: The first line names the columns"),
        ("name\njo\n", "1: The first line names the columns"),
        ("name,role,role\n", "1: The first line names the columns"),
        ("name,role,email\n", "1: The first line names the columns"),
        ("name,role\n", "None: The file has no line of data."),
        ("name,role\njo,judge,red\n", "2: The line has 3 fields where the heading has 2"),
        ('name,role\n"jo,judge\n', "2: The line is no comma-separated text"),
        ("", "None: The file is empty."),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_line(text: str, problem: str) -> None:
    assert problems_of(text)[0].startswith(problem)


def test_every_row_that_does_not_fit_is_told_and_nothing_is_stored(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        member(session, "ola", Role.ORGANISER)
    text = (
        "name,role,team\njo,judge,\nkim,boss,\nlee,participant,\npat,judge,red\ntwo words,judge,\nOLA,judge,\n"
        "ola,organiser,\njo,judge,\n"
    )
    with pytest.raises(FileRefusedError) as refused, database.transaction() as session:
        add(session, text)
    told = [(problem.line, str(problem.sentence).split("%")[0]) for problem in refused.value.problems]
    assert [line for line, _ in told] == [3, 4, 6, 7, 8, 9]
    assert "“boss” is no role" in told[0][1]
    assert "belongs to a team" in told[1][1]
    assert refused.value.problems[1].further_lines == (5,)
    assert "printable characters and no blanks" in told[2][1]
    assert "“ola” is taken" in told[3][1]
    assert "has the role organiser already" in told[4][1]
    assert "has the role judge already" in told[5][1]
    with database.reading() as session:
        assert session.scalars(select(User.name)).all() == ["ola"]
        assert session.scalar(select(func.count()).select_from(Membership)) == 1


@pytest.mark.parametrize("days", [0, 91])
def test_links_last_some_days(session: Session, days: int) -> None:
    news(session)
    with pytest.raises(InvalidValueError, match="between 1 and 90"):
        members.add_people(session, SLUG, read("name,role\njo,judge\n"), days=days, made_by_id=None, at=NOW)


@given(st.binary(max_size=200).map(lambda tail: b"name,role,team\n" + tail))
def test_whatever_stands_in_the_file_is_read_or_told(content: bytes) -> None:
    rows: Sequence[PersonRow] = ()
    with suppress(FileRefusedError):
        rows = members.read_people(InputFile("people.csv", content), unpacked_limit=LIMIT).rows
        assert rows
    assert all("\0" not in row.name for row in rows)


@given(st.text())
def test_whatever_text_is_parsed_becomes_rows_or_problems(text: str) -> None:
    problems = Problems()
    rows = parse_people("people.csv", text.encode("utf-8", "ignore"), problems)
    assert bool(rows) or problems.total > 0
