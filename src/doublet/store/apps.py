"""The Django application that the models belong to."""

from __future__ import annotations

from django.apps import AppConfig


class StoreConfig(AppConfig):
    name = "doublet.store"
    label = "doublet_store"
    default_auto_field = "django.db.models.BigAutoField"
