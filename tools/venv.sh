#!/bin/sh
# Creates a virtual environment: sh tools/venv.sh FOLDER
#
# Looks for Python 3.11 or newer. On Debian, `venv` and the headers that the native kernels need are packages of their
# own: they are installed when this runs as root, else the message says what to install. PYTHON=… names another Python.
set -eu
folder=$1

say() { printf '%s\n' "$*" >&2; }

suits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:-python3.11 python3 python3.14 python3.13 python3.12 python}; do
        if suits "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    say "Doublet needs Python 3.11 or newer, and there is none here${PYTHON:+ under the name $PYTHON}."
    say "Install it (Debian: apt-get install python3 python3-venv python3-dev), or name it: make setup PYTHON=/path/to/python3"
    exit 1
}

# install PACKAGE…: true when the packages are there afterwards
install() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "Installing the system packages $*"
        export DEBIAN_FRONTEND=noninteractive
        apt-get install --yes --quiet --no-install-recommends "$@" >/dev/null 2>&1 ||
            { apt-get update --quiet >/dev/null && apt-get install --yes --quiet --no-install-recommends "$@" >/dev/null; }
    else
        return 1
    fi
}

python=$(find_python)
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')

if ! "$python" -c 'import ensurepip, venv; ensurepip.version()' >/dev/null 2>&1 && ! install "python$version-venv"; then
    say "This Python cannot make virtual environments. Install the missing part, then try again:"
    say "    sudo apt-get install python$version-venv"
    exit 1
fi

if ! "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' && ! install "python$version-dev"; then
    say "Python's headers are not here, so the native kernels cannot be built: Doublet will work, but slowly."
    say "For full speed: sudo apt-get install python$version-dev && make clean setup"
fi

if ! command -v "${CXX:-c++}" >/dev/null 2>&1 && ! command -v g++ >/dev/null 2>&1 && ! command -v clang++ >/dev/null 2>&1; then
    say "There is no C++ compiler here, so the native kernels cannot be built: Doublet will work, but slowly."
    say "For full speed: sudo apt-get install g++ && make clean setup"
fi

say "Creating $folder with Python $version"
"$python" -m venv --clear "$folder"
