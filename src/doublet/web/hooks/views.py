"""Pages of web hooks: the own ones, what was sent to each, a test, another try."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from doublet.errors import DoubletError
from doublet.web.accounts import audit
from doublet.web.hooks import sending
from doublet.web.hooks.models import WAITING, Delivery, Hook
from doublet.web.rights import own
from doublet.web.words import words_of

PAGE = 50
MOST_HOOKS = 20  #: of one person


class HookForm(forms.Form):
    address = forms.CharField(max_length=2_000)
    note = forms.CharField(max_length=200, required=False)
    everybody = forms.BooleanField(required=False)


def hooks(request: HttpRequest) -> HttpResponse:
    """The own hooks; a new one."""
    user: Any = request.user
    words = words_of(request)
    form = HookForm(request.POST or None)
    problem = ""
    if request.method == "POST":
        if not form.is_valid():
            problem = words("form.wrong")
        elif user.hooks.count() >= MOST_HOOKS:
            problem = words("hooks.too_many", number=MOST_HOOKS)
        else:
            data = form.cleaned_data
            try:
                address = sending.check_address(data["address"])
            except DoubletError as error:
                problem = words.error(error)
            else:
                made = Hook.make(user, address, note=data["note"], everybody=data["everybody"])
                audit.note(request, "hook_made", address)
                request.session["new_hook"] = made.secret
                return redirect("hook", made.pk)
    return render(
        request,
        "doublet/hooks/hooks.html",
        {"form": form, "problem": problem, "hooks": user.hooks.all()},
        status=422 if problem else 200,
    )


def hook(request: HttpRequest, number: int) -> HttpResponse:
    """One hook and what was sent to it. The secret is shown once."""
    found = own(Hook.objects.all(), request.user, pk=number)
    words = words_of(request)
    page = Paginator(found.deliveries.all(), PAGE).get_page(request.GET.get("page"))
    rows = [{"one": one, "why": words.problem(one.message) if one.message else ""} for one in page]
    return render(
        request,
        "doublet/hooks/hook.html",
        {
            "hook": found,
            "page": page,
            "rows": rows,
            "new_secret": request.session.pop("new_hook", None),
            "most": len(sending.PAUSES_S) + 1,
        },
    )


@require_POST
def test(request: HttpRequest, number: int) -> HttpResponse:
    found = own(Hook.objects.all(), request.user, pk=number)
    sending.send_test(found)
    messages.success(request, words_of(request)("hooks.queued"))
    return redirect("hook", found.pk)


@require_POST
def again(request: HttpRequest, number: int, id: Any) -> HttpResponse:
    """Send a message once more."""
    found = own(Hook.objects.all(), request.user, pk=number)
    Delivery.objects.filter(hook=found, pk=id).update(state=WAITING, attempts=0, next_at=timezone.now())
    messages.success(request, words_of(request)("hooks.queued"))
    return redirect("hook", found.pk)


@require_POST
def delete(request: HttpRequest, number: int) -> HttpResponse:
    found = own(Hook.objects.all(), request.user, pk=number)
    audit.note(request, "hook_deleted", found.address)
    found.delete()
    return redirect("hooks")
