"""A leaderboard as rows: exact ones for programs, and readable ones, also in Markdown and LaTeX."""

from annotator.evaluation.formats.printed_tables import latex_table, markdown_table
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, LeaderboardRow
from annotator.evaluation.metrics.setting import Compat

Cell = str | int | float | None
NOT_FED, BEST_OF_TEAM = "○", "◆"


def exact_rows(board: Leaderboard) -> list[list[Cell]]:
    """The headings, and one row a run in full precision with the state of the grades."""
    headings: list[Cell] = ["run", "team"]
    for place, measure in enumerate(board.measures):
        headings += [measure, *_more_headings(board, place)]
    headings += ["letters"] if board.view.letters else []
    headings += ["fed_pool", "best_of_team", "qrels", "policy", "grades", "topics", "fingerprint", "trec_eval"]
    return [headings, *(_exact(board, row) for row in board.rows)]


def readable_rows(board: Leaderboard) -> list[list[Cell]]:
    """The headings, and one row a run: values with interval and stars, judged shares, marks."""
    headings: list[Cell] = ["RUN", "TEAM"]
    for place, measure in enumerate(board.measures):
        headings += [measure, "95%"] if _has_intervals(board, place) else [measure]
        headings += ["STARS"] if board.view.baseline is not None else []
        headings += [beside] if (beside := shown_beside(board, place)) else []
    headings += ["LETTERS"] if board.view.letters else []
    return [[*headings, "MARKS"], *(_readable(board, row) for row in board.rows)]


def markdown(board: Leaderboard) -> str:
    """The readable rows as a table in Markdown, followed by the state of the grades."""
    headings, *rows = [[shown(cell) for cell in row] for row in readable_rows(board)]
    # One paragraph each.
    notes = "".join(f"\n{shown(line)}\n" for line in scored_against(board))
    return markdown_table(headings, rows, range(2, len(headings))) + notes


def latex(board: Leaderboard) -> str:
    """The readable rows as a LaTeX table for the package booktabs; comments give the state of the grades."""
    headings, *rows = [[shown(cell) for cell in row] for row in readable_rows(board)]
    comments = "".join(f"% {shown(line)}\n" for line in scored_against(board))
    return comments + latex_table(headings, rows, range(2, len(headings)))


def scored_against(board: Leaderboard) -> list[str]:
    """The grades and the topics, one a line, and all notices."""
    settled = f" settled by {board.policy}" if board.policy else ""
    grades = f"{board.grades} grades, fingerprint {board.fingerprint}; relevant from {board.relevant_from}"
    as_before = [] if board.compat == Compat.TREC_EVAL_10.value else ["Scores and cutoffs as in trec_eval 9."]
    return [
        f"Qrels: {board.source}{settled}, {grades}.",
        f"Topics: {len(board.topics)} scored, {board.topics_left_out} without a grade left out.",
        *as_before,
        *map(str, board.notices),
    ]


def shown(cell: Cell) -> str:
    """A cell on one line, values with four decimals."""
    if cell is None:
        return ""
    return f"{cell:.4f}" if isinstance(cell, float) else " ".join(str(cell).split())


def _exact(board: Leaderboard, row: LeaderboardRow) -> list[Cell]:
    cells: list[Cell] = [row.tag, row.team]
    for place, value in enumerate(row.values):
        cells += [value, *_more_cells(board, row, place)]
    cells += [row.letters] if board.view.letters else []
    against = [board.source, board.policy, board.grades, len(board.topics), board.fingerprint, board.compat]
    return [*cells, _yes(said=row.run.fed_pool), _yes(said=row.best_of_team), *against]


def _has_intervals(board: Leaderboard, place: int) -> bool:
    """Whether a measure has intervals; the board of a team without a run in time has no rows."""
    return any(row.intervals[place] is not None for row in board.rows[:1])


def _more_headings(board: Leaderboard, place: int) -> list[Cell]:
    measure, beside = board.measures[place], shown_beside(board, place)
    return [
        *([f"{measure} low", f"{measure} high"] if _has_intervals(board, place) else []),
        *([f"{measure} p"] if board.view.baseline is not None else []),
        *([beside] if beside else []),
    ]


def _more_cells(board: Leaderboard, row: LeaderboardRow, place: int) -> list[Cell]:
    interval, figure = row.intervals[place], row.p[place]
    return [
        *((interval.bounds or (None, None)) if interval is not None else ()),
        *([figure.value if figure is not None else None] if board.view.baseline is not None else []),
        *([row.judged[place]] if shown_beside(board, place) else []),
    ]


def _readable(board: Leaderboard, row: LeaderboardRow) -> list[Cell]:
    cells: list[Cell] = [row.tag, row.team]
    for place, value in enumerate(row.values):
        interval = row.intervals[place]
        cells.append(value)
        if interval is not None:
            cells.append(f"[{interval.bounds[0]:.4f},{interval.bounds[1]:.4f}]" if interval.bounds else None)
        cells += [row.stars[place]] if board.view.baseline is not None else []
        cells += [row.judged[place]] if shown_beside(board, place) else []
    cells += [row.letters] if board.view.letters else []
    marks = ("" if row.run.fed_pool else NOT_FED) + (BEST_OF_TEAM if row.best_of_team else "")
    return [*cells, marks or None]


def shown_beside(board: Leaderboard, place: int) -> str | None:
    """Judged@k is shown once for all measures of the same depth, and not if it was itself requested."""
    beside = board.judged_by[place]
    is_known = beside in board.measures or beside in board.judged_by[:place]
    return None if is_known else beside


def _yes(*, said: bool) -> str:
    return "yes" if said else "no"
