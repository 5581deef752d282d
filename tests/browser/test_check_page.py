"""The page of a check in a real browser: click, keyboard, address bar, filters, phone width, print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doublet.cli import run
from doublet.jobs.check import check
from doublet.model import Document
from doublet.reports.check_html import check_page

pytestmark = pytest.mark.covers("S4")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, root: Path) -> str:
    """The sample work, with a long beginning so that places are far down."""
    text = (root / "examples" / "work.txt").read_text(encoding="utf-8")
    lines = (root / "examples" / "library.jsonl").read_text(encoding="utf-8").splitlines()
    filler = "\n\n".join(
        f"Абзац {i} — ни у кого не взят 🙂 и нигде не повторён, число {i * i}." for i in range(80)
    )
    documents = [json.loads(line) for line in lines]
    for document in documents:
        document["text"] = f"{filler[::-1]}\n\n{document['text']}"
    result = check(f"{filler}\n\n{text}", documents)
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(check_page(result, f"{filler}\n\n{text}", name="work.txt"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    options = getattr(request, "param", {"viewport": {"width": 1280, "height": 900}})
    context = browser.new_context(**options)
    opened = context.new_page()
    errors: list[str] = []
    asked: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("request", lambda one: asked.append(one.url))
    yield opened
    context.close()
    assert not errors
    assert all(url.startswith("file:") for url in asked), "the page asked for something outside"


PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
SEEN = """([box, node]) => {
  const outer = document.querySelector(box).getBoundingClientRect();
  const inner = document.querySelector(node).getClientRects()[0];
  return inner.bottom > outer.top && inner.top < outer.bottom && inner.bottom > 0 && inner.top < innerHeight;
}"""


def arrives(page: Any, fragment: str) -> None:
    """Waits until the address ends so; the browser tells the script's changes a little later."""
    page.wait_for_function("hash => location.hash === hash", arg=fragment, timeout=10_000)


def beside(page: Any, fragment: str) -> bool:
    """The source of a fragment is shown and scrolled to its place, in the colour of the fragment."""
    shown = page.locator(".beside article.shown")
    assert shown.count() == 1
    colours = page.evaluate(
        "id => ['.document', '.beside .shown'].map(where => getComputedStyle(document.querySelector("
        "`${where} .f[data-f~='${id}']`)).backgroundColor)",
        fragment,
    )
    assert colours[0] == colours[1]
    return bool(page.evaluate(SEEN, [".beside .shown .text", f".beside .shown .f[data-f~='{fragment}']"]))


