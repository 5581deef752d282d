"""REST (S5): a file for each resource, the same jobs and rights as the pages, one shape of errors.

The description is served at ``/api/v1/openapi.json`` and a page to try it at ``/api/v1/docs``. A program sends
``Authorization: Bearer TOKEN``; a browser that is logged in may use its session with the CSRF header.
"""

from __future__ import annotations

from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, AuthorizationError, HttpError, ValidationError

import doublet
from doublet.errors import DoubletError, StoreError
from doublet.web.api import (
    accounts,
    checks,
    classes,
    duplicates,
    evaluation,
    hooks,
    jobs,
    libraries,
    repeats,
    reviews,
    sources,
)
from doublet.web.api.shapes import Problem
from doublet.web.errors import database_problem, is_full, sentence, status_of
from doublet.web.words import words_of

#: answers that any operation may give besides its own, all in the shape of `Problem`
PROBLEMS = {
    400: "The request cannot be used.",
    401: "No token, or one that is unknown, expired or revoked.",
    403: "This person, or this token, may not do that.",
    404: "There is nothing here, or it belongs to somebody else.",
    409: "It was changed, or made, in the meantime.",
    413: "The body is too large.",
    422: "The request does not fit the description, or the document cannot be read.",
    429: "Too many requests, or the checks of this day are used up.",
    507: "There is no room left on the disk.",
    503: "The database or the workers are not available; try again later.",
}


class Described(NinjaAPI):
    """Adds the errors to the description of every operation."""

    def get_openapi_schema(self, **given: Any) -> Any:
        schema = super().get_openapi_schema(**given)
        schema["components"].setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
        for methods in schema["paths"].values():
            for operation in methods.values():
                for status, about in PROBLEMS.items():
                    operation["responses"].setdefault(status, {"description": about, "content": content})
        return schema


api = Described(
    title="Doublet",
    version=doublet.__version__,
    description="Finds duplicate documents and borrowed passages. Errors have one shape: code, message, details.",
    urls_namespace="api-1",
    docs_url="/docs",
    openapi_url="/openapi.json",
)
for prefix, router in (
    ("/checks", checks.router),
    ("/classes", classes.router),
    ("/checks", reviews.router),
    ("/duplicates", duplicates.router),
    ("/evaluations", evaluation.router),
    ("/settings", evaluation.settings_router),
    ("/libraries", sources.router),
    ("", sources.apart),
    ("/libraries", libraries.router),
    ("/jobs", jobs.router),
    ("/repeats", repeats.router),
    ("/hooks", hooks.router),
    ("", accounts.router),
):
    api.add_router(prefix, router)


def _answer(
    request: HttpRequest, status: int, code: str, message: str, details: dict[str, Any] | None = None
) -> HttpResponse:
    problem = Problem(code=code, message=message, details=details or {})
    return api.create_response(request, problem.dict(), status=status)


@api.exception_handler(DoubletError)
def _ours(request: HttpRequest, error: DoubletError) -> HttpResponse:
    details = {
        name: list(value)
        if isinstance(value, tuple)
        else value
        if isinstance(value, str | int | float | bool | list | None)
        else str(value)
        for name, value in error.details.items()
    }
    said = words_of(request)
    if isinstance(error, StoreError):
        return _answer(request, status_of(error), error.code, sentence(said, error))
    message = str(error) if said.language == "en" else said.error(error)
    return _answer(request, status_of(error), error.code, message, details)


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def _no_database(request: HttpRequest, error: Exception) -> HttpResponse:
    status, code = database_problem(error)
    message = words_of(request)(f"error.{status}.next")
    response = _answer(request, status, code, message)
    response.headers["Retry-After"] = "10"
    return response


@api.exception_handler(OSError)
def _no_room(request: HttpRequest, error: OSError) -> HttpResponse:
    if not is_full(error):
        raise error
    return _answer(request, 507, "store_full", words_of(request)("error.507.next"))


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    listed = [
        {"where": list(map(str, one.get("loc", ()))), "what": str(one.get("msg", ""))} for one in error.errors
    ]
    return _answer(request, 422, "invalid_request", words_of(request)("api.invalid"), {"errors": listed})


@api.exception_handler(Http404)
def _missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return _answer(request, 404, "not_found", words_of(request)("api.not_found"))


@api.exception_handler(AuthenticationError)
def _unknown(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    response = _answer(request, 401, "not_authenticated", words_of(request)("api.not_authenticated"))
    response.headers["WWW-Authenticate"] = 'Bearer realm="doublet"'
    return response


@api.exception_handler(AuthorizationError)
def _forbidden(request: HttpRequest, error: AuthorizationError) -> HttpResponse:
    return _answer(request, 403, "forbidden", words_of(request)("api.forbidden"))


@api.exception_handler(HttpError)
def _http(request: HttpRequest, error: HttpError) -> HttpResponse:
    return _answer(request, error.status_code, "http", str(error))
