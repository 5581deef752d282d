"""The app of people."""

from django.apps import AppConfig


class Accounts(AppConfig):
    name = "doublet.web.accounts"
    label = "accounts"
