"""The list of valid docnos by program, and the warning about a run with other docnos."""

import pytest
from calling import NEWS, Caller

pytestmark = pytest.mark.usefixtures("news")
DOCNOS = f"{NEWS}/docnos"
RUN = "1 Q0 a 1 9 t\n1 Q0 x 2 8 t\n2 Q0 a 1 9 t\n"


def test_a_list_is_imported_shown_written_and_removed(program: Caller) -> None:
    ola = program("ola")
    assert ola.get(DOCNOS).status_code == 404
    foreseen = ola.send(DOCNOS, "a\nb\na\n", dry_run="true", name="ids.txt")
    assert (foreseen.status_code, foreseen.json) == (200, {"docnos": 2, "repeated": 1})
    assert ola.get(DOCNOS).status_code == 404
    assert ola.send(DOCNOS, "a\nb\na\n", name="ids.txt").json == foreseen.json
    shown = ola.get(DOCNOS).json
    assert (shown["docnos"], shown["files"]) == (2, "ids.txt")
    assert ola.get(f"{DOCNOS}/file").text == "a\nb\n"
    assert ola.call("DELETE", DOCNOS).json == shown
    assert ola.call("DELETE", DOCNOS).status_code == 404


def test_a_wrong_list_is_refused_with_line_and_column(program: Caller) -> None:
    refused = program("ola").send(DOCNOS, '{"_id": }\n', name="ids", input_format="jsonl")
    assert refused.status_code == 422
    assert "look at column 9" in refused.text
    assert program("ola").send(DOCNOS, "a\n", input_format="nothing").status_code == 422


def test_a_run_with_other_docnos_is_taken_with_a_warning(program: Caller) -> None:
    assert program("ola").send(DOCNOS, "a\n").status_code == 200
    pat = program("pat")
    told = "Docnos that are not in the list of valid docnos: 1 (x); lines with them: 1; first lines: 2;"
    [warning] = pat.send(f"{NEWS}/runs/check", RUN).json["warnings"]
    assert warning.startswith(told)
    receipt = pat.send(f"{NEWS}/runs", RUN).json
    [warning] = receipt["warnings"]
    assert (receipt["warning_count"], pat.get(f"{NEWS}/runs").json[0]["warning_count"]) == (1, 1)
    assert warning.startswith(told)
