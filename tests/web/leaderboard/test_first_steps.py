"""The guided path of a new collection: it can be left and resumed, and refuses what does not fit."""

import io
import zipfile

import pytest
from build import SLUG
from visiting import Visit, words

from annotator.storage import Database, Role
from annotator.storage.tables.collections import CollectionKind
from annotator.workflows.collections.collection import count_collection, show_collection
from annotator.workflows.people.members import list_members
from annotator.workflows.runs.runs import list_runs
from annotator.workflows.topics.topics import list_topics

DEFAULTS = {
    "scale": "0=No\n1=Yes\n2=Very",
    "relevant_from": "1",
    "judgements_wanted": "1",
    "consensus_policy": "majority-first",
    "kind": "comparison",
    "have": "queries",
}
START = "/collections/shop-search/start"
ALPHA = b"query,document\nRed shoes,a\nred shoes,b\nwarm coat,c\n"
BETA = b"query,document\nred shoes,b\nwarm coat,d\n"
QRELS = b"1 0 a 1\n1 0 b 0\n2 0 c 2\n2 0 d 0\n"


def file(name: str, content: bytes) -> tuple[io.BytesIO, str]:
    return io.BytesIO(content), name


@pytest.fixture
def started(visit: Visit, news: str) -> str:
    """A new collection that has only a title."""
    answer = visit("ada").post("/collections", title="Shop Séarch!", **DEFAULTS)
    assert (answer.status_code, answer.location) == (303, f"{START}/topics")
    assert news
    return START


def test_only_a_title_is_asked_for(visit: Visit, started: str, database: Database) -> None:
    with database.reading() as session:
        shown = show_collection(session, "shop-search")
    assert (shown.title, shown.kind) == ("Shop Séarch!", CollectionKind.COMPARISON)
    assert (
        visit("ada").post("/collections", title="Shop search", **DEFAULTS).location == f"{started[:-6]}-2/start/topics"
    )
    other = {**DEFAULTS, "have": "task", "kind": "shared-task"}
    assert visit("ada").post("/collections", title="가나다", **other).location == "/collections/collection/start/task"


def test_the_path_leads_from_nothing_to_a_sentence_about_the_two_best(visit: Visit, started: str) -> None:
    ada = visit("ada")
    answer = ada.post(f"{started}/topics", text="red shoes\nwarm coat\n")
    assert answer.location == f"{started}/runs"
    answer = ada.post(f"{started}/runs", files=[file("alpha.csv", ALPHA), file("beta.csv", BETA)])
    assert answer.location == f"{started}/pool"
    assert "Depth 5: 4 documents, about 0.0 hours of judging." in words(ada.get(f"{started}/pool"))
    assert "Depth 1: 4 documents" in words(ada.get(f"{started}/pool?depth=1"))
    assert ada.post(f"{started}/pool", depth="5").location == f"{started}/judges"
    assert "It needs two result lists and judgements." in words(ada.get(f"{started}/results"))
    assert ada.post(f"{started}/task", files=[file("q", QRELS)]).location == f"{started}/results"
    page = words(ada.get(f"{started}/results"))
    assert "nDCG@10: alpha leads by 1.000" in page
    assert "alpha is most ahead" in page
    assert "red shoes (1.0000)" in page


def test_files_are_read_as_the_format_that_is_chosen_or_detected_which_the_next_page_names(
    visit: Visit, started: str, database: Database
) -> None:
    ada = visit("ada")
    assert 'name="input_format"' in ada.get(f"{started}/topics").text
    page = ada.get(f"{started}/runs").text
    assert 'name="input_format"' in page
    assert 'name="texts_format"' in page
    # The pasted query is not read as the format of the files.
    lines = b"7\tred shoes, size 9\n"
    refused = ada.post(f"{started}/topics", files=[file("queries", lines)], input_format="jsonl")
    assert refused.status_code == 422
    assert '<option selected value="jsonl">' in refused.text
    answer = ada.post(f"{started}/topics", text="6\tcoat\n", files=[file("queries", lines)], input_format="tsv")
    shown = words(ada.get(answer.location))
    assert "queries: read as tab-separated topics." in shown
    assert "pasted" not in shown
    runs = {"files": [file("alpha.tsv", b"7\ta\t1\n")], "texts": [file("texts", b'{"id": "a", "text": "Shoes"}\n')]}
    answer = ada.post(f"{started}/runs", **runs, input_format="msmarco", texts_format="jsonl")
    shown = words(ada.get(answer.location))
    assert "alpha.tsv: read as MS MARCO run." in shown
    assert "texts: read as JSON records." in shown
    with database.reading() as session:
        assert [run.tag for run in list_runs(session, "shop-search")] == ["alpha"]
        assert [topic.number for topic in list_topics(session, "shop-search")] == ["6", "7"]


