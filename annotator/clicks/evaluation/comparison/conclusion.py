"""The one conclusion of a comparison of two variants, by its main measure."""

from annotator.clicks.evaluation.comparison.checks import CHECK_TITLES, CheckKind, CheckState
from annotator.clicks.evaluation.comparison.comparison import ClickComparison, main_measure
from annotator.clicks.evaluation.comparison.measure_rows import MeasureRow
from annotator.errors import Sentence

# With these wrong, users or clicks are missing, and a difference may come of that.
DECISIVE = (CheckKind.SPLIT, CheckKind.CLICKS)


def conclusion(comparison: ClickComparison) -> Sentence:
    """Say whether the variants differ by CTR@1, or where the log has no positions by the CTR of the first page."""
    alarming = next((one for one in comparison.checks if one.kind in DECISIVE and one.state is CheckState.ALARM), None)
    if alarming is not None:
        return Sentence(
            "No conclusion: see “%(check)s”. Users or clicks are missing, and a difference may come of that.",
            {"check": CHECK_TITLES[alarming.kind]},
        )
    row = comparison.row(main_measure(comparison.measures))
    if row.p_corrected is None or row.difference is None:
        return Sentence(
            "No conclusion: %(measure)s of the two variants was not tested.", {"measure": row.measure.value}
        )
    return _of_difference(comparison, row)


def _of_difference(comparison: ClickComparison, row: MeasureRow) -> Sentence:
    first, second = comparison.names
    values: dict[str, object] = {
        "first": first,
        "second": second,
        "measure": row.measure.value,
        "difference": f"{row.difference:+.4g}",
        "relative": "?" if row.relative is None else f"{100 * row.relative:+.1f}",
        "p": f"{row.p_corrected:.3g}",
    }
    if row.is_significant:
        return Sentence(
            "Significant: %(measure)s of %(second)s less that of %(first)s is %(difference)s, which is %(relative)s %% "
            "of the value of %(first)s (p by Holm %(p)s).",
            values,
        )
    if any(one.kind is CheckKind.ENOUGH and one.state is CheckState.NOTICE for one in comparison.checks):
        return Sentence(
            "Not decided: %(measure)s of %(second)s less that of %(first)s is %(difference)s, which is %(relative)s %% "
            "of the value of %(first)s and may be chance (p by Holm %(p)s). The log is too small to tell.",
            values,
        )
    return Sentence(
        "No significant difference: %(measure)s of %(second)s less that of %(first)s is %(difference)s, which is "
        "%(relative)s %% of the value of %(first)s and may be chance (p by Holm %(p)s).",
        values,
    )
