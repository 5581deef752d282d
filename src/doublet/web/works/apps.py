"""The app of checked works."""

from django.apps import AppConfig


class Works(AppConfig):
    name = "doublet.web.works"
    label = "works"
