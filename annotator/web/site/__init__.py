"""Code shared by all pages: forms, access, formatting, translation, background jobs."""

from annotator.web.site import jobs, language, palette

BLUEPRINTS = (
    jobs.blueprint,
    language.blueprint,
    palette.blueprint,
)
