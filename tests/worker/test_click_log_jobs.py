"""A large click log is studied by the worker, and its page leads on to what was found."""

from clicking import interleaving_text, log_text
from visiting import file, words
from worker.at_work import N, Visit, job_of, state, work

from annotator.storage import Database, JobState
from annotator.workflows.click_logs import LogKind, list_logs


def test_a_log_is_studied_by_the_worker(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    said = {"name": "March", "kind": "comparison", "days": "7", "share": "0.5"}
    page = job_of(ola.post(f"{N}/clicks", files=[file("log.csv", log_text())], **said))
    work(news)
    done = ola.get(page)
    assert (done.status_code, done.location) == (303, f"{N}/clicks/log?name=March")
    assert "Import of a click log" in words(ola.get(f"{N}/jobs"))


def test_files_of_one_log_and_their_lists_reach_the_worker(visit: Visit, news: Database) -> None:
    lists = "topic\tlist\tposition\tdocno\tteam\talpha\tbeta\n1\t1\t1\ta\talpha\t1\t3\n1\t1\t2\td\tbeta\t-\t1\n"
    log = interleaving_text(3, 1, 0).replace(",alpha,", ",1,").replace(",beta,", ",1,")
    said = {"name": "Lists", "kind": "interleaving", "days": "7", "share": "0.5"}
    page = job_of(
        visit("ola").post(f"{N}/clicks", files=[file("log.csv", log)], lists=file("lists.tsv", lists), **said)
    )
    work(news)
    assert visit("ola").get(page).status_code == 303
    with news.reading() as session:
        [view] = list_logs(session, "news")
    assert (view.kind, dict(view.runs)) == (LogKind.INTERLEAVING, {"alpha": "alpha", "beta": "beta"})


def test_what_is_wrong_is_told_and_nothing_kept(visit: Visit, news: Database) -> None:
    said = {"name": "March", "kind": "comparison", "days": "7", "share": "0.5"}
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/clicks", files=[file("log.csv", "nothing\n")], **said))
    work(news)
    answer = ola.get(ola.get(page).location)
    assert answer.status_code == 422
    assert "log.csv" in words(answer)
    assert state(news) == [JobState.FAILED]
    with news.reading() as session:
        assert list_logs(session, "news") == []
