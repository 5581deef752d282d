"""The app of web hooks."""

from django.apps import AppConfig


class Hooks(AppConfig):
    name = "doublet.web.hooks"
    label = "hooks"
