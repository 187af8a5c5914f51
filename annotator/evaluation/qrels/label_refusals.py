"""The problems for which labels are refused or kept apart, beside those of their files."""

from collections.abc import Container, Iterable

from annotator.errors import Problems
from annotator.evaluation.qrels.qrels_format import UNJUDGED, QrelsRow


def note_drafts(name: str, rows: Iterable[QrelsRow], drafts: Container[str], problems: Problems) -> None:
    """Note labels of topics that are drafts."""
    for row in rows:
        if row.topic in drafts:
            problems.add(
                name, row.line, "Topic %(topic)s is a draft: accept it before its labels come in.", topic=row.topic
            )


def note_outside_pool(name: str, rows: Iterable[QrelsRow], problems: Problems) -> None:
    """Note rows whose documents are not pooled, when nothing may be added to the pool."""
    for row in rows:
        problems.add(
            name,
            row.line,
            "Document %(docno)s is not in the pool of topic %(topic)s: leave it out or have it added.",
            docno=row.docno,
            topic=row.topic,
        )


def note_outside_pool_of_dropped(name: str, rows: Iterable[QrelsRow], problems: Problems) -> None:
    """Note rows that would add to the pool of a dropped topic."""
    for row in rows:
        problems.add(
            name,
            row.line,
            "Topic %(topic)s was dropped and document %(docno)s is not in its pool: leave it out.",
            docno=row.docno,
            topic=row.topic,
        )


def note_lost_grades(name: str, rows: Iterable[QrelsRow], scale: Container[int], problems: Problems) -> None:
    """Note grades that have left the scale since the file was checked."""
    for row in rows:
        if row.grade != UNJUDGED and row.grade not in scale:
            problems.add(name, row.line, "The grade %(grade)d is not in the scale any more.", grade=row.grade)


def note_decided(name: str, rows: Iterable[QrelsRow], judge: str, problems: Problems) -> None:
    """Note labels of documents that the judge has as an adjudicator: they would count as decisions."""
    for row in rows:
        if row.grade != UNJUDGED:
            problems.add(
                name,
                row.line,
                "%(judge)s decides on document %(docno)s of topic %(topic)s as adjudicator: leave it out.",
                judge=judge,
                docno=row.docno,
                topic=row.topic,
            )


def note_kept_apart(name: str, rows: Iterable[QrelsRow], problems: Problems) -> None:
    """Note labels outside the scale; they do not block the import."""
    for row in rows:
        problems.add(
            name,
            row.line,
            "The label %(label)s of document %(docno)s of topic %(topic)s is outside the scale: it is kept apart.",
            label=row.label,
            docno=row.docno,
            topic=row.topic,
        )
