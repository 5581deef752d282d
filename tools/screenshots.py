"""Pictures of all pages of the service, and of those that commands write as files (`tools/file_pages.py`), as people
see them: wide, on a phone, dark, and in Russian.

    python tools/screenshots.py                   every page in every look, into build/screenshots/
    python tools/screenshots.py check report      only pages whose names begin so
    python tools/screenshots.py --docs            those of the documentation again, into docs/pictures/

A service is started for it in a folder of its own, with the samples and some work in it, and ends with it.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from doublet.jobs.check_pdf import NAMES  # noqa: E402 # after the path
from doublet.samples import WORK  # noqa: E402
from web_service import Browser, Service, running  # noqa: E402

LOOKS: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 860}, "locale": "en"},
    "dark": {"viewport": {"width": 1280, "height": 860}, "locale": "en", "color_scheme": "dark"},
    "russian": {"viewport": {"width": 1280, "height": 860}, "locale": "ru"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "locale": "en",
        "is_mobile": True,
        "has_touch": True,
    },
}
#: pictures of the documentation: page, look, whole page
DOCS = (("home", "wide"), ("report", "wide"), ("class", "wide"), ("library-add", "wide"))
LIBRARY = "/libraries/Sample%20library/"


def archive(texts: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, text in texts.items():
            made.writestr(name, text)
    return packed.getvalue()


def wait(browser: Browser, path: str, word: str) -> None:
    until = time.monotonic() + 120
    while word not in browser.get(path).text:
        assert time.monotonic() < until, f"{path} never says {word}"
        time.sleep(0.5)


def prepare(service: Service) -> dict[str, str]:
    """Some work, so that no page is empty. Gives name and path of every page."""
    work = WORK.read_text(encoding="utf-8")
    person = service.administrator()
    service.invite("maria")
    person.get("/check/")
    own = " ".join(f"thought{n} about{n * 7 % 31} towers" for n in range(70))
    sample = person.post("/check/", {"text": work, "title": "Sample work", "libraries": "Sample library"})
    report = sample.address.removeprefix(service.base)
    sources = re.findall(r'name="which" value="([^"]+)"', sample.text)
    kinds = ("verbatim", "edited", "reworded", "moved")
    source = next(one for one in sources if one not in kinds)
    decision = {"target": "source", "which": source, "reason": "own earlier work", "off": "off"}
    person.post(f"{report}decide/", decision)
    person.post(f"{report}comments/", {"text": "Please give the source of this passage."})
    link = re.search(r'value="(http[^"]+/shared/[^"]+)"', person.post(f"{report}share/", {}).text)
    assert link
    person.get("/check/")
    files = {"anna.txt": own, "boris.txt": f"{own} {work[:900]}", "vera.txt": work, "broken.pdf": "not a PDF"}
    group = person.post(
        "/check/", {"title": "Essays, group 12", "among": "on"}, {"files": ("works.zip", archive(files))}
    )
    classes = group.address.removeprefix(service.base)
    person.get("/repeats/")
    repeated = ("Press the green button and wait until the lamp is on. " * 3 + own + " ") * 3
    search = person.post("/repeats/", {"algorithm": "auto"}, {"file": ("manual.txt", repeated.encode())})
    repeats = search.address.removeprefix(service.base)
    person.get(f"{LIBRARY}duplicates/")
    person.post(f"{LIBRARY}duplicates/", {"do": "search"})
    person.post(f"{LIBRARY}statistics/", {})
    person.get("/account/hooks/")
    hook = person.post("/account/hooks/", {"address": f"{service.base}/healthz", "note": "our register"})
    hooks = hook.address.removeprefix(service.base)
    person.post(f"{hooks}test/", {})
    wait(person, classes, "/pair/")
    pair = re.search(r'href="([^"]+/pair/[^"]+)"', person.get(classes).text)
    document = re.search(r'href="([^"]+/document/[^"]*)"', person.get(f"{LIBRARY}documents/").text)
    user = re.search(r'href="(/users/\d+/)">maria', person.get("/users/").text)
    assert pair and document and user
    wait(person, repeats, "iframe")
    wait(person, f"{LIBRARY}statistics/", "<svg")
    wait(person, hooks, "HTTP")
    return {
        "login": "/login/",
        "home": "/",
        "check": "/check/",
        "reports": "/reports/",
        "report": report,
        "report-compare": f"{report}compare/?with={_other(person)}",
        "shared": link.group(1).removeprefix(service.base),
        "class": classes,
        "pair": pair.group(1).replace("&amp;", "&"),
        "libraries": "/libraries/",
        "library": LIBRARY,
        "library-add": "/libraries/add/",
        "documents": f"{LIBRARY}documents/?q=%D0%B1%D0%B0%D1%88%D0%BD%D1%8F",
        "document": document.group(1).replace("&amp;", "&"),
        "statistics": f"{LIBRARY}statistics/",
        "duplicates": f"{LIBRARY}duplicates/",
        "duplicates-between": "/duplicates/",
        "queue": "/queue/",
        "repeats": "/repeats/",
        "repeats-result": repeats,
        "methods": "/methods/",
        "method": "/methods/supershingles/",
        "evaluation": "/evaluation/",
        "account": "/account/",
        "hooks": "/account/hooks/",
        "hook": hooks,
        "users": "/users/",
        "user": user.group(1),
        "audit": "/audit/",
        "settings": "/settings/",
        "error": "/no-such-page/",
    }


def _other(person: Browser) -> str:
    """The sample that the first start made: an earlier check of the same title."""
    found = re.findall(r'href="/reports/([^"/]+)/">Sample work<', person.get("/").text)
    return found[-1]


def shoot(
    service: Service, pages: dict[str, str], wanted: list[tuple[str, str]], into: Path, whole: bool
) -> None:
    from playwright.sync_api import sync_playwright

    into.mkdir(parents=True, exist_ok=True)
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        sys.exit("No Chromium is installed: `make system` installs it.")
    cookies = [
        {"name": one.name, "value": one.value, "url": service.base} for one in service.administrator()._jar
    ]
    with sync_playwright() as playwright:
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"] if root else [], chromium_sandbox=not root
        )
        for look in dict.fromkeys(look for _, look in wanted):
            context = browser.new_context(**LOOKS[look])
            page = context.new_page()
            for name in (name for name, one in wanted if one == look):
                context.clear_cookies()
                if name not in ("login", "shared"):
                    context.add_cookies(cookies)
                page.goto(service.base + pages[name])
                if name == "report":
                    page.locator("a.mk").first.click()
                    page.locator("#beside .text").first.wait_for()
                    page.evaluate("window.scrollTo(0, 0)")
                place = into / f"{name}-{look}.png"
                page.screenshot(path=place, full_page=whole)
                print(place.relative_to(ROOT) if place.is_relative_to(ROOT) else place)
            context.close()
        browser.close()


def main() -> None:
    asked = sys.argv[1:]
    if "--docs" not in asked:
        from file_pages import shoot_files

        for picture in shoot_files(LOOKS, ROOT / "build" / "screenshots", asked):
            print(picture.relative_to(ROOT))
        if asked and all(one.startswith("file-") for one in asked):
            return
    with (
        tempfile.TemporaryDirectory(prefix="doublet-screenshots-") as folder,
        running(Path(folder), "--allow-private") as service,
    ):
        pages = prepare(service)
        if "--docs" in asked:
            shoot(service, pages, list(DOCS), ROOT / "docs" / "pictures", whole=False)
            return
        names = [name for name in pages if not asked or name.startswith(tuple(asked))]
        wanted = [(name, look) for look in LOOKS for name in names]
        shoot(service, pages, wanted, ROOT / "build" / "screenshots", whole=True)


if __name__ == "__main__":
    main()
