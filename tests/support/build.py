"""Factories of valid objects, with defaults for what a test does not care about."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from beginning import beginning
from sqlalchemy import select
from sqlalchemy.orm import Session
from thorough import CHEAP
from werkzeug.security import generate_password_hash

from annotator.evaluation.qrels.scale import parse_scale
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Role, Showing, User
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.storage.runs.sent_runs import Receipt
from annotator.workflows.collections import collection
from annotator.workflows.documents import documents
from annotator.workflows.judging import judgement_import
from annotator.workflows.people import accounts, members
from annotator.workflows.pools import pool_building
from annotator.workflows.runs import run_upload
from annotator.workflows.runs.run_upload import CheckedRun
from annotator.workflows.topics import topics

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
LIMIT = 1 << 24
PASSWORD = "correct horse"
# Long enough for a server, and not secret.
SECRET_KEY = "for tests only, and for nothing else"
HASH = generate_password_hash(PASSWORD, CHEAP)
SCALE = "0=Not relevant,1=Relevant,2=Highly relevant"
SLUG = "news"


def user(session: Session, name: str = "jo", *, administrator: bool = False) -> int:
    """An account whose password is `PASSWORD`."""
    return accounts.add_user(session, name, password_hash=HASH, administrator=administrator, added_at=NOW)


def news(session: Session, slug: str = SLUG, *, judgements_wanted: int = 1) -> None:
    """A collection with three grades, relevant from 1."""
    collection.add_collection(
        session,
        slug,
        title="News search",
        scale=parse_scale(SCALE),
        relevant_from=1,
        judgements_wanted=judgements_wanted,
        # Most tests are about this policy; the default prefers an adjudicator's grade.
        consensus_policy="majority",
        added_at=NOW,
    )


def member(session: Session, name: str, role: Role = Role.JUDGE, *, slug: str = SLUG, team: str | None = None) -> int:
    """A person with a role, whatever roles they have; the account is made when it is new."""
    known = session.scalar(select(User.id).where(User.name == name))
    id_ = known if known is not None else user(session, name)
    members.add_member(session, slug, name, role, team=team, added_at=NOW, force=True)
    return id_


def topic_file(session: Session, text: str = "1\tfirst topic\n2\tsecond topic\n", *, slug: str = SLUG) -> None:
    """Topics from tab-separated lines."""
    topics.import_topics(
        session, slug, topics.read_topics([InputFile("topics.tsv", text.encode())], unpacked_limit=LIMIT)
    )


def document_file(session: Session, docnos: Sequence[str], *, slug: str = SLUG) -> None:
    """Documents whose text names them."""
    text = "".join(f"{docno}\tTitle of {docno}\tText of {docno}.\n" for docno in docnos)
    read = documents.read_documents([InputFile("documents.tsv", text.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, slug, read)


def run_text(tag: str, lists: Mapping[str, Sequence[str]]) -> bytes:
    """A run file that returns these documents in this order."""
    return "".join(
        f"{number} Q0 {docno} {rank} {1000 - rank} {tag}\n"
        for number, docnos in lists.items()
        for rank, docno in enumerate(docnos, start=1)
    ).encode()


def checked_run(
    session: Session,
    tag: str,
    lists: Mapping[str, Sequence[str]],
    *,
    slug: str = SLUG,
    team: str | None = None,
    sender: Sender | None = None,
) -> list[CheckedRun]:
    """A run that has been checked, for an organiser unless somebody else sends it."""
    sent = [InputFile(f"{tag}.run", run_text(tag, lists))]
    return run_upload.check_runs(
        session, slug, sent, sender=sender or Sender(team, organises=True), unpacked_limit=LIMIT
    )


def stored(
    session: Session, checked: Sequence[CheckedRun], *, slug: str = SLUG, team: str | None = None
) -> list[Receipt]:
    """These runs stored, at `NOW`."""
    return run_upload.store_runs(session, slug, checked, details=RunDetails(team), uploaded_by_id=None, uploaded_at=NOW)


def run(
    session: Session, tag: str, lists: Mapping[str, Sequence[str]], *, slug: str = SLUG, team: str | None = None
) -> None:
    """A stored run."""
    stored(session, checked_run(session, tag, lists, slug=slug, team=team), slug=slug, team=team)


def pool(
    session: Session, depth: int = 10, *, slug: str = SLUG, tags: Sequence[str] | None = None, seed: int | None = None
) -> pool_building.PoolSummary:
    """The depth-k pool of the runs."""
    return build(session, PoolRequest("depth", {"depth": depth}, tags), slug=slug, seed=seed)


def build(
    session: Session,
    request: PoolRequest,
    *,
    slug: str = SLUG,
    seed: int | None = None,
    showing: Showing = Showing.RANDOM,
) -> pool_building.PoolSummary:
    """A pool by any strategy."""
    return pool_building.build_pool(session, slug, request, seed=seed, showing=showing, built_by_id=None, built_at=NOW)


def labels(
    session: Session, judge: str, text: str, *, slug: str = SLUG, add_to_pool: bool = False, name: str = "qrels.txt"
) -> judgement_import.JudgementImport:
    """One judge's grades from qrels lines."""
    checked = judgement_import.check_judgements(
        session, slug, InputFile(name, text.encode()), add_to_pool=add_to_pool, unpacked_limit=LIMIT
    )
    return judgement_import.store_judgements(session, slug, checked, judge=judge, added_at=NOW)


@beginning
def pooled_news(session: Session, *, judgements_wanted: int = 1) -> None:
    """A collection with two topics, two runs and their pool: 1 → a b c d, 2 → a e."""
    news(session, judgements_wanted=judgements_wanted)
    topic_file(session)
    document_file(session, ["a", "b", "c", "d", "e"])
    run(session, "alpha", {"1": ["a", "b", "c"], "2": ["a"]})
    run(session, "beta", {"1": ["d", "b", "a"], "2": ["e"]})
    pool(session)
