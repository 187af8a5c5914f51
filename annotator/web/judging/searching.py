"""Search of a topic on the judging screen, as JSON: hits, their texts, and the grades given to them."""

from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, NotFoundError
from annotator.evaluation.search.search_snippets import SnippetPart
from annotator.web.judging.judging_acts import read_sent
from annotator.web.judging.judging_documents import PARTS
from annotator.web.judging.judging_protocol import as_json, database_epoch, for_judges, install, refused_json
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, reach
from annotator.web.site.json_answers import sent_json
from annotator.web.site.query_string import asked_word, number_or
from annotator.workflows.documents import search, source_search
from annotator.workflows.documents.search import FoundToJudge
from annotator.workflows.judging import found_documents
from annotator.workflows.judging.judge_access import JudgeHere

blueprint = Blueprint("searching", __name__)

HITS = 20
LONGEST_QUERY = 1_000
DIGITS = 4


@blueprint.get("/collections/<slug>/judge/topics/<path:number>/search.json")
@for_judges
def hits(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:
    """The hits of `?q=` from the rank `?first=` on, with the judge's own grades."""
    query = asked_word("q", "")[:LONGEST_QUERY]
    first = number_or("first", 0, digits=DIGITS)
    _refuse_unless_open(slug)
    from_source = source_search.ask_source(database(), slug, query, reach=reach(), first=first, most=HITS)
    with database().reading() as session:
        found = search.find_to_judge(
            session, slug, query, topic=number, judge_id=judge.id, first=first, most=HITS, from_source=from_source
        )
    return as_json({"total": found.total, "more": found.more, "hits": [_hit_json(hit) for hit in found.hits]})


@blueprint.get("/collections/<slug>/judge/topics/<path:number>/search/document.json")
@for_judges
def document(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:  # noqa: ARG001 - used by the guard
    """Part `?part=` of the document `?docno=`, which may be outside the pool."""
    part = number_or("part", 1, digits=DIGITS)
    _refuse_unless_open(slug)
    opened = source_search.open_document(database(), slug, request.args.get("docno", ""), reach=reach())
    parts = PARTS.of(opened.body, opened.body)
    if not 1 <= part <= max(len(parts), 1):
        raise NotFoundError("This document has no part %(part)d.", part=part)
    return as_json({"html": parts[part - 1] if parts else "", "parts": len(parts)})


@blueprint.post("/collections/<slug>/judge/topics/<path:number>/search/acts")
@for_judges
def acts(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:
    """Store the judge's acts on hits, each independently; an act names its document and has the `query` of the hit."""
    body = sent_json()
    sent = read_sent(body)
    queries = _queries(body)
    at = now()
    from_source: frozenset[str] = frozenset()
    if database().read(search.judges_may_search, slug):
        docnos = [act.docno for act in sent.acts if act.docno is not None]
        from_source = source_search.fetch_found(database(), slug, docnos, reach=reach(), at=at)

    def store(session: Any) -> found_documents.RecordedFound:  # noqa: ANN401 - a transaction
        done = found_documents.record_found(
            session, slug, number, judge.id, sent.acts, queries, received_at=at, from_source=from_source
        )
        for query in done.queries:
            note(session, "pool.add", slug, subject=number, details={"query": query})
        return done

    stored = database().attempt(store).recorded
    refused: list[tuple[str, AnnotatorError]] = [*sent.refused, *((one.id, one.error) for one in stored.refused)]
    answered = {
        "person": judge.id,
        "epoch": database_epoch(),
        "acknowledged": stored.acknowledged,
        "refused": [refused_json(id_, error) for id_, error in refused],
        "documents": [],
    }
    return as_json(answered)


def _refuse_unless_open(slug: str) -> None:
    search.refuse_judges_unless(judges_search=database().read(search.judges_may_search, slug))


def _queries(body: object) -> dict[str, str]:
    """Act id → query; the body has been read as acts before."""
    acts_sent = body.get("acts", []) if isinstance(body, dict) else []
    named = (act for act in acts_sent if isinstance(act, dict))
    return {
        act["id"]: act["query"][:LONGEST_QUERY]
        for act in named
        if isinstance(act.get("id"), str) and isinstance(act.get("query"), str)
    }


def _hit_json(hit: FoundToJudge) -> dict[str, Any]:
    decision = hit.decision
    own = {"grade": decision.grade, "cannot_judge": decision.cannot_judge, "note": decision.note} if decision else None
    return {
        "docno": hit.docno,
        "title": _parts_json(hit.title),
        "snippet": _parts_json(hit.snippet),
        "language": hit.language,
        "decision": own,
    }


def _parts_json(parts: tuple[SnippetPart, ...]) -> list[list[object]]:
    """Each part as its text and whether it is marked."""
    return [[part.text, part.marked] for part in parts]


install(blueprint)
