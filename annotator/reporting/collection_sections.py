"""The sections on the task, its participants, the pool, the judging and the agreement of judges."""

from collections.abc import Iterator, Mapping, Sequence

from annotator.evaluation.agreement.many_judges import Level
from annotator.reporting.blocks import (
    DASH,
    NOTHING,
    Block,
    Cell,
    Column,
    Facts,
    Folded,
    Table,
    Text,
    count,
    figure,
    interval,
    notice,
    score,
    share,
)
from annotator.reporting.words import Words
from annotator.workflows.agreement.agreement import PairAgreement
from annotator.workflows.agreement.disagreements import Survey
from annotator.workflows.leaderboard.overview_report import OverviewReport, ReportedRun

FEWEST_JUDGES_IN_MATRIX = 3
# More are illegible on paper; the pages and commands have all.
MOST_JUDGES_IN_MATRIX = 20
LONGEST_PARAMETER = 60  # letters


def task(report: OverviewReport, words: Words) -> Iterator[Block]:
    """Counts, the scale, and how grades are settled."""
    _, manifest = words.gettext, report.manifest
    counts = manifest["counts"]
    numbers = (
        (_("Topics"), report.counts.topics),
        (_("Topics in the qrels"), counts["topics"]),
        (_("Dropped topics"), len(manifest["dropped_topics"])),
        (_("Documents"), report.counts.documents),
        (_("Runs"), report.counts.runs),
        (_("Judgements"), counts["judgements"]),
        (_("Lines of the qrels"), counts["qrels_lines"]),
    )
    yield Facts([(name, f"{number:,}") for name, number in numbers])
    columns = (Column(_("Grade"), is_number=True), Column(_("Name")), Column(_("Relevant")))
    rows = [
        (
            *(count(grade["value"]), Cell(grade["name"])),
            Cell(_("yes") if grade["value"] >= manifest["relevant_from"] else _("no")),
            count(counts["lines_by_grade"].get(str(grade["value"]), 0)),
        )
        for grade in manifest["scale"]
    ]
    caption = _("The scale of grades, and the documents with each grade in the qrels")
    yield Table("scale", caption, (*columns, Column(_("Documents"), is_number=True)), rows)
    yield Text(" ".join(_settling(report, words)))
    if manifest["dropped_topics"]:
        numbered = ", ".join(topic["number"] for topic in manifest["dropped_topics"])
        yield Text(_("Dropped topics: %(topics)s.", topics=numbered))


def _settling(report: OverviewReport, words: Words) -> Iterator[str]:
    _, manifest = words.gettext, report.manifest
    yield _("Relevant from grade %(grade)d on.", grade=manifest["relevant_from"])
    settling = manifest["consensus"]
    yield words.translate(settling)
    if manifest["leaves_out_disputed"]:
        yield _("Documents whose judges differ are left out until an adjudicator decides.")
    yield _("Machine judges count.") if manifest["counts_machines"] else _("Machine judges do not count.")


def participants(report: OverviewReport, words: Words) -> Iterator[Block]:
    """The teams with their runs, and each run with its type and description."""
    _ = words.gettext
    if not report.runs:
        yield notice(_("There is no run."))
        return
    if any(run.team for run in report.runs):
        yield _teams(report, words)
    kinds = {"": _("not stated"), "automatic": _("automatic"), "manual": _("manual")}
    described = [
        (Cell(run.tag), Cell(run.team or DASH), Cell(kinds[run.run_type]), Cell(run.description or DASH))
        for run in report.runs
        if run.run_type or run.description
    ]
    if described:
        headings = (_("Run"), _("Team"), _("Type"), _("Description"))
        yield Table("runs", _("Runs with their descriptions"), [Column(heading) for heading in headings], described)
    missing = len(report.runs) - len(described)
    if missing:
        yield Text(
            _("Runs without a type and a description: %(missing)d of %(runs)d.", missing=missing, runs=len(report.runs))
        )


