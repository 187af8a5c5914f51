"""The topic with which a judge or adjudicator continues, for the screen's script and for pages."""

from collections.abc import Mapping
from typing import Any

from flask import url_for

from annotator.storage.judging.drawing import Queue
from annotator.web.judging.judging_documents import ENDPOINTS
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.context import database, now
from annotator.web.site.language import lazy_gettext
from annotator.workflows.judging import next_topic
from annotator.workflows.judging.next_topic import NextTopic, NothingLeft

NOTHING_LEFT: Mapping[NothingLeft, str] = {
    NothingLeft.CLOSED: lazy_gettext("Judging has ended: the organiser has closed this collection."),
    NothingLeft.HELD: lazy_gettext(
        "No topic has documents for you now: other people hold the remaining ones, which return if they are not judged."
    ),
    NothingLeft.ALL: lazy_gettext("No topic has documents for you: you have judged all that were available to you."),
}


def after(slug: str, number: str, judge_id: int) -> dict[str, Any]:
    """What a judge continues with after a topic: `{"topic": {"number", "title", "url", "waiting"}, "sentence"}`.

    Either the topic or the sentence, which says why there is none, is None.
    """
    to_come = choices_to_come(slug, judge_id)
    with database().transaction() as session:  # a transaction, because expired leases are released here
        found = next_topic.next_topic(session, slug, number, judge_id, now=now(), to_come=to_come)
    return onward_json(slug, found)


def onward_json(slug: str, found: NextTopic, queue: Queue = Queue.JUDGING) -> dict[str, Any]:
    """A next topic with the address of its page, or a sentence why there is none."""
    topic = found.topic
    if topic is None:
        return {"topic": None, "sentence": str(NOTHING_LEFT[found.reason or NothingLeft.ALL])}
    url = url_for(f"{ENDPOINTS[queue][0]}.next_document", slug=slug, number=topic.number)
    shown = {"number": topic.number, "title": topic.title, "url": url, "waiting": topic.waiting}
    return {"topic": shown, "sentence": None}
