"""Pages of click logs."""

from annotator.clicks.web import click_logs, interleaving, together

BLUEPRINTS = (
    click_logs.blueprint,
    interleaving.blueprint,
    together.blueprint,
)
