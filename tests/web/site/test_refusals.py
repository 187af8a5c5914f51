"""What happens to requests that cannot be answered, and what every answer carries."""

import hashlib
from pathlib import Path

import pytest
from build import SLUG
from flask import Flask
from visiting import Visit, file, words

from annotator.errors import Sentence
from annotator.storage import Role
from annotator.web.serving.headers import HASH_DIGITS
from annotator.web.site import language
from annotator.web.site.translate import say

RUNS = f"/collections/{SLUG}/runs"

pytestmark = pytest.mark.usefixtures("news")


@pytest.mark.parametrize(
    ("method", "path", "status", "sentence"),
    [
        ("GET", "/nowhere", 404, "The address may be mistyped"),
        ("GET", "/collections/nowhere", 404, "There is no collection “nowhere”."),
        ("GET", "/sign-out", 405, "This address only takes forms."),
        (
            "GET",
            f"/collections/{SLUG}/scores",
            403,
            "Your role in this collection does not include this page. An organiser of the collection can",
        ),
        ("GET", "/people", 403, "This page is for administrators."),
        ("GET", f"{RUNS}/file?tag=none", 404, "There is no run “none” in this collection."),
        ("GET", f"/collections/{SLUG}/qrels?policy=mean", 422, "There is no consensus policy “mean”"),
        ("GET", f"/collections/{SLUG}/qrels?judge=nobody", 404, "There is no user “nobody”."),
    ],
)
def test_a_refusal_is_a_page_with_its_status_and_a_way_on(
    visit: Visit, method: str, path: str, status: int, sentence: str
) -> None:
    answer = visit("ola").client.open(path, method=method)
    assert answer.status_code == status
    assert sentence in words(answer)
    assert "Your collections" in words(answer)


def test_a_refusal_leads_back_to_the_page_before_but_never_to_another_site(visit: Visit) -> None:
    ola = visit("ola")
    here = ola.get("/nowhere", headers={"Referer": f"http://localhost{RUNS}"})
    assert f'href="{RUNS}">Go back' in here.text
    for elsewhere in ("https://evil.example/x", "http://localhost.evil.example/", "http://localhost//evil.example"):
        assert "Go back" not in ola.get("/nowhere", headers={"Referer": elsewhere}).text


def test_too_much_at_once_is_refused(visit: Visit) -> None:
    answer = visit("ola").client.post(RUNS, data=b"x" * (2 << 20), content_type="multipart/form-data; boundary=x")
    assert answer.status_code == 413
    assert "More was sent than this server takes at once." in words(answer)


@pytest.mark.parametrize("path", ["/sign-in?next=%00", "/collections/a%00b", "/nowhere%00"])
def test_a_nul_in_an_address_is_refused(visit: Visit, path: str) -> None:
    assert visit("ola").get(path).status_code == 400


def test_a_nul_in_a_field_or_in_the_name_of_a_file_is_refused(visit: Visit) -> None:
    assert visit(None).post("/sign-in", name="a\0b", password="x").status_code == 400
    assert visit("ola").post(RUNS, files=file("a\0b.run", "1 Q0 a 1 1 t\n")).status_code in {400, 422}


def test_a_fault_is_a_page_that_needs_nothing_of_the_database(app: Flask, visit: Visit) -> None:
    app.config["TESTING"] = False
    app.view_functions["topics.show"], present = broken, app.view_functions["topics.show"]
    answer = visit("ola").get(f"/collections/{SLUG}/topics")
    app.view_functions["topics.show"] = present
    assert answer.status_code == 500
    assert "Something went wrong here" in words(answer)
    assert "secret of the server" not in answer.text


def broken(**_values: object) -> str:
    """Fail as only a bug does."""
    raise RuntimeError("secret of the server")


def test_every_answer_says_what_a_browser_may_load(visit: Visit) -> None:
    ola = visit("ola")
    for path in ("/collections", "/nowhere", f"/collections/{SLUG}/judgements/file"):
        headers = ola.get(path).headers
        assert headers["Content-Security-Policy"] == (
            "default-src 'self'; worker-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
            "form-action 'self'; frame-ancestors 'none'"
        )
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cache-Control"] == "no-store"


