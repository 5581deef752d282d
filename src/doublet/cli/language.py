"""The language of the command line: ``--language``, DOUBLET_LANGUAGE, the settings file, then the locale.

It is found before the commands are read, because their help speaks it too; what was found serves the whole run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from doublet.model import LANGUAGES
from doublet.reports.wording import Wording, wording

OPTION = "--language"
_chosen = ["en"]  # of this run


def words() -> Wording:
    """The wording of this run."""
    return wording(_chosen[0])


def use(language: str) -> None:
    """From now on the command line speaks *language*; one that it does not speak leaves things as they are."""
    if language in LANGUAGES:
        _chosen[0] = language


def find(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """The language that is asked for, "en" when nobody asks for another. Raises nothing: an unknown one is told where
    the option or the setting is read."""
    environment = os.environ if environment is None else environment
    for given in (_option(arguments), environment.get("DOUBLET_LANGUAGE", ""), _setting(arguments)):
        if given:
            return given if given in LANGUAGES else "en"
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            spoken = environment[name].partition("_")[0].partition(".")[0].lower()
            return spoken if spoken in LANGUAGES else "en"
    return "en"


def _option(arguments: Sequence[str], name: str = OPTION) -> str:
    found = ""
    for at, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == name and at + 1 < len(arguments):
            found = arguments[at + 1]
        elif argument.startswith(f"{name}="):
            found = argument.partition("=")[2]
    return found


def _setting(arguments: Sequence[str]) -> str:
    from pathlib import Path

    from doublet import config
    from doublet.errors import DoubletError

    named = _option(arguments, "--config")
    try:
        return config.language_of_file(Path(named) if named else None)
    except (DoubletError, OSError):  # told when the settings are read for good
        return ""
