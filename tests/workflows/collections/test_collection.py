"""Collections: what they begin with, what may change and what may not."""

from functools import partial

import pytest
from build import NOW, SCALE, SLUG, labels, member, news, pooled_news, user
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.qrels.scale import parse_scale
from annotator.storage import Role, ScoresShown
from annotator.storage.collections.collection import find_collection
from annotator.storage.tables.collections import CollectionKind
from annotator.workflows.collections import collection, collection_list
from annotator.workflows.collections.collection import CollectionChange, CollectionCounts
from annotator.workflows.collections.collection_list import collection_names, list_collections, page_of_collections
from annotator.workflows.judging import judging
from annotator.workflows.people import members


def test_a_collection_keeps_its_scale_in_order(session: Session) -> None:
    collection.add_collection(
        session, "web", title=" Web ", scale=parse_scale("1=Good | helps,0=Bad"), relevant_from=1, added_at=NOW
    )
    shown = collection.show_collection(session, "web")
    assert (shown.title, shown.relevant_from, shown.judgements_wanted, shown.consensus_policy) == (
        "Web",
        1,
        1,
        "adjudicated-else-majority-first",
    )
    assert [(grade.value, grade.name, grade.description) for grade in shown.scale] == [
        (0, "Bad", ""),
        (1, "Good", "helps"),
    ]


def test_a_team_comparison_shows_its_members_more_than_a_shared_task(session: Session) -> None:
    add = partial(
        collection.add_collection, session, title="Web", scale=parse_scale("0=No,1=Yes"), relevant_from=1, added_at=NOW
    )
    add("task")
    add("team", kind=CollectionKind.COMPARISON)
    task, team = (collection.show_collection(session, slug) for slug in ("task", "team"))
    assert (task.kind, task.shows_grades, task.scores_shown) == ("shared-task", False, ScoresShown.BESIDE)
    assert (team.kind, team.shows_grades, team.scores_shown) == ("comparison", True, ScoresShown.WHOLE)
    assert task.consensus_policy == team.consensus_policy == "adjudicated-else-majority-first"


@pytest.mark.parametrize("slug", ["", "Has Capitals", "-begins-with-a-sign", "x" * 65, "slash/ed", "한글"])
def test_a_slug_that_no_address_could_hold_is_refused(session: Session, slug: str) -> None:
    with pytest.raises(InvalidValueError, match="not a short name"):
        news(session, slug)


def test_a_slug_is_taken_once(session: Session) -> None:
    news(session)
    with pytest.raises(ConflictError, match="collection “news” already"):
        news(session)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (CollectionChange(title="  "), "needs a title"),
        (CollectionChange(relevant_from=0), r"above the lowest \(1, 2\), not 0"),
        (CollectionChange(relevant_from=3), r"above the lowest \(1, 2\), not 3"),
        (CollectionChange(judgements_wanted=0), "between 1 and 100 judgements, not 0"),
        (CollectionChange(consensus_policy="coin"), "There is no consensus policy “coin”; the policies are: owner"),
        (CollectionChange(scale=parse_scale("0=No,1=Yes"), relevant_from=2), r"\(1\), not 2"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(session: Session, change: CollectionChange, sentence: str) -> None:
    news(session)
    with pytest.raises(InvalidValueError, match=sentence):
        collection.change_collection(session, SLUG, change)


def test_a_grade_that_was_given_cannot_leave_the_scale(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n")
    with pytest.raises(ConflictError, match="already given and cannot leave the scale: 2"):
        collection.change_collection(session, SLUG, CollectionChange(scale=parse_scale("0=No,1=Yes")))
    collection.change_collection(session, SLUG, CollectionChange(scale=parse_scale("0=No,1=Hm,2=Yes,3=Very")))
    assert [grade.value for grade in collection.show_collection(session, SLUG).scale] == [0, 1, 2, 3]


def test_wanting_more_judgements_gives_judged_items_a_second_judge(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    labels(session, "kim", "1 0 a 2\n")
    waiting = {topic.number: topic.waiting for topic in judging.topics_to_judge(session, SLUG, jo, now=NOW)}
    assert waiting == {"1": 3, "2": 2}
    collection.change_collection(session, SLUG, CollectionChange(judgements_wanted=2))
    waiting = {topic.number: topic.waiting for topic in judging.topics_to_judge(session, SLUG, jo, now=NOW)}
    assert waiting == {"1": 4, "2": 2}


def test_a_closed_collection_takes_nothing_until_it_is_reopened(session: Session) -> None:
    pooled_news(session)
    collection.close_collection(session, SLUG)
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="is closed"):
        labels(session, "jo", "1 0 a 2\n")
    with pytest.raises(ConflictError, match="is closed"):
        collection.change_collection(session, SLUG, CollectionChange(title="New"))
    collection.reopen_collection(session, SLUG)
    assert labels(session, "jo", "1 0 a 2\n").added == 1


def test_people_see_the_collections_they_are_members_of(session: Session) -> None:
    news(session, "first")
    news(session, "second")
    jo = member(session, "jo", slug="second")
    assert [shown.slug for shown in list_collections(session)] == ["first", "second"]
    assert [shown.slug for shown in list_collections(session, jo)] == ["second"]
    only = find_collection(session, "first").id
    assert [shown.slug for shown in list_collections(session, only_id=only)] == ["first"]
    assert list_collections(session, jo, only_id=only) == []
    assert collection_names(session, jo, most=5) == [("second", "News search")]
    assert [slug for slug, _ in collection_names(session, most=1)] == ["first"]


def test_collections_are_listed_by_page_and_found_by_parts_of_their_names(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection_list, "ROWS_A_PAGE", 2)
    for slug in ("web-2024", "web-2025", "web-2026", "news_1"):
        news(session, slug)
    collection.change_collection(session, "web-2026", CollectionChange(title="Tip of the Tongue"))

    def shown(text: str = "", page: int = 1) -> tuple[list[str], int, int, int]:
        found = page_of_collections(session, None, text, page)
        return [one.slug for one in found.collections], found.total, found.page, found.pages

    assert shown() == (["news_1", "web-2024"], 4, 1, 2)
    assert shown(page=2) == (["web-2025", "web-2026"], 4, 2, 2)
    assert shown("WEB", 9) == (["web-2026"], 3, 2, 2)
    assert shown("tongue") == (["web-2026"], 1, 1, 1)
    assert shown("_") == (["news_1"], 1, 1, 1)
    assert shown("nothing", 0) == ([], 0, 1, 1)
    assert page_of_collections(session, member(session, "jo", slug="news_1")).total == 1


def test_whoever_adds_a_collection_by_page_is_its_organiser(session: Session) -> None:
    ola = user(session, "ola")
    collection.add_collection(
        session, "web", title="Web", scale=parse_scale(SCALE), relevant_from=1, organiser="ola", added_at=NOW
    )
    assert members.standing_of(session, "web", ola).roles == {Role.ORGANISER}


def test_a_collection_is_counted_without_replaced_judgements(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    labels(session, "jo", "1 0 a 1\n", name="changed.txt")
    assert collection.count_collection(session, SLUG) == CollectionCounts(
        topics=2, documents=5, documents_with_text=5, runs=2, pool_items=6, judgements=2
    )


def test_an_unknown_collection_is_named(session: Session) -> None:
    with pytest.raises(NotFoundError, match="no collection “nowhere”"):
        collection.show_collection(session, "nowhere")
