"""The words for what click logs are told of by codes: checks, methods, verdicts, and why events do not count."""

from collections.abc import Mapping

from annotator.web.site.language import lazy_gettext

CHECK_STATES: Mapping[str, str] = {
    "fine": lazy_gettext("fine"),
    "notice": lazy_gettext("notice"),
    "alarm": lazy_gettext("alarm"),
    "not available": lazy_gettext("not available"),
}

METHODS: Mapping[str, str] = {
    "two-proportion z": lazy_gettext("z test of two proportions"),
    "delta method by user": lazy_gettext("delta method over users"),
    "bootstrap by user": lazy_gettext("bootstrap over users"),
}

LIST_TESTS: Mapping[str, str] = {
    "t test over users": lazy_gettext("t test over users, as users have several lists"),
    "t test over sessions, users unknown": lazy_gettext("t test over sessions, as users are unknown"),
    "exact binomial, one list per user": lazy_gettext(
        "exact binomial test of the wins without ties, one list per user"
    ),
    "exact binomial of lists, users unknown": lazy_gettext(
        "exact binomial test of the wins without ties, which takes lists for independent, as users are unknown"
    ),
}

LOG_KINDS: Mapping[str, str] = {
    "comparison": lazy_gettext("A/B test"),
    "interleaving": lazy_gettext("interleaving"),
}

# Of events and of clicks.
REASONS: Mapping[str, str] = {
    "duplicate": lazy_gettext("duplicate events in the log"),
    "click without impression": lazy_gettext("clicks on results that were not shown"),
    "dwell without impression": lazy_gettext("times spent with results that were not shown"),
    "click on no page shown": lazy_gettext("clicks on no page that was shown"),
    "dwell on no page shown": lazy_gettext("times spent with results of no page that was shown"),
    "bad line": lazy_gettext("lines that cannot be read"),
    "by no user and in no session": lazy_gettext("by no user and in no session"),
    "again on the same result": lazy_gettext("again on the same result"),
    "on a list that is not in the file of lists": lazy_gettext("on a list that is not in the file of lists"),
    "on a document that its list does not have": lazy_gettext("on a document that its list does not have"),
    "on a result that counts for no run": lazy_gettext("on a result that counts for no run"),
}

VERDICTS: Mapping[str, str] = {
    "agree": lazy_gettext("They agree: users and judges prefer %(users)s."),
    "oppose": lazy_gettext("They disagree: users prefer %(users)s, judges prefer %(judges)s."),
    "clicks oppose": lazy_gettext("The logs contradict each other: one prefers one run, another the other."),
    "only judged": lazy_gettext("Judges prefer %(judges)s; the difference in clicks is not significant."),
    "only clicks": lazy_gettext("Users prefer %(users)s; by the judgements the difference is not significant."),
    "unsure": lazy_gettext("Neither shows a significant difference."),
    "unknown": lazy_gettext("Unknown: one of the two has no interval."),
}

STANDINGS: Mapping[str, str] = {
    "judged": lazy_gettext("judged"),
    "pooled": lazy_gettext("in the pool, not judged"),
    "not pooled": lazy_gettext("not in the pool"),
    "unknown": lazy_gettext("unknown to this collection"),
}