def _teams(report: OverviewReport, words: Words) -> Table:
    """The runs of each team by type, and its best run."""
    _, measure = words.gettext, report.request.measures[0]
    best = {row.tag: row for row in report.best_runs}
    teams: dict[str, list[ReportedRun]] = {}
    for run in report.runs:
        teams.setdefault(run.team or DASH, []).append(run)
    rows = []
    for team, runs in sorted(teams.items()):
        first = next((run.tag for run in runs if run.tag in best), None) if team != DASH else None
        kinds = [count(sum(run.run_type == kind for run in runs)) for kind in ("automatic", "manual")]
        value = NOTHING if first is None else score(best[first].values[0])
        rows.append((Cell(team), count(len(runs)), *kinds, Cell(first or DASH), value))
    numbers = [Column(name, is_number=True) for name in (_("Runs"), _("automatic"), _("manual"))]
    columns = (Column(_("Team")), *numbers, Column(_("Best run")), Column(measure, is_number=True))
    return Table("participants", _("Teams and their runs; the best run by %(measure)s", measure=measure), columns, rows)


def pool(report: OverviewReport, words: Words) -> Iterator[Block]:
    """The size of the pool, and its versions; long lists of parameters are folded."""
    _, manifest = words.gettext, report.manifest
    counts = manifest["counts"]
    numbers = (
        (_("Pooled documents"), counts["pool_items"]),
        (_("Unjudged"), counts["unjudged"]),
        (_("Could not be judged"), counts["could_not_be_judged"]),
    )
    yield Facts([(name, f"{number:,}") for name, number in numbers])
    if not manifest["pool_versions"]:
        yield notice(_("There is no pool."))
        return
    versions = manifest["pool_versions"]
    columns = (
        *(Column(_("Version"), is_number=True), Column(_("Strategy")), Column(_("Parameters"))),
        *(Column(_("Seed"), is_number=True), Column(_("Order"))),
    )
    rows = [
        (
            *(count(one["version"]), Cell(one["strategy"]), Cell(_short_parameters(one["parameters"], words))),
            *(Cell(str(one["seed"]), one["seed"]), Cell(one["showing"])),
        )
        for one in versions
    ]
    yield Table("pool", _("Versions of the pool; each adds to those before"), columns, rows)
    for one in versions:
        if any(len(_written(value)) > LONGEST_PARAMETER for value in one["parameters"].values()):
            lines = [f"{name}: {_written(value)}" for name, value in sorted(one["parameters"].items())]
            yield Folded(_("All parameters of version %(number)d", number=one["version"]), "\n".join(lines))


