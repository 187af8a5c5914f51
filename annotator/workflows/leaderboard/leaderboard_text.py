"""The leaderboard as text: CSV and JSON, exact, for programs; a table, Markdown and LaTeX for people."""

from collections.abc import Sequence

from annotator.evaluation.leaderboard.leaderboard import Leaderboard, LeaderboardRow
from annotator.evaluation.leaderboard.leaderboard_table import Cell, exact_rows, shown_beside
from annotator.evaluation.leaderboard.leaderboard_table import latex as latex
from annotator.evaluation.leaderboard.leaderboard_table import markdown as markdown
from annotator.evaluation.leaderboard.leaderboard_table import readable_rows as readable_rows
from annotator.evaluation.leaderboard.leaderboard_table import scored_against as scored_against
from annotator.spreadsheets import csv_text

ALL_TOPICS = "all"  # trec_eval's word for the mean


def leaderboard_csv(board: Leaderboard) -> str:
    """Comma-separated, a line a run; every line names the grades, so that it can be cut out and still says them."""
    return csv_text(exact_rows(board))


def topics_csv(board: Leaderboard) -> str:
    """The same with a line a run and topic, and the values over all topics under them."""
    named = ["qrels", "policy", "grades", "topics", "fingerprint", "trec_eval"]
    against = [board.source, board.policy, board.grades, len(board.topics), board.fingerprint, board.compat]
    headings = ["run", "topic", *board.measures, *named]
    return csv_text([headings, *([*row, *against] for row in topic_rows(board))])


def topic_rows(board: Leaderboard) -> Sequence[Sequence[Cell]]:
    """A row a run and topic, and its mean under them, as trec_eval does."""
    return [
        [row.tag, topic, *values]
        for row in board.rows
        for topic, values in (*((number, row.by_topic[number]) for number in board.topics), (ALL_TOPICS, row.values))
    ]


def as_json(board: Leaderboard, *, per_topic: bool) -> dict[str, object]:
    """Everything of it, as JSON has it."""
    plain = ("measures", "topics", "topics_left_out", "topics_dropped", "grades", "source", "policy", "relevant_from")
    return {
        **{name: getattr(board, name) for name in plain},
        "fingerprint": board.fingerprint,
        "disputed_left_out": board.disputed_left_out,
        "sorted_by": board.sorted_by,
        "better": board.better,
        "trec_eval": board.compat,
        "interval": board.view.interval,
        "baseline": board.view.baseline,
        "notices": list(map(str, board.notices)),
        "rows": [_row_as_json(board, row, per_topic=per_topic) for row in board.rows],
    }


def _row_as_json(board: Leaderboard, row: LeaderboardRow, *, per_topic: bool) -> dict[str, object]:
    def by_measure(values: Sequence[object]) -> dict[str, object]:
        return dict(zip(board.measures, values, strict=True))

    beside = [(place, shown_beside(board, place)) for place in range(len(board.measures))]
    how_far = {name: row.judged[place] for place, name in beside if name is not None}
    said: dict[str, object] = {
        "tag": row.tag,
        "place": row.place,
        "team": row.team,
        "values": by_measure(row.values) | how_far,
        "intervals": by_measure([one.bounds if one is not None else None for one in row.intervals]),
        "judged": by_measure(row.judged),
        "fed_pool": row.run.fed_pool,
        "best_of_team": row.best_of_team,
    }
    if board.view.baseline is not None:
        said["p"] = by_measure([figure.value if figure is not None else None for figure in row.p])
        said["stars"] = by_measure(row.stars)
    if board.view.letters:
        said["letters"] = row.letters
    if per_topic:
        said["by_topic"] = {topic: by_measure(row.by_topic[topic]) for topic in board.topics}
    return said
