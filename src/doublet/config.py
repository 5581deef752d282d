"""Settings: from one file, then the environment, then flags; each value knows where it came from.

The file is ``doublet.toml`` in the working directory or, when there is none, in the user's folder for
settings (``~/.config/doublet/``). A variable ``DOUBLET_METHOD`` stands above ``method`` in the file, a flag
``--method`` above both. Settings are read once, at the edge, and handed down; nothing in the library looks
them up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from doublet.errors import ConfigError, nearest
from doublet.model import LANGUAGES, Note

FILE_NAME = "doublet.toml"
PREFIX = "DOUBLET_"
FILE_VARIABLE = "DOUBLET_CONFIG"
#: Variables that begin with our prefix and are no settings.
OTHER_VARIABLES = frozenset([FILE_VARIABLE, "DOUBLET_KERNELS", "DOUBLET_SERVER", "DOUBLET_TOKEN"])
KEEP_RULES = ("longest", "first", "newest", "best-source")
COLOURS = ("auto", "always", "never")
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}i": 1 << (10 * power) for power, unit in enumerate("kmgt", start=1)}
_LARGEST_SIZE = (1 << 63) - 1  # what the kernels can count to
_SHOWN_CHARACTERS = 60  # of a value in a message


def as_size(value: Any) -> int:
    """Bytes from "2GB", "512 MiB", "1.5g" or a number. Raises `ValueError` with the rule."""
    rule = Note("rule_size")
    if isinstance(value, bool):
        raise ValueError(rule)
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?", _written(value).strip().lower())
    if not found:
        raise ValueError(rule)
    size = Decimal(found.group(1)) * _UNITS[found.group(2) or ""]  # no float: those end, or are not exact
    if not 1 <= size <= _LARGEST_SIZE:
        raise ValueError(rule)
    return int(size)


def as_share(value: Any) -> float:
    """A share from 0 to 1, from "0.8", "80%" or a number. Raises `ValueError` with the rule."""
    rule = Note("rule_share")
    text = _written(value).strip()
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise ValueError(rule) from None
    if isinstance(value, bool) or not 0.0 <= share <= 1.0:
        raise ValueError(rule)
    return share


def as_share_or_off(value: Any) -> float | None:
    """A share, or None for "off"."""
    if value is False or str(value).strip().lower() in ("off", "none", "no"):
        return None
    try:
        return as_share(value)
    except ValueError as error:
        raise ValueError(Note("rule_or", rule=error, other="off")) from None


def as_number(value: Any) -> int:
    rule = Note("rule_number")
    try:
        number = int(str(value).strip())
    except ValueError:
        raise ValueError(rule) from None
    if isinstance(value, bool) or number < 1:
        raise ValueError(rule)
    return number


def as_workers(value: Any) -> int:
    """A number of workers; "auto" is one for each processor that this process may use."""
    if str(value).strip().lower() == "auto":
        return processors()
    try:
        return as_number(value)
    except ValueError as error:
        raise ValueError(Note("rule_or", rule=error, other="auto")) from None


def as_seconds(value: Any) -> float:
    """Seconds from "1.5", "90s", "2 min" or a number. Raises `ValueError` with the rule."""
    rule = Note("rule_seconds")
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|sec|m|min|h)?", str(value).strip().lower())
    if isinstance(value, bool) or not found:
        raise ValueError(rule)
    return float(found.group(1)) * {"m": 60, "min": 60, "h": 3600}.get(found.group(2) or "", 1)


def as_time_limit(value: Any) -> float:
    """Seconds, more than none."""
    seconds = as_seconds(value)
    if seconds <= 0:
        raise ValueError(Note("rule_above_0_seconds"))
    return seconds


def as_switch(value: Any) -> bool:
    """Yes or no, as people write it."""
    text = str(value).strip().lower()
    if text in ("yes", "true", "on", "1"):
        return True
    if text in ("no", "false", "off", "0"):
        return False
    raise ValueError(Note("rule_switch"))


def as_count(value: Any) -> int:
    """A whole number, none as well."""
    return 0 if str(value).strip() == "0" and not isinstance(value, bool) else as_number(value)


def as_name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(Note("rule_name"))
    return value.strip()


def as_list(value: Any) -> tuple[str, ...]:
    """Several names: a list, or one text with commas between them."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(one, str) for one in parts):
        raise ValueError(Note("rule_list"))
    return tuple(one.strip() for one in parts if one.strip())


