"""The form of a check, and the small forms of a report."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from doublet.web.works.models import Work

LONGEST_TEXT = 5_000_000  #: characters that can be pasted; longer works come as files
LEAVE_OUT = ("quotations", "bibliography", "common", "own")


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, widget=FilesInput(), **kwargs)

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(FilesField, self).clean(one, initial) for one in given]


class CheckForm(forms.Form):
    """What to check, against what, and how. Exactly one of text, files and address is needed."""

    text = forms.CharField(max_length=LONGEST_TEXT, required=False, strip=False)
    files = FilesField(required=False, allow_empty_file=True)
    address = forms.URLField(max_length=2000, required=False, assume_scheme="https")
    title = forms.CharField(max_length=300, required=False)
    author = forms.CharField(max_length=200, required=False)
    labels = forms.CharField(max_length=300, required=False)
    method = forms.CharField(max_length=40, required=False)
    libraries = forms.MultipleChoiceField(required=False)
    leave_out = forms.MultipleChoiceField(choices=[(one, one) for one in LEAVE_OUT], required=False)
    own = forms.CharField(max_length=1000, required=False)
    among = forms.BooleanField(required=False)

    def __init__(self, *args: Any, libraries: list[str], methods: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        libraries_field: Any = self.fields["libraries"]
        libraries_field.choices = [(name, name) for name in libraries]
        self._methods = methods

    def clean_method(self) -> str:
        method = str(self.cleaned_data["method"] or "auto")
        if method not in self._methods:
            raise ValidationError("unknown", code="unknown_method")
        return method

    def clean_labels(self) -> list[str]:
        return [one.strip()[:50] for one in self.cleaned_data["labels"].split(",") if one.strip()][:10]

    def clean_address(self) -> str:
        address = str(self.cleaned_data["address"])
        if address and not address.lower().startswith(("http://", "https://")):
            raise ValidationError("not_an_address", code="not_an_address")
        return address

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        given = [
            kind
            for kind, value in (
                ("text", str(data.get("text") or "").strip()),
                ("files", data.get("files")),
                ("address", data.get("address")),
            )
            if value
        ]
        if not given:
            raise ValidationError("nothing", code="nothing")
        if len(given) > 1:
            raise ValidationError("several", code="several")
        data["given"] = given[0]
        return data

    @property
    def options(self) -> dict[str, Any]:
        """What shapes the answer, as it is stored with the work."""
        data = self.cleaned_data
        return {
            "method": data["method"],
            "libraries": data["libraries"] or None,
            "leave_out": data["leave_out"],
            "own": [one.strip() for one in data["own"].split(",") if one.strip()],
        }


class EditForm(forms.Form):
    title = forms.CharField(max_length=300)
    author = forms.CharField(max_length=200, required=False)
    labels = forms.CharField(max_length=300, required=False)
    verdict = forms.ChoiceField(choices=[("", ""), *((one, one) for one in Work.VERDICTS)], required=False)
    verdict_note = forms.CharField(max_length=2000, required=False)
    changes = forms.IntegerField(min_value=0)

    def clean_labels(self) -> list[str]:
        return [one.strip()[:50] for one in self.cleaned_data["labels"].split(",") if one.strip()][:10]


class DecisionForm(forms.Form):
    target = forms.ChoiceField(choices=[(one, one) for one in ("source", "fragment", "kind")])
    which = forms.CharField(max_length=200)
    off = forms.ChoiceField(choices=[("on", "on"), ("off", "off")])
    reason = forms.CharField(max_length=300, required=False)


class CommentForm(forms.Form):
    fragment = forms.CharField(max_length=40, required=False)
    text = forms.CharField(max_length=5000)
