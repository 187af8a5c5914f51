"""Each test is of one target of the Makefile, and `make test-all` and `.ci/run` leave none out."""

import re
from pathlib import Path

import pytest
import targets

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()


def selection(target: str) -> str:
    """The expression by which a target chooses among the tests."""
    command = re.search(rf"^{target}:.*\n\t\$\(TESTS\) -m (.+)$", MAKEFILE, re.MULTILINE)
    assert command is not None, target
    return command[1]


@pytest.mark.parametrize("target", targets.TARGETS)
def test_a_target_takes_the_tests_of_its_mark_and_everydays_takes_none_of_them(target: str) -> None:
    assert selection(f"test-{target}") == target
    assert f"not {target}" in selection("test").strip('"').split(" and ")


def test_everything_is_run_before_a_change_is_taken() -> None:
    lines = re.search(r"^test-all:.*\n\t(.+)\n\t(.+)\n", MAKEFILE, re.MULTILINE)
    assert lines is not None
    assert lines.groups() == ("$(TESTS) $(DECIDING) --cov", "$(TESTS) $(addprefix --ignore=,$(DECIDING))")
    assert "make test-all" in (ROOT / ".ci" / "run").read_text().splitlines()


def test_a_test_bears_the_mark_of_its_target_and_of_no_other(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        marks = {mark.name for mark in item.iter_markers()} & set(targets.TARGETS)
        assert marks == {target for target in (targets.target_of(item),) if target is not None}, item.nodeid
