"""The files in deploy/ fit the program: every option exists, and the whole start is one that the service accepts."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from doublet.cli.serve import command
from doublet.config import as_size
from doublet.web.configure import require_safe
from doublet.web.server import GRACE_S, options_of

pytestmark = pytest.mark.covers("S6")


def _container(folder: Path) -> tuple[list[str], list[str]]:
    text = (folder / "Containerfile").read_text(encoding="utf-8")
    found = {
        name: json.loads(value) for name, value in re.findall(r"^(ENTRYPOINT|CMD) (\[.*\])$", text, re.M)
    }
    return found["ENTRYPOINT"], found["CMD"]


def _starts(root: Path) -> dict[str, list[str]]:
    """How each file starts the service."""
    folder = root / "deploy"
    unit = re.search(r"^ExecStart=(.*)$", (folder / "doublet.service").read_text(encoding="utf-8"), re.M)
    compose = yaml.safe_load((folder / "compose.yaml").read_text(encoding="utf-8"))
    entry, default = _container(folder)
    assert unit
    return {
        "unit": shlex.split(unit.group(1)),
        "container": entry + default,
        "compose": entry + compose["services"]["service"]["command"],
    }


@pytest.mark.parametrize("which", ["unit", "container", "compose"])
def test_every_option_is_one_of_the_program_and_safe(root: Path, which: str) -> None:
    program, name, *arguments = _starts(root)[which]
    assert program.endswith("doublet") and name == "serve"
    given: dict[str, Any] = command.make_context(
        "doublet serve", arguments
    ).params  # fails for unknown options
    require_safe(given["bind"], options_of(given, "unused.db"))
    assert given["https"] and given["proxies"] == 1 and given["browse"] is False
    if which != "unit":
        assert (given["bind"], given["port"]) == ("0.0.0.0", 8000)


def test_the_files_fit_each_other(root: Path) -> None:
    folder = root / "deploy"
    compose = yaml.safe_load((folder / "compose.yaml").read_text(encoding="utf-8"))
    site = (folder / "nginx.conf").read_text(encoding="utf-8")
    assert "proxy_pass http://service:8000;" in site and "service" in compose["services"]
    names = re.findall(r"server_name (\S+);", site)
    assert set(names) == {_starts(root)["compose"][_starts(root)["compose"].index("--host-name") + 1]}
    limit = re.search(r"client_max_body_size (\d+)m;", site)
    default = next(one for one in command.params if one.name == "upload_limit").default
    assert limit and int(limit.group(1)) * 1_000_000 == as_size(default)
    assert (folder / compose["services"]["service"]["build"]["dockerfile"].removeprefix("deploy/")).exists()
    stop = re.search(r"TimeoutStopSec=(\d+)", (folder / "doublet.service").read_text(encoding="utf-8"))
    assert (
        stop
        and int(stop.group(1)) > GRACE_S
        and int(compose["services"]["service"]["stop_grace_period"][:-1]) > GRACE_S
    )
    assert "$proxy_add_x_forwarded_for" not in site, "what a browser claims must not count"


def test_nginx_reads_its_site(root: Path, tmp_path: Path) -> None:
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(program).exists():
        pytest.skip("nginx is not installed: `make system` installs it")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=doublet.example.org"]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    site = (root / "deploy/nginx.conf").read_text(encoding="utf-8")
    site = site.replace("/etc/nginx/tls/", f"{tmp_path}/").replace("http://service:", "http://127.0.0.1:")
    site = re.sub(r"\n\s*http2 on;", "", site)  # nginx before 1.25 does not know the word
    whole = (
        f"pid {tmp_path}/pid;\nerror_log {tmp_path}/log;\nevents {{}}\nhttp {{\naccess_log off;\n{site}\n}}\n"
    )
    (tmp_path / "nginx.conf").write_text(whole, encoding="utf-8")
    done = subprocess.run(
        [program, "-t", "-c", tmp_path / "nginx.conf", "-p", tmp_path],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
