"""The service in a real browser: first login, check, report by mouse and keyboard, class, phone, dark, Russian, and axe
on every page in both languages."""

from __future__ import annotations

import io
import re
import sqlite3
import time
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from doublet.samples import WORK
from web_service import Browser, Service, running

pytestmark = pytest.mark.covers("S1", "S4")
BORROWED = WORK.read_text(encoding="utf-8")
WIDE = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("pages")) as made:
        yield made


@pytest.fixture(scope="module")
def cookies(service: Service) -> list[dict[str, Any]]:
    """Those of an administrator who is logged in."""
    browser = service.administrator()
    return [{"name": one.name, "value": one.value, "url": service.base} for one in browser._jar]


@pytest.fixture
def opened(browser: Any, service: Service, cookies: list[dict[str, Any]]) -> Iterator[Any]:
    """Opens a page with options of a context; what the browser complains about is a failure."""
    contexts, errors = [], []

    def make(path: str = "/", *, logged_in: bool = True, **options: Any) -> Any:
        context = browser.new_context(**{**WIDE, "locale": "en", **options})
        contexts.append(context)
        if logged_in:
            context.add_cookies(cookies)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.goto(service.base + path)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not errors


def sample(service: Service) -> str:
    home = service.administrator().get("/").text
    found = re.search(r'href="(/reports/[^"]+/)">Sample work<', home)
    assert found
    return found.group(1)


def test_first_login_and_a_check(service: Service, opened: Any) -> None:
    page = opened(logged_in=False)
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(service.password)
    page.keyboard.press("Enter")
    page.get_by_role("navigation").get_by_role("link", name="Check", exact=True).click()
    page.locator("#text").fill(BORROWED)
    page.locator("[data-go]").click()
    page.wait_for_url("**/reports/**")
    assert page.locator(".mk").count() > 3 and page.locator("ol.sources > li").count() >= 1


def test_a_report_by_mouse_and_keyboard(service: Service, opened: Any) -> None:
    page = opened(sample(service))
    page.locator("a.mk").first.click()
    page.locator("#beside .mk, #beside mark, #beside p").first.wait_for()
    page.wait_for_function("() => document.querySelector('#beside').textContent.length > 200")
    first = page.locator("#beside").inner_text()
    page.keyboard.press("n")
    page.wait_for_function("before => document.querySelector('#beside').innerText !== before", arg=first)
    second = page.locator("#beside").inner_text()
    page.keyboard.press("p")
    page.wait_for_function("before => document.querySelector('#beside').innerText !== before", arg=second)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.classList.contains('mk')"), "the reader is back in the text"
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#beside').textContent.length > 200")


def test_switching_a_kind_off_and_on(service: Service, opened: Any, expect: Any) -> None:
    page = opened(sample(service))
    share = page.locator(".figure.borrowed b")
    before = share.inner_text()
    page.locator(".stick button[aria-pressed=true]").first.click()
    expect(share).not_to_have_text(before)  # each switch loads the page again
    page.wait_for_load_state()
    again = page.locator(".stick button[aria-pressed=false]").first
    shown = again.bounding_box()
    page.wait_for_timeout(300)
    assert again.bounding_box() == shown, "the button does not run away from the mouse"
    again.click()
    expect(share).to_have_text(before)


def test_a_class(opened: Any) -> None:
    own = " ".join(f"word{n} thought{n * 7 % 31}" for n in range(80))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("anna.txt", own)
        archive.writestr("boris.txt", "An opening of my own that is quite short. " + own)
    page = opened("/check/")
    page.locator("#files").set_input_files(
        {"name": "group.zip", "mimeType": "application/zip", "buffer": packed.getvalue()}
    )
    page.locator("[data-go]").click()
    page.wait_for_url("**/classes/**")
    page.get_by_text("Who took from whom").first.wait_for(timeout=90_000)  # the page renews itself
    anna = page.locator("tr", has=page.get_by_role("link", name="anna.txt", exact=True)).first
    assert anna.locator("td[data-label='In another work']").inner_text() == "100%"
    page.locator("a[href*='/pair/']").first.click()
    assert "word79" in page.locator("main").inner_text()


@pytest.mark.parametrize("options", [PHONE, {**PHONE, "color_scheme": "dark", "locale": "ru"}])
def test_a_phone(service: Service, opened: Any, options: dict[str, Any]) -> None:
    for path in ("/", "/check/", sample(service), "/libraries/"):
        page = opened(path, **options)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{path} has to be scrolled sideways by {wide} px"


def test_repeats_are_shown_and_decided_in_their_frame(service: Service, opened: Any) -> None:
    text = "Press the green button and wait until the lamp is on. " * 4
    page = opened("/repeats/")
    file = {"name": "manual.txt", "mimeType": "text/plain", "buffer": text.encode()}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Search", exact=True).click()
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Keep").first.click(timeout=60_000)
    page.get_by_text("Your decisions were saved.").wait_for()
    page.reload()
    chosen = frame.locator('button[aria-pressed="true"]')
    chosen.first.wait_for()
    assert chosen.all_inner_texts() == ["Keep"]


def test_dark_and_russian(service: Service, opened: Any) -> None:
    light = opened(sample(service)).evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page = opened(sample(service), color_scheme="dark", locale="ru")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != light
    assert page.locator("html").get_attribute("lang") == "ru"


