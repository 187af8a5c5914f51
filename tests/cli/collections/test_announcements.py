"""`annotator announcements` and the questions of participants at the command line."""

import json

from build import NOW, SLUG, member, run
from cli.command_line import CommandLine
from cli.remote_site import Remote
from sqlalchemy import select

from annotator.storage import Database, Role, User
from annotator.workflows.runs import team_questions


def listed(news: CommandLine) -> list[tuple[object, ...]]:
    rows = json.loads(news.done("announcements", "list", "news", "--format", "json"))
    return [(row["number"], row["everyone"], row["title"], row["text"]) for row in rows]


def test_an_announcement_is_added_changed_listed_and_removed(news: CommandLine) -> None:
    said = news.talk("announcements", "add", "news", "Topics", "-", given="They are *final*.\n")
    assert said == "Announcement 1 is published.\n"
    assert listed(news) == [(1, False, "Topics", "They are *final*.")]
    assert news.talk("announcements", "set", "news", "1", "All topics", "-", "--everyone", given="Changed.\n") == (
        "Announcement 1 is changed.\n"
    )
    assert listed(news) == [(1, True, "All topics", "Changed.")]
    assert news.talk("announcements", "remove", "news", "1") == "Announcement 1 is withdrawn.\n"
    assert listed(news) == []
    for arguments in (("remove", "news", "1"), ("set", "news", "1", "Title", "-")):
        refused = news("announcements", *arguments, given="Text.")
        assert (refused.exit_code, refused.stderr) == (1, "There is no announcement 1 in this collection.\n")
    assert news("announcements", "add", "news", "Two\nlines", "-", given="Text.").exit_code == 1


def test_questions_of_participants_are_listed_with_team_and_run_and_answered_for_all(
    news: CommandLine, sqlite_database: Database
) -> None:
    news.done("topics", "import", "news", "-", given="1\tfirst topic\n")
    with sqlite_database.transaction() as session:
        pat = member(session, "pat", Role.PARTICIPANT, team="red")
        run(session, "alpha", {"1": ["a"]}, team="red")
        team_questions.ask(session, SLUG, pat, "Do ties count?", client_id="q", asked_at=NOW, run="alpha")
    [question] = json.loads(news.done("questions", "list", "news", "--format", "json"))
    assert (question["by"], question["team"], question["run"], question["answer"]) == ("pat", "red", "alpha", None)
    assert news.talk("questions", "answer", "news", "1", "They do.", "--public") == "Question 1 is answered.\n"
    [row] = json.loads(news.done("announcements", "list", "news", "--format", "json"))
    assert (row["question"], row["text"]) == ("Do ties count?", "They do.")


def test_organisers_list_and_answer_questions_on_a_site(site: Remote) -> None:
    with site.database.transaction() as session:
        pat = session.scalars(select(User.id).where(User.name == "pat")).one()
        for number, text in enumerate(("Do ties count?", "And blanks?")):
            team_questions.ask(session, SLUG, pat, text, client_id=f"q{number}", asked_at=NOW)
    answered = site("ola", "questions", "answer", SLUG, "1", "They do.", "--public")
    assert (answered.exit_code, answered.stderr) == (0, "Question 1 is answered.\n")
    for format_ in ("table", "csv", "json"):
        assert "They do." in site.alike("ola", "questions", "list", SLUG, "--format", format_)
    assert "They do." not in site.alike("ola", "questions", "list", SLUG, "--open")
    [first, second] = json.loads(site.done("pat", "questions", "list", SLUG, "--format", "json"))
    assert (first["answer"], second["answer"], second["public"]) == (None, "They do.", True)
    assert "They do." not in site.done("pat", "questions", "list", SLUG, "--open")
    assert site.refused("ola", "questions", "answer", SLUG, "9", "So.") == [
        "There is no question 9 in this collection."
    ]
    assert site("pat", "questions", "answer", SLUG, "2", "So.").exit_code == 1
