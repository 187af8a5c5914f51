"""Pages and answers that read much are read from the replica of the database, where there is one."""

from flask import Flask, request

from annotator.storage.site.replica import reads_much

# By blueprints, of pages and of the API.
READ_MUCH = {
    *("leaderboard", "costs", "inspecting", "run", "quality", "significance"),
    *("agreement", "disagreements", "judges"),
    *("Scores", "Costs", "Agreement"),
}


def install(app: Flask) -> None:
    """Choose for each request, after the person and the roles have been read."""
    app.before_request(choose)
    app.teardown_request(forget)


def choose() -> None:
    """Let a request that only shows results be read from the replica."""
    if request.method in {"GET", "HEAD"} and request.blueprint in READ_MUCH:
        reads_much.set(True)


def forget(_error: BaseException | None) -> None:
    """Let what comes after the request be read from the database itself."""
    reads_much.set(False)
