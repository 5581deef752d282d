"""For machines that watch: alive, ready, and numbers for Prometheus."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse

import doublet
from doublet.errors import DoubletError
from doublet.web import errors
from doublet.web.accounts.audit import client_address
from doublet.web.accounts.models import Token, User
from doublet.web.configure import is_loopback
from doublet.web.store import store
from doublet.web.works.models import Work


def healthz(request: HttpRequest) -> JsonResponse:
    """The process lives."""
    return JsonResponse({"status": "ok", "version": doublet.__version__})


def readyz(request: HttpRequest) -> JsonResponse:
    """The database answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        store().jobs.counts()
    except (DatabaseError, DoubletError) as error:
        return JsonResponse({"status": "unavailable", "reason": type(error).__name__}, status=503)
    return JsonResponse({"status": "ok"})


def metrics(request: HttpRequest) -> HttpResponse:
    """Numbers in Prometheus' text format: for this computer, and elsewhere for an administrator's token."""
    direct = not settings.DOUBLET.proxies and is_loopback(client_address(request) or "")
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    token = Token.find(secret.strip()) if scheme.lower() == "bearer" and secret else None
    if not direct and (token is None or not token.user.is_administrator):
        return errors.show(request, 403, "forbidden")
    lines = [
        "# HELP doublet_jobs Jobs in the queue by state.",
        "# TYPE doublet_jobs gauge",
        *(f'doublet_jobs{{state="{state}"}} {number}' for state, number in store().jobs.counts().items()),
        "# HELP doublet_works Checked works by state.",
        "# TYPE doublet_works gauge",
    ]
    lines += [
        f'doublet_works{{state="{row["state"]}"}} {row["number"]}'
        for row in Work.objects.order_by().values("state").annotate(number=Count("pk"))
    ]
    lines += ["# HELP doublet_documents Documents by library.", "# TYPE doublet_documents gauge"]
    for info in store().libraries.all():
        name = info.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'doublet_documents{{library="{name}"}} {info.documents}')
    lines += [
        "# HELP doublet_users Active users.",
        "# TYPE doublet_users gauge",
        f"doublet_users {User.objects.filter(is_active=True).count()}",
        f'doublet_info{{version="{doublet.__version__}"}} 1',
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; version=0.0.4; charset=utf-8")
