"""Files wherever they are: on a disk that all machines see, in HDFS, in an S3-compatible store. Made of Arrow's file
systems, and of those of fsspec where Arrow has none.

An address is a path or ``scheme://…`` (file, hdfs, s3, gs, abfs; s3a and s3n mean s3; webhdfs and swebhdfs, which is
HDFS without a Hadoop installation; others that fsspec knows). Keys, users and the address of an S3 server come from
the environment (`ENVIRONMENT`), which `session` hands to the executors. A file appears whole or not at all: it is
written under another name and moved.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from doublet.errors import InputNotFound, InputUnreadable, UsageError
from doublet.model import Note

ENVIRONMENT = (
    "HADOOP_USER_NAME",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_ENDPOINT_URL",
)
ARROW_SCHEMES = ("hdfs", "viewfs", "gs", "gcs", "abfs", "abfss")  #: besides files and S3
_S3 = ("s3a://", "s3n://")


class StoredFile(NamedTuple):
    """A file: its address, its name below the folder that was asked for, its size, and when it changed."""

    address: str
    name: str
    size_bytes: int
    changed: str


@lru_cache(maxsize=64)
def _file_system(root: str) -> Any:
    from pyarrow import fs

    if root.startswith("s3://"):
        endpoint = os.environ.get("AWS_ENDPOINT_URL") or None
        if (
            endpoint is not None
        ):  # servers of others want the length of a request, which trailing checksums hide
            os.environ.setdefault("AWS_REQUEST_CHECKSUM_CALCULATION", "WHEN_REQUIRED")
        plain = endpoint is not None and endpoint.startswith("http://")
        return fs.S3FileSystem(
            endpoint_override=endpoint.partition("://")[2] if endpoint else None,
            scheme="http" if plain else "https",
            region=os.environ.get("AWS_REGION") or ("us-east-1" if endpoint else None),
            allow_bucket_creation=False,
        )
    if "://" not in root:
        return fs.LocalFileSystem()
    scheme = root.partition("://")[0]
    try:
        if scheme in ARROW_SCHEMES:
            return fs.FileSystem.from_uri(root)[0]
        return _from_fsspec(scheme, root)
    except (OSError, ValueError, ImportError) as error:
        code = "hdfs_unusable" if scheme in ("hdfs", "viewfs") else "address_unusable"
        raise UsageError(code, address=root, why=_reason(error)) from error


def _from_fsspec(scheme: str, root: str) -> Any:
    import fsspec
    from pyarrow import fs

    class Handler(fs.FSSpecHandler):  # type: ignore[misc]
        """Also tells when a file of HDFS was changed."""

        @staticmethod
        def _create_file_info(path: str, info: dict[str, Any]) -> Any:
            changed = info.get("modificationTime")
            known = info if changed is None else {**info, "mtime": changed / 1000}
            return fs.FSSpecHandler._create_file_info(path, known)

    options: dict[str, Any] = {"use_listings_cache": False, "skip_instance_cache": True}
    if scheme.endswith("webhdfs"):
        options |= {"use_https": scheme == "swebhdfs"}
        if user := os.environ.get("HADOOP_USER_NAME"):
            options |= {"user": user}
    known = "webhdfs" if scheme == "swebhdfs" else scheme
    system, _ = fsspec.core.url_to_fs(f"{known}://{root.partition('://')[2]}/", **options)
    return fs.PyFileSystem(Handler(system))


def locate(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    for other in _S3:
        if address.startswith(other):
            address = "s3://" + address.removeprefix(other)
    scheme, mark, rest = address.partition("://")
    if not mark:
        return _file_system(""), os.path.abspath(address)  # noqa: PTH100 - links stay as they were named
    if scheme == "file":
        return _file_system(""), rest or "/"
    if scheme == "s3":
        return _file_system("s3://"), rest.rstrip("/")
    host, slash, path = rest.partition("/")
    return _file_system(f"{scheme}://{host}"), slash + path


def whole(address: str) -> str:
    """The address for all machines: a path from the root on."""
    return address.rstrip("/") if "://" in address else os.path.abspath(address)  # noqa: PTH100 - see `locate`


def exists(address: str) -> bool:
    from pyarrow import fs

    system, path = locate(address)
    return bool(system.get_file_info(path).type != fs.FileType.NotFound)


def is_local(address: str) -> bool:
    return "://" not in address or address.startswith("file://")


def below(address: str, name: str) -> str:
    return f"{address.rstrip('/')}/{name}"


def open_input(address: str) -> Any:
    """The file at *address*, to be read in any order. Raises `InputNotFound`, `InputUnreadable`."""
    system, path = locate(address)
    try:
        return system.open_input_file(path)
    except FileNotFoundError as error:
        raise InputNotFound("no_such_file", path=address) from error
    except OSError as error:
        raise InputUnreadable("file_unreadable", path=address, why=_reason(error)) from error


def open_mapped(address: str) -> Any:
    """The same; a file on a disk is not read before its bytes are used."""
    import pyarrow as pa

    if not is_local(address):
        return open_input(address)
    try:
        return pa.memory_map(locate(address)[1])
    except FileNotFoundError as error:
        raise InputNotFound("no_such_file", path=address) from error
    except OSError as error:
        raise InputUnreadable("file_unreadable", path=address, why=_reason(error)) from error


def find_files(address: str) -> list[StoredFile]:
    """The file at *address*, or all files of the folder and those below it, by name; hidden ones are left out.

    Raises `InputNotFound`, `InputUnreadable`.
    """
    from pyarrow import fs

    system, path = locate(address)
    try:
        info = system.get_file_info(path)
        if info.type == fs.FileType.File:
            return [StoredFile(address, path.rpartition("/")[2], info.size, str(info.mtime_ns))]
        if info.type != fs.FileType.Directory:
            raise InputNotFound("no_such_path", path=address)
        found = system.get_file_info(fs.FileSelector(path, recursive=True))
    except InputNotFound:
        raise
    except OSError as error:
        raise InputUnreadable("file_unreadable", path=address, why=_reason(error)) from error
    rows = []
    for one in found:
        name = one.path[len(path.rstrip("/")) + 1 :]
        hidden = any(part.startswith((".", "_")) for part in name.split("/")) or name.endswith(".part")
        if one.type == fs.FileType.File and not hidden:
            rows.append(StoredFile(below(address, name), name, one.size, str(one.mtime_ns)))
    return sorted(rows, key=lambda row: row.name)


def folders(address: str) -> list[str]:
    """Names of the folders in a folder."""
    from pyarrow import fs

    system, path = locate(address)
    found = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
    return sorted(one.base_name for one in found if one.type == fs.FileType.Directory)


def size_of(address: str) -> int:
    """Bytes of a file; -1 when it is not there."""
    from pyarrow import fs

    system, path = locate(address)
    info = system.get_file_info(path)
    return int(info.size) if info.type == fs.FileType.File else -1


def _is_file(system: Any, path: str) -> bool:
    from pyarrow import fs

    return bool(system.get_file_info(path).type == fs.FileType.File)


class writing:  # noqa: N801 - reads as a word in "with writing(address) as file"
    """A file that appears at *address* when all of it is written."""

    def __init__(self, address: str) -> None:
        self._system, self._path = locate(address)
        self._moves = not address.startswith(("s3://", *_S3))  # there a file appears when it is closed
        self._under = f"{self._path}.{uuid.uuid4().hex[:8]}.part" if self._moves else self._path

    def __enter__(self) -> Any:
        if self._moves:
            self._system.create_dir(self._path.rpartition("/")[0], recursive=True)
        self._file = self._system.open_output_stream(self._under)
        return self._file

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        from pyarrow import fs

        if error is not None and not self._moves:
            return  # what was not closed is not there
        self._file.close()
        if error is not None:
            self._system.delete_file(self._under)
        elif self._moves:
            if not isinstance(self._system, fs.LocalFileSystem) and _is_file(self._system, self._path):
                self._system.delete_file(
                    self._path
                )  # HDFS moves no file to where one is; a disk does, at once
            self._system.move(self._under, self._path)


def write_bytes(address: str, data: bytes | memoryview) -> None:
    with writing(address) as file:
        file.write(data)


def read_bytes(address: str) -> bytes:
    with open_input(address) as file:
        return bytes(file.read())


def read_into(address: str, place: Any, start: int = 0) -> None:
    """Fill an array with the bytes of a file from *start* on. Raises `InputUnreadable` when there are too few."""
    view = memoryview(place).cast("B")
    with open_input(address) as file:
        file.seek(start)
        done = 0
        while done < len(view):
            count = file.readinto(view[done:])
            if not count:
                raise InputUnreadable("file_damaged", path=address, why=Note("file_too_short"))
            done += count


def read_json(address: str) -> Any:
    return json.loads(read_bytes(address))


def write_json(address: str, value: Any) -> None:
    write_bytes(address, json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1).encode())


def remove_folder(address: str) -> None:
    """Remove a folder with all that is in it; nothing happens when it is not there."""
    system, path = locate(address)
    try:
        system.delete_dir_contents(path, missing_dir_ok=True)
        if is_local(address):
            Path(path).rmdir()
    except FileNotFoundError:
        return


def write_table(address: str, tables: Iterator[Any], schema: Any) -> int:
    """Write Arrow tables as one Parquet file; gives the number of rows."""
    from pyarrow import parquet

    rows = 0
    with (
        writing(address) as file,
        parquet.ParquetWriter(
            file, schema, compression="none", use_dictionary=False, write_statistics=False
        ) as writer,
    ):
        for table in tables:
            if table.num_rows:
                writer.write_table(table)
                rows += table.num_rows
    return rows


def write_batches(address: str, tables: Iterator[Any], schema: Any) -> int:
    """The same as a file of Arrow, which is read several times as fast and is for ourselves."""
    import pyarrow as pa

    rows = 0
    with writing(address) as file, pa.ipc.new_file(file, schema) as writer:
        for table in tables:
            if table.num_rows:
                writer.write_table(table)
                rows += table.num_rows
    return rows


def read_batches(address: str, columns: list[str] | None = None) -> Iterator[Any]:
    """The rows of such a file as tables, as they were written. A damaged file raises `InputUnreadable`."""
    import pyarrow as pa

    with open_mapped(address) as file:
        try:
            opened = pa.ipc.open_file(
                file,
                options=pa.ipc.IpcReadOptions(
                    included_fields=None
                    if columns is None
                    else [pa.ipc.open_file(file).schema.get_field_index(name) for name in columns]
                ),
            )
            for batch in range(opened.num_record_batches):
                yield pa.Table.from_batches([opened.get_batch(batch)])
        except (OSError, ValueError) as error:
            raise InputUnreadable("file_damaged", path=address, why=_reason(error)) from error


def read_table(address: str, columns: list[str] | None = None) -> Iterator[Any]:
    """The rows of a Parquet file as Arrow tables, a row group each. A damaged file raises `InputUnreadable`."""
    from pyarrow import parquet

    with open_input(address) as file:
        try:
            opened = parquet.ParquetFile(file, pre_buffer=False)
            for group in range(opened.num_row_groups):
                yield opened.read_row_group(group, columns=columns, use_threads=False)
        except (OSError, ValueError) as error:
            raise InputUnreadable("file_damaged", path=address, why=_reason(error)) from error


def _reason(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200]
