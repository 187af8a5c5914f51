"""The sections on the leaderboard, the topics, significance, and the quality of the collection."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotator.errors import ConflictError, Sentence
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, LeaderboardRow
from annotator.evaluation.reusability.ablation import Ablation
from annotator.reporting.blocks import (
    DASH,
    NOTHING,
    Block,
    Cell,
    Column,
    Table,
    Text,
    count,
    figure,
    interval,
    listed,
    notice,
    score,
    share,
)
from annotator.reporting.words import Words
from annotator.workflows.leaderboard.overview_report import OverviewReport
from annotator.workflows.leaderboard.reusability_report import QualityReport
from annotator.workflows.leaderboard.significance_report import SignificanceReport

MOST_RUNS_IN_FIGURE = 60  # as many rows as a page of paper has room for
MOST_RUNS_IN_MATRIX = 30
MOST_TOPICS_IN_FIGURE = 60
ENOUGH_JUDGED = 0.95


def _notices(notices: Sequence[Sentence], words: Words) -> Iterator[Block]:
    if notices:
        yield listed([words.say(one) for one in notices])


def leaderboard(report: OverviewReport, words: Words) -> Iterator[Block]:
    """The best run of each team as a figure, and all runs as a table."""
    _, board = words.gettext, report.board
    if isinstance(board, ConflictError):
        yield notice(words.say(board.sentence))
        return
    yield Text(
        _(
            "Grades: %(grades)s; topics scored: %(topics)d; topics without a grade, left out: %(left_out)d; "
            "fingerprint of the grades: %(fingerprint)s.",
            grades=f"{board.grades:,}",
            topics=len(board.topics),
            left_out=board.topics_left_out,
            fingerprint=board.fingerprint,
        )
    )
    yield from _notices(board.notices, words)
    yield _points(board, report.best_runs, words)
    yield _board(board, words)
    yield Text(
        _(
            "▼ under 95 %% of the top of the run is judged: unjudged documents count as not relevant, so its scores "
            "may be too low. ○ the pool was not made from this run. ◆ the best run of a team with several."
        )
    )


def _points(board: Leaderboard, best: Sequence[LeaderboardRow], words: Words) -> Table:
    _, measure = words.gettext, board.measures[0]
    all_fit = len(board.rows) <= MOST_RUNS_IN_FIGURE
    shown = board.rows if all_fit else best[:MOST_RUNS_IN_FIGURE]
    columns = (
        *(Column(_("Run"), "across"), Column(measure, "up", is_number=True)),
        *(Column(_("Lower end"), "low", is_number=True), Column(_("Upper end"), "high", is_number=True)),
        Column(_("Pooled"), "hollow"),
    )
    rows = []
    for row in shown:
        ends = row.intervals[0].bounds if row.intervals[0] else None
        low, high = ends or (None, None)
        fed = Cell(_("yes"), 0) if row.run.fed_pool else Cell(_("no"), 1)
        rows.append((Cell(row.tag), score(row.values[0]), figure(low), figure(high), fed))
    about = _("means over topics with 95 %% intervals; hollow: the pool was not made from the run")
    caption = f"{_of_which(board, shown, words)}: {about}"
    return Table("points", caption, columns, rows, {"chart": "points", "lies": "", "up": measure})


def _of_which(board: Leaderboard, shown: Sequence[LeaderboardRow], words: Words) -> str:
    _, measure = words.gettext, board.measures[0]
    if len(shown) == len(board.rows):
        return _("%(measure)s of every run", measure=measure)
    if any(row.team for row in shown):
        return _("%(measure)s of the best run of each team", measure=measure)
    return _("%(measure)s of the best %(number)d runs", measure=measure, number=len(shown))


def _board(board: Leaderboard, words: Words) -> Table:
    """One line a run: means, the interval of the first measure, the least judged share."""
    _, measure = words.gettext, board.measures[0]
    has_interval = bool(board.rows and board.rows[0].intervals[0])
    has_teams = any(row.team for row in board.rows)
    columns = [Column(_("Rank"), is_number=True), Column(_("Run")), *([Column(_("Team"))] if has_teams else [])]
    for place, name in enumerate(board.measures):
        columns.append(Column(name, is_number=True))
        if place == 0 and has_interval:
            columns.append(Column(_("95 %% interval"), is_number=True))
    rows = [_row(row, has_interval=has_interval, has_teams=has_teams) for row in board.rows]
    caption = _("All runs, by %(measure)s", measure=measure)
    return Table("board", caption, (*columns, Column(_("Marks"))), rows)


def _row(row: LeaderboardRow, *, has_interval: bool, has_teams: bool) -> Sequence[Cell]:
    values = [score(value) for value in row.values]
    if has_interval:
        values.insert(1, interval(row.intervals[0].bounds if row.intervals[0] else None))
    low = any(judged is not None and judged < ENOUGH_JUDGED for judged in row.judged)
    marks = f"{'▼' if low else ''}{'' if row.run.fed_pool else '○'}{'◆' if row.best_of_team else ''}"
    rank = NOTHING if row.place is None else count(row.place)
    team = [Cell(row.team or DASH)] if has_teams else []
    return rank, Cell(row.tag), *team, *values, Cell(marks)


def topics(report: OverviewReport, words: Words) -> Iterator[Block]:
    """The distribution of each topic over all runs, hardest first."""
    _, board = words.gettext, report.board
    if isinstance(board, ConflictError):
        yield notice(words.say(board.sentence))
        return
    measure, spreads = board.measures[0], report.topics
    yield _spreads(report, measure, words)
    names = (Column(_("Topic")), Column(_("Title")))
    values = (Column(_("Median"), is_number=True), Column(_("Best"), is_number=True))
    best = [
        (
            *(Cell(one.topic), Cell(report.titles.get(one.topic, ""))),
            *(figure(one.median), figure(one.best_value(board.better)), Cell(_best_runs(one.best))),
        )
        for one in spreads
    ]
    caption = _("Median and best %(measure)s of each topic, hardest topic first", measure=measure)
    yield Table("best", caption, (*names, *values, Column(_("Best run"))), best)


def _spreads(report: OverviewReport, measure: str, words: Words) -> Table:
    """Boxes; of many topics, which stand in order of difficulty, medians in their quartiles and the greatest values."""
    _, spreads = words.gettext, report.topics
    least, first, median, third, most = (
        Column(heading, is_number=True)
        for heading in (_("Least"), _("Lower quartile"), _("Median"), _("Upper quartile"), _("Greatest"))
    )
    caption = _("%(measure)s of each topic over all runs, hardest topic first", measure=measure)
    if len(spreads) <= MOST_TOPICS_IN_FIGURE:
        roles = ((least, "least"), (first, "first"), (median, "median"), (third, "third"), (most, "most"))
        rows = [
            (Cell(one.topic), *map(figure, (one.least, one.first, one.median, one.third, one.most))) for one in spreads
        ]
        columns = (Column(_("Topic"), "across"), *(replace(column, role=role) for column, role in roles))
        return Table("spreads", caption, columns, rows, {"chart": "box", "up": measure})
    in_line = ((median, "up"), (first, "low"), (third, "high"), (most, "up"))
    ranked = [
        (count(rank), Cell(one.topic), *map(figure, (one.median, one.first, one.third, one.most)))
        for rank, one in enumerate(spreads, start=1)
    ]
    names = (Column(_("Rank"), "across", is_number=True), Column(_("Topic"), "name"))
    columns = (*names, *(replace(column, role=role) for column, role in in_line))
    return Table("spreads", caption, columns, ranked, {"chart": "line", "up": measure})


def _best_runs(tags: Sequence[str]) -> str:
    return tags[0] if len(tags) == 1 else f"{tags[0]} + {len(tags) - 1}"


def significance(report: OverviewReport, words: Words) -> Iterator[Block]:
    """Differences of all pairs by Tukey's test, the variance, and the number of topics needed."""
    found = report.significance
    if found is None or isinstance(found, ConflictError):
        yield notice(words.say(found.sentence)) if found else Text("")
        return
    _, model = words.gettext, found.model
    yield from _notices(found.notices, words)
    if model.critical_difference.reason:
        yield Text(words.say(model.critical_difference.reason.sentence))
    else:
        yield Text(
            _(
                "%(differing)s of %(pairs)s pairs of runs differ in %(measure)s at 5 %% (Tukey's honestly significant "
                "difference); the critical difference is %(difference)s.",
                differing=f"{found.differing:,}",
                pairs=f"{found.pairs:,}",
                measure=found.measure,
                difference=figure(model.critical_difference.value).text,
            )
        )
        if found.differing:
            yield _matrix(found, words)
    yield _letters(found, words)
    shares = found.shares
    if shares.of_topics.share is not None:
        yield Text(
            _(
                "Variance of %(measure)s: %(topics)s between topics, %(runs)s between runs, %(rest)s interaction and "
                "chance.",
                measure=found.measure,
                topics=share(shares.of_topics.share).text,
                runs=share(shares.of_runs.share).text,
                rest=share(shares.of_interaction.share).text,
            )
        )
    if found.needed:
        yield _needed(found, words)


