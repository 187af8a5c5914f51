"""The lists of documents that are reviewed one after the other, each with the filter of its query string."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from flask import request, url_for

from annotator.storage.agreement.review_lists import ItemKey
from annotator.web.agreement.disagreements import disagreements_address, disagreements_wanted
from annotator.web.site.context import the_person
from annotator.web.site.language import gettext
from annotator.web.site.memories import kept_report
from annotator.web.site.query_string import number_or
from annotator.workflows.agreement import disagreements, review
from annotator.workflows.judging.judge_history import CANNOT


class ListName(StrEnum):
    """A list of documents that organisers step through."""

    DISAGREEMENTS = "disagreements"
    GOLD = "gold-questions"
    JUDGE = "judge"


@dataclass(frozen=True)
class ReviewList:
    """A list: the ids of its items, its filter as query string arguments, and the views of its documents.

    `page_of` is the page of the list with the document at a position, `judge` whose judgements are listed. Adjudicators
    decide on the documents of their list.
    """

    items: tuple[int, ...]
    title: str
    address: Mapping[str, Any]
    page_of: Callable[[int], str]
    views: tuple[str, str, str] = ("review.show", "review.document", "review.document_part")
    decides: bool = False
    judge: str | None = None

    def url(self, slug: str, key: ItemKey | None = None, at: int | None = None, part: int | None = None) -> str:
        """The page of a document of the list."""
        of: dict[str, Any] = {} if key is None else {"in": key.topic, "docno": key.docno, "at": at, "part": part}
        return url_for(self.views[0], slug=slug, **self.address, **of)


def asked_list(slug: str, name: str) -> ReviewList:
    """The list of this name with the filter of the query string; raises `NotFoundError` for an unknown judge."""
    makers = {
        ListName.DISAGREEMENTS: _disagreements,
        ListName.GOLD: _gold_questions,
        ListName.JUDGE: _judged,
    }
    return makers[ListName(name)](slug)


def asked_disputes(slug: str) -> ReviewList:
    """The documents in dispute for this adjudicator, of `?topic=` or of all topics."""
    topic, judge_id = request.args.get("topic") or None, the_person().id
    items = kept_report(
        slug,
        ("review", "disputes", judge_id, topic),
        lambda session: review.list_disputed(session, slug, judge_id, topic),
    )
    views = ("review.show_disputes", "review.dispute", "review.dispute_part")
    topics = url_for("adjudicating.topics", slug=slug)
    return ReviewList(items, gettext("Documents in dispute"), {"topic": topic}, lambda _: topics, views, decides=True)


def _disagreements(slug: str) -> ReviewList:
    wanted = disagreements_wanted()
    items = kept_report(
        slug,
        ("review", ListName.DISAGREEMENTS, wanted),
        lambda session: disagreements.disagreement_items(session, slug, wanted),
    )
    address = disagreements_address(wanted)

    def page_of(position: int) -> str:
        page, place = divmod(position - 1, disagreements.ROWS_A_PAGE)
        return url_for("disagreements.show", slug=slug, **address, page=page + 1, _anchor=f"card-{place + 1}")

    return ReviewList(items, gettext("Disagreements"), {"name": ListName.DISAGREEMENTS.value, **address}, page_of)


def _gold_questions(slug: str) -> ReviewList:
    judge = request.args.get("judge") or None
    items = kept_report(
        slug, ("review", ListName.GOLD, judge), lambda session: review.list_missed_gold(session, slug, judge)
    )
    title = gettext("Gold questions missed by %(judge)s", judge=judge) if judge else gettext("Gold questions missed")
    page = url_for("gold_questions.show", slug=slug)
    address = {"name": ListName.GOLD.value, "judge": judge}
    return ReviewList(items, title, address, lambda _: page, judge=judge)


def _judged(slug: str) -> ReviewList:
    judge, topic = request.args.get("judge", ""), request.args.get("topic") or None
    number = number_or("grade", -1, digits=1)
    grade = CANNOT if request.args.get("grade") == CANNOT else None if number < 0 else number
    items = kept_report(
        slug,
        ("review", ListName.JUDGE, judge, grade, topic),
        lambda session: review.list_judged_items(session, slug, judge, grade=grade, topic=topic),
    )
    address = {"name": ListName.JUDGE.value, "judge": judge, "grade": grade, "topic": topic}
    page = url_for("judges.one", slug=slug, name=judge)
    return ReviewList(items, gettext("Judgements of %(judge)s", judge=judge), address, lambda _: page, judge=judge)
