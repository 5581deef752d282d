"""Settings of the installation: those that administrators change on a page, and those fixed at the start.

`read` gives the values in force. What could hurt people (private networks, folders of the server, TLS) is decided by
whoever starts the service and is only shown here, with the reason.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest

from doublet.web.accounts.models import InstallationSetting
from doublet.web.words import Words


@dataclass(frozen=True, slots=True)
class Installation:
    title: str = "Doublet"
    notice: str = ""  #: a line on every page, for example about maintenance
    checks_per_day: int = 500  #: of a teacher who has no limit of their own
    retention_days: int = 0  #: reports are deleted after so many days; 0: never
    undo_days: int = 30  #: a deleted report can be brought back for so long

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class SettingsForm(forms.Form):
    title = forms.CharField(max_length=80)
    notice = forms.CharField(max_length=300, required=False)
    checks_per_day = forms.IntegerField(min_value=1, max_value=1_000_000)
    retention_days = forms.IntegerField(min_value=0, max_value=36_500)
    undo_days = forms.IntegerField(min_value=1, max_value=3_650)


def read(request: HttpRequest | None = None) -> Installation:
    """The settings in force; asked for once for each request."""
    found: Installation | None = getattr(request, "_installation", None)
    if found is None:
        stored = InstallationSetting.read()
        known = {name: stored[name] for name in Installation().to_dict() if name in stored}
        found = Installation(**known)
        if request is not None:
            request._installation = found  # type: ignore[attr-defined]
    return found


def write(values: dict[str, Any]) -> list[str]:
    """Store what differs; gives the names of what changed."""
    before = read().to_dict()
    changed = [name for name, value in values.items() if before.get(name) != value]
    for name in changed:
        InstallationSetting.objects.update_or_create(name=name, defaults={"value": values[name]})
    return changed


def facts(words: Words) -> list[dict[str, Any]]:
    """What was decided when the service was started: name, value, whether it is safe, and why."""
    options = settings.DOUBLET
    folders = ", ".join(str(folder) for folder in options.folders)
    rows = (
        ("https", words("yes") if options.https else words("no"), options.https),
        (
            "allow_private",
            words("yes") if options.allow_private else words("no"),
            not options.allow_private,
        ),
        ("folders", folders or words("none"), True),
        ("upload_limit", words.size(options.upload_limit), True),
        ("hosts", ", ".join(options.hosts), "*" not in options.hosts),
        ("debug", words("yes") if options.debug else words("no"), not options.debug),
    )
    return [
        {
            "name": words(f"fact.{name}"),
            "value": value,
            "safe": safe,
            "why": words(f"fact.{name}.{'safe' if safe else 'unsafe'}"),
        }
        for name, value, safe in rows
    ]
