"""Tables and sessions. No decisions. Every table is named here, so that the metadata is complete."""

from annotator.storage.accounts import Membership, Role, Team, User, UserKind
from annotator.storage.collection import (
    ACCEPTED,
    DROPPED,
    Collection,
    CollectionState,
    Grade,
    GuidelineVersion,
    JudgingMode,
    QuickLook,
    Topic,
    TopicState,
)
from annotator.storage.columns import Base
from annotator.storage.database import Database
from annotator.storage.documents import Document
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
from annotator.storage.runs import IN_FORCE, RankedList, Run, RunFile, RunType
from annotator.storage.search import DocumentWords

__all__ = [
    "ACCEPTED",
    "DROPPED",
    "IN_FORCE",
    "Assignment",
    "AssignmentState",
    "Base",
    "CannotJudge",
    "Collection",
    "CollectionState",
    "Contribution",
    "Database",
    "Document",
    "DocumentWords",
    "Evidence",
    "Grade",
    "GuidelineVersion",
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
    "Run",
    "RunFile",
    "RunType",
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
