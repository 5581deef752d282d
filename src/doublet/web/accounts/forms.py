"""Forms of people. Labels come from the words of the page, not from here."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError

from doublet.web.accounts.models import SCOPES, User
from doublet.web.words import LANGUAGES

LONGEST_DAYS = 3650


class JoinForm(forms.Form):
    """A new person chooses a name and a password."""

    username = forms.CharField(max_length=150, validators=[User.username_validator])
    first_name = forms.CharField(max_length=150, required=False)
    last_name = forms.CharField(max_length=150, required=False)
    password = forms.CharField(max_length=200, strip=False)

    def clean_username(self) -> str:
        name = str(self.cleaned_data["username"])
        if User.objects.filter(username__iexact=name).exists():
            raise ValidationError("taken", code="taken")
        return name

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("password"):
            person = User(username=data.get("username", ""), first_name=data.get("first_name", ""))
            try:
                password_validation.validate_password(data["password"], person)
            except ValidationError as error:
                self.add_error("password", error)
        return data


class AccountForm(forms.Form):
    first_name = forms.CharField(max_length=150, required=False)
    last_name = forms.CharField(max_length=150, required=False)
    email = forms.EmailField(required=False)
    language = forms.ChoiceField(choices=[("", ""), *LANGUAGES.items()], required=False)


class PasswordForm(forms.Form):
    old = forms.CharField(max_length=200, strip=False)
    new = forms.CharField(max_length=200, strip=False)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_old(self) -> str:
        old = str(self.cleaned_data["old"])
        if not self.user.check_password(old):
            raise ValidationError("wrong", code="wrong_password")
        return old

    def clean_new(self) -> str:
        new = str(self.cleaned_data["new"])
        password_validation.validate_password(new, self.user)
        return new


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100)
    scope = forms.ChoiceField(choices=[(one, one) for one in SCOPES])
    days = forms.IntegerField(min_value=1, max_value=LONGEST_DAYS, required=False)


class UserForm(forms.Form):
    role = forms.ChoiceField(choices=[(User.TEACHER, ""), (User.ADMINISTRATOR, "")])
    active = forms.BooleanField(required=False)
    checks_per_day = forms.IntegerField(min_value=0, max_value=1_000_000, required=False)


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=[(User.TEACHER, ""), (User.ADMINISTRATOR, "")])
    note = forms.CharField(max_length=200, required=False)
