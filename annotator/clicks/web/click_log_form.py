"""The form to add a click log, and labels for the codes in its results."""

from collections.abc import Mapping

from flask_wtf.file import FileField, FileRequired, MultipleFileField
from wtforms import BooleanField, RadioField, SelectChoice, StringField
from wtforms.validators import InputRequired

from annotator.clicks.workflows.click_logs import (
    RETURN_DAYS,
    ComparisonWanted,
    Expected,
    LogKind,
    LogMapping,
    LogRequest,
    parse_mapping,
)
from annotator.web.site.forms import Form, NumberField, WholeNumberField
from annotator.web.site.language import lazy_gettext
from annotator.web.site.uploads import whole_files

AS_WRITTEN = {"autocapitalize": "none", "spellcheck": "false"}
KINDS = {
    LogKind.COMPARISON: lazy_gettext("an A/B test: each user was shown one variant"),
    LogKind.INTERLEAVING: lazy_gettext("interleaving: each list was made of several variants"),
}


class ClickLogForm(Form):
    """The files of a log, and the options to read and analyse it."""

    name = StringField(
        lazy_gettext("Name"), [InputRequired()], description=lazy_gettext("The name under which the log is listed.")
    )
    files = MultipleFileField(
        lazy_gettext("Files of the log"),
        [FileRequired()],
        description=lazy_gettext(
            "Comma-separated with a line of headings, or JSON lines, also gzipped; several files make "
            "one log. Columns: time, user, session, query (or the number of a topic), variant, page, "
            "position, docno, event (impression, click, dwell, rating, conversion), value. Columns may "
            "be missing; analyses that need them are then not available."
        ),
    )
    kind = RadioField(
        lazy_gettext("What users were shown"),
        choices=lambda: [SelectChoice(kind.value, words) for kind, words in KINDS.items()],
        default=LogKind.COMPARISON.value,
    )
    first = StringField(
        lazy_gettext("First variant"),
        description=lazy_gettext("The second is compared with it. Both may stay empty if the log has two variants."),
        render_kw=AS_WRITTEN,
    )
    second = StringField(lazy_gettext("Second variant"), render_kw=AS_WRITTEN)
    lists = FileField(
        lazy_gettext("File of the lists shown"),
        description=lazy_gettext(
            "For interleaving only, as written by the command “annotator interleave”. Without it, the "
            "variant of each line names the run of the document. Balanced interleaving is known to be "
            "biased; team draft is not."
        ),
    )
    columns = StringField(
        lazy_gettext("Other names of columns"),
        description=lazy_gettext("If the log uses other names: OURS=THEIRS, such as “user=visitor docno=item_id”."),
        render_kw=AS_WRITTEN,
    )
    events = StringField(
        lazy_gettext("Other names of events"),
        description=lazy_gettext("Also OURS=THEIRS, such as “impression=view conversion=order”."),
        render_kw=AS_WRITTEN,
    )
    click_column = StringField(
        lazy_gettext("Column of clicks"),
        description=lazy_gettext(
            "For logs with one line per result shown: the column that is 1 where the result was clicked."
        ),
        render_kw=AS_WRITTEN,
    )
    variant_from_name = BooleanField(
        lazy_gettext("The variant is the file's name"),
        description=lazy_gettext("Without .gz, .csv and the like."),
    )
    drops_bad_lines = BooleanField(
        lazy_gettext("Leave out lines that cannot be read"),
        description=lazy_gettext("They are counted. Otherwise the whole log is refused with a list of its bad lines."),
    )
    days = WholeNumberField(
        lazy_gettext("Days within which a user counts as returning"), [InputRequired()], default=RETURN_DAYS
    )
    share = NumberField(lazy_gettext("Planned share of users of the first variant"), [InputRequired()], default=0.5)
    leaves_bots_out = BooleanField(lazy_gettext("Leave out users who see pages faster than people read"))
    bootstraps = BooleanField(
        lazy_gettext("Bootstrap over users"),
        description=lazy_gettext("In place of the delta method; for interleaving, beside the test over users."),
    )

    def request(self, unpacked_limit: int) -> LogRequest:
        """Return the entered request; raises `InvalidValueError` for an invalid mapping."""
        lists = whole_files([self.lists.data]) if self.lists.data else ()
        return LogRequest(
            name=(self.name.data or "").strip(),
            kind=LogKind(self.kind.data),
            mapping=self._mapping(),
            wanted=self._wanted(),
            lists=next(((file.name, file.content) for file in lists), None),
            unpacked_limit=unpacked_limit,
        )

    def _mapping(self) -> LogMapping:
        return parse_mapping(
            (self.columns.data or "").split(),
            (self.events.data or "").split(),
            click_column=(self.click_column.data or "").strip() or None,
            variant_from_name=self.variant_from_name.data,
            drops_bad_lines=self.drops_bad_lines.data,
        )

    def _wanted(self) -> ComparisonWanted:
        first, second = ((field.data or "").strip() for field in (self.first, self.second))
        return ComparisonWanted(
            variants=(first, second) if first or second else None,
            bootstraps=self.bootstraps.data,
            return_days=self.days.data,
            expected=Expected(self.share.data, leaves_bots_out=self.leaves_bots_out.data),
        )


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

# Labels of events and of clicks.
REASONS: Mapping[str, str] = {
    "duplicate": lazy_gettext("duplicate events in the log"),
    "click without impression": lazy_gettext("clicks on results that were not shown"),
    "dwell without impression": lazy_gettext("dwell times on results that were not shown"),
    "click on no page shown": lazy_gettext("clicks on pages that were not shown"),
    "dwell on no page shown": lazy_gettext("dwell times on pages that were not shown"),
    "bad line": lazy_gettext("lines that cannot be read"),
    "without a user or a session": lazy_gettext("without a user or a session"),
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
