"""Tables and sessions. No decisions. Every table is named here, so that the metadata is complete."""

from annotator.storage.accounts import Membership, Role, Team, User
from annotator.storage.collection import Collection, CollectionState, Grade, GuidelineVersion, Topic
from annotator.storage.columns import Base
from annotator.storage.database import Database
from annotator.storage.documents import Document
from annotator.storage.judging import Assignment, AssignmentState, CannotJudge, Judgement, LabelFile
from annotator.storage.pools import Contribution, Pool, PoolItem, PoolRun
from annotator.storage.runs import RankedList, Run, RunFile

__all__ = [
    "Assignment",
    "AssignmentState",
    "Base",
    "CannotJudge",
    "Collection",
    "CollectionState",
    "Contribution",
    "Database",
    "Document",
    "Grade",
    "GuidelineVersion",
    "Judgement",
    "LabelFile",
    "Membership",
    "Pool",
    "PoolItem",
    "PoolRun",
    "RankedList",
    "Role",
    "Run",
    "RunFile",
    "Team",
    "Topic",
    "User",
]
