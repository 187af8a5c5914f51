"""Inter-judge agreement: the full report, one pair of judges, and the documents behind each of their numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.agreement.kappa import Weighting
from annotator.evaluation.agreement.results import BANDS_ARE_CONVENTIONS
from annotator.evaluation.agreement.topic_intervals import TWO_INTERVALS
from annotator.spreadsheets import csv_text
from annotator.storage import Role
from annotator.web.collections.observer_policy import READERS
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, the_place
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.language import lazy_gettext
from annotator.web.site.query_string import asked_list, number_given, part_of_report
from annotator.workflows.agreement import agreement
from annotator.workflows.agreement.agreement import By, Choice, Pair, PairAgreement

blueprint = Blueprint("agreement", __name__)

# With fewer documents in common a kappa is not informative.
FEW_DOCUMENTS = 30
# A page cannot show more clearly; the file has all pairs, and each judge has a page.
MOST_PAIRS_SHOWN = 50
MOST_JUDGES_IN_MATRIX = 20
DOCUMENTS_A_PAGE = 100
NAMING_JUDGES = {By.PAIR, By.JUDGE}

WEIGHTS: Mapping[Weighting, str] = {
    Weighting.NONE: lazy_gettext("none: grades are equal or not"),
    Weighting.LINEAR: lazy_gettext("linear: by the difference of the grades"),
    Weighting.QUADRATIC: lazy_gettext("quadratic: by the squared difference"),
}


@dataclass(frozen=True)
class Matrix:
    """A set of judges ordered by name, and their pairs."""

    judges: Sequence[str]
    pairs: Mapping[Pair, PairAgreement]

    def between(self, one: str, other: str) -> PairAgreement:
        """The pair of two judges, in either order."""
        return self.pairs[min(one, other), max(one, other)]


@blueprint.get("/collections/<slug>/agreement")
@collection_page(*READERS)
def show(slug: str) -> ResponseReturnValue:
    """The full report; `?judge=ana` restricts it to that judge's pairs. Observers do not see judges' names."""
    refused, choice = None, Choice()
    judge = request.args.get("judge", "") if the_place().organises else ""
    choose = partial(_pairs_to_show, judge)
    with database().reading() as session:
        try:
            choice = _choice()
            report = agreement.agreement_report(session, slug, choice, choose_pairs=choose)
        except (InvalidValueError, NotFoundError) as refusal:
            refused = refusal
            report = agreement.agreement_report(session, slug, choose_pairs=choose)
    of_judge = {pair: count for pair, count in report.in_common.items() if judge == "" or judge in pair}
    measured = {(pair.first, pair.second): pair for pair in report.pairs}
    page = render_template(
        "agreement/show.html",
        report=report,
        **_asked(choice),
        refused=refused,
        judge=judge if judge in report.judges else "",
        pairs=[measured[pair] for pair in _most_documents(of_judge)],
        pairs_in_common=sum(count > 0 for count in of_judge.values()),
        pairs_apart=sum(count == 0 for count in of_judge.values()),
        matrix=Matrix(_judges_in_matrix(report.in_common), measured),
        **_words(),
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/agreement.csv")
@collection_page(*READERS)
def as_csv(slug: str) -> ResponseReturnValue:
    """One part of the report as CSV: `?by=topic`."""
    by = part_of_report(By, request.args.get("by", By.PAIR))
    if by in NAMING_JUDGES and not the_place().organises:
        raise NotAllowedError("Only organisers can see agreement by judge.")
    choice = _choice()
    report = database().read(agreement.agreement_report, slug, choice)
    headings, rows = report.table(by)
    return download(csv_text([headings, *rows]), f"{slug}-agreement-by-{by}.csv", CSV)


@blueprint.get("/collections/<slug>/agreement/pair")
@collection_page(Role.ORGANISER)
def pair(slug: str) -> ResponseReturnValue:
    """The agreement of two judges in detail: `?first=ana&second=ben`."""
    choice = _choice()
    first, second = request.args.get("first", ""), request.args.get("second", "")
    report = database().read(agreement.pair_report, slug, first, second, choice=choice)
    return render_template("agreement/pair.html", report=report, **_asked(choice), **_words())


@blueprint.get("/collections/<slug>/agreement/documents")
@collection_page(Role.ORGANISER)
def documents(slug: str) -> ResponseReturnValue:
    """The documents that two judges both graded, or graded this way: `?first=ana&second=ben&one=0&other=2&page=2`."""
    choice = _choice()
    judges = (request.args.get("first", ""), request.args.get("second", ""))
    grades = (number_given("one"), number_given("other"))
    page = number_given("page", least=1) or 1
    found = database().read(
        agreement.documents_of_two,
        slug,
        judges,
        grades,
        topics=choice.topics,
        skip=(page - 1) * DOCUMENTS_A_PAGE,
        most=DOCUMENTS_A_PAGE,
    )
    return render_template(
        "agreement/documents.html",
        found=found,
        first=judges[0],
        second=judges[1],
        grades=grades,
        **_asked(choice),
        page=page,
        pages=max(-(-found.count // DOCUMENTS_A_PAGE), 1),
    )


def _words() -> dict[str, object]:
    explained = {"conventions": BANDS_ARE_CONVENTIONS, "intervals": TWO_INTERVALS}
    return {"weights": WEIGHTS, "few": FEW_DOCUMENTS, **explained, "of_hundred": of_hundred}


def _choice() -> Choice:
    """The weights and topics in the query string: `?weights=quadratic&topics=1,2`."""
    written = request.args.get("weights", Weighting.NONE)
    try:
        weighting = Weighting(written)
    except ValueError:
        raise InvalidValueError("Weights are none, linear or quadratic, not “%(given)s”.", given=written) from None
    return Choice(weighting, asked_list("topics"))


def _asked(choice: Choice) -> dict[str, object]:
    """The choice for a template, also as query string arguments."""
    weights = {} if choice.weighting is Weighting.NONE else {"weights": str(choice.weighting)}
    return {"choice": choice, "same": weights | ({"topics": ",".join(choice.topics)} if choice.topics else {})}


def _pairs_to_show(judge: str, in_common: Mapping[Pair, int]) -> set[Pair]:
    """The pairs to list and to show in the matrix: a hundred judges form thousands of pairs, too many to compute."""
    listed = _most_documents({pair: count for pair, count in in_common.items() if judge == "" or judge in pair})
    return {*listed, *combinations(_judges_in_matrix(in_common), 2)}


def _most_documents(in_common: Mapping[Pair, int]) -> list[Pair]:
    """The pairs with the most documents in common, among those with any."""
    pairs = sorted((-count, pair) for pair, count in in_common.items() if count)
    return [pair for _, pair in pairs[:MOST_PAIRS_SHOWN]]


def _judges_in_matrix(in_common: Mapping[Pair, int]) -> list[str]:
    """The judges with the most documents in common with others, ordered by name."""
    compared: Counter[str] = Counter()
    for pair, count in in_common.items():
        compared.update(dict.fromkeys(pair, count))
    return sorted(name for name, count in compared.most_common(MOST_JUDGES_IN_MATRIX) if count)


def of_hundred(share: float) -> str:
    """A share in percent, never rounded to 0 or 100."""
    whole = round(share * 100)
    if share > 0 and whole == 0:
        return "<1"
    return ">99" if share < 1 and whole == 100 else f"{whole}"  # noqa: PLR2004 - a percentage