def class_pages(administrator: Browser) -> list[str]:
    """A class with two works that have a text in common, and the two side by side."""
    own = " ".join(f"river{n} bridge{n * 7 % 31}" for n in range(60))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("anna.txt", own)
        archive.writestr("boris.txt", own)
    administrator.get("/check/")
    fields = {"title": "For axe", "among": "on"}
    made = administrator.post("/check/", fields, {"files": ("works.zip", packed.getvalue())})
    until = time.monotonic() + 90
    while True:
        pair = re.search(r'href="([^"]+/pair/[^"]+)"', administrator.get(made.address).text)
        if pair:
            return [made.address, pair.group(1).replace("&amp;", "&")]
        assert time.monotonic() < until
        time.sleep(0.3)


def report_pages(service: Service, administrator: Browser) -> list[str]:
    """A report by its link, and one that is not made yet."""
    path = sample(service)
    page = administrator.get(path).text
    source = re.search(r'value="source"><input type="hidden" name="which" value="([^"]+)"', page)
    assert source
    decision = {"target": "source", "which": source.group(1), "off": "off", "reason": "quoted"}
    administrator.post(f"{path}decide/", decision)
    shared = re.search(r'value="(http[^"]+/shared/[^"]+)"', administrator.post(f"{path}share/", {}).text)
    administrator.get("/check/")
    waiting = administrator.post("/check/", {"text": "A text of few words.", "title": "Waiting"}).address
    id = waiting.rstrip("/").rpartition("/")[2].replace("-", "")
    database = sqlite3.connect(service.folder / "service.db", timeout=60)
    with database:
        changed = database.execute("UPDATE web_work SET state = 'running', job = NULL WHERE id = ?", (id,))
    database.close()
    assert shared and changed.rowcount == 1
    return [shared.group(1), waiting]


def every_page(service: Service) -> list[str]:
    administrator = service.administrator()
    users = re.search(r'href="(/users/\d+/)"', administrator.get("/users/").text)
    assert users
    library = "/libraries/Sample%20library/"
    document = re.search(r'href="([^"]+/document/[^"]*)"', administrator.get(library + "documents/").text)
    assert document
    return [
        *("/", "/check/", "/reports/", sample(service), "/libraries/", library, library + "documents/"),
        *(document.group(1).replace("&amp;", "&"), library + "duplicates/", "/libraries/add/", "/queue/"),
        *("/repeats/", "/methods/", "/methods/shingles/", "/account/", "/users/", users.group(1), "/audit/"),
        *("/settings/", "/no-such-page/", "/account/hooks/", "/duplicates/", "/evaluation/"),
        library + "statistics/",
        *class_pages(administrator),
        *report_pages(service, administrator),
    ]


#: what depends on the colours and the width, and is asked again in every look
BY_LOOK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
LOOKS = [(scheme, size) for scheme in ("light", "dark") for size in (WIDE, PHONE)]


def serious(page: Any, only: list[str] | None = None) -> list[str]:
    """What axe finds that would keep somebody out."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"], **({"runOnly": only} if only else {})}
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']} {node['html'][:150]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def in_looks(page: Any, number: int, turns: tuple[int, ...]) -> list[str]:
    """All rules in one look, which changes from page to page; in the others those that depend on the look."""
    out = []
    for turn in turns:
        scheme, size = LOOKS[(number + turn) % len(LOOKS)]
        page.set_viewport_size(size["viewport"])
        page.emulate_media(color_scheme=scheme)
        found = serious(page, None if turn == 0 else BY_LOOK)
        out += [f"{scheme}, {size['viewport']['width']} px: {one}" for one in found]
    return out


@pytest.mark.parametrize(("language", "turns"), [("en", (0, 1, 2, 3)), ("ru", (0, 3))])
def test_axe_finds_nothing_serious(
    browser: Any, service: Service, cookies: list[dict[str, Any]], language: str, turns: tuple[int, ...]
) -> None:
    context = browser.new_context(**WIDE, locale=language)
    wrong = {}
    try:
        page = context.new_page()
        page.goto(service.base + "/login/")
        wrong["/login/"] = in_looks(page, 0, turns)
        context.add_cookies(cookies)
        for number, path in enumerate(every_page(service), 2 * (language == "ru")):
            page.goto(path if path.startswith("http") else service.base + path)
            assert page.locator("html").get_attribute("lang") == language
            wrong[path] = in_looks(page, number, turns)
    finally:
        context.close()
    listed = [f"{path}: {one}" for path, found in wrong.items() for one in found]
    assert not listed, "\n".join(listed)


def test_axe_can_fail(opened: Any) -> None:
    page = opened("/check/")
    page.evaluate(
        "document.querySelector('label[for=text]').remove(); document.querySelector('#text').placeholder = ''"
    )
    assert any(one.startswith("label") for one in serious(page))


def test_without_a_script_a_report_can_be_read(service: Service, opened: Any) -> None:
    page = opened(sample(service), java_script_enabled=False, **PHONE)
    assert "Водонапорные башни" in page.locator("ol.sources").first.inner_text()
    assert not page.locator("[data-go-to]").first.is_visible(), "what needs the script is not there"
    page.locator("a.mk").first.click()
    page.wait_for_url("**/source/**")
    assert page.locator(".beside .text").count() == 2
