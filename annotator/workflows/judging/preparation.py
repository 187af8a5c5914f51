"""What a judge completes before judging: the guidelines, then the training."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.storage import Role
from annotator.storage.collections.collection import find_collection, latest_guidelines
from annotator.storage.judging.judge_desk import may_judge
from annotator.storage.people.accounts import find_membership
from annotator.storage.tables.judging import Preparation
from annotator.workflows.judging.training_attempts import training_of


@dataclass(frozen=True)
class Step:
    """Something to complete before judging, and whether it is completed."""

    preparation: Preparation
    is_done: bool


@dataclass(frozen=True)
class Preparations:
    """The steps in their order, and whether one of them is left; `has_guidelines`: there are some to read.

    `training` is the number of documents of an attempt at a training that has to be passed.
    """

    steps: tuple[Step, ...]
    has_guidelines: bool
    training: int = 0

    @property
    def left(self) -> Preparation | None:
        """The next step, None when judging can begin."""
        return next((step.preparation for step in self.steps if not step.is_done), None)


def preparations_of(session: Session, slug: str, judge_id: int) -> Preparations:
    """What a judge completes before judging, in its order; not for those who are no judges yet."""
    collection = find_collection(session, slug)
    guidelines = latest_guidelines(session, collection.id)
    if find_membership(session, collection.id, judge_id, Role.JUDGE) is None:
        return Preparations((), guidelines is not None)
    left = may_judge(session, collection, judge_id)
    steps = []
    if guidelines is not None:
        steps.append(Step(Preparation.GUIDELINES, left != Preparation.GUIDELINES))
    training = training_of(session, slug, judge_id)
    if training.documents and training.pass_mark is not None:
        steps.append(Step(Preparation.TRAINING, training.passed))
    return Preparations(tuple(steps), guidelines is not None, training.documents if training.must_be_passed else 0)