def _needed(found: SignificanceReport, words: Words) -> Table:
    _ = words.gettext
    rows = [
        (
            Cell(f"{one.difference:g}", one.difference),
            Cell(words.say(one.reason.sentence)) if one.topics is None and one.reason else count(one.topics),
        )
        for one in found.needed
    ]
    caption = _("Topics needed to find a true difference of two runs with a power of 80 %% (paired t test at 5 %%)")
    columns = [Column(heading, is_number=True) for heading in (_("Difference"), _("Topics"))]
    return Table("needed", caption, columns, rows)


def _letters(found: SignificanceReport, words: Words) -> Table:
    _ = words.gettext
    columns = (
        *(Column(_("Number"), is_number=True), Column(_("Run")), Column(_("Mean"), is_number=True)),
        *(Column(_("95 %% interval"), is_number=True), Column(_("Letters"))),
    )
    rows = [
        (
            *(count(place + 1), Cell(tag), figure(found.means[place].mean.value)),
            *(interval(found.means[place].interval.bounds), Cell(found.letters.of_runs[place])),
        )
        for place, tag in enumerate(found.tags)
    ]
    return Table("letters", _("Runs that share a letter do not differ significantly"), columns, rows)


def _matrix(found: SignificanceReport, words: Words) -> Table:
    """The best runs against each other: 1 where they differ."""
    _ = words.gettext
    tags = found.tags[:MOST_RUNS_IN_MATRIX]
    columns = [Column(_("Run")), *(Column(str(place + 1), "cell") for place in range(len(tags)))]
    rows = [
        (Cell(f"{one + 1}. {tag}"), *(_differ(found, one, other) for other in range(len(tags))))
        for one, tag in enumerate(tags)
    ]
    caption = _("The best %(number)d runs: dark where two runs differ at 5 %%", number=len(tags))
    return Table("matrix", caption, columns, rows, {"chart": "heat", "least": "0", "most": "1"})


