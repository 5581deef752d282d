"""Задания на Apache Spark по-русски."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "spark_errors": "Документы, которые не вошли, с причинами перечислены в {table}.",
    "spark_missing": 'Spark не установлен: pip install "doublet[spark]", и Java 17 или новее',
    "spark_not_started": "Spark не запускается: {why}. Нужны Java 17 или новее (JAVA_HOME) и, с --master, кластер, который отвечает",
    "spark_setting": "--conf {text}: напишите КЛЮЧ=ЗНАЧЕНИЕ, например spark.executor.memory=4g",
    "address_unusable": "{address} не годится: {why}",
    "hdfs_unusable": "{address} не годится: {why}. Нужна библиотека libhdfs из установленного Hadoop на каждой машине "
    "(HADOOP_HOME и CLASSPATH, который даёт `hadoop classpath --glob`); для адреса, который начинается с webhdfs://, они не нужны",
    "no_such_file": "нет файла {path!r}",
    "no_such_path": "нет файла или папки {path!r}",
    "file_unreadable": "{path} не читается: {why}",
    "file_too_short": "файл короче, чем должен быть",
    "file_damaged": "{path} — повреждённый файл: {why}",
    "no_files": "в {path} нет файлов",
    "unknown_stage": "нет этапа {stage!r}, после которого можно остановиться; есть {known}",
    "run_of_another_version": "{path} записан другой версией Doublet ({version}): назовите другую папку",
    "folder_not_ours": "папка {path} не пуста и записана не doublet spark: назовите другую папку",
    "not_a_run": "{path} — не папка задания: сделайте её командой doublet spark signatures --out {path}",
    "no_sets_to_check": "в {path} нет наборов шинглов для проверки: сделайте их командой doublet spark signatures --method shingles --out {path}",
    "id_left_out": "id {name!r} есть и у других записей: взята одна из них, эта оставлена в стороне",
    "archive_not_written": "{path} не записывается: {why}",
}
