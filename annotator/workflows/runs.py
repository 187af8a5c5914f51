"""Runs: check files of them, store them whole, list them, give them back as they came."""

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from annotator.errors import Problems
from annotator.evaluation.free_text import check_free_text
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.parsed_runs import RunDocuments
from annotator.evaluation.rankings import encode_documents, encode_scores
from annotator.evaluation.run_format import ParsedRun, first_tag_of, parse_run
from annotator.evaluation.unpacking import unpack_into
from annotator.files import InputFile
from annotator.storage import PoolRun, RankedList, Run, RunFile, Team
from annotator.storage.accounts import find_or_add_team
from annotator.storage.collection import find_collection, find_open_collection, lock_open_collection, topic_ids
from annotator.storage.documents import find_or_add_documents
from annotator.storage.runs import find_run

GZIP_MAGIC = b"\x1f\x8b"
GREATEST_TAG_LENGTH = 128
LONGEST_DESCRIPTION = 1_000
STORED = ""  # whose tag it is, when it is no file of this check


@dataclass(frozen=True)
class CheckedRun:
    """A run that was read without a problem, with all that can be made ready before it is stored."""

    file: InputFile
    parsed: ParsedRun
    documents: RunDocuments
    checksum: str  # SHA-256 of the bytes as they were sent
    packed: bytes  # those bytes gzipped


@dataclass(frozen=True)
class RunRow:
    """A run as lists show it."""

    tag: str
    team: str | None
    description: str
    topics: int
    retrieved: int
    pooled: bool
    checksum: str
    uploaded_at: datetime


def check_runs(
    session: Session, slug: str, files: Sequence[InputFile], *, tag_from_file: bool = False, unpacked_limit: int
) -> list[CheckedRun]:
    """Read files of runs against the collection and store nothing.

    With `tag_from_file` the file's name without its endings is the tag. Raises `FileRefusedError` with every problem
    of every file: its form, its topics, and tags taken or used twice.
    """
    collection = find_open_collection(session, slug)
    topics = topic_ids(session, collection.id).keys()
    taken = dict.fromkeys(session.scalars(select(Run.tag).where(Run.collection_id == collection.id)), STORED)
    problems = Problems()
    checked: list[CheckedRun] = []
    for file in files:
        text = unpack_into(problems, file.name, file.content, unpacked_limit)
        if text is None:
            continue
        given = tag_of(file.name) if tag_from_file else None
        line, first_tag = first_tag_of(text)
        is_free = _tag_is_free(problems, file.name, line, given or first_tag, taken)
        parsed = parse_run(file.name, text, problems, topics=topics, tag=given)
        if parsed is not None and is_free:
            checked.append(
                CheckedRun(
                    file, parsed, parsed.index(), hashlib.sha256(file.content).hexdigest(), _packed(file.content)
                )
            )
    problems.refuse_if_any()
    return checked


def tag_of(file_name: str) -> str:
    """The tag a file's name gives: without folder, `.gz` and `.txt`."""
    name = PurePath(file_name).name
    for ending in (".gz", ".txt"):
        name = name.removesuffix(ending)
    return name


def store_runs(
    session: Session,
    slug: str,
    runs: Sequence[CheckedRun],
    *,
    team: str | None = None,
    description: str = "",
    uploaded_by_id: int | None,
    uploaded_at: datetime,
) -> list[str]:
    """Store checked runs whole, files and ranked lists, and return their tags.

    Raises `FileRefusedError` when a tag was taken, or a topic went, between the check and now.
    """
    check_free_text(description, LONGEST_DESCRIPTION)
    collection = lock_open_collection(session, slug)
    topics = topic_ids(session, collection.id)
    _check_still_fitting(session, collection.id, topics, runs)
    team_id = find_or_add_team(session, collection.id, team).id if team else None
    documents = find_or_add_documents(session, collection.id, set().union(*(run.documents.docnos for run in runs)))
    for run in runs:
        row = Run(
            collection_id=collection.id,
            tag=run.parsed.tag,
            team_id=team_id,
            description=description,
            file_name=PurePath(run.file.name).name,
            checksum=run.checksum,
            retrieved=run.parsed.retrieved,
            uploaded_by_id=uploaded_by_id,
            uploaded_at=uploaded_at,
        )
        session.add(row)
        session.flush()
        session.add(RunFile(run_id=row.id, packed_here=run.packed is not run.file.content, content=run.packed))
        _store_lists(session, row.id, run, topics, documents)
    return [run.parsed.tag for run in runs]


