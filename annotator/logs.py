"""How the server's log is written: lines of text, or of JSON, on standard error."""

import json
import logging
import sys
from datetime import UTC, datetime

REQUESTS = "annotator.requests"


class JsonLines(logging.Formatter):
    """A JSON object a line: when, how grave, what, and the values of a request as they are."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one event."""
        event: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "request", {}),
        }
        if record.exc_info:
            event["traceback"] = self.formatException(record.exc_info)
        return json.dumps(event, ensure_ascii=False)


class TextLines(logging.Formatter):
    """The same as text."""

    def __init__(self) -> None:
        """Begin each line with the moment, in UTC."""
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - logging's
        """The moment as ISO 8601 has it."""
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def write_log(log_format: str) -> None:
    """Write what this process logs to standard error; with `none` only what Flask itself would, and no requests."""
    requests = logging.getLogger(REQUESTS)
    requests.disabled = log_format == "none"
    if log_format == "none":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    logging.getLogger().handlers = [handler]
    requests.setLevel(logging.INFO)
