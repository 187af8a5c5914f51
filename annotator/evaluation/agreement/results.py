"""The result of an agreement statistic: a value, or the reason why it is undefined; and the bands of kappa."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.metrics.figures import Figure, SentenceEnum


class Undefined(SentenceEnum):
    """The reason why a statistic has no value."""

    NO_JUDGEMENT = Sentence("There are no grades yet.")
    ONE_JUDGE = Sentence("Only one judge has graded anything.")
    NO_OVERLAP = Sentence("The two judges have graded no document in common.")
    NO_SHARED_DOCUMENT = Sentence("No document has been graded by two judges.")
    ALONE = Sentence("No other judge has graded a document that this judge graded.")
    NO_DOCUMENT_OF_ALL = Sentence("No document has been graded by every one of the judges.")
    SINGLE_GRADE = Sentence(
        "Both judges gave one and the same grade to every document, so chance explains all agreement."
    )
    SINGLE_GRADE_OF_ALL = Sentence(
        "All judges gave one and the same grade to every document that two of them graded, so chance explains all "
        "agreement."
    )
    WEIGHTS_ALIKE = Sentence("With these weights all grades agree fully, so there is nothing to measure.")
    SHORT_SCALE = Sentence("The scale has a single grade, so there is nothing to agree on.")
    UNEQUAL_NUMBERS = Sentence(
        "Fleiss' kappa needs the same number of judges for every document; Krippendorff's alpha does not."
    )
    NOTHING_RELEVANT = Sentence("No judge graded any of the documents compared as relevant.")
    EVERYTHING_RELEVANT = Sentence("Every judge graded all of the documents compared as relevant.")
    GRADE_NOT_GIVEN = Sentence("No document that two judges graded has this grade.")
    NO_SPREAD = Sentence(
        "There is no interval: the judges agree always or never, or one of them gave a single grade, so the variance "
        "cannot be estimated."
    )
    FEW_TOPICS = Sentence("There is no interval by topics: it needs shared documents of three topics or more.")
    HANGS_ON_A_TOPIC = Sentence(
        "There is no interval by topics: without one of the topics the value itself is not defined."
    )
    TOPICS_ALIKE = Sentence(
        "There is no interval by topics: leaving out any one of them changes nothing, so the variance cannot be "
        "estimated."
    )


@dataclass(frozen=True)
class Coefficient(Figure):
    """A chance-corrected coefficient, at most 1; `observed` and `expected` agreement are shares from 0 to 1.

    When all judges use a single grade, both are defined and the value is not.
    """

    observed: float | None = None
    expected: float | None = None


@dataclass(frozen=True, eq=False)
class Kappa:
    """Cohen's kappa of two judges, with its components, standard errors and interval.

    `observed` and `expected` are shares from 0 to 1, `value` lies between -1 and 1. `value` is None exactly when
    `reason` is given. `standard_error` and `interval` are also None when they would be 0 wide or undefined, and
    `interval_reason` is given: kappa is 1 or -1, or one judge used a single grade.
    """

    n: int  # documents both have graded
    confusion: NDArray[np.int64]  # rows: first judge, columns: second judge, in the order of the scale
    observed: float | None
    expected: float | None
    value: float | None
    reason: Undefined | None
    standard_error: float | None = None
    standard_error_by_chance: float | None = None  # if kappa is truly 0: the divisor of a test against chance
    interval: tuple[float, float] | None = None  # 95 %, limited to -1 and 1; documents taken as independent
    interval_reason: Undefined | None = None


BANDS_ARE_CONVENTIONS = Sentence(
    "The words are those of Landis and Koch (1977); their limits are conventions, and arbitrary, as they say "
    "themselves. Read them with the interval and the number of documents."
)

EXACT_DECIMALS = 12


class Band(SentenceEnum):
    """Landis and Koch's bands of kappa."""

    POOR = Sentence("poor")
    SLIGHT = Sentence("slight")
    FAIR = Sentence("fair")
    MODERATE = Sentence("moderate")
    SUBSTANTIAL = Sentence("substantial")
    ALMOST_PERFECT = Sentence("almost perfect")
    CHANCE = Sentence("no agreement beyond chance")


def band(value: float, interval: tuple[float, float] | None = None) -> Band:
    """Name a kappa as Landis and Koch do (Biometrics 1977): up to 0.20 slight, up to 0.40 fair and so on.

    The limits are, by their own account, arbitrary. A kappa below 0 is poor. A kappa within rounding error of a limit
    reaches it. If `interval` contains 0, the kappa may be chance, whatever its size.
    """
    if interval is not None and interval[0] <= 0 <= interval[1]:
        return Band.CHANCE
    value = round(value, EXACT_DECIMALS)
    if value < 0:
        return Band.POOR
    limits = ((0.20, Band.SLIGHT), (0.40, Band.FAIR), (0.60, Band.MODERATE), (0.80, Band.SUBSTANTIAL))
    return next((name for limit, name in limits if value <= limit), Band.ALMOST_PERFECT)
