"""The site on a laptop and on a phone: nothing is cut off, and no page scrolls sideways."""

import pytest

from documents import ROOT

SITE = ROOT / "docs" / "_build" / "html"
# Templates of the theme, and what only scripts fill.
OTHERS = ("_static/", "genindex.html", "search.html")
LAPTOP, PHONE = 1280, 390
# When fonts and formulas are there, the page does not move any more.
READY = """
const done = arguments[0];
const formulas = window.MathJax ? MathJax.startup.promise : Promise.resolve();
formulas.then(() => document.fonts.ready).then(() => requestAnimationFrame(() => done()));
"""
# What ends to the right of its column, and formulas that have to be scrolled.
CUT_OFF = """
const found = [];
const note = (thing, beyond) => {
  if (beyond > 1) {
    const text = thing.textContent.trim().slice(0, 60);
    found.push(`${thing.tagName.toLowerCase()} by ${Math.round(beyond)}: ${text}`);
  }
};
const right = (thing) => thing.getBoundingClientRect().right;
const hidden = (thing) => thing.scrollWidth - thing.clientWidth;
for (const column of document.querySelectorAll("article.bd-article")) {
  const edge = right(column) - parseFloat(getComputedStyle(column).paddingRight);
  for (const thing of column.querySelectorAll("mjx-container, table, img, svg, .beside pre")) {
    note(thing, right(thing) - edge);
  }
  for (const thing of column.querySelectorAll("mjx-container[display=true], .beside pre")) {
    note(thing, hidden(thing));
  }
}
for (const column of document.querySelectorAll(".bd-sidebar-primary, .bd-sidebar-secondary")) {
  for (const link of column.querySelectorAll("nav a, nav a *")) {
    if (column.checkVisibility() && link.checkVisibility()) note(link, right(link) - right(column));
  }
}
return found;
"""
# How wide a page is, and how far a paragraph reaches beyond its column where no table holds it.
ON_A_PHONE = """
const column = document.querySelector("article.bd-article");
const edge = column ? column.getBoundingClientRect().right : 0;
const texts = column ? [...column.querySelectorAll("p, dt, li, h1, h2, h3, .sig")] : [];
const beyond = texts.filter((text) => !text.closest("table"))
  .map((text) => text.getBoundingClientRect().right - edge);
return [document.documentElement.scrollWidth, Math.max(0, ...beyond)];
"""


def pages():
    return [
        page.relative_to(SITE).as_posix()
        for page in sorted(SITE.rglob("*.html"))
        if not page.relative_to(SITE).as_posix().startswith(OTHERS)
    ]


def set_width(browser, width):
    shape = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)


def open_page(browser, page, width):
    set_width(browser, width)
    browser.get((SITE / page).as_uri())
    browser.execute_async_script(READY)


@pytest.fixture(scope="module")
def seen(browser):
    """Every page once: what is cut off on a laptop, and how wide page and text are on a phone."""
    found = {}
    for page in pages():
        open_page(browser, page, LAPTOP)
        cut_off = browser.execute_script(CUT_OFF)
        set_width(browser, PHONE)
        found[page] = cut_off, browser.execute_script(ON_A_PHONE)
    return found


def test_the_site_is_there():
    wanted = {"index.html", "choosing.html", "reference/made/kernelet.SparseSVC.html"}
    assert wanted <= set(pages()), "`make site` builds the pages"


def test_nothing_is_cut_off_on_a_laptop(seen):
    assert {page: cut_off for page, (cut_off, _) in seen.items() if cut_off} == {}


def test_no_page_scrolls_sideways_on_a_phone(seen):
    assert {page: width for page, (_, (width, _)) in seen.items() if width > PHONE} == {}


def test_text_stays_in_its_column_on_a_phone(seen):
    assert {page: beyond for page, (_, (_, beyond)) in seen.items() if beyond > 1} == {}


def test_doors_can_be_pressed_on_a_phone(browser):
    for number in range(4):
        open_page(browser, "index.html", PHONE)
        doors = browser.find_elements("css selector", ".doors a")
        assert len(doors) == 4
        target = doors[number].get_attribute("href")
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", doors[number])
        doors[number].click()
        assert browser.current_url == target


@pytest.mark.parametrize("width", [LAPTOP, PHONE])
@pytest.mark.parametrize(
    "page",
    [
        *(
            "index",
            "choosing",
            "howto/which_small_model",
            "howto/compress",
            "howto/microcontroller",
        ),
        *("reference/made/kernelet.SparseSVC", "theory/direct_method", "reference/command_line"),
    ],
)
def test_pictures_of_pages(browser, screenshots, page, width):
    """To look at: KERNELET_SCREENSHOTS names a folder that keeps them."""
    open_page(browser, f"{page}.html", width)
    height = browser.execute_script("return document.documentElement.scrollHeight")
    shape = {"width": width, "height": min(height, 8000), "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)
    name = f"site-{page.rpartition('/')[2]}-{width}.png"
    assert browser.save_screenshot(str(screenshots / name))
