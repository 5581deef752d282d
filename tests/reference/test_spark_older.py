"""Dedupe on Spark 3.5, in a process of its own: the same groups and kept documents as on one machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPARK = ROOT / ".venv" / "spark-3.5"  #: made by `make spark-3.5`, which `make test` does

PROGRAM = """
import sys
from pathlib import Path
import pyspark
import spark_collections as made
from spark_sessions import sessions
folder = Path(sys.argv[1])
for spark in sessions(folder / "session"):
    options = {"cut": (3, 2), "threshold": 0.6}
    first = made.same(
        spark, folder / "1", made.mixed(31), method="shingles", keep="newest", pairs_at_once=0, **options
    )
    second = made.same(spark, folder / "2", made.crowded(7), method="simhash", crowd_pairs=40, **options)
    print(pyspark.__version__, first.removed > 50, second.stages["links"]["rounds"] > 0)
"""


@pytest.mark.covers("D1")
def test_the_older_spark_gives_the_same_answer(tmp_path: Path) -> None:
    if not (SPARK / "pyspark").is_dir():
        pytest.skip("Spark 3.5 is not installed: make spark-3.5")
    for name in ("session", "1", "2"):
        (tmp_path / name).mkdir()
    paths = [str(SPARK), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment.pop("SPARK_HOME", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    version, *good = done.stdout.split()
    assert version.startswith("3.5.") and good == ["True", "True"]
