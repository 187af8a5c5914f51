"""The palette: pages, topics, runs, people and documents of a collection by name, for `Ctrl-K`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flask import Blueprint, request, url_for
from flask.typing import ResponseReturnValue

from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.navigation import navigation
from annotator.workflows.collections.names import FoundName, NameKind, find_names
from annotator.workflows.judging import next_topic

blueprint = Blueprint("palette", __name__)

LABELS: Mapping[NameKind, str] = {
    NameKind.TOPIC: lazy_gettext("topic"),
    NameKind.RUN: lazy_gettext("run"),
    NameKind.PERSON: lazy_gettext("member"),
    NameKind.DOCUMENT: lazy_gettext("document"),
}


@dataclass(frozen=True)
class Target:
    """A line of the palette: a name, what it is, and its page."""

    name: str
    about: str
    kind: str
    href: str


@blueprint.get("/collections/<slug>/names.json")
@collection_page()
def names(slug: str) -> ResponseReturnValue:
    """The pages whose label contains `?q=`, a judge's topics, and for organisers what else has such a name."""
    text = request.args.get("q", "").strip()
    found = database().read(find_names, slug, text) if the_place().organises else []
    own = _own_topics(slug, text) if the_place().judges and not the_place().organises else ()
    targets = [*own, *_pages(slug, text), *(_target(slug, one) for one in found)]
    return {"targets": [vars(target) for target in targets]}


def _own_topics(slug: str, text: str) -> Iterator[Target]:
    """A judge's topics with documents for them, each with its judging screen."""
    topics = database().read(next_topic.find_topics, slug, the_person().id, text, now=now())
    for topic in topics:
        href = url_for("judging.next_document", slug=slug, number=topic.number)
        yield Target(topic.number, topic.title, str(LABELS[NameKind.TOPIC]), href)


def _pages(slug: str, text: str) -> Iterator[Target]:
    """The pages of the menu, by the label of their view, tab or entry."""
    for entry in navigation(the_place(), "").entries:
        for tab in entry.tabs:
            for view in tab.views:
                labels = dict.fromkeys(str(label) for label in (entry.label, tab.label, view.label))
                if any(text.casefold() in label.casefold() for label in labels):
                    *above, name = labels
                    yield Target(name, " / ".join(above), gettext("page"), url_for(view.endpoint, slug=slug))


def _target(slug: str, found: FoundName) -> Target:
    match found.kind:
        case NameKind.TOPIC:
            href = url_for("topic.show", slug=slug, number=found.name)
        case NameKind.RUN:
            href = url_for("run.show", slug=slug, tag=found.name)
        case NameKind.PERSON:
            href = url_for("members.show", slug=slug, q=found.name)
        case NameKind.DOCUMENT:
            href = url_for("search.document", slug=slug, docno=found.name)
    return Target(found.name, found.about, str(LABELS[found.kind]), href)
