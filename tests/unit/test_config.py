"""Settings: file, then environment, then flags; every value knows where it came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doublet import config
from doublet.errors import ConfigError


def resolve(
    folder: Path, text: str | None = None, environ: dict[str, str] | None = None, **flags: Any
) -> Any:
    if text is not None:
        (folder / "doublet.toml").write_text(text, encoding="utf-8")
    return config.resolve(flags, environ={"HOME": str(folder / "home"), **(environ or {})}, directory=folder)


def test_it_works(tmp_path: Path) -> None:
    found = resolve(
        tmp_path,
        'method = "minhash"\nthreshold = 0.7\nworkers = 2\n',
        {"DOUBLET_THRESHOLD": "80%", "DOUBLET_WORKERS": "3"},
        workers="4",
    )
    assert (found.settings.method, found.settings.threshold, found.settings.workers) == ("minhash", 0.8, 4)
    assert found.origins["method"] == str(tmp_path / "doublet.toml")
    assert found.origins["threshold"] == "DOUBLET_THRESHOLD"
    assert found.origins["workers"] == "--workers"
    assert found.origins["keep"] == "default"
    assert found.to_dict()["settings"]["threshold"] == {"value": 0.8, "from": "DOUBLET_THRESHOLD"}


def test_nothing_set_gives_the_defaults(tmp_path: Path) -> None:
    found = resolve(tmp_path)
    assert found.settings == config.Settings()
    assert set(found.origins.values()) == {"default"}
    assert found.file is None


def test_the_users_file_is_read_when_the_folder_has_none(tmp_path: Path) -> None:
    place = tmp_path / "home" / ".config" / "doublet"
    place.mkdir(parents=True)
    (place / "doublet.toml").write_text('keep = "first"\n')
    assert resolve(tmp_path).settings.keep == "first"
    assert resolve(tmp_path, 'method = "simhash"\n').settings.keep == "longest"  # one file, never two mixed
    other = tmp_path / "xdg" / "doublet"
    other.mkdir(parents=True)
    (other / "doublet.toml").write_text('keep = "newest"\n')
    (tmp_path / "doublet.toml").unlink()
    assert resolve(tmp_path, None, {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}).settings.keep == "newest"


def test_a_named_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("shingle_words = 5\n")
    named = config.resolve({}, file=tmp_path / "mine.toml", environ={}, directory=tmp_path)
    assert named.settings.shingle_words == 5
    by_variable = resolve(tmp_path, None, {"DOUBLET_CONFIG": str(tmp_path / "mine.toml")})
    assert by_variable.settings.shingle_words == 5
    with pytest.raises(ConfigError, match=r"did you mean 'mine\.toml'"):
        config.resolve({}, file=tmp_path / "mien.toml", environ={}, directory=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("treshold = 0.8", "did you mean 'threshold'"),
        ("threshold = 1.5", "share such as 0.8 or 80%"),
        ('threshold = "high"', "share such as 0.8 or 80%"),
        ("workers = 0", "whole number from 1 up"),
        ("workers = true", "whole number from 1 up"),
        ('memory = "lots"', "500MB, 2GB"),
        ('keep = "oldest"', "longest, first, newest, best-source"),
        ('colour = "blue"', "auto, always, never"),
        ("method = 5", "must be a name"),
        ("method = ", "not valid TOML"),
        ("[shingles]\nmethod = 1", "unknown setting 'shingles'"),
    ],
)
def test_a_wrong_file_says_what_is_wrong_and_where(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"doublet\.toml") as caught:
        resolve(tmp_path, text)
    assert message in caught.value.message
    assert caught.value.exit_code == 2


def test_an_unknown_variable_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'DOUBLET_WORKERS'"):
        resolve(tmp_path, None, {"DOUBLET_WORKRES": "2"})
    assert resolve(tmp_path, None, {"DOUBLET_KERNELS": "python", "DOUBLE": "x"}).settings == config.Settings()


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("512 MiB", 512 << 20),
        ("1.5g", 1_500_000_000),
        ("100", 100),
        (7, 7),
        ("3kb", 3000),
    ],
)
def test_sizes(text: object, size: int) -> None:
    assert config.as_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "2 GBs", "0", True, "1e9"])
def test_sizes_that_are_none(text: object) -> None:
    with pytest.raises(ValueError, match="500MB"):
        config.as_size(text)


@pytest.mark.parametrize(
    ("text", "share"), [("0.8", 0.8), ("80%", 0.8), (1, 1.0), ("0", 0.0), ("100 %", 1.0)]
)
def test_shares(text: object, share: float) -> None:
    assert config.as_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["1.01", "-1", "101%", "nan", "x", True, ""])
def test_shares_that_are_none(text: object) -> None:
    with pytest.raises(ValueError, match="80%"):
        config.as_share(text)


def test_containment_can_be_switched_off(tmp_path: Path) -> None:
    assert resolve(tmp_path, 'containment = "off"').settings.containment is None
    assert resolve(tmp_path, "containment = false").settings.containment is None
    assert resolve(tmp_path, "containment = 0.8", containment="off").settings.containment is None


def test_workers_auto(tmp_path: Path) -> None:
    assert resolve(tmp_path, 'workers = "auto"').settings.workers == config.processors() >= 1


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("fetch_delay_s", "1.5", 1.5),
        ("fetch_delay_s", "0", 0.0),
        ("fetch_timeout_s", "2min", 120.0),
        ("fetch_timeout_s", "90 s", 90.0),
        ("fetch_limit", "10MB", 10_000_000),
        ("allow_private", "yes", True),
        ("allow_private", "off", False),
        ("min_words", "0", 0),
        ("contact", " me@example.org ", "me@example.org"),
    ],
)
def test_settings_of_fetching(name: str, text: str, value: object) -> None:
    found = config.resolve(environ={f"DOUBLET_{name.upper()}": text})
    assert getattr(found.settings, name) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *[("fetch_delay_s", text) for text in ("-1", "soon", "", "1 week")],
        *[("fetch_timeout_s", text) for text in ("0", "-5")],
        *[("allow_private", text) for text in ("maybe", "", "10.0.0.0/8")],
        *[("min_words", text) for text in ("-1", "few", "1.5")],
    ],
)
def test_wrong_settings_of_fetching(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match="must be"):
        config.resolve(environ={f"DOUBLET_{name.upper()}": text})


@pytest.mark.parametrize("value", ["9" * 400, "9" * 5000, "99999999999999999999GB", "9.9e99", 10**400])
def test_a_size_that_no_computer_has_is_refused_in_words(tmp_path: Path, value: Any) -> None:
    with pytest.raises(ConfigError, match="it must be a size such as") as told:
        resolve(tmp_path, memory=value)
    assert len(told.value.message) < 200  # shown, but not all of it


def test_the_largest_size_is_exact(tmp_path: Path) -> None:
    assert resolve(tmp_path, memory=str(2**63 - 1)).settings.memory == 2**63 - 1
    assert resolve(tmp_path, memory="0.001kb").settings.memory == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [("threshold = true", "is true:"), ("memory = 2024-01-31", "is 2024-01-31:"), ('keep = "x"', "is 'x':")],
)
def test_a_value_of_the_file_is_shown_as_it_is_written_there(tmp_path: Path, text: str, shown: str) -> None:
    with pytest.raises(ConfigError, match=shown):
        resolve(tmp_path, text)


def test_a_settings_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert resolve(tmp_path, '\ufeffkeep = "first"\n').settings.keep == "first"


def test_a_settings_file_in_another_encoding_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "doublet.toml").write_bytes('contact = "я@пример"\n'.encode("cp1251"))
    with pytest.raises(ConfigError, match="is not in UTF-8 at line 1: save it as UTF-8"):
        resolve(tmp_path)


def test_places_that_may_not_be_looked_at_hold_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home of another user, as in a container; a working folder that was deleted."""

    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", forbidden)
    assert resolve(tmp_path).file is None

    def gone() -> Path:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(Path, "cwd", gone)
    assert config.resolve({}, environ={"HOME": str(tmp_path)}).file is None


def test_a_named_settings_file_that_may_not_be_looked_at_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", forbidden)
    with pytest.raises(ConfigError, match=r"mine\.toml cannot be read: Permission denied"):
        config.resolve({}, file=tmp_path / "mine.toml", environ={})


def test_an_empty_name_is_no_settings_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the name of the settings file is empty"):
        config.resolve({}, file=Path(), environ={}, directory=tmp_path)


def test_numbers_of_many_digits_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not valid TOML"):
        resolve(tmp_path, f"workers = {'9' * 5000}")
    with pytest.raises(ConfigError, match="threshold is a number beyond all bounds: it must be a share"):
        resolve(tmp_path / "empty", threshold=10**5000)


def test_without_a_home_the_database_has_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a user who is not in the list of users: in a container, for a service."""

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ConfigError, match="name the database of the libraries with --database"):
        config.default_database({})
    assert config.resolve({}, environ={}).settings == config.Settings()