def test_pages_have_neither_inline_script_nor_inline_style(visit: Visit) -> None:
    jo, ola = visit("jo"), visit("ola")
    pages = [jo.get(f"/collections/{SLUG}/judge/topics/1"), ola.get(f"/collections/{SLUG}"), ola.get(RUNS)]
    for page in pages:
        assert "<style" not in page.text
        assert " style=" not in page.text
        assert "<script>" not in page.text
        assert " onclick" not in page.text


def test_static_files_are_kept_for_good_under_the_address_of_their_content(visit: Visit) -> None:
    guest = visit(None)
    address = guest.get("/sign-in").text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert "?v=" in address
    cached = guest.get(address, buffered=True)
    assert "immutable" in cached.headers["Cache-Control"]
    assert guest.get("/static/site/style.css?v=000000000000", buffered=True).headers["Cache-Control"] == "no-cache"
    missing = guest.get("/static/none.css")
    assert (missing.status_code, missing.headers["Cache-Control"]) == (404, "no-store")


@pytest.mark.parametrize("slash", ["..%2f", "../", "%2e%2e%2f"])
def test_a_static_address_tells_nothing_of_other_files(visit: Visit, tmp_path: Path, slash: str) -> None:
    guest = visit(None)
    secret = tmp_path / "secret"
    secret.write_text("the key")
    content_hash = hashlib.sha256(secret.read_bytes()).hexdigest()[:HASH_DIGITS]
    for query in ("", f"?v={content_hash}"):
        answers = [
            guest.get(f"/static/{folder}{slash * 20}{str(path).lstrip('/')}{query}")
            for path in (secret, tmp_path / "nothing", tmp_path)
            for folder in ("", f"v-{content_hash}/")
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert {answer.headers["Cache-Control"] for answer in answers} == {"no-store"}


def test_no_file_outside_the_static_folder_is_read(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the key")
    read: list[Path] = []
    read_bytes = Path.read_bytes

    def remembered(path: Path) -> bytes:
        read.append(path.resolve())
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", remembered)
    visit(None).get(f"/static/{'..%2f' * 20}{str(secret).lstrip('/')}")
    assert secret.resolve() not in read


@pytest.mark.parametrize(
    ("asked", "given"), [("ko", "ko"), ("ko-KR,en;q=0.5", "ko"), ("de, en;q=0.5", "en"), ("fr", "en"), ("", "en")]
)
def test_a_page_is_in_the_language_the_browser_asks_for(visit: Visit, asked: str, given: str) -> None:
    page = visit(None).get("/sign-in", headers={"Accept-Language": asked})
    assert f'<html lang="{given}">' in page.text


def test_a_language_that_was_chosen_stays_and_leads_back(visit: Visit) -> None:
    ola = visit("ola")
    answer = ola.post("/language", language="ko", next=RUNS)
    assert (answer.status_code, answer.location) == (303, RUNS)
    assert '<html lang="ko">' in ola.get(RUNS, headers={"Accept-Language": "en"}).text
    assert ola.post("/language", language="tlh", next="//evil.example").location == "/"
    assert '<html lang="ko">' in ola.get(RUNS).text


def test_a_sentence_is_said_with_its_values_whatever_they_hold(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = {"%(name)s has the role %(role)s.": "%(role)s: %(name)s"}
    monkeypatch.setattr("annotator.web.site.translate.gettext", lambda text: catalogue.get(text, text))
    with app.test_request_context():
        assert say(Sentence("%(name)s has the role %(role)s.", {"name": "50%s", "role": Role.JUDGE})) == "judge: 50%s"
        assert say(Sentence("100 %% of %(part)s", {"part": Sentence("all")})) == "100 % of all"


def test_numbers_are_written_as_people_write_them(app: Flask) -> None:
    with app.test_request_context(headers={"Accept-Language": "en"}):
        assert language.format_number(9139) == "9,139"
        assert language.format_number(0.5, 2) == "0.50"
