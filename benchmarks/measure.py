"""How the benchmarks measure: a process per run, CPU seconds next to wall time, memory watched from outside.

Every figure is the best of several runs on fresh strings, so that no run profits from what CPython keeps
of the last one (the UTF-8 form of a string, for example). Ratios between rows of one run mean something;
absolutes depend on the machine and on what else it does.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
RESULTS = Path(os.environ.get("BENCH_RESULTS", HERE / "results"))
SAMPLE_S = 0.02  # between two looks at the memory of a process


@dataclass(frozen=True)
class Measured:
    """One run of a command. *cpu_s* counts the process and all it started; *peak_mb* is the largest sum
    of the resident memory of all of them, or the high-water mark of the first where that is larger. MB =
    10⁶ bytes."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    code: int
    out: str
    err: str


def cores(count: int) -> set[int]:
    """*count* of the cores that this process may use, the last ones first: core 0 serves most interrupts."""
    return set(sorted(os.sched_getaffinity(0))[-count:])


def run(command: Sequence[str | Path], *, on_cores: int = 1, env: dict[str, str] | None = None) -> Measured:
    """Runs a command on so many cores and watches it."""
    wanted = cores(on_cores)
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, wanted)  # inherited by the child
    try:
        start = time.perf_counter()
        child = subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_usual(env or {}),
        )
    finally:
        os.sched_setaffinity(0, before)
    watch = _Watch(child.pid)
    watch.start()
    outputs: dict[str, bytes] = {}
    readers = [
        threading.Thread(target=lambda name=name, pipe=pipe: outputs.__setitem__(name, pipe.read()))
        for name, pipe in (("out", child.stdout), ("err", child.stderr))
    ]
    for reader in readers:
        reader.start()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    watch.stop()
    for reader in readers:
        reader.join()
    for pipe in (child.stdout, child.stderr):
        pipe.close()
    return Measured(
        wall_s=wall,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_mb=watch.peak_bytes / 1e6,
        code=child.returncode,
        out=outputs["out"].decode("utf-8", "replace"),
        err=outputs["err"].decode("utf-8", "replace"),
    )


def _usual(more: dict[str, str]) -> dict[str, str]:
    """The environment as users have it: Python may keep compiled modules, so the first run alone compiles."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | more


class _Watch(threading.Thread):
    """Looks at the resident memory of a process and its children until told to stop."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._done = threading.Event()
        self.peak_bytes = 0

    def run(self) -> None:
        while True:
            tree = list(_family(self._pid))
            self.peak_bytes = max(self.peak_bytes, sum(map(_resident, tree)), _high_water(self._pid))
            if self._done.wait(SAMPLE_S):
                return

    def stop(self) -> None:
        self._done.set()
        self.join()


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))
    except OSError:
        return


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _high_water(pid: int) -> int:
    """VmHWM counts from the last exec, so it is free of what the parent held when it started the process."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def best(runs: Sequence[Measured]) -> Measured:
    """The least CPU and wall time and the highest memory of several runs; the outputs of the quickest one."""
    failed = [r for r in runs if r.code]
    if failed:
        raise SystemExit(
            f"a measured command failed with exit code {failed[0].code}:\n{failed[0].err.strip()[-2000:]}"
        )
    quickest = min(runs, key=lambda r: r.cpu_s)
    return Measured(
        min(r.wall_s for r in runs),
        quickest.cpu_s,
        max(r.peak_mb for r in runs),
        0,
        quickest.out,
        quickest.err,
    )


@dataclass(frozen=True)
class Timed:
    """Best of several calls in this process."""

    wall_s: float
    cpu_s: float
    result: Any


def timed(
    work: Callable[[Any], Any],
    *,
    fresh: Callable[[], Any] = lambda: None,
    runs: int = 3,
    warm_up: Any = None,
) -> Timed:
    """Best of *runs* calls of ``work(fresh())``; making the input is not counted. With an input to *warm_up*, what a
    program loads once (modules, tables) is not counted either: it is worked on first."""
    if warm_up is not None:
        work(warm_up)
    wall = cpu = float("inf")
    result = None
    for _ in range(runs):
        given = fresh()
        result = None  # the result of the last run must not hold memory in this one
        c, w = time.process_time(), time.perf_counter()
        result = work(given)
        w, c = time.perf_counter() - w, time.process_time() - c
        wall, cpu = min(wall, w), min(cpu, c)
    return Timed(wall, cpu, result)


def read_texts(path: Path, limit: int = 0) -> list[str]:
    """Texts of a JSONL file, new string objects at every call."""
    import orjson

    out = []
    with path.open("rb") as file:
        for line in file:
            out.append(orjson.loads(line)["text"])
            if len(out) == limit:
                break
    return out


def megabytes(texts: Sequence[str]) -> float:
    """UTF-8 size, without leaving the UTF-8 form behind in the strings."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6


def corpus_path(name: str) -> Path:
    """The file of a collection that is named (ru, en, million) or given as a path."""
    path = Path(name) if name.endswith(".jsonl") else DATA / f"{name}.jsonl"
    if not path.exists():
        raise SystemExit(f"{path.name} is not there: make it with `python benchmarks/corpus.py {path.stem}`")
    return path


def _busy() -> tuple[float, float, float]:
    """Seconds that all cores have worked, seconds that this process and its ended children have, seconds of all."""
    try:
        fields = [int(v) for v in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except OSError:
        fields = [0] * 8
    ticks = os.sysconf("SC_CLK_TCK")
    own = os.times()
    return (sum(fields) - fields[3] - fields[4]) / ticks, sum(own[:4]), sum(fields) / ticks


_AT_START = _busy()


def others() -> float:
    """Share of the machine that other programs used since this one began, 0 to 1."""
    all_, own, total = (now - then for now, then in zip(_busy(), _AT_START, strict=True))
    return round(max(0.0, all_ - own) / total, 2) if total > 0 else 0.0


def machine() -> dict[str, Any]:
    """What can be told about the machine without naming it, and how busy others kept it meanwhile."""
    kind = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                kind = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": kind,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory / 1e9),
        "python": platform.python_version(),
        "used_by_others": others(),
    }


def save(name: str, rows: Any, **facts: Any) -> Path:
    """Writes NAME.json into the folder of results and says so."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    rows = [asdict(row) if hasattr(row, "__dataclass_fields__") else row for row in rows]
    whole = {
        "benchmark": name,
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        **facts,
        "rows": rows,
    }
    path.write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path.name}", file=sys.stderr)
    return path


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table; numbers to the right."""

    def cell(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "NO"
        if isinstance(value, float):
            return (
                f"{value:.0f}"
                if abs(value) >= 100
                else f"{value:.1f}"
                if abs(value) >= 10
                else f"{value:.3g}"
            )
        return "–" if value is None else str(value)

    body = [[cell(v) for v in row] for row in rows]
    right = [all(isinstance(row[i], int | float | None) for row in rows) for i in range(len(head))]
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---:" if r else "---" for r in right) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in body]
    return "\n".join(lines)


def python() -> str:
    return sys.executable
