"""Tables and sessions. No decisions. Every table is named here, so that the metadata is complete."""

from annotator.clicks.storage.click_logs import ClickLog, ClickVariant
from annotator.storage.collections.audit import AuditEvent
from annotator.storage.collections.collection import (
    ACCEPTED,
    DROPPED,
    Collection,
    CollectionState,
    Grade,
    GuidelineVersion,
    JudgingMode,
    QuickLook,
    ScoresShown,
    Topic,
    TopicState,
)
from annotator.storage.collections.deletions import DeletedKind, DeletedPart, Deletion
from annotator.storage.collections.rounds import Round
from annotator.storage.documents.documents import Document
from annotator.storage.documents.search import DocumentWords
from annotator.storage.judging.judge_desk import (
    Evidence,
    Preparation,
    QualifyingAnswer,
    QualifyingItem,
    Question,
    TopicMark,
    TopicNote,
)
from annotator.storage.judging.judging import (
    Assignment,
    AssignmentState,
    CannotJudge,
    Judgement,
    Purpose,
)
from annotator.storage.judging.labels import LabelFile
from annotator.storage.people.accounts import Membership, Role, Team, User, UserKind
from annotator.storage.people.attempts import Attempts
from annotator.storage.people.ended_sessions import EndedSession
from annotator.storage.people.invitations import Invitation
from annotator.storage.people.tokens import ApiToken
from annotator.storage.pools.pools import (
    Contribution,
    Pool,
    PoolItem,
    PoolRun,
    SelectionEvent,
    Showing,
    Stratum,
)
from annotator.storage.qrels.qrels_versions import QrelsGrade, QrelsVersion
from annotator.storage.runs.run_facts import FactColumn, RunFact
from annotator.storage.runs.runs import IN_FORCE, RankedList, Run, RunFile, RunType
from annotator.storage.site.columns import Base
from annotator.storage.site.database import Database
from annotator.storage.site.job_parts import JobPart
from annotator.storage.site.jobs import Job, JobState
from annotator.storage.topics.revisions import TopicRevision

__all__ = [
    "ACCEPTED",
    "DROPPED",
    "IN_FORCE",
    "ApiToken",
    "Assignment",
    "AssignmentState",
    "Attempts",
    "AuditEvent",
    "Base",
    "CannotJudge",
    "ClickLog",
    "ClickVariant",
    "Collection",
    "CollectionState",
    "Contribution",
    "Database",
    "DeletedKind",
    "DeletedPart",
    "Deletion",
    "Document",
    "DocumentWords",
    "EndedSession",
    "Evidence",
    "FactColumn",
    "Grade",
    "GuidelineVersion",
    "Invitation",
    "Job",
    "JobPart",
    "JobState",
    "Judgement",
    "JudgingMode",
    "LabelFile",
    "Membership",
    "Pool",
    "PoolItem",
    "PoolRun",
    "Preparation",
    "Purpose",
    "QrelsGrade",
    "QrelsVersion",
    "QualifyingAnswer",
    "QualifyingItem",
    "Question",
    "QuickLook",
    "RankedList",
    "Role",
    "Round",
    "Run",
    "RunFact",
    "RunFile",
    "RunType",
    "ScoresShown",
    "SelectionEvent",
    "Showing",
    "Stratum",
    "Team",
    "Topic",
    "TopicMark",
    "TopicNote",
    "TopicRevision",
    "TopicState",
    "User",
    "UserKind",
]
