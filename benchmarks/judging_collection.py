"""A collection for the benchmark of judging: topics, documents, a pool, some runs to score, judges who sign in."""

from datetime import UTC, datetime
from random import Random

from sqlalchemy.orm import Session

from annotator.evaluation.qrels.scale import parse_scale
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.passwords import hash_password
from annotator.storage import Database, Role
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.storage.site.schema import prepare_schema
from annotator.workflows.collections import collection
from annotator.workflows.documents import documents
from annotator.workflows.people import accounts, members
from annotator.workflows.pools import pool_building
from annotator.workflows.runs import run_upload
from annotator.workflows.topics import topics

SLUG = "benchmark"
PASSWORD = "as long as it needs to be"  # noqa: S105 - no secret
TOPICS = 50
RUNS = 8
CHARACTERS = 1_500
WORDS = 20_000
LIMIT = 1 << 30


def build(url: str, *, items: int, judges: int) -> None:
    """Fill an empty database: `items` pool items in 50 topics, each document in one of them."""
    database = Database(url)
    prepare_schema(database)
    random = Random(1)  # noqa: S311 - the same collection each time
    now = datetime.now(UTC)
    per_topic = items // TOPICS
    with database.transaction() as session:
        collection.add_collection(
            session,
            SLUG,
            title="Benchmark",
            scale=parse_scale("0=Not relevant,1=Relevant,2=Highly relevant"),
            relevant_from=1,
            added_at=now,
        )
        password_hash = hash_password(PASSWORD)
        for name, role in [("organiser", Role.ORGANISER), *((judge_name(n), Role.JUDGE) for n in range(judges))]:
            accounts.add_user(session, name, password_hash=password_hash, added_at=now)
            members.add_member(session, SLUG, name, role, added_at=now)
        _add_texts(session, random, items)
        _add_runs(session, random, per_topic, now)
        request = PoolRequest("depth", {"depth": per_topic})
        pool_building.build_pool(session, SLUG, request, seed=1, built_by_id=None, built_at=now)
    database.close()


def judge_name(number: int) -> str:
    """The account of a judge, from 0."""
    return f"judge{number}"


def _add_texts(session: Session, random: Random, items: int) -> None:
    vocabulary = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(2, 9))) for _ in range(WORDS)]
    lines = [f"{number + 1}\t{' '.join(random.choices(vocabulary, k=3))}\n" for number in range(TOPICS)]
    topics.import_topics(
        session, SLUG, topics.read_topics([InputFile("topics.tsv", "".join(lines).encode())], unpacked_limit=LIMIT)
    )
    texts = "".join(
        f"d{number}\tTitle {number}\t{' '.join(random.choices(vocabulary, k=300))[:CHARACTERS]}\n"
        for number in range(items)
    )
    read = documents.read_documents([InputFile("documents.tsv", texts.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read)


def _add_runs(session: Session, random: Random, per_topic: int, now: datetime) -> None:
    for number in range(RUNS):
        lines = []
        for topic in range(TOPICS):
            docnos = list(range(topic * per_topic, (topic + 1) * per_topic))
            random.shuffle(docnos)
            lines += [
                f"{topic + 1} Q0 d{docno} {rank} {per_topic - rank} run{number}\n"
                for rank, docno in enumerate(docnos, start=1)
            ]
        sent = [InputFile(f"run{number}.txt", "".join(lines).encode())]
        checked = run_upload.check_runs(session, SLUG, sent, sender=Sender(None, organises=True), unpacked_limit=LIMIT)
        run_upload.store_runs(session, SLUG, checked, details=RunDetails(None), uploaded_by_id=None, uploaded_at=now)
