"""The format of the server's log on standard error: lines of text or of JSON."""

import json
import logging
import sys
from datetime import UTC, datetime

REQUESTS = "annotator.requests"


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, event, and the values of the request with their types."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one log record."""
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
    """One line of text per log record."""

    def __init__(self) -> None:
        """Start each line with the time in UTC."""
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - logging's
        """The time in ISO 8601."""
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def write_log(log_format: str) -> None:
    """Log to standard error in this format; with `none` only what Flask itself would log, and no requests."""
    requests = logging.getLogger(REQUESTS)
    requests.disabled = log_format == "none"
    if log_format == "none":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    logging.getLogger().handlers = [handler]
    requests.setLevel(logging.INFO)
