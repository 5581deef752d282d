"""Django's settings for the service, made from a few values instead of a settings module.

`configure` is called once for each process. Everything that protects people is on by default; what has to be looser on
a loopback address (no TLS there) is decided here and nowhere else. What that asks of those
who run it is in docs/how-to/run-the-service.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from doublet import config
from doublet.config import Settings
from doublet.errors import ConfigError

UPLOAD_LIMIT = 50_000_000  #: bytes of one request body; more is refused before it is read
KEY_FILE = "secret.key"
LOCKED_S = 60  #: that a request waits for others who write to SQLite: many people at once hand in works
CACHE_KB = 4096  #: that each connection of the serving process to SQLite remembers of the file
UNFINISHED = "uploads"  #: folder of uploads that are on their way
SECURE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "manifest-src 'self'"
)


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """What an installation decides. *hosts* are the names under which browsers may ask for pages."""

    database: str
    data: Path  #: folder for the secret key and for static files
    hosts: Sequence[str] = ("localhost", "127.0.0.1", "[::1]")
    https: bool = False  #: browsers reach the service over TLS (a proxy in front of it ends TLS)
    proxies: int = 0  #: trusted proxies in front, whose X-Forwarded-For counts
    upload_limit: int = UPLOAD_LIMIT
    folders: Sequence[Path] = ()  #: folders on the server that administrators may fill libraries from
    allow_private: bool = False  #: fetch from private networks: a decision of the owner, never of a user
    config_file: Path | None = None  #: settings of the robot and of reading, for all processes
    debug: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


def program_settings(options: ServiceOptions) -> Settings:
    """Settings of the program in this installation. Private networks are open only if its owner said so."""
    return config.resolve({"allow_private": options.allow_private}, file=options.config_file).settings


def secret_key(data: Path) -> str:
    """The key that signs sessions: made once, readable by its owner alone."""
    place = data / KEY_FILE
    if not place.exists():
        data.mkdir(parents=True, exist_ok=True)
        place.touch(mode=0o600)
        place.write_text(secrets.token_urlsafe(64), encoding="ascii")
    key = place.read_text(encoding="ascii").strip()
    if len(key) < 50:
        raise ConfigError(
            "service_key_unusable",
            path=str(place),
        )
    return key


def is_loopback(host: str) -> bool:
    if host in ("localhost", ""):
        return host == "localhost"
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def require_safe(bind: str, options: ServiceOptions) -> None:
    """Raises `ConfigError` for a configuration that would put people's passwords at risk, and says how to mend it."""
    if is_loopback(bind):
        return
    if options.debug:
        raise ConfigError("service_debug_public")
    if not options.https:
        raise ConfigError(
            "service_without_tls",
            bind=bind,
        )
    if not [host for host in options.hosts if not is_loopback(host)] or "*" in options.hosts:
        raise ConfigError("service_without_name")


