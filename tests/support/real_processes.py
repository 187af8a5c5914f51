"""Which tests drive a real browser or a real process: what else the machine does decides when those get their turn."""

import pytest
from targets import folders_of

# How often such a test is tried again. A test of code alone never is: what fails there once is wrong.
RERUNS = 2
FOLDERS = {"browser", "faults", "worker"}
FILES = {
    *("test_wheel.py", "test_installed.py", "test_serve.py", "test_interrupting.py", "test_lanes.py"),
    "test_generated_client.py",
}
# Of a command line that works on a site, which is served for the test.
FIXTURES = {"site"}
# Tests elsewhere are marked one by one.
MARKERS = (
    "process: drives a real process, and is tried again when it fails",
    # Also where the plugin is not installed that tries again.
    "flaky(reruns): is tried again so often",
)


def drives_a_process(item: pytest.Item) -> bool:
    """Whether a test does."""
    return (
        not FOLDERS.isdisjoint(folders_of(item))
        or item.path.name in FILES
        or item.get_closest_marker("process") is not None
        or not FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
    )


def let_try_again(items: list[pytest.Item]) -> None:
    """Mark these tests."""
    for item in items:
        if drives_a_process(item):
            item.add_marker(pytest.mark.flaky(reruns=RERUNS))