def test_a_result_list_of_a_chosen_format_is_read_by_that_format_alone(visit: Visit, started: str) -> None:
    ada = visit("ada")
    ada.post(f"{started}/topics", text="red shoes\nwarm coat\n")
    answer = ada.post(f"{started}/runs", files=[file("alpha.csv", ALPHA)], input_format="trec")
    assert answer.status_code == 422
    assert "alpha.csv" in words(answer)


def test_further_queries_change_no_topic(visit: Visit, started: str, database: Database) -> None:
    ada = visit("ada")
    ada.post(f"{started}/topics", text="red shoes\nwarm coat\n")
    ada.post(f"{started}/topics", text="blue hat\nred shoes\n")
    with database.reading() as session:
        topics = [(topic.number, topic.title) for topic in list_topics(session, "shop-search")]
    assert topics == [("1", "red shoes"), ("2", "warm coat"), ("3", "blue hat")]


def test_the_path_is_left_and_resumed_at_the_first_open_step(visit: Visit, started: str, database: Database) -> None:
    ada = visit("ada")
    assert ada.get(started).location == f"{started}/topics"
    ada.post(f"{started}/topics", text="red shoes\nwarm coat\n")
    assert ada.get(started).location == f"{started}/runs"
    assert "2 topics are stored" in words(ada.get(f"{started}/topics"))
    ada.post(f"{started}/runs", files=[file("alpha.csv", ALPHA)])
    ada.post(f"{started}/pool", depth="1")
    assert ada.get(started).location == f"{started}/judges"
    assert ada.post(f"{started}/judges/me").location == "/collections/shop-search/judge"
    assert ada.post(f"{started}/judges/me").status_code == 303
    assert ada.get(started).location == f"{started}/results"
    with database.reading() as session:
        roles = [(row.name, row.role) for row in list_members(session, "shop-search")]
    assert sorted(roles) == [("ada", Role.JUDGE), ("ada", Role.ORGANISER)]


def test_a_link_for_a_judge_is_shown_once(visit: Visit, started: str) -> None:
    ada = visit("ada")
    assert "/join?key=" in ada.post(f"{started}/judges/link").text
    assert "/join?key=" not in ada.get(f"{started}/judges").text


@pytest.mark.parametrize(
    ("page", "sent", "sentence"),
    [
        ("topics", {"text": ""}, "Paste queries, or choose a file of topics."),
        ("topics", {"files": ("t.csv", b"number,title\n1,red\n1,blue\n")}, "The topic 1 is in the file twice"),
        ("runs", {"files": ("a.csv", b"query,document\nblue hat,a\n")}, "There is no topic with the query “blue hat”."),
        ("runs", {"files": ("a.run", b"1 Q0 a 1 high alpha\n")}, "a.run"),
        ("runs", {}, "This field is required."),
        ("task", {"files": ("a.txt", b"hello\n")}, "The file is neither topics nor qrels"),
        ("pool", {"depth": "0"}, "Number must be between 1 and 1000."),
        ("pool", {"depth": "5"}, "There is no run to pool"),
    ],
)
def test_what_is_refused_is_told_on_the_page_and_nothing_is_stored(
    visit: Visit, database: Database, news: str, page: str, sent: dict[str, object], sentence: str
) -> None:
    ada = visit("ada")
    ada.post("/collections", title="Shop search", **DEFAULTS)
    fields = {name: [file(*value)] if isinstance(value, tuple) else value for name, value in sent.items()}
    answer = ada.post(f"{START}/{page}", **fields)
    assert answer.status_code in {409, 422}
    assert sentence in words(answer)
    assert "First results" in words(answer)
    with database.reading() as session:
        counts = count_collection(session, "shop-search")
    assert (counts.topics, counts.runs, counts.pool_items) == (0, 0, 0)
    assert news


def test_a_finished_task_in_a_zip_shows_its_leaderboard(visit: Visit, started: str, database: Database) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("topics.csv", "number,title\n1,red shoes\n2,warm coat\n")
        archive.writestr("alpha.csv", ALPHA)
        archive.writestr("task.qrels", QRELS)
    ada = visit("ada")
    answer = ada.post(f"{started}/task", files=[file("task.zip", stream.getvalue())])
    assert answer.location == "/collections/shop-search/leaderboard"
    assert "Stored: 2 topics, 1 runs, 4 judgements." in words(ada.get(answer.location))
    with database.reading() as session:
        assert [run.tag for run in list_runs(session, "shop-search")] == ["alpha"]
        assert [topic.title for topic in list_topics(session, "shop-search")] == ["red shoes", "warm coat"]


def test_the_menu_of_a_comparison_has_systems_and_no_release(visit: Visit, started: str) -> None:
    page = words(visit("ada").get(f"{started}/topics"))
    assert "Systems" in page
    assert "Release" not in page
    assert "Release" in words(visit("ola").get(f"/collections/{SLUG}/report"))
