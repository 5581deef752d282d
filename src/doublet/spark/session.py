"""A Spark session for our jobs: the one that is running, or a new one with settings that suit them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from doublet.errors import ConfigError
from doublet.spark.exchange import ROWS_AT_ONCE
from doublet.spark.storage import ENVIRONMENT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Java only hands on what our tasks send: compiling it once and simply costs half as much as compiling it well.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


def open_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """The session that runs already (under spark-submit there is one), or a new one on *master*. Raises
    `ConfigError`.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ConfigError("spark_missing") from error
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("doublet")
    here = {}
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            here["spark.driver.defaultJavaOptions"] = JAVA_OPTIONS
    chosen = {
        **here,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.adaptive.enabled": "false",  # our partitions are as large as they should be
        **{f"spark.executorEnv.{name}": os.environ[name] for name in ENVIRONMENT if name in os.environ},
        **(settings or {}),
    }
    for name, value in chosen.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise ConfigError("spark_not_started", why=reason) from error
    spark.conf.set(_BATCH, str(ROWS_AT_ONCE))  # blobs are large: ten thousand of them are too many at once
    return spark


def cores_of(spark: SparkSession) -> int:
    return max(1, spark.sparkContext.defaultParallelism)


def shuffled_bytes(spark: SparkSession) -> int:
    """What tasks of this session have sent each other so far."""
    context = getattr(spark.sparkContext, "_jsc", None)
    if context is None:
        return 0
    executors = context.sc().statusStore().executorList(False)
    return sum(int(executors.apply(i).totalShuffleWrite()) for i in range(executors.size()))
