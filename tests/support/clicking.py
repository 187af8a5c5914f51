"""Click logs in few words, for tests of what is kept of them: of an A/B test, and of interleaved lists."""

from datetime import timedelta

from build import NOW, SLUG
from sqlalchemy.orm import Session

from annotator.clicks.evaluation.logs.log_studying import LogRequest, StudiedLog, study_log
from annotator.clicks.workflows.click_logs import LogKind, LogView, foresee_log, store_log

HEADINGS = "time,user,session,query,variant,page,position,docno,event,value\n"
# What each variant shows for topic 1, and one user in how many clicks the top result: beta's half as often as alpha's.
SHOWN = {"alpha": ("a", "b", "x"), "beta": ("d", "b", "a")}
EVERY = {"alpha": 2, "beta": 4}


def log_text(users: int = 40, query: str = "1", variants: dict[str, str] | None = None, who: str = "") -> str:
    """An A/B log: of each variant so many users, a page each, `EVERY` of whom click the top result, others the third.

    `variants` calls alpha and beta otherwise; the users of another `who` are other ones.
    """
    names = variants or {}
    lines = []
    for run, shown in SHOWN.items():
        for user in range(users):
            said = f"{who}{run}{user},s{who}{run}{user},{query},{names.get(run, run)},1"
            at = [(NOW + timedelta(hours=user, seconds=second)).isoformat() for second in range(4)]
            lines += [f"{at[0]},{said},{place},{docno},impression,\n" for place, docno in enumerate(shown, start=1)]
            place = 1 if user % EVERY[run] == 0 else 3
            lines.append(f"{at[place]},{said},{place},{shown[place - 1]},click,\n")
    return HEADINGS + "".join(lines)


def interleaving_text(wins_first: int = 30, wins_second: int = 10, ties: int = 4, query: str = "1") -> str:
    """A log of lists of which so many were won by alpha, by beta, and by neither; the variant is the team."""
    clicks = [["alpha"]] * wins_first + [["beta"]] * wins_second + [["alpha", "beta"]] * ties
    lines = []
    for number, teams in enumerate(clicks):
        said = f"u{number},s{number},{query}"
        for place, (team, docno) in enumerate([("alpha", "a"), ("beta", "d")], start=1):
            lines.append(f"{NOW.isoformat()},{said},{team},1,{place},{docno},impression,\n")
            if team in teams:
                lines.append(f"{NOW.isoformat()},{said},{team},1,{place},{docno},click,\n")
    return HEADINGS + "".join(lines)


def studied(session: Session, text: str, name: str = "March", kind: LogKind = LogKind.COMPARISON) -> StudiedLog:
    """A log that has been studied for the collection."""
    titles = foresee_log(session, SLUG, name)
    return study_log([("log.csv", text.encode())], LogRequest(name, kind), titles)


def stored_log(session: Session, text: str, name: str = "March", kind: LogKind = LogKind.COMPARISON) -> LogView:
    """A stored log."""
    return store_log(session, SLUG, studied(session, text, name, kind), by_id=None, at=NOW)
