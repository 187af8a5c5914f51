"""Pages of click logs."""

from annotator.clicks.web import click_logs, together

BLUEPRINTS = (
    click_logs.blueprint,
    together.blueprint,
)
