"""Real servers for the tests beside: started on a free port when they are first asked for, and stopped at the end."""

from __future__ import annotations

import pathlib
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of an nginx with the trouble that real sites give. Tests that use it are marked `shared`."""
    script = pathlib.Path(__file__).resolve().parents[3] / "shared/components/start-site"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="doublet-site-"))
    folder.chmod(0o755)  # the server runs as somebody else
    state = {"STATE_DIR": str(folder), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    run = [str(script), "start", port]
    done = subprocess.run(run, text=True, stdout=subprocess.PIPE, env=state, check=False)
    if done.returncode == 69:
        pytest.skip("nginx is not here: `make system` installs it")
    assert done.returncode == 0
    yield done.stdout.strip().rstrip("/")
    subprocess.run([str(script), "stop", port], check=True, env=state)
    shutil.rmtree(folder, ignore_errors=True)