def configure(options: ServiceOptions, *, many_threads: bool = False) -> None:
    """Configure Django for this process. Does nothing when it was configured before. A process of *many_threads* has as
    many connections, so each of them remembers less."""
    import django
    from django.conf import settings

    from doublet.store.connection import django_settings

    if settings.configured:
        return
    database = django_settings(options.database)
    database.update(CONN_MAX_AGE=None, CONN_HEALTH_CHECKS=True)
    if database["ENGINE"].endswith("sqlite3"):
        database["OPTIONS"]["timeout"] = LOCKED_S
        if many_threads:
            database["OPTIONS"]["init_command"] += f"PRAGMA cache_size=-{CACHE_KB};"
    here = Path(__file__).parent
    settings.configure(
        SECRET_KEY=secret_key(options.data),
        DEBUG=options.debug,
        ALLOWED_HOSTS=list(options.hosts),
        ROOT_URLCONF="doublet.web.urls",
        ASGI_APPLICATION="doublet.web.asgi.application",
        DATABASES={"default": database},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.messages",
            "django.contrib.staticfiles",
            "axes",
            "django_htmx",
            "ninja",
            "doublet.store",
            "doublet.web.accounts",
            "doublet.web.works",
            "doublet.web.hooks",
            "doublet.web.pages",
        ],
        MIDDLEWARE=[
            "doublet.web.middleware.SecurityHeaders",
            "django.middleware.security.SecurityMiddleware",
            "whitenoise.middleware.WhiteNoiseMiddleware",
            "django.middleware.gzip.GZipMiddleware",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
            "doublet.web.middleware.Language",
            "doublet.web.limits.RateLimit",
            "doublet.web.middleware.Rights",
            "doublet.web.middleware.PlainErrors",
            "axes.middleware.AxesMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [here / "templates"],
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                        "doublet.web.frame.context",
                    ],
                    "builtins": ["doublet.web.words.tags", "django.templatetags.l10n"],
                },
            }
        ],
        STATIC_URL="/static/",
        STATIC_ROOT=str(options.data / "static"),
        STATICFILES_DIRS=[str(here / "static")],
        STORAGES={
            "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
            "staticfiles": {"BACKEND": "doublet.web.static_files.Storage"},
        },
        WHITENOISE_MAX_AGE=365 * 24 * 3600,
        # People
        AUTH_USER_MODEL="accounts.User",
        AUTHENTICATION_BACKENDS=[
            "axes.backends.AxesStandaloneBackend",
            "django.contrib.auth.backends.ModelBackend",
        ],
        AUTH_PASSWORD_VALIDATORS=[
            {"NAME": f"django.contrib.auth.password_validation.{name}", **more}
            for name, more in (
                ("UserAttributeSimilarityValidator", {}),
                ("MinimumLengthValidator", {"OPTIONS": {"min_length": 10}}),
                ("CommonPasswordValidator", {}),
                ("NumericPasswordValidator", {}),
            )
        ],
        LOGIN_URL="login",
        LOGIN_REDIRECT_URL="home",
        LOGOUT_REDIRECT_URL="login",
        AXES_FAILURE_LIMIT=10,
        AXES_LOCKOUT_PARAMETERS=["username", "ip_address"],
        AXES_COOLOFF_TIME=0.25,  # hours
        AXES_RESET_ON_SUCCESS=True,
        AXES_LOCKOUT_CALLABLE="doublet.web.accounts.views.locked_out",
        AXES_VERBOSE=False,
        AXES_ENABLE_ADMIN=False,
        AXES_IPWARE_PROXY_COUNT=options.proxies or None,
        # Sessions and cookies
        SESSION_COOKIE_AGE=14 * 24 * 3600,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=options.https,
        CSRF_COOKIE_SECURE=options.https,
        CSRF_COOKIE_HTTPONLY=True,
        CSRF_TRUSTED_ORIGINS=[f"https://{host}" for host in options.hosts if options.https and host != "*"],
        CSRF_FAILURE_VIEW="doublet.web.errors.csrf_failure",
        SECURE_CONTENT_TYPE_NOSNIFF=True,
        SECURE_REFERRER_POLICY="same-origin",
        SECURE_CROSS_ORIGIN_OPENER_POLICY="same-origin",
        SECURE_SSL_REDIRECT=options.https,
        SECURE_REDIRECT_EXEMPT=[r"^healthz$", r"^readyz$", r"^metrics$"],
        SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https") if options.https else None,
        SECURE_HSTS_SECONDS=31_536_000 if options.https else 0,
        SECURE_HSTS_INCLUDE_SUBDOMAINS=options.https,
        SECURE_HSTS_PRELOAD=options.https,
        X_FRAME_OPTIONS="DENY",
        # Bodies
        DATA_UPLOAD_MAX_MEMORY_SIZE=max(10_000_000, options.upload_limit // 5),
        DATA_UPLOAD_MAX_NUMBER_FIELDS=2_000,
        DATA_UPLOAD_MAX_NUMBER_FILES=500,
        FILE_UPLOAD_MAX_MEMORY_SIZE=1_000_000,
        FILE_UPLOAD_TEMP_DIR=str(options.data / UNFINISHED),
        # Language and time
        LANGUAGE_CODE="en",
        LANGUAGES=[("en", "English"), ("ru", "Русский")],
        USE_I18N=True,
        USE_TZ=True,
        TIME_ZONE="UTC",
        LOGGING_CONFIG=None,
        # Ours
        DOUBLET=options,
        NINJA_PAGINATION_PER_PAGE=50,
        SILENCED_SYSTEM_CHECKS=["axes.W003"],
        **dict(options.extra),
    )
    django.setup()
