"""What people probably mean who write a measure as other tools do: Prec@10, MRR10, F1, recall_at_5."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from annotator.evaluation.metrics.measures import NAMES
from annotator.evaluation.metrics.trec_eval_names import FAMILIES, NICKNAMES

# A name; what stands in brackets; and a number, with or without a sign or "at" before it.
LOOSE_FORM = re.compile(r"(.+?)(?:\((.*)\))?(?:(?:_at_|[@_\s-]*)([0-9]+(?:\.[0-9]+)?))?", re.IGNORECASE | re.DOTALL)
NO_PART_OF_A_NAME = re.compile(r"[^a-z0-9]")
MOST_NEAREST = 3
LEAST_LIKENESS = 0.5

# Names in scikit-learn, ranx, ir_measures, pytrec_eval and in papers; without what is neither letter nor digit.
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "SetF": ("f", "f1", "fscore", "f1score", "fmeasure", "f1measure", "fbeta", "fbetascore", "setf1"),
    "SetP": ("setprecision",),
    "SetR": ("setrec",),
    "P": ("prec", "precisionat", "precat", "precisionscore"),
    "R": ("rec", "recallat", "recat", "recallscore", "sensitivity"),
    "RR": ("reciprocalrank", "meanreciprocalrank", "reciprank", "mrrat", "rrat"),
    "AP": ("avgp", "avep", "avgprec", "averageprecision", "averageprecisionscore", "meanaverageprecision", "mapat"),
    "nDCG": ("ndcgat", "ndcgscore", "normalizeddcg", "normaliseddcg"),
    "DCG": ("dcgat", "dcgscore"),
    "Success": ("hits", "hitat", "hitsat", "hitratio", "hr", "successat", "successrate"),
    "Rprec": ("rprecision",),
    "ERR": ("errat", "expectedreciprocalrank"),
    "RBP": ("rankbiasedprecision",),
    "RBPResidual": ("residual",),
    "Accuracy": ("acc", "accuracyscore"),
    "IPrec": ("iprecatrecall", "interpolatedprecision", "precisionatrecall"),
    "11ptAvg": ("11pt", "11ptap", "elevenpointaverage"),
    "Judged": ("judgedat", "judgedrate"),
    "TP": ("truepositives",),
    "FP": ("falsepositives",),
    "FN": ("falsenegatives",),
    "TN": ("truenegatives",),
}


def _bare(written: str) -> str:
    return NO_PART_OF_A_NAME.sub("", written.lower())


# By bare name; later ones win.
LIKELY: Mapping[str, str] = (
    {bare: name for name, others in ELSEWHERE.items() for bare in others}
    | {_bare(family): entry.measure for family, entry in FAMILIES.items() if entry.measure is not None}
    | {_bare(other): name for other, name in NAMES.items()}
)
# By small letters, as they are printed.
ALL_NAMES: Mapping[str, str] = {name.lower(): name for name in (*FAMILIES, *NICKNAMES)} | NAMES


def likely_forms(written: str) -> Iterator[str]:
    """Give what was probably meant, most of it first; whether a measure can be so is for `parse_measure` to say.

    Nothing when no other tool has such a name.
    """
    match = LOOSE_FORM.fullmatch(written.strip())
    # The digits may belong to the name, as in F1, or be a cutoff, as in MRR10.
    parts = [(match[1], match[2], match[3])] if match else []
    if match and match[3] and match[2] is None:
        parts.append((match[1] + match[3], None, None))
    for name, brackets, cutoff in parts:
        if (likely := LIKELY.get(_bare(name))) is not None:
            inside = f"({brackets})" if brackets else ""
            yield from (f"{likely}{inside}@{cutoff}",) if cutoff else ()
            yield f"{likely}{inside}"
            yield from (f"{likely}{inside}@{example}" for example in ("10", "0.1"))


def nearest_names(written: str) -> list[str]:
    """Give the names that look most like it, at most three; nothing when none does."""
    near = get_close_matches(written.lower(), ALL_NAMES, n=MOST_NEAREST, cutoff=LEAST_LIKENESS)
    return list(dict.fromkeys(ALL_NAMES[one] for one in near))