def _differ(found: SignificanceReport, one: int, other: int) -> Cell:
    if one == other:
        return Cell("")
    return Cell("≠", 1) if found.differ(one, other) else Cell("=", 0)


def quality(report: OverviewReport, words: Words) -> Iterator[Block]:
    """Relevant documents by topic, what a deeper pool would bring, and what fewer judgements would do."""
    _, found = words.gettext, report.quality
    if found is None or isinstance(found, ConflictError):
        yield notice(words.say(found.sentence)) if found else Text("")
        return
    yield from _notices(found.notices, words)
    if "version" in report.manifest:
        yield notice(
            _("This section uses the live grades, not those of version %(number)d.", number=report.manifest["version"])
        )
    density = found.density
    yield Text(
        _(
            "Judged documents: %(judged)s of %(topics)d topics; relevant: %(share)s, in the median of the topics "
            "%(median)s.",
            judged=f"{found.state.grades:,}",
            topics=found.state.topics,
            share=share(density.share.value).text,
            median=share(density.median_share.value).text,
        )
    )
    if density.too_few:
        yield Text(_("Topics with fewer than three relevant documents: %(topics)s.", topics=", ".join(density.too_few)))
    yield _density(found, words)
    yield from _growth(found, words)
    if found.ablation is not None:
        yield _fewer(found, found.ablation, words)


