"""Members: roles by collection, teams of participants, and what leaving gives back."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Barrier

import pytest
from build import NOW, SLUG, member, news, pooled_news, run, topic_file, user
from meeting import one_after_the_other
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Database, Role, Run
from annotator.workflows.judging import judging
from annotator.workflows.people import accounts, erasure, members
from annotator.workflows.people.members import TeamRow


def test_a_person_may_hold_several_roles_but_none_twice(session: Session) -> None:
    news(session)
    jo = member(session, "jo", Role.JUDGE)
    member(session, "jo", Role.ORGANISER)
    assert members.standing_of(session, SLUG, jo).roles == {Role.JUDGE, Role.ORGANISER}
    with pytest.raises(ConflictError, match="has the role judge already"):
        member(session, "jo", Role.JUDGE)


def test_a_participant_has_a_team_and_nobody_else(session: Session) -> None:
    news(session)
    pat = member(session, "pat", Role.PARTICIPANT, team="red")
    assert members.standing_of(session, SLUG, pat).team == "red"
    with pytest.raises(InvalidValueError, match="belongs to a team"):
        member(session, "quin", Role.PARTICIPANT)
    with pytest.raises(InvalidValueError, match="only a participant does"):
        member(session, "rae", Role.JUDGE, team="red")


def test_a_role_in_one_collection_is_none_in_another(session: Session) -> None:
    news(session)
    news(session, "other")
    jo = member(session, "jo", slug="other")
    assert not members.standing_of(session, SLUG, jo).roles


def test_what_a_judge_held_is_free_again_when_the_judge_leaves(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    judging.next_task(session, SLUG, "1", jo, now=NOW)
    assert judging.next_task(session, SLUG, "1", kim, now=NOW) is None
    members.remove_member(session, SLUG, "jo", Role.JUDGE, at=NOW)
    assert judging.next_task(session, SLUG, "1", kim, now=NOW) is not None
    with pytest.raises(NotFoundError, match="does not have the role judge"):
        members.remove_member(session, SLUG, "jo", Role.JUDGE, at=NOW)


def test_only_people_with_an_account_become_members(session: Session) -> None:
    news(session)
    with pytest.raises(NotFoundError, match="no user “ghost”"):
        members.add_member(session, SLUG, "ghost", Role.JUDGE, added_at=NOW)


def test_members_are_listed_by_name_with_team(session: Session) -> None:
    news(session)
    user(session, "bystander")
    member(session, "pat", Role.PARTICIPANT, team="red")
    member(session, "jo")
    assert [(row.name, row.role, row.team) for row in members.list_members(session, SLUG)] == [
        ("jo", Role.JUDGE, None),
        ("pat", Role.PARTICIPANT, "red"),
    ]


@pytest.mark.parametrize("team", [" red ", "   ", "x" * 65, "tab\tbed"])
def test_a_team_has_a_name_that_can_be_shown(session: Session, team: str) -> None:
    news(session)
    with pytest.raises(InvalidValueError, match="team's name"):
        member(session, "pat", Role.PARTICIPANT, team=team)


def test_a_teams_name_may_have_blanks_inside(session: Session) -> None:
    news(session)
    pat = member(session, "pat", Role.PARTICIPANT, team="red team")
    assert members.standing_of(session, SLUG, pat).team == "red team"


def test_teams_that_have_no_run_in_force_are_named_with_their_people(session: Session) -> None:
    news(session)
    topic_file(session)
    for name, team in (("pat", "red"), ("quin", "blue"), ("rae", "blue"), ("sky", "green"), ("tam", "grey")):
        member(session, name, Role.PARTICIPANT, team=team)
    run(session, "alpha", {"1": ["a"]}, team="red")
    run(session, "beta", {"1": ["a"]}, team="green")
    session.execute(update(Run).where(Run.tag == "beta").values(withdrawn_at=NOW))
    members.remove_member(session, SLUG, "tam", Role.PARTICIPANT, at=NOW)
    assert members.teams_without_runs(session, SLUG) == [TeamRow("blue", ("quin", "rae")), TeamRow("green", ("sky",))]


def test_the_last_organiser_stays(session: Session) -> None:
    news(session)
    member(session, "ola", Role.ORGANISER)
    member(session, "ola")
    with pytest.raises(ConflictError, match="Without “ola” nobody who can sign in would organise “news”"):
        members.remove_member(session, SLUG, "ola", Role.ORGANISER, at=NOW)
    members.remove_member(session, SLUG, "ola", Role.JUDGE, at=NOW)
    # Whoever has not chosen a password yet cannot organise either.
    accounts.add_user(session, "kim", password_hash=None, added_at=NOW)
    member(session, "kim", Role.ORGANISER)
    with pytest.raises(ConflictError, match="make somebody else an organiser first"):
        members.remove_member(session, SLUG, "ola", Role.ORGANISER, at=NOW)
    member(session, "lee", Role.ORGANISER)
    members.remove_member(session, SLUG, "kim", Role.ORGANISER, at=NOW)
    members.remove_member(session, SLUG, "ola", Role.ORGANISER, at=NOW)
    with pytest.raises(ConflictError, match="“lee”"):
        members.remove_member(session, SLUG, "lee", Role.ORGANISER, at=NOW)


def leaves(name: str) -> Callable[[Session], object]:
    return lambda session: members.remove_member(session, SLUG, name, Role.ORGANISER, at=NOW)


def is_forgotten(name: str) -> Callable[[Session], object]:
    return lambda session: erasure.forget_user(session, name)


@pytest.mark.parametrize(("first", "second"), list(product([leaves, is_forgotten], repeat=2)))
def test_of_two_last_organisers_who_leave_at_once_one_stays(
    postgres_database: Database,
    first: Callable[[str], Callable[[Session], object]],
    second: Callable[[str], Callable[[Session], object]],
) -> None:
    with postgres_database.transaction() as session:
        news(session)
        member(session, "ola", Role.ORGANISER)
        member(session, "kim", Role.ORGANISER)
    with pytest.raises(ConflictError, match="“kim”"):
        one_after_the_other(postgres_database, first("ola"), second("kim"))
    with postgres_database.reading() as session:
        assert [row.name for row in members.list_members(session, SLUG)] == ["kim"]


def test_of_two_last_organisers_who_leave_at_once_one_stays_on_sqlite(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        news(session)
        member(session, "ola", Role.ORGANISER)
        member(session, "kim", Role.ORGANISER)
    both = Barrier(2)

    def leave(name: str) -> bool:
        both.wait()
        try:
            with sqlite_database.transaction() as session:
                members.remove_member(session, SLUG, name, Role.ORGANISER, at=NOW)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(leave, ["ola", "kim"])) == [False, True]
