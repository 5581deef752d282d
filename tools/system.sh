#!/bin/sh
# Installs the programs that the tests make documents with, look at pages with and fetch pages from, documentation that is
# crawled, Tesseract, the shells that complete commands, and the thesauri of the evaluation, where they are missing and we
# may (Debian, as root).
set -eu
wanted=""
command -v pandoc >/dev/null || wanted="$wanted pandoc"
command -v soffice >/dev/null || wanted="$wanted libreoffice-writer-nogui"
command -v chromium >/dev/null || command -v google-chrome >/dev/null || wanted="$wanted chromium"
[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || wanted="$wanted nginx-light"
[ -f /usr/share/doc/debian/FAQ/index.en.html ] || wanted="$wanted debian-faq"
[ -f /usr/share/doc/debian/FAQ/ru/index.ru.html ] || wanted="$wanted debian-faq-ru"
[ -f /usr/share/doc/maint-guide-ru/html/index.ru.html ] || wanted="$wanted maint-guide-ru"
[ -f /usr/share/mediawiki/maintenance/install.php ] || wanted="$wanted mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl php-apcu php-curl"
command -v java >/dev/null || wanted="$wanted openjdk-17-jre-headless"
command -v tesseract >/dev/null || wanted="$wanted tesseract-ocr"
[ -f /usr/share/tesseract-ocr/5/tessdata/rus.traineddata ] || wanted="$wanted tesseract-ocr-rus"
command -v zsh >/dev/null || wanted="$wanted zsh"
command -v fish >/dev/null || wanted="$wanted fish"
[ -f /usr/share/mythes/th_ru_RU_v2.dat ] || wanted="$wanted mythes-ru"
[ -f /usr/share/mythes/th_en_US_v2.dat ] || wanted="$wanted mythes-en-us"
[ -n "$wanted" ] || exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "Installing$wanted (once; about three minutes)"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends $wanted >/dev/null && exit 0
fi
echo "Not installed:$wanted. The tests that need them say so: install them to run these too."
