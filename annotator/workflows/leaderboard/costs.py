"""Costs of all systems, with the scores of their runs."""

from datetime import datetime

from sqlalchemy.orm import Session

from annotator.evaluation.costs.report import CostedRun, CostReport, Question, make_report
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.storage.collections.collection import find_collection
from annotator.storage.runs.runs import runs_with_facts
from annotator.workflows.runs.run_costs import facts_by_key, fitting_statements

USUAL = Question()


def build_costs(
    session: Session,
    slug: str,
    board: Leaderboard | None,
    question: Question = USUAL,
    *,
    before: datetime | None = None,
) -> CostReport:
    """The costs of every active run, with the leaderboard's first measure if there is a leaderboard.

    With `before`, only runs uploaded before that time. Raises `NotFoundError` for an unknown cost, and
    `InvalidValueError` for a non-numeric one and for an invalid bound.
    """
    collection_id = find_collection(session, slug).id
    facts = facts_by_key(session, collection_id)
    runs = [
        CostedRun(run.tag, run.team, {one.address: one for one in fitting_statements(facts, run.facts)})
        for run in runs_with_facts(session, collection_id, before=before)
    ]
    return make_report(facts, runs, board, question)
