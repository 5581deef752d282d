"""The page of repeats in a real browser: walk with the keyboard, decide, export, phone width, odd characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import doublet
from doublet.reports.repeats_html import repeats_page

pytestmark = pytest.mark.covers("P7")
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
LONG = """The whole procedure takes an hour. Loosen four brass screws below the cover, and lift it with both
hands. Under the cover you see a grey cable that leads to the fan. Pull its plug out without bending
any pins. Now slide the old filter towards yourself until it clicks. Dust falls from it, so keep a
cloth ready. The new filter has an arrow which must point upwards. Push it in, listen for the click,
and connect that cable again. A red lamp blinks twice when all is well. If it stays dark, look
whether a fuse has blown. Put the cover back last, because its edge holds the eleventh seal in
place. Write the date on the label inside the door, as the inspector will ask for it next spring."""
OTHER = "Whoever reads this far may as well know who wrote it, and when, and for which of the two machines."
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.fixture(scope="module")
def result() -> doublet.Repeats:
    steps = (
        "Before you begin, close all other programs and make sure that the battery is charged to at least {}."
    )
    warning = f"Never open the case while\u00a0the lamp {FAMILY} is lit, or the warranty is void at once."
    return doublet.find_repeats(
        {
            "install.md": f"# Install\n\n{steps.format('half')}\n\n{LONG}\n\n{warning}\n",
            "update.md": f"# Update\n\n{steps.format('one third')}\n\n{warning}\n",
            "remove.md": f"# Remove\n\n{LONG.replace('procedure', 'process')}\n\n{steps.format('half')}\n",
        }
    )


@pytest.fixture(scope="module")
def address(result: doublet.Repeats, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "repeats.html"
    path.write_text(repeats_page(result), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    context = browser.new_context(**getattr(request, "param", {"viewport": {"width": 1280, "height": 900}}))
    opened = context.new_page()
    errors: list[str] = []
    asked: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("request", lambda one: asked.append(one.url))
    opened.goto(address)
    yield opened
    context.close()
    assert not errors
    assert all(url.startswith(("file:", "blob:")) for url in asked), "the page asked for something outside"


def test_it_works(page: Any, result: doublet.Repeats) -> None:
    assert len(result.groups) == 3
    assert page.locator(".group").count() == 3
    assert page.locator(".strip").count() == 3
    assert page.locator("#done").inner_text() == "0 of 3 decided"
    # By significance, and what the variants have in common with its variable places.
    saved = [group.words_saved for group in result.groups]
    assert page.locator(".saved").all_inner_texts() == [f"{words} words to save" for words in saved]
    card = page.locator(".group", has_text="battery")
    assert "charged to at least [1]" in card.locator(".archetype").inner_text()
    card.locator(".slots summary").click()
    assert card.locator(".slots li").inner_text() == "half or one third"
    assert [m.inner_text() for m in card.locator(".variant mark").all()] == ["half", "one third"]
    # Side by side.
    boxes = [variant.bounding_box() for variant in card.locator(".variant").all()]
    assert boxes[0]["y"] == boxes[1]["y"]


def test_a_bar_leads_to_its_group(page: Any) -> None:
    bar = page.locator(".strip a").first
    target = bar.get_attribute("href")
    bar.click()
    assert page.url.endswith(target)
    page.wait_for_function(
        "id => document.querySelector(id).getBoundingClientRect().top < innerHeight", arg=target
    )


@pytest.mark.parametrize("shape", [{"viewport": {"width": 1280, "height": 500}}, PHONE])
def test_a_link_to_a_kind_shows_its_title(browser: Any, shape: dict[str, Any], tmp_path: Path) -> None:
    """Below the tools, which stay at the top of the window."""
    lines = [line for line in LONG.replace("\n", " ").split(". ") if len(line.split()) > 7]
    steps = "\n\n".join(f"{line} at {hour}." for line in lines for hour in ("noon", "night"))
    result = doublet.find_repeats({"steps.md": steps, "one.md": OTHER, "two.md": OTHER})
    assert [group.kind for group in result.groups].count("neighbour") == len(lines)
    path = tmp_path / "page.html"
    path.write_text(repeats_page(result), encoding="utf-8")
    context = browser.new_context(**shape)
    opened = context.new_page()
    opened.goto(path.as_uri())
    opened.click('a[href="#neighbours"]')
    opened.wait_for_function("location.hash === '#neighbours'")
    tools, title = (opened.locator(one).bounding_box() for one in (".tools", "#neighbours"))
    assert tools["y"] + tools["height"] <= title["y"] < shape["viewport"]["height"]
    context.close()


def test_walk_decide_and_export_with_the_keyboard(page: Any, result: doublet.Repeats, tmp_path: Path) -> None:
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.keyboard.press("j")
    page.keyboard.press("i")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    page.keyboard.press("u")
    page.keyboard.press("h")
    assert page.evaluate("document.activeElement.id") == result.groups[1].id
    assert page.locator("#done").inner_text() == "2 of 3 decided"
    with page.expect_download() as waiting:
        page.keyboard.press("e")
    path = tmp_path / "decisions.json"
    waiting.value.save_as(path)
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert [(row["group"], row["decision"]) for row in kept["decisions"]] == [
        (result.groups[0].id, "merge"),
        (result.groups[1].id, "ignore"),
    ]
    first = result.groups[0].fragments[0]
    assert kept["decisions"][0]["fragments"][0] == {
        "file": first.file,
        "line": first.line,
        "start": first.start,
        "end": first.end,
        "wording": kept["decisions"][0]["fragments"][0]["wording"],
    }
    # Another run reads them back: its page has them decided, and the ignored group is the last.
    texts = {file.file: file.source for file in result.files}
    again = doublet.find_repeats(texts, decisions=kept)
    assert {group.id: group.decision for group in again.groups} == {
        result.groups[0].id: "merge",
        result.groups[1].id: "ignore",
        result.groups[2].id: "",
    }
    read_back = tmp_path / "again.html"
    read_back.write_text(repeats_page(again, title="again"), encoding="utf-8")
    page.evaluate("localStorage.clear()")
    page.goto(read_back.as_uri())
    assert page.locator("#done").inner_text() == "2 of 3 decided"
    assert page.locator('button[aria-pressed="true"]').all_inner_texts() == ["Merge", "Ignore"]
    page.go_back()
    page.evaluate("localStorage.clear()")
    page.reload()
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.keyboard.press("j")
    page.keyboard.press("i")
    page.reload()
    assert page.locator("#done").inner_text() == "2 of 3 decided"


def test_filter_by_decision(page: Any) -> None:
    page.locator(".group").nth(1).get_by_role("button", name="Keep").click()
    page.select_option("#show", "keep")
    assert page.locator(".group:visible").count() == 1
    page.select_option("#show", "")
    assert page.locator(".group:visible").count() == 2


def test_joined_emoji_and_fixed_blanks_are_shown(page: Any) -> None:
    shown = page.locator(".group", has_text="warranty").locator(".text").first.inner_text()
    assert FAMILY in shown
    assert "\ufffd" not in page.content()


def test_long_wordings_can_be_scrolled_with_the_keyboard(page: Any) -> None:
    long = page.locator(".group", has_text="eleventh").locator(".variant").first
    assert long.get_attribute("tabindex") == "0"
    assert page.locator(".group", has_text="battery").locator(".variant[tabindex]").count() == 0


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_phone(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    boxes = [v.bounding_box() for v in page.locator(".group", has_text="battery").locator(".variant").all()]
    assert boxes[0]["y"] < boxes[1]["y"]  # below each other
    for button in page.locator(".group").first.locator("button").all():
        assert button.bounding_box()["height"] >= 32
    page.locator(".group").first.get_by_role("button", name="Merge").tap()
    assert page.locator("#done").inner_text() == "1 of 3 decided"


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_the_bar_hides_no_title_on_a_phone(page: Any) -> None:
    for _ in range(2):
        page.keyboard.press("j")
    page.wait_for_timeout(100)
    bar = page.locator(".tools").bounding_box()
    title = page.locator(".group:focus h3").bounding_box()
    assert title["y"] >= bar["y"] + bar["height"]


def test_find_by_words_and_by_file_and_fold(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("Eleventh")
    assert page.locator(".group:visible").count() == 1
    page.fill("#find", "")
    page.select_option("#file", "update.md")
    assert page.locator(".group:visible").count() == 2
    page.select_option("#file", "")
    page.get_by_role("button", name="Fold all").click()
    assert page.locator(".variant:visible").count() == 0
    page.locator(".group").first.focus()
    page.keyboard.press("o")
    assert page.locator(".variant:visible").count() > 0
    page.get_by_role("button", name="Fold all").click()
    page.locator(".strip a").first.click()
    page.wait_for_function("document.querySelectorAll('details.body[open]').length === 1")
