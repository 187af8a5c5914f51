"""Names are found by a part of them, in their own collection."""

from build import SLUG, member, news, pooled_news, run, user
from sqlalchemy.orm import Session

from annotator.storage import Role
from annotator.workflows.collections.names import MOST_OF_A_KIND, FoundName, NameKind, find_names


def test_topics_runs_members_and_documents_are_found(session: Session) -> None:
    pooled_news(session)
    member(session, "alice", Role.JUDGE)
    member(session, "alice", Role.ORGANISER)
    found = find_names(session, SLUG, "al")
    assert [one for one in found if one.kind is not NameKind.TOPIC] == [
        FoundName(NameKind.RUN, "alpha"),
        FoundName(NameKind.PERSON, "alice"),
    ]
    assert FoundName(NameKind.DOCUMENT, "a", "Title of a") in find_names(session, SLUG, "a")
    assert [one.name for one in find_names(session, SLUG, "1") if one.kind is NameKind.TOPIC] == ["1"]


def test_names_that_begin_with_the_text_come_first(session: Session) -> None:
    pooled_news(session)
    for tag in ("best", "our-be", "be", "The-Beginning"):
        run(session, tag, {"1": ["a"]})
    tags = [one.name for one in find_names(session, SLUG, "be") if one.kind is NameKind.RUN]
    assert tags[:2] == ["be", "best"]
    assert set(tags[2:]) >= {"our-be", "The-Beginning"}


def test_another_collection_and_people_without_a_role_are_not_found(session: Session) -> None:
    pooled_news(session)
    user(session, "alice")
    news(session, "other")
    assert find_names(session, "other", "al") == []
    assert all(one.kind is not NameKind.PERSON for one in find_names(session, SLUG, "alice"))


def test_there_are_few_of_each_kind(session: Session) -> None:
    pooled_news(session)
    for number in range(2 * MOST_OF_A_KIND):
        run(session, f"run{number}", {"1": ["a"]})
    assert sum(one.kind is NameKind.RUN for one in find_names(session, SLUG, "RUN")) == MOST_OF_A_KIND


def test_wildcards_are_letters_like_others(session: Session) -> None:
    pooled_news(session)
    run(session, "50%_off", {"1": ["a"]})
    assert [one.name for one in find_names(session, SLUG, "%_")] == ["50%_off"]
    assert find_names(session, SLUG, "   ") == []
