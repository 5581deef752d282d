#!/bin/sh
# Installs the programs that the tests make documents with and look at pages with, where they are missing and we may (Debian, as root).
set -eu
wanted=""
command -v pandoc >/dev/null || wanted="$wanted pandoc"
command -v soffice >/dev/null || wanted="$wanted libreoffice-writer-nogui"
command -v chromium >/dev/null || command -v google-chrome >/dev/null || wanted="$wanted chromium"
[ -n "$wanted" ] || exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "Installing$wanted (once; about two minutes)"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends $wanted >/dev/null && exit 0
fi
echo "Not installed:$wanted. The tests that need them say so: install them to run these too."