def list_runs(session: Session, slug: str, *, team: str | None = None) -> list[RunRow]:
    """The runs of a collection, or of one team in it, by tag."""
    lists = select(func.count()).where(RankedList.run_id == Run.id).correlate(Run).scalar_subquery()
    pooled = select(PoolRun.run_id).where(PoolRun.run_id == Run.id).correlate(Run).exists()
    statement = (
        select(Run, Team.name, lists, pooled)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == find_collection(session, slug).id)
    )
    if team is not None:
        statement = statement.where(Team.name == team)
    rows = [
        RunRow(run.tag, team_name, run.description, topics, run.retrieved, is_pooled, run.checksum, run.uploaded_at)
        for run, team_name, topics, is_pooled in session.execute(statement)
    ]
    return sorted(rows, key=lambda row: natural_order(row.tag))


def original_file(session: Session, slug: str, tag: str) -> InputFile:
    """The file of a run byte for byte as it was sent."""
    run = find_run(session, find_collection(session, slug).id, tag)
    stored = session.get_one(RunFile, run.id)
    return InputFile(run.file_name, gzip.decompress(stored.content) if stored.packed_here else stored.content)


def _tag_is_free(problems: Problems, file_name: str, line: int, tag: str, taken: dict[str, str]) -> bool:
    """Note a tag that another run of the collection or of these files has, or that cannot be shown."""
    before = problems.total
    if not tag:
        return True  # a line too short to have one, which the reading of the run notes
    if len(tag) > GREATEST_TAG_LENGTH or not tag.isprintable() or any(map(str.isspace, tag)):
        problems.add(
            file_name,
            line,
            "A tag has at most %(most)d printable characters and no blanks.",
            most=GREATEST_TAG_LENGTH,
        )
    elif taken.get(tag) == STORED:
        problems.add(file_name, line, "The tag %(tag)s is taken by another run.", tag=tag)
    elif tag in taken:
        problems.add(file_name, line, "The tag %(tag)s is also the tag of %(other)s.", tag=tag, other=taken[tag])
    else:
        taken[tag] = file_name
    return problems.total == before


def _check_still_fitting(
    session: Session, collection_id: int, topics: dict[str, int], runs: Sequence[CheckedRun]
) -> None:
    taken = set(session.scalars(select(Run.tag).where(Run.collection_id == collection_id)))
    problems = Problems()
    for run in runs:
        if run.parsed.tag in taken:
            problems.add(run.file.name, None, "The tag %(tag)s is taken by another run.", tag=run.parsed.tag)
        for number in run.parsed.lists.keys() - topics.keys():
            problems.add(run.file.name, None, "There is no topic %(number)s any more.", number=number)
    problems.refuse_if_any()


def _packed(content: bytes) -> bytes:
    """The content gzipped; the very same object when it was sent so."""
    return content if content.startswith(GZIP_MAGIC) else gzip.compress(content, 6, mtime=0)


def _store_lists(
    session: Session, run_id: int, run: CheckedRun, topics: dict[str, int], documents: dict[str, int]
) -> None:
    numbered = run.documents.numbered(documents)
    session.execute(
        insert(RankedList),
        [
            {
                "run_id": run_id,
                "topic_id": topics[number],
                "documents": encode_documents(numbered[number]),
                "scores": encode_scores(ranked.scores),
            }
            for number, ranked in run.parsed.lists.items()
        ],
    )
