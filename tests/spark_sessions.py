"""A Spark session for a module of tests: two cores of this machine, no pages, nothing outside of loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from doublet.spark.session import open_session


def sessions(folder: Path, master: str = "local[2]", **settings: str) -> Iterator[Any]:
    chosen = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # the jobs are short
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        **{name.replace("__", "."): value for name, value in settings.items()},
    }
    spark = open_session(master, chosen)
    spark.sparkContext.setLogLevel("ERROR")
    yield spark
    spark.stop()
