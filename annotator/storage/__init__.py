"""Tables and sessions. No decisions. Every table is named here, so that the metadata is complete."""

from annotator.storage.accounts import Membership, Role, Team, User, UserKind
from annotator.storage.attempts import Attempts
from annotator.storage.audit import AuditEvent
from annotator.storage.click_logs import ClickLog, ClickVariant
from annotator.storage.collection import (
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
from annotator.storage.columns import Base
from annotator.storage.database import Database
from annotator.storage.deletions import DeletedKind, DeletedPart, Deletion
from annotator.storage.documents import Document
from annotator.storage.ended_sessions import EndedSession
from annotator.storage.invitations import Invitation
from annotator.storage.job_parts import JobPart
from annotator.storage.jobs import Job, JobState
from annotator.storage.judge_desk import (
    Evidence,
    Preparation,
    QualifyingAnswer,
    QualifyingItem,
    Question,
    TopicMark,
    TopicNote,
)
from annotator.storage.judging import Assignment, AssignmentState, CannotJudge, Judgement, Purpose
from annotator.storage.labels import LabelFile
from annotator.storage.pools import Contribution, Pool, PoolItem, PoolRun, SelectionEvent, Showing, Stratum
from annotator.storage.qrels_versions import QrelsGrade, QrelsVersion
from annotator.storage.revisions import TopicRevision
from annotator.storage.rounds import Round
from annotator.storage.run_facts import FactColumn, RunFact
from annotator.storage.runs import IN_FORCE, RankedList, Run, RunFile, RunType
from annotator.storage.search import DocumentWords
from annotator.storage.tokens import ApiToken

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
