"""The measures by program."""

import pytest
from calling import API, Caller

from annotator.evaluation.metrics.names import explain, explain_all
from annotator.workflows.people.tokens import Scope


@pytest.mark.usefixtures("news")
def test_measures_are_listed_and_explained(program: Caller) -> None:
    jo = program("jo", Scope.JUDGE)
    found = jo.get(f"{API}/measures").json
    assert [one["form"] for one in found] == [one.form for one in explain_all().values()]
    assert jo.get(f"{API}/measures/ndcg_cut").json["form"] == explain("nDCG").form
    assert jo.get(f"{API}/measures/rbp").json["stands_for"] == "RBP(p=0.9)"
    unknown = jo.get(f"{API}/measures/nonsense")
    assert (unknown.status_code, "nonsense" in unknown.json["detail"]) == (404, True)
    assert program(None).get(f"{API}/measures").status_code == 401
