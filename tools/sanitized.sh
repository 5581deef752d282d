#!/bin/sh
# Builds the native kernels with the address and undefined behaviour sanitizers into build/sanitized and runs the tests of
# the kernels with them: `make test-sanitized`. Python itself is not built so; its leaks at exit are not looked for.
set -eu
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/sanitized
compiler=${CXX:-$(command -v g++ || command -v c++)}
PATH=$(dirname "$python"):$PATH
cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DDOUBLET_SANITIZE=ON -DCMAKE_CXX_COMPILER="$compiler" \
  -DPython_EXECUTABLE="$python" -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" >/dev/null
cmake --build "$build" --parallel
# The sanitizer has to be there before Python, and the C++ library with it: it watches where errors are thrown.
LD_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libstdc++.so)"
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1
UBSAN_OPTIONS=print_stacktrace=1
DOUBLET_SANITIZED=$build
PYTHONPATH=$root/tools/sanitized${PYTHONPATH:+:$PYTHONPATH}
DOUBLET_KERNELS=native
PYTHONMALLOC=malloc # memory of Python is watched too
export LD_PRELOAD ASAN_OPTIONS UBSAN_OPTIONS DOUBLET_SANITIZED PYTHONPATH DOUBLET_KERNELS PYTHONMALLOC
if [ $# -eq 0 ]; then
  # All reference tests but those of Spark: they run Java, which is not ours to look at.
  set -- $(find "$root/tests/reference" -name 'test_*.py' ! -name 'test_spark_*')
fi
# Twelve minutes on two busy cores; what takes an hour hangs.
exec timeout 3600 "$python" -m pytest -p no:cacheprovider --numprocesses auto "$@"
