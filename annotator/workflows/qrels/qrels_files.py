"""Qrels as files in any format: the live grades, those of a kept version, and those of a sample."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import Sentence
from annotator.evaluation.outputs.output_formats import named
from annotator.evaluation.outputs.qrels_outputs import QRELS_OUTPUTS, QrelsFormat, lines_of
from annotator.storage import Topic
from annotator.storage.collections.collection import find_collection
from annotator.workflows.qrels.prels import export_for_infap, export_prels
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import export_version

PRELS = "prels"


@dataclass(frozen=True)
class GradesWanted:
    """Which grades: those of a kept version, or settled by a policy, or of one judge, now or at a time.

    Of a sample, `version` is that of the pool; `at` and `with_unjudged` do not apply.
    """

    version: int | None = None
    policy: str | None = None
    judge: str | None = None
    at: datetime | None = None
    with_unjudged: bool = False


@dataclass(frozen=True)
class QrelsFile:
    """Qrels in one format, the manifest that describes the file, and warnings."""

    format: QrelsFormat
    content: bytes
    manifest: str
    warnings: tuple[Sentence, ...] = ()


def qrels_file(
    session: Session,
    slug: str,
    format_name: str,
    wanted: GradesWanted,
    *,
    among: Sequence[QrelsFormat] = QRELS_OUTPUTS,
    made_at: datetime,
) -> QrelsFile:
    """The qrels in the format of this name.

    Raises `InvalidValueError` when there is none `among` these, `ConflictError` for grades that the format cannot hold,
    and as `export_qrels`, `export_version` or `export_prels`.
    """
    format_ = named(among, format_name)
    made = _as_trec(session, slug, format_, wanted, made_at)
    if format_.write is None:
        return made
    collection_id = find_collection(session, slug).id
    rows = session.execute(select(Topic.number, Topic.title).where(Topic.collection_id == collection_id))
    content = format_.write(lines_of(made.content), {number: title for number, title in rows})
    manifest = {**json.loads(made.manifest), "format": format_.name, "sha256": hashlib.sha256(content).hexdigest()}
    return QrelsFile(format_, content, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", made.warnings)


def _as_trec(session: Session, slug: str, format_: QrelsFormat, wanted: GradesWanted, made_at: datetime) -> QrelsFile:
    if format_.sample:
        sample = (export_prels if format_.name == PRELS else export_for_infap)(
            session, slug, version=wanted.version, policy=wanted.policy, judge=wanted.judge, made_at=made_at
        )
        return QrelsFile(format_, sample.prels, sample.manifest, sample.warnings)
    if wanted.version is not None:
        kept = export_version(session, slug, wanted.version)
        return QrelsFile(format_, kept.qrels, kept.manifest)
    made = export_qrels(
        session,
        slug,
        policy=wanted.policy,
        judge=wanted.judge,
        at=wanted.at,
        with_unjudged=wanted.with_unjudged,
        made_at=made_at,
    )
    return QrelsFile(format_, made.qrels, made.manifest, made.warnings)
