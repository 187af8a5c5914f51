"""Words for a kappa: the bands of Landis and Koch."""

from annotator.errors import Sentence
from annotator.evaluation.metrics.figures import SentenceEnum

BANDS_ARE_CONVENTIONS = Sentence(
    "The words are those of Landis and Koch (1977); their limits are conventions, and arbitrary, as they say "
    "themselves. Read them with the interval and the number of documents."
)

EXACT_DECIMALS = 12


class Band(SentenceEnum):
    """Landis and Koch's words for a kappa."""

    POOR = Sentence("poor")
    SLIGHT = Sentence("slight")
    FAIR = Sentence("fair")
    MODERATE = Sentence("moderate")
    SUBSTANTIAL = Sentence("substantial")
    ALMOST_PERFECT = Sentence("almost perfect")
    CHANCE = Sentence("not distinguishable from chance")


def band(value: float, interval: tuple[float, float] | None = None) -> Band:
    """Name a kappa as Landis and Koch do (Biometrics 1977): up to 0.20 slight, up to 0.40 fair and so on.

    The limits are their own and, they say, arbitrary. A kappa below 0 is poor. What differs from a limit by no more
    than an error of calculation meets it. A kappa whose `interval` contains 0 may be chance, whatever its size.
    """
    if interval is not None and interval[0] <= 0 <= interval[1]:
        return Band.CHANCE
    value = round(value, EXACT_DECIMALS)
    if value < 0:
        return Band.POOR
    limits = ((0.20, Band.SLIGHT), (0.40, Band.FAIR), (0.60, Band.MODERATE), (0.80, Band.SUBSTANTIAL))
    return next((name for limit, name in limits if value <= limit), Band.ALMOST_PERFECT)
