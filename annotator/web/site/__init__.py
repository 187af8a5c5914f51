"""Code shared by all pages: forms, access, formatting, translation, background jobs."""

from annotator.web.site import jobs, language, palette

BLUEPRINTS = (
    jobs.blueprint,
    jobs.of_site,
    language.blueprint,
    palette.blueprint,
)