def as_one_of(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        text = str(value).strip().lower()
        if text not in choices:
            raise ValueError(Note("rule_one_of", choices=choices, nearest=nearest(text, choices)))
        return text

    return read


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def _setting(default: Any, read: Callable[[Any], Any], about: str) -> Any:
    return field(default=default, metadata={"read": read, "about": about})


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set once for all commands. Each field says how it is read and what it is."""

    method: str = _setting("auto", as_name, "the method (see `doublet methods`)")
    threshold: float | None = _setting(
        None, as_share, "resemblance from which texts are duplicates; without it that of the method"
    )
    shingle_words: int | None = _setting(
        None, as_number, "words in a shingle; without it as many as the method takes"
    )
    thesaurus: str | None = _setting(
        None,
        as_name,
        "synonyms that count as one word (auto, meaning, checks): a MyThes file, or auto for those installed",
    )
    containment: float | None = _setting(
        0.9,
        as_share_or_off,
        "also remove a text when at least this share of it is contained in another; off disables this",
    )
    keep: str = _setting(
        "longest",
        as_one_of(*KEEP_RULES),
        "which document of a group stays: the longest, the first by id, the newest, or that of the best source",
    )
    leave_out: tuple[str, ...] = _setting(
        (),
        as_list,
        "what does not count in a check: quotations, bibliography, common, own; several with commas",
    )
    own: tuple[str, ...] = _setting(
        (),
        as_list,
        "ids or sources of own earlier versions, which do not count in a check; * stands for anything",
    )
    workers: int = _setting(1, as_workers, "threads that work at the same time; auto: one per processor")
    memory: int | None = _setting(
        None, as_size, "memory to stay within, such as 2GB; without it half of what is free"
    )
    database: str | None = _setting(
        None,
        as_name,
        "where libraries are kept: a file (without it one in ~/.local/share/doublet), or postgresql://user@host/name",
    )
    min_words: int = _setting(
        10, as_count, "files and pages with fewer words are not stored but reported as too short"
    )
    contact: str | None = _setting(
        None,
        as_name,
        "your page or e-mail address, told to every web server, so that its owner can reach you",
    )
    fetch_delay_s: float = _setting(
        1.0, as_seconds, "seconds between two requests to one host; a longer Crawl-delay of the site counts"
    )
    fetch_timeout_s: float = _setting(120.0, as_time_limit, "seconds that one page may take")
    fetch_limit: int = _setting(
        50_000_000, as_size, "bytes that one page may have after unpacking, such as 50MB"
    )
    allow_private: bool = _setting(
        False, as_switch, "fetch from this computer and from private networks too (yes or no)"
    )
    keep_jobs_days: int = _setting(
        30, as_number, "days after which jobs that have ended are forgotten, with their results"
    )
    colour: str = _setting("auto", as_one_of(*COLOURS), "colour in the terminal")
    language: str | None = _setting(
        None, as_one_of(*LANGUAGES), "language of messages, reports and help; without it that of the system"
    )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


NAMES = tuple(item.name for item in fields(Settings))


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings and where each came from: "default", a file, a variable or a flag."""

    settings: Settings
    origins: Mapping[str, str]
    file: Path | None

    def to_dict(self) -> dict[str, Any]:
        values = self.settings.to_dict()
        return {
            "file": str(self.file) if self.file else None,
            "settings": {name: {"value": values[name], "from": self.origins[name]} for name in NAMES},
        }


def resolve(
    flags: Mapping[str, Any] | None = None,
    *,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Resolved:
    """Bring file, environment and flags together. A flag that is None was not given.

    Raises `ConfigError` for an unknown key (with the nearest known one), a value that cannot be used, and a
    named file that is not there.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}

    def take(name: str, value: Any, origin: str, shown: str) -> None:
        try:
            values[name] = _reader(name)(value)
        except ValueError as error:
            raise ConfigError(
                "setting_wrong",
                shown=shown,
                value_shown=_shown(value),
                why=error,
                key=name,
                value=value,
                origin=origin,
            ) from None
        origins[name] = origin

    path = find_file(file, environ, directory)
    if path is not None:
        for key, value in read_file(path).items():
            if key not in NAMES:
                raise ConfigError(
                    "unknown_setting",
                    nearest=nearest(key, NAMES),
                    names=NAMES,
                    key=key,
                    path=str(path),
                )
            take(key, value, str(path), f"{key} in {path}")
    for variable, text in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES:
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in NAMES:
            known = [PREFIX + key.upper() for key in NAMES] + sorted(OTHER_VARIABLES)
            raise ConfigError(
                "no_setting",
                variable=variable,
                nearest=nearest(variable, known),
                known=known,
                key=name,
            )
        take(name, text, variable, variable)
    for name, value in (flags or {}).items():
        if value is not None:
            flag = "--" + name.replace("_", "-")
            take(name, value, flag, flag)
    defaults = {item.name: item.default for item in fields(Settings) if item.default is not MISSING}
    settings = Settings(**{**defaults, **values})
    return Resolved(settings, {name: origins.get(name, "default") for name in NAMES}, path)


def find_file(named: Path | None, environ: Mapping[str, str], directory: Path | None = None) -> Path | None:
    """The one settings file: the named one, else the working directory's, else the user's, else none."""
    if named is None and environ.get(FILE_VARIABLE):
        named = Path(environ[FILE_VARIABLE])
    if named is not None:
        if named == Path():
            raise ConfigError("settings_name_empty", path="")
        try:
            there = named.is_file()
        except OSError as error:
            raise ConfigError("cannot_be_read", why=error.strerror or error, path=str(named)) from error
        if not there:
            near = [path.name for path in named.parent.glob("*.toml")] if named.parent.is_dir() else []
            raise ConfigError("no_settings_file", nearest=nearest(named.name, near), path=str(named))
        return named
    for users in (False, True):
        try:
            folder = user_folder(environ) if users else directory or Path.cwd()
            if (folder / FILE_NAME).is_file():
                return folder / FILE_NAME
        except (OSError, RuntimeError):  # a deleted folder, the home of somebody else, no home at all
            continue
    return None


def language_of_file(named: Path | None = None) -> str:
    """The language that the settings file names, before anything else is read from it; "" when it names none."""
    path = find_file(named, os.environ)
    return str(read_file(path).get("language", "")) if path is not None else ""


def default_database(environ: Mapping[str, str] | None = None) -> str:
    """The file in which libraries are kept unless the user says otherwise: ~/.local/share/doublet/libraries.db."""
    environ = os.environ if environ is None else environ
    base, home = environ.get("XDG_DATA_HOME"), environ.get("HOME")
    try:
        root = Path(base) if base else (Path(home) if home else Path.home()) / ".local" / "share"
    except RuntimeError as error:
        raise ConfigError("no_home_folder") from error
    return str(root / "doublet" / "libraries.db")


def user_folder(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_CONFIG_HOME")
    home = environ.get("HOME")
    root = Path(base) if base else (Path(home) if home else Path.home()) / ".config"
    return root / "doublet"


def read_file(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError("cannot_be_read", why=error.strerror or error, path=str(path)) from error
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError("not_utf8_line", line=line, path=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError("not_toml", why=error, path=str(path)) from error


def about(name: str) -> str:
    """What a setting is, in words."""
    return str(next(item.metadata["about"] for item in fields(Settings) if item.name == name))


def _written(value: Any) -> str:
    """A value as it stands in the settings file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date | time):
        return value.isoformat()
    try:
        return str(value)
    except ValueError:  # Python writes no numbers of more than some thousand digits
        return "a number beyond all bounds"


def _shown(value: Any) -> str:
    """The same in a message: texts in quotation marks, nothing at length."""
    text = _written(value)
    text = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return repr(text) if isinstance(value, str) else text


def _reader(name: str) -> Callable[[Any], Any]:
    reader: Callable[[Any], Any] = next(
        item.metadata["read"] for item in fields(Settings) if item.name == name
    )
    return reader
