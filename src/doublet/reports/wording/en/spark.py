"""Jobs over Apache Spark in English."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "spark_errors": "Documents that were left out are listed with the reason in {table}.",
    "spark_missing": 'Spark is not installed: pip install "doublet[spark]", and Java 17 or later',
    "spark_not_started": "Spark cannot be started: {why}. It needs Java 17 or later (JAVA_HOME) and, with --master, a cluster that answers",
    "spark_setting": "--conf {text}: write KEY=VALUE, as in spark.executor.memory=4g",
    "address_unusable": "{address} cannot be used: {why}",
    "hdfs_unusable": "{address} cannot be used: {why}. It takes the library libhdfs of a Hadoop installation on every machine "
    "(HADOOP_HOME, and CLASSPATH as `hadoop classpath --glob` gives it); an address that begins with webhdfs:// takes neither",
    "no_such_file": "there is no file {path!r}",
    "no_such_path": "there is no file or folder {path!r}",
    "file_unreadable": "{path} cannot be read: {why}",
    "file_too_short": "the file is too short",
    "file_damaged": "{path} is damaged: {why}",
    "no_files": "there are no files in {path}",
    "unknown_stage": "there is no stage {stage!r} to stop after: it can be {known}",
    "run_of_another_version": "{path} was written by another version of Doublet ({version}): name another folder",
    "folder_not_ours": "{path} is not empty, and was not written by doublet spark: name another folder",
    "not_a_run": "{path} is not the folder of a run: make one with doublet spark signatures --out {path}",
    "no_sets_to_check": "{path} holds no sets of shingles to check against: make them with doublet spark signatures --method shingles --out {path}",
    "id_left_out": "other records have the id {name!r} too: one of them is used, this one is left out",
    "archive_not_written": "{path} cannot be written: {why}",
}
