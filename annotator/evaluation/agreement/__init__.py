"""Agreement of judges: kappa and its kin, Krippendorff's alpha, intervals, and words for them.

`code_labels` takes judgements as plain columns, and `report` measures them whole. Below it, every statistic stands by
itself: of two judges from their confusion matrix, of many from the count of each grade an item was given. What has no
value says why (`Undefined`); it is never 0, 1 or NaN.
"""

from annotator.evaluation.agreement.bands import BANDS_ARE_CONVENTIONS, Band, band
from annotator.evaluation.agreement.chance import (
    coefficients,
    cohen_chance,
    gwet_chance,
    scott_chance,
    uniform_chance,
)
from annotator.evaluation.agreement.columns import Columns, code_columns, documents_in_common, same_grade_of_any_two
from annotator.evaluation.agreement.confusion import binary_confusions, confusion_matrix, confusions_by_place
from annotator.evaluation.agreement.kappa import (
    cohen_kappa,
    kappa_of_confusion,
    kappa_of_grades,
    kappas_of_confusions,
)
from annotator.evaluation.agreement.krippendorff import Level, krippendorff_alpha
from annotator.evaluation.agreement.labels import Labels, code_labels, grade_counts
from annotator.evaluation.agreement.many_judges import (
    conger_kappa,
    fleiss_kappa,
    fleiss_kappa_of_unequal,
    gwet_ac,
    overlap_of_all,
    uniform_kappa,
)
from annotator.evaluation.agreement.report import (
    AgreementOfAll,
    AgreementOfJudge,
    AgreementOfPair,
    AgreementOfTopic,
    AgreementOnGrade,
    Moment,
    OverTime,
    agreement_of_all,
    agreement_of_judges,
    agreement_of_pairs,
    agreement_of_topics,
    agreement_on_grades,
    interval_of_all,
    running_alpha,
    running_kappa,
)
from annotator.evaluation.agreement.results import Coefficient, Kappa, Undefined
from annotator.evaluation.agreement.shares import (
    agreement_on_grade,
    mean_difference,
    negative_agreement,
    overlap,
    positive_agreement,
    same_grade,
)
from annotator.evaluation.agreement.topic_intervals import (
    TWO_INTERVALS,
    TopicInterval,
    alpha_interval,
    kappa_interval,
)
from annotator.evaluation.agreement.upheld import Upheld, count_upheld, upheld
from annotator.evaluation.agreement.weights import Weighting, Weights, weights_of_agreement

__all__ = [
    "BANDS_ARE_CONVENTIONS",
    "TWO_INTERVALS",
    "AgreementOfAll",
    "AgreementOfJudge",
    "AgreementOfPair",
    "AgreementOfTopic",
    "AgreementOnGrade",
    "Band",
    "Coefficient",
    "Columns",
    "Kappa",
    "Labels",
    "Level",
    "Moment",
    "OverTime",
    "TopicInterval",
    "Undefined",
    "Upheld",
    "Weighting",
    "Weights",
    "agreement_of_all",
    "agreement_of_judges",
    "agreement_of_pairs",
    "agreement_of_topics",
    "agreement_on_grade",
    "agreement_on_grades",
    "alpha_interval",
    "band",
    "binary_confusions",
    "code_columns",
    "code_labels",
    "coefficients",
    "cohen_chance",
    "cohen_kappa",
    "confusion_matrix",
    "confusions_by_place",
    "conger_kappa",
    "count_upheld",
    "documents_in_common",
    "fleiss_kappa",
    "fleiss_kappa_of_unequal",
    "grade_counts",
    "gwet_ac",
    "gwet_chance",
    "interval_of_all",
    "kappa_interval",
    "kappa_of_confusion",
    "kappa_of_grades",
    "kappas_of_confusions",
    "krippendorff_alpha",
    "mean_difference",
    "negative_agreement",
    "overlap",
    "overlap_of_all",
    "positive_agreement",
    "running_alpha",
    "running_kappa",
    "same_grade",
    "same_grade_of_any_two",
    "scott_chance",
    "uniform_chance",
    "uniform_kappa",
    "upheld",
    "weights_of_agreement",
]
