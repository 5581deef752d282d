"""A disk that is full when the test says so, for a service that runs: writing to files below a folder then fails as the
system itself would have it fail. Needs neither a disk of its own nor root, only the compiler that built the kernels."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int full(int fd) {
  const char *flag = getenv("FULL_DISK_FLAG"), *folder = getenv("FULL_DISK_FOLDER");
  char link[64], path[4096];
  if (!flag || !folder || access(flag, F_OK)) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strncmp(path, folder, strlen(folder))) return 0;
  errno = ENOSPC;
  return 1;
}
#define WRITES(result, bad, name, given, passed) \
  result name given { \
    static result(*real) given; \
    if (!real) real = (result(*) given)dlsym(RTLD_NEXT, #name); \
    return full(fd) ? bad : real passed; \
  }
WRITES(ssize_t, -1, write, (int fd, const void *data, size_t size), (fd, data, size))
WRITES(ssize_t, -1, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRITES(ssize_t, -1, pwrite64, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRITES(int, ENOSPC, posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size))
WRITES(int, ENOSPC, posix_fallocate64, (int fd, off_t at, off_t size), (fd, at, size))
"""


class FullDisk:
    """Environment for a process whose files in *folder* may meet a full disk, and the switch."""

    def __init__(self, folder: Path, tools: Path) -> None:
        compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
        assert compiler, "a C compiler is needed, as for the kernels"
        source, library = tools / "full_disk.c", tools / "full_disk.so"
        source.write_text(SOURCE, encoding="ascii")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self._flag = tools / "full"
        self.environment = {
            "LD_PRELOAD": str(library),
            "FULL_DISK_FLAG": str(self._flag),
            "FULL_DISK_FOLDER": str(folder.resolve()),
        }

    def fill(self) -> None:
        self._flag.touch()

    def empty(self) -> None:
        self._flag.unlink()
