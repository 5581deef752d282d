"""Who is asking, and may they: by token or by session, against the table of rights."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja.errors import AuthenticationError, AuthorizationError
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from doublet.web import rights
from doublet.web.accounts.models import Token


class Allowed(AuthBase):
    """The right to use one operation of `rights.API`."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, operation: str) -> None:
        self._who, self._scope = rights.API[operation]
        super().__init__()

    def __call__(self, request: HttpRequest) -> Any:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer" and secret.strip():
            token = Token.find(secret.strip())
            if token is None:
                raise AuthenticationError
            if self._scope not in token.scopes:
                raise AuthorizationError
            request.user = token.user
        elif request.user.is_authenticated:
            if request.method not in rights.READING and check_csrf(request):
                raise AuthorizationError
        else:
            raise AuthenticationError
        user: Any = request.user
        if self._who == rights.ADMINISTRATOR and not user.is_administrator:
            raise AuthorizationError
        return user


def allowed(operation: str) -> dict[str, Any]:
    """Options of an operation: its right and its name in the description."""
    return {"auth": Allowed(operation), "operation_id": operation}
