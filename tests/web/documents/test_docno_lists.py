"""The list of valid docnos by page, and what a participant is told about a run with other docnos."""

import bz2

from visiting import Visit, file, words

RUN = "1 Q0 a 1 9 t\n1 Q0 x 2 8 t\n2 Q0 a 1 9 t\n"
UNKNOWN = "Docnos that are not in the list of valid docnos: 1 (x); lines with them: 1; first lines: 2;"


def test_a_list_is_imported_downloaded_replaced_and_removed(visit: Visit, news: str) -> None:
    ola, page = visit("ola"), f"{news}/documents/docnos"
    assert "This collection has no list of docnos." in words(ola.get(page))
    lists = [file("ids.txt.bz2", bz2.compress(b"a\nb\na\n")), file("more.jsonl", '{"_id": "c"}\n')]
    assert ola.post(page, files=lists).status_code == 303
    shown = words(ola.get(page))
    assert "ids.txt.bz2: read as list of docnos." in shown
    assert "more.jsonl: read as JSON records." in shown
    assert "Docnos: 3, repeated: 1." in shown
    assert ola.get(f"{page}.txt").text == "a\nb\nc\n"
    assert "Docnos 3" in words(ola.post(f"{page}/remove"))
    assert ola.post(f"{page}/remove", confirmed="y").status_code == 303
    assert "Removed the list of docnos." in words(ola.get(page))
    assert ola.post(f"{page}/remove", confirmed="y").status_code == 404


def test_a_wrong_list_is_refused_with_its_lines(visit: Visit, news: str) -> None:
    refused = visit("ola").post(f"{news}/documents/docnos", files=file("ids.txt", "a\nb c\n"))
    assert refused.status_code == 422
    assert "<code>ids.txt:2</code> The document id" in refused.text
    named = visit("ola").post(f"{news}/documents/docnos", files=file("ids.txt", "a\n"), input_format="jsonl")
    assert "<code>ids.txt:1</code> The line is not valid JSON: look at column 1." in named.text


def test_a_team_is_told_which_docnos_of_its_run_are_unknown(visit: Visit, news: str) -> None:
    visit("ola").post(f"{news}/documents/docnos", files=file("ids.txt", "a\n"))
    pat = visit("pat")
    assert UNKNOWN in words(pat.post(f"{news}/runs/check", files=file("t.run", RUN)))
    answer = pat.post(f"{news}/runs", files=file("t.run", RUN))
    assert UNKNOWN in words(pat.get(answer.headers["Location"]))
