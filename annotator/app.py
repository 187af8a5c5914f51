"""Creates the Flask application from settings, database, web pages and API."""

from flask import Flask
from flask.json.provider import DefaultJSONProvider
from flask_wtf import CSRFProtect
from jinja2 import StrictUndefined
from werkzeug.middleware.proxy_fix import ProxyFix

from annotator.api import installing as api
from annotator.clicks import web as clicks
from annotator.errors import InvalidValueError
from annotator.installed import PACKAGE, asset_folder
from annotator.logs import write_log
from annotator.settings import Settings, refuse_incomplete_provider, refuse_weak_key
from annotator.storage import Database
from annotator.web import (
    agreement,
    collections,
    documents,
    judging,
    leaderboard,
    people,
    pools,
    qrels,
    runs,
    site,
    topics,
)
from annotator.web.serving import compression, headers, modules, monitoring
from annotator.web.site import (
    access,
    addresses,
    background,
    context,
    error_pages,
    formatting,
    language,
    navigation,
    replica,
    sessions,
)
from annotator.web.site.sessions import cookie_name

FEATURES = (site, people, collections, topics, documents, runs, pools, judging, agreement, qrels, leaderboard, clicks)


def create_app(settings: Settings, database: Database) -> Flask:
    """Create the application on a database with tables; `InvalidValueError` without a secret key."""
    if not settings.secret_key:
        raise InvalidValueError("The setting ANNOTATOR_SECRET_KEY is missing: give it a long random text.")
    app = Flask("annotator", template_folder=asset_folder("templates"), static_folder=asset_folder("static"))
    app.config.from_mapping(_configuration(settings))
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    if isinstance(app.json, DefaultJSONProvider):
        app.json.ensure_ascii = False  # a Korean letter takes three bytes, escaped six
    if settings.proxies:
        hops = {"x_for": settings.proxies, "x_proto": settings.proxies, "x_host": settings.proxies}
        app.wsgi_app = ProxyFix(app.wsgi_app, **hops)  # type: ignore[method-assign]  # as in Werkzeug's guide
    monitoring.install(app, has_log=settings.log_format != "none", has_figures=bool(settings.metrics_port))
    context.install(app, settings, database)
    language.install(app, PACKAGE / "web" / "translations")
    for part in (
        addresses,
        access,
        sessions,
        error_pages,
        formatting,
        modules,
        headers,
        compression,
        navigation,
        background,
        replica,
    ):
        part.install(app)
    csrf = CSRFProtect(app)
    for blueprint in (monitoring.blueprint, *(blueprint for feature in FEATURES for blueprint in feature.BLUEPRINTS)):
        app.register_blueprint(blueprint)
    api.install(app, csrf)
    return app


def wsgi() -> Flask:
    """Create the application from the environment, for WSGI servers."""
    settings = Settings.from_environment()
    refuse_weak_key(settings)
    refuse_incomplete_provider(settings)
    write_log(settings.log_format)
    return create_app(settings, Database(settings.database_url, settings.replica_url, settings.search_folder))


def _configuration(settings: Settings) -> dict[str, object]:
    return {
        "SECRET_KEY": settings.secret_key,
        "MAX_CONTENT_LENGTH": settings.upload_limit,
        "MAX_FORM_MEMORY_SIZE": min(settings.upload_limit, 4 << 20),  # bytes of form fields other than files
        # Cookies ignore the port: with one name, two servers on one machine would end each other's sessions.
        "SESSION_COOKIE_NAME": cookie_name("annotator_session", secure=settings.secure_cookies),
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_SECURE": settings.secure_cookies,
        # A form stays valid as long as its session, so that a judge may think about a document for an hour.
        "WTF_CSRF_TIME_LIMIT": None,
    }
