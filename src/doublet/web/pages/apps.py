"""The app of the other pages. It has no tables of its own."""

from django.apps import AppConfig


class Pages(AppConfig):
    name = "doublet.web.pages"
    label = "pages"
