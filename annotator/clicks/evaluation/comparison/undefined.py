"""Why a measure of clicks, its interval or its test is not available."""

from annotator.errors import Sentence
from annotator.evaluation.metrics.figures import SentenceEnum


class Undefined(SentenceEnum):
    """Why there is no value, no interval or no test."""

    NO_PAGES = Sentence(
        "Not available: each line of the log is a result by itself, so it does not say what a page was."
    )
    NO_POSITIONS = Sentence("Not available: the log does not say at which positions results were shown and clicked.")
    NO_TIMES = Sentence("Not available: the log does not say when things happened.")
    NO_USERS = Sentence("Not available: the log does not say which user an event is of.")
    NO_SESSIONS = Sentence("Not available: the log does not say which session an event is of.")
    NO_QUERIES = Sentence("Not available: the log does not say what was searched for.")
    NO_SATISFACTION = Sentence(
        "Not available: the log says neither how long people stayed with a document nor which session a click is of."
    )
    NO_CONVERSIONS = Sentence("Not available: the log has no conversion of a user.")
    NO_RATINGS = Sentence("Not available: the log has no rating.")
    LOG_TOO_SHORT = Sentence(
        "Not available: no user was first seen long enough before the end of the log to have had the days to come back."
    )
    NO_ENTRY = Sentence("Not available: there is nothing in the log of which this could be counted.")
    NO_ENTRY_OF_ONE = Sentence("No difference: of one of the two variants there is nothing of which this is counted.")
    NO_CLICK = Sentence("Not tested: nobody clicked on anything in either variant.")
    ALWAYS_THE_SAME = Sentence("Not tested: it is the same wherever it is counted, in both variants.")
    NO_SPREAD = Sentence(
        "Not tested: in each variant all users have the same value, and from that no spread can be estimated."
    )
    ONE_USER = Sentence(
        "Not tested: a variant has one user only, and from that no spread can be estimated; it takes two."
    )
    MEAN_WITHOUT_USERS = Sentence(
        "Not tested: this is a mean and no share, and its spread is told by users, which the log does not name."
    )
