"""A library is added on a page from a real site, looked at first, watched while it fills, paused and searched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from library_simulator import Library, Site
from web_service import Service, running

pytestmark = pytest.mark.covers("L1", "L2", "L5", "L8", "S1")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("filling")
    settings = folder / "doublet.toml"
    settings.write_text("fetch_delay_s = 0.1\nmin_words = 5\n", encoding="utf-8")
    with running(folder, "--empty", "--allow-private", "--config", str(settings)) as made:
        yield made


@pytest.fixture
def page(browser: Any, service: Service) -> Iterator[Any]:
    errors: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en")
    context.add_cookies(
        [{"name": one.name, "value": one.value, "url": service.base} for one in service.administrator()._jar]
    )
    made = context.new_page()
    made.on("pageerror", lambda error: errors.append(str(error)))
    yield made
    context.close()
    assert not errors


def test_a_site_is_previewed_added_watched_paused_and_searched(service: Service, page: Any) -> None:
    with Site(Library(documents=5_000)) as site:
        page.goto(f"{service.base}/libraries/add/")
        page.get_by_text("A web site", exact=True).click()
        page.get_by_label("Name of the library").fill("Stories")
        page.get_by_label("Address of the site").fill(site.url + "/")
        page.get_by_label("Only addresses that contain").fill("post")
        page.locator("details:has(input[name=subdomains]) summary").click()
        page.get_by_label("Take the hosts below it too").check()
        page.get_by_role("button", name="Show what the robot would do").click()
        page.get_by_role("heading", name="Documents", exact=True).wait_for(timeout=90_000)
        assert "/post/" in page.locator("main").inner_text()
        page.get_by_role("button", name="Add and start").click()
        page.wait_for_url("**/libraries/Stories/")
        filled = "() => Number(document.querySelector('.tile b')?.textContent.replace(/\\D/g, ''))"
        page.wait_for_function(f"(most) => ({filled})() >= most", arg=5, timeout=90_000)
        page.get_by_role("button", name="Pause").click()
        page.get_by_text("paused", exact=True).wait_for(timeout=60_000)
        before = len(site.seen)
        page.reload()
        assert page.get_by_text("paused", exact=True).count() == 1
        assert page.get_by_role("button", name="Take out").count() == 1
        assert len(site.seen) == before, "nobody asks the site any more"
        stored = page.evaluate(filled)
        page.get_by_role("button", name="Go on").click()
        page.wait_for_function(f"(most) => ({filled})() > most", arg=stored, timeout=90_000)
        page.get_by_role("button", name="Take out").click()
        page.get_by_text("cancelled", exact=True).first.wait_for(timeout=60_000)
        assert page.evaluate(filled) > stored, "what was indexed stays"
