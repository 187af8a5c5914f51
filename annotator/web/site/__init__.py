"""What all pages share: forms, access, formatting, translation, background jobs."""

from annotator.web.site import jobs, language

BLUEPRINTS = (
    jobs.blueprint,
    language.blueprint,
)