def _written(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {one}" for key, one in sorted(value.items()))
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _short_parameters(parameters: Mapping[str, object], words: Words) -> str:
    """The parameters, a long list as its length."""
    return "; ".join(f"{name}: {_short(value, words)}" for name, value in sorted(parameters.items()))


def _short(value: object, words: Words) -> str:
    written = _written(value)
    if len(written) <= LONGEST_PARAMETER:
        return written
    if isinstance(value, list | tuple | Mapping):
        return words.gettext("%(number)d, listed below", number=len(value))
    return f"{written[:LONGEST_PARAMETER]}…"


def judging(report: OverviewReport, words: Words) -> Iterator[Block]:
    """How judgements were assigned, and what each judge did."""
    _, said = words.gettext, report.manifest["judging"]
    yield Text(
        _(
            "Judges: %(judges)d, with numbers in place of names. Judgements per document: %(wanted)d; share judged "
            "twice: %(share)s %%; documents shown to every judge of a topic: %(common)d.",
            judges=len(report.judges),
            wanted=said["judgements_wanted"],
            share=said["overlap_share"],
            common=said["common_items"],
        )
    )
    if not report.effort:
        yield notice(_("Nothing is judged yet."))
        return
    work = sorted(report.effort, key=lambda one: _number_of(report.judges[one.judge]))
    rows = [_effort(report.judges[one.judge], one.judgements, one.adjudications, one.hours, words) for one in work]
    judgements, adjudications, hours = (
        sum(getattr(one, name) for one in work) for name in ("judgements", "adjudications", "hours")
    )
    if len(work) > 1:
        rows.append(_effort(_("All"), judgements, adjudications, hours, words, is_judge=False))
    headings = (_("Judgements"), _("Of these, adjudications"), _("Hours"), _("Judgements per hour"))
    columns = [Column(_("Judges")), *(Column(heading, is_number=True) for heading in headings)]
    caption = _("Judging effort; hours are those in which the page was in use, unknown for imported judgements")
    yield Table("effort", caption, columns, rows)
    if report.collection.pay_per_hour is not None:
        yield Text(
            _(
                "At %(pay)s %(currency)s per hour, these hours cost about %(price)s %(currency)s.",
                pay=f"{report.collection.pay_per_hour:g}",
                price=f"{hours * report.collection.pay_per_hour:,.0f}",
                currency=report.collection.pay_currency,
            )
        )


def _effort(
    judge: str, judgements: int, adjudications: int, hours: float, words: Words, *, is_judge: bool = True
) -> Sequence[Cell]:
    rate = NOTHING if hours == 0 else count(round(judgements / hours))
    name = named(judge, words) if is_judge else judge
    return Cell(name), count(judgements), count(adjudications), figure(hours or None, 1), rate


def _number_of(judge: str) -> int:
    return int(judge.rpartition(" ")[2])


def named(judge: str, words: Words) -> str:
    """A judge's number in the report's language."""
    return words.gettext("judge %(number)d", number=_number_of(judge))


def agreement(report: OverviewReport, words: Words) -> Iterator[Block]:
    """The agreement of people where several graded the same documents, adjudication, and machine judges."""
    _, survey = words.gettext, report.survey
    if survey.compared == 0:
        yield Text(_("No document was graded by two judges, so that there is no agreement to report."))
    else:
        yield _of_all(report, words)
        pairs = [pair for pair in report.agreement.pairs if pair.kappa.n > 0]
        judges = sorted(
            {name for pair in pairs for name in (pair.first, pair.second)}, key=lambda one: _place(report, one)
        )
        if FEWEST_JUDGES_IN_MATRIX <= len(judges) <= MOST_JUDGES_IN_MATRIX:
            yield _matrix(report, pairs, judges, words)
        yield _of_pairs(report, pairs, words)
        yield _differing(survey, words)
    if report.agreement.upheld:
        yield _upheld(report, words)
    if report.machines:
        yield _machines(report, words)


def _differing(survey: Survey, words: Words) -> Text:
    numbers = {
        "compared": survey.compared,
        "differing": survey.differing,
        "across": survey.across,
        "decided": survey.differing - survey.undecided,
    }
    sentence = words.gettext(
        "Documents graded by two or more judges: %(compared)s; with different grades: %(differing)s, of these on both "
        "sides of relevance: %(across)s; decided by an adjudicator: %(decided)s.",
        **{name: f"{number:,}" for name, number in numbers.items()},
    )
    return Text(sentence)


def _place(report: OverviewReport, judge: str) -> int:
    return _number_of(report.judges[judge])


def _of_all(report: OverviewReport, words: Words) -> Table:
    _, together = words.gettext, report.agreement.all
    headings = (_("Value"), _("95 %% interval"), _("Observed"), _("Expected"))
    columns = [Column(_("Statistic")), *(Column(heading, is_number=True) for heading in headings)]
    ends = report.agreement.interval.interval
    statistics = (
        (_("Krippendorff's alpha (ordinal)"), together.alpha[Level.ORDINAL], ends),
        (_("Krippendorff's alpha, nominal"), together.alpha[Level.NOMINAL], None),
        (_("Krippendorff's alpha, interval"), together.alpha[Level.INTERVAL], None),
        (_("Fleiss' kappa"), together.fleiss, None),
        (_("Conger's kappa"), together.conger, None),
        (_("Gwet's AC"), together.gwet, None),
    )
    rows = [
        (Cell(name), figure(one.value), interval(bounds), figure(one.observed), figure(one.expected))
        for name, one, bounds in statistics
        if one.value is not None
    ]
    return Table("agreement", _("Agreement of all judges; the interval is by topics"), columns, rows)


def _of_pairs(report: OverviewReport, pairs: Sequence[PairAgreement], words: Words) -> Table:
    _ = words.gettext
    headings = (_("Documents in common"), _("Kappa"), _("95 %% interval"), _("Same grade"))
    columns = [Column(_("Judges")), *(Column(heading, is_number=True) for heading in headings)]
    by_number = sorted(pairs, key=lambda pair: sorted((_place(report, pair.first), _place(report, pair.second))))
    rows = []
    for pair in by_number:
        first, second = (
            named(f"judge {one}", words) for one in sorted(_place(report, name) for name in (pair.first, pair.second))
        )
        value, same = figure(pair.kappa.value), share(pair.figures.same.value)
        ends = interval(pair.figures.by_topics.interval)
        rows.append((Cell(f"{first}, {second}"), count(pair.kappa.n), value, ends, same))
    caption = _("Cohen's kappa of judges with documents in common; intervals by topics")
    return Table("pairs", caption, columns, rows)


def _matrix(report: OverviewReport, pairs: Sequence[PairAgreement], judges: Sequence[str], words: Words) -> Table:
    _ = words.gettext
    kappas = {frozenset((pair.first, pair.second)): pair.kappa.value for pair in pairs}
    columns = [Column(_("Judges")), *(Column(str(_place(report, name)), "cell", is_number=True) for name in judges)]
    rows = [
        (Cell(named(report.judges[name], words)), *(_kappa(kappas.get(frozenset((name, other)))) for other in judges))
        for name in judges
    ]
    caption = _("Cohen's kappa of every two judges; empty where they have no document in common")
    return Table("kappas", caption, columns, rows, {"chart": "heat", "middle": "0", "most": "1", "numbers": ""})


def _kappa(value: float | None) -> Cell:
    return Cell("") if value is None else Cell(f"{value:z.2f}", value)


def _upheld(report: OverviewReport, words: Words) -> Table:
    _ = words.gettext
    headings = (_("Decided"), _("Same grade"), _("Share"))
    columns = [Column(_("Judges")), *(Column(heading, is_number=True) for heading in headings)]
    by_number = sorted(report.agreement.upheld, key=lambda one: _place(report, one.judge))
    rows = [
        (Cell(named(report.judges[one.judge], words)), count(one.decided), count(one.upheld), share(one.share))
        for one in by_number
    ]
    caption = _("Adjudication: documents of each judge that an adjudicator decided, and how many got the judge's grade")
    return Table("adjudication", caption, columns, rows)


def _machines(report: OverviewReport, words: Words) -> Table:
    _ = words.gettext
    headings = (
        _("Labels"),
        _("In common with people"),
        _("Kappa"),
        _("95 %% interval"),
        _("Same grade"),
        _("Mean difference"),
    )
    columns = [Column(_("Machine judge")), *(Column(heading, is_number=True) for heading in headings)]
    rows = [
        (
            *(Cell(one.machine.facts.model or one.machine.name), count(one.labels), count(one.people.kappa.n)),
            *(figure(one.people.kappa.value), interval(one.people.by_topics.interval)),
            *(share(one.people.same.value), figure(one.people.difference.value, 2)),
        )
        for one in report.machines
    ]
    caption = _("Machine judges and the settled grades of people; a difference above 0: the machine is more lenient")
    return Table("machines", caption, columns, rows)
