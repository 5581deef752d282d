"""1. Sources: where documents come from.

`open` opens files, folders and standard input; `records` says what a source gives; one file for each kind:
`jsonl`, `json_stream`, `csv_table`, `parquet`, `texts`, `packed` (archives and WARC). `workers`
reads documents in processes with limits, `kept` writes the cleaned
collection. Sources read and write files; they know nothing of methods and groups.

Sources that fill a library follow `protocol`: `sitemap`, `feed`, `oai`, `wiki`, `page` on the web, through a fetcher
that they are handed (`web` and `addresses` are what they share), and `folder`. `kinds` tells which one is meant.
"""
