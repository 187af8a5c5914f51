"""How values are written on pages."""

from annotator.web.leaderboard.board_cells import judged_percent
from annotator.web.site.formatting import score, signed


def test_a_difference_that_rounds_to_0_has_no_sign() -> None:
    assert [signed(value) for value in (-0.004, 0.004, 0.0, -0.006, 1.5)] == ["0.00", "0.00", "0.00", "-0.01", "+1.50"]
    assert score(-0.00001) == "0.0000"


def test_a_judged_share_is_rounded_and_100_is_all_of_it() -> None:
    shares = (11 / 12, 0.5, 0.99999, 1.0, 0.0)
    assert [judged_percent(share) for share in shares] == ["91.7", "50.0", "99.9", "100.0", "0.0"]