def test_click_shows_the_source_at_the_place(page: Any, report: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(report)
    assert not page.locator(".beside").is_visible()
    page.locator(".document a[data-f~='s2f1']").first.click()
    arrives(page, "#s2f1")
    assert beside(page, "s2f1")
    assert page.locator(".beside .shown .text").evaluate("box => box.scrollTop") > 100
    page.locator(".chips a[data-id='s1f2']").click()
    arrives(page, "#s1f2")
    assert beside(page, "s1f2")
    assert page.locator(".source.now").get_attribute("data-number") == "1"
    assert "Source 1" in page.locator("#live").text_content()
    page.keyboard.press("Escape")
    assert not page.locator(".beside").is_visible()
    arrives(page, "")


def test_next_passage_is_not_the_next_source_of_the_same(page: Any, tmp_path: Path) -> None:
    first = "the old harbour was filled with sand and the ships had to wait outside for weeks every spring"
    second = "nobody had counted the bridges before the flood took three of them away in a single night"
    text = "\n\n".join((first, *(f"Line {i} is about something else altogether." for i in range(80)), second))
    result = check(text, [Document(id, part) for id, part in (("a", first), ("b", first), ("c", second))])
    target = tmp_path / "report.html"
    target.write_text(check_page(result, text), encoding="utf-8")
    page.emulate_media(reduced_motion="reduce")
    page.goto(target.as_uri())
    assert page.locator(".pair").count() == 3
    places = {one.id: one.span.start for one in result.fragments}
    seen = []
    for key in ("n", "n", "n", "p"):
        page.keyboard.press(key)
        seen.append(places[page.evaluate("location.hash.slice(1)")])
    assert seen == [0, text.index(second), 0, text.index(second)]
    page.evaluate("scrollTo(0, 600)")
    slim = page.locator(".slim").bounding_box()
    assert slim["y"] == 0, "score and buttons stay"
    assert slim["height"] < 90
    assert page.locator(".slim b").is_visible()
    assert page.locator(".slim button").first.is_visible()


def test_keyboard(page: Any, report: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(report)
    order = page.locator(".pair").evaluate_all("pairs => pairs.map(pair => pair.dataset.id)")
    page.keyboard.press("n")
    arrives(page, f"#{order[0]}")
    page.keyboard.press("ArrowRight")
    arrives(page, f"#{order[1]}")
    assert beside(page, order[1])
    assert page.evaluate(SEEN, ["body", f".document .f[data-f~='{order[1]}']"])
    page.keyboard.press("p")
    page.keyboard.press("p")
    arrives(page, f"#{order[-1]}")
    page.keyboard.press("Escape")
    first = page.locator(".document a.f").first
    for key in ("Enter", "Space"):
        first.focus()
        assert first.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
        page.keyboard.press(key)
        assert page.locator(".beside").is_visible()
        page.keyboard.press("Escape")


def test_opened_with_a_fragment(page: Any, report: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{report}#s3f1")
    assert beside(page, "s3f1")
    assert page.evaluate(SEEN, ["body", ".document .f[data-f~='s3f1']"])
    page.goto(f"{report}#no-such-fragment")
    page.goto(f"{report}#%E0%A4%A")


def test_filters(page: Any, report: str) -> None:
    page.goto(report)
    page.locator("input[name=source][value='1']").uncheck()
    # What only source 1 explains is plain now.
    assert page.locator(".document a[data-f='s1f1']").first.get_attribute("class") == "f off"
    assert not page.locator(".pair[data-id='s1f1']").is_visible()
    page.locator("input[name=source][value='1']").check()
    for box in page.locator("input[name=kind]").all():
        box.uncheck()
    assert page.locator(".document a.f:not(.off)").count() == 0
    assert page.locator("#live").text_content().startswith("0 of ")


def test_filtered_source_uncovers_the_next(page: Any, report: str) -> None:
    page.goto(report)
    shared = page.locator(".document a[data-f^='s2f'][data-f*=' s4f']").first
    assert "c2" in shared.get_attribute("class").split()
    page.locator("input[name=source][value='2']").uncheck()
    assert "c4" in shared.get_attribute("class").split()
    assert shared.get_attribute("href").startswith("#s4f")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_phone(page: Any, report: str) -> None:
    page.goto(report)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    place = page.locator(".document a[data-f~='s1f1']").first
    place.scroll_into_view_if_needed()
    place.tap()
    assert beside(page, "s1f1")
    # Both are on the screen at once, one above the other.
    text = page.evaluate(
        "document.querySelector(\".document .f[data-f~='s1f1']\").getClientRects()[0].bottom"
    )
    pane = page.locator(".beside").bounding_box()
    assert 0 < text < pane["y"]
    assert pane["width"] == 390
    page.locator(".beside .shown button").tap()
    assert not page.locator(".beside").is_visible()


@pytest.mark.parametrize(
    "page", [{"java_script_enabled": False, "viewport": {"width": 1280, "height": 900}}], indirect=True
)
def test_without_javascript(page: Any, report: str) -> None:
    page.goto(report)
    assert not page.locator(".beside").is_visible()
    page.locator(".document a[data-f~='s2f1']").first.click()
    page.wait_for_url("**#s2f1")
    assert page.locator(".beside article[data-source='2'] .text").is_visible()
    assert not page.locator(".beside article[data-source='1'] .text").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(page: Any, report: str, scheme: str) -> None:
    """Words, badges and grey words against what is behind them: 4.5 to 1 at least."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{report}#s1f1")
    worst = page.evaluate(
        """() => {
      const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const rgb = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data]; };
      const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
      const behind = node => { for (; node; node = node.parentElement) {
        const c = rgb(getComputedStyle(node).backgroundColor);
        if (c[3] === 255) return c; } return [255, 255, 255]; };
      const all = document.querySelectorAll(".f, .n, .quiet, .alarm, .sub, .chips a, button, dt, h2");
      return Math.min(...[...all].map(node => {
        const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))];
        return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); }));
    }"""
    )
    assert worst >= 4.5


def test_print_lists_all_passages(page: Any, report: str) -> None:
    page.goto(f"{report}#s1f1")
    page.emulate_media(media="print")
    assert not page.locator(".beside").is_visible()
    assert page.locator(".legend").is_visible(), "what the lines mean"
    assert page.locator(".pair").count() == page.locator(".pair:visible").count() > 3


@pytest.mark.usefixtures("browser")
def test_pdf_from_the_command_line(root: Path, tmp_path: Path) -> None:
    pdfium = pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    work, library = root / "examples" / "work.txt", root / "examples" / "library.jsonl"
    target = tmp_path / "report.pdf"
    arguments = ["check", str(work), "--against", str(library), "-q", "--language", "ru"]
    assert run([*arguments, "--format", "pdf", "--out", str(target)]) == 0
    document = pdfium.PdfDocument(target)
    text = "".join(sheet.get_textpage().get_text_range() for sheet in document)
    document.close()
    assert "Проверка: work.txt" in text
    assert "Все фрагменты рядом" in text
    assert "Водонапорная башня" in text