def _density(found: QualityReport, words: Words) -> Table:
    _ = words.gettext
    columns = (
        *(Column(_("Topic"), "across"), Column(_("Relevant (%%)"), "up", is_number=True)),
        *(Column(name, is_number=True) for name in (_("Relevant"), _("Judged"), _("Waiting"), _("Pooled"))),
    )
    rows = [
        (
            *(Cell(one.topic.number), share(one.share.value)),
            *(count(one.topic.relevant), count(one.topic.judged), count(one.topic.waiting), count(one.topic.pooled)),
        )
        for one in found.density.topics
    ]
    caption = _("Relevant share of the judged documents, by topic")
    return Table("density", caption, columns, rows, {"chart": "bar", "up": _("Relevant share")})


def _growth(found: QualityReport, words: Words) -> Iterator[Block]:
    _, growth = words.gettext, found.growth
    if growth.fitted is None:
        if growth.exponent.reason:
            yield notice(words.say(growth.exponent.reason.sentence))
        return
    columns = (
        *(Column(_("Depth"), "across", is_number=True), Column(_("found"), "up", is_number=True)),
        Column(_("fitted curve"), "up", is_number=True),
    )
    rows = [
        (count(depth), count(new), figure(fitted, 1))
        for depth, (new, fitted) in enumerate(zip(growth.new, growth.fitted, strict=True), start=1)
    ]
    caption = _(
        "New relevant documents by the depth of the pool (%(fed)d of %(runs)d runs)", fed=found.fed, runs=found.runs
    )
    yield Table("growth", caption, columns, rows, {"chart": "line", "least": "0", "up": _("New relevant documents")})
    if growth.extrapolations:
        deeper = [
            (count(one.depth), figure(one.new.value, 1), interval(one.interval) if one.interval else NOTHING)
            for one in growth.extrapolations
        ]
        headings = (_("Depth"), _("New relevant documents"), _("95 %% interval"))
        caption = _("Relevant documents that a deeper pool is expected to add")
        yield Table("deeper", caption, [Column(heading, is_number=True) for heading in headings], deeper)


def _fewer(found: QualityReport, ablation: Ablation, words: Words) -> Table:
    _ = words.gettext
    columns = (
        *(Column(_("Share (%%)"), "across", is_number=True), Column(_("Judgements"), is_number=True)),
        *(Column(_("Kendall's tau"), "up", is_number=True), Column(_("Lowest"), "low", is_number=True)),
        *(Column(_("Highest"), "high", is_number=True), Column("tau AP", is_number=True)),
    )
    rows = [
        (
            *(Cell(f"{100 * step.share:g}", 100 * step.share), count(step.judgements), figure(step.tau.value)),
            *(figure(step.least_tau.value), figure(step.greatest_tau.value), figure(step.tau_ap.value)),
        )
        for step in ablation.steps
    ]
    caption = _(
        "Kendall's tau of the ranking by %(measure)s with that by all judgements, for random samples of the judgements "
        "(%(draws)d draws, seed %(seed)d); 0.9 counts as the same ranking",
        measure=found.measure,
        draws=ablation.draws,
        seed=ablation.seed,
    )
    return Table("fewer", caption, columns, rows, {"chart": "line", "up": _("Kendall's tau"), "reference": "0.9"})
