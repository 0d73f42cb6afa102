"""The demo's page in a browser: by mouse and keyboard, in light and dark, without a network."""

import base64
import json
import math
import re

import numpy as np
import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from handwriting import STROKES, jumps
from kernelet import KernelMachine
from kernelet.export.documents import without_formulas
from kernelet.kernels import kernel_from_specification

AXES = ("vectors", "microseconds_per_row", "model_bytes", "fit_seconds")


def one(page, selector):
    return page.find_element(By.CSS_SELECTOR, selector)


def every(page, selector):
    return page.find_elements(By.CSS_SELECTOR, selector)


def text_of(page, element_id):
    return page.execute_script(
        "return document.getElementById(arguments[0]).textContent", element_id
    )


def scroll_to(page, element):
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)


def press(page, element):
    scroll_to(page, element)
    ActionChains(page).move_to_element(element).click().perform()


def show(browser, demo_run, scheme="light", width=1200, height=1000):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get(demo_run.page.as_uri())
    WebDriverWait(browser, 60).until(
        lambda page: page.execute_script("return document.documentElement.dataset.ready")
    )


@pytest.fixture
def page(browser, demo_run):
    browser.get_log("browser")  # what earlier tests have left there
    browser.get_log("performance")
    show(browser, demo_run)
    yield browser
    messages = [entry["message"] for entry in browser.get_log("browser")]
    assert messages == [], "the page has something to complain about"


@pytest.fixture(scope="module")
def data(demo_run):
    text = demo_run.page.read_text(encoding="utf-8")
    pattern = r'<script type="application/json" id="data">(.*?)</script>'
    return json.loads(re.search(pattern, text, re.DOTALL).group(1))


def machine_of(model):
    """The machine that a page holds, made again in Python."""
    kernel = kernel_from_specification(without_formulas(model["kernel"]))
    Z = np.reshape(model["vectors"], (model["nVectors"], model["nFeatures"]))
    beta = np.reshape(model["coefficients"], (model["nVectors"], model["nOutputs"]))
    return KernelMachine(kernel, Z, beta, model["intercepts"])


def test_page_opens_without_a_network(page, demo_run):
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    # the browser's own first page asks for things of its own
    asked = [p["request"]["url"] for p in sent if p["documentURL"] == demo_run.page.as_uri()]
    assert [url for url in asked if not url.startswith("data:")] == [demo_run.page.as_uri()]


def test_hovering_a_point_shows_its_figures(page, data):
    tooltip = one(page, "#tooltip")
    assert not tooltip.is_displayed()
    model = next(entry for entry in data["models"] if entry["model"] == "SparseSVC, 20")
    point = one(page, '.point[data-model="SparseSVC, 20"]')
    scroll_to(page, point)
    ActionChains(page).move_to_element(point).perform()
    assert tooltip.is_displayed()
    assert "SparseSVC, 20" in tooltip.text
    assert f"{100 * model['test_error']:.1f} %" in tooltip.text
    assert "11.9 kB" in tooltip.text
    assert len(every(page, ".series.faded")) > 0
    ActionChains(page).move_to_element(one(page, "#frontier-title")).perform()
    assert not tooltip.is_displayed()
    assert every(page, ".series.faded") == []


def places(page):
    points = page.execute_script(
        "return [...document.querySelectorAll('.point')].map("
        "(node) => [node.dataset.model, node.getAttribute('transform')])"
    )
    return {name: tuple(map(float, re.findall(r"[-\d.]+", place))) for name, place in points}


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("log", [True, False])
def test_points_lie_where_their_figures_say(page, data, axis, log):
    press(page, one(page, f'#frontier-axis input[value="{axis}"]'))
    if not log:
        press(page, one(page, "#frontier-log-x"))
    found = places(page)
    assert set(found) == {entry["model"] for entry in data["models"]}
    by_cost = sorted(data["models"], key=lambda entry: entry[axis])
    low, high = by_cost[0], by_cost[-1]
    position = math.log if log else float
    for entry in data["models"]:
        share = (position(entry[axis]) - position(low[axis])) / (
            position(high[axis]) - position(low[axis])
        )
        left, right = found[low["model"]][0], found[high["model"]][0]
        assert found[entry["model"]][0] == pytest.approx(left + share * (right - left), abs=0.01)
    assert (
        axis.split("_")[0].replace("fit", "fit time").replace("model", "model size")
        in one(page, ".chart .title").text
    )
    line = one(page, ".chart .reference")
    assert float(line.get_attribute("y1")) == pytest.approx(found["SVC of scikit-learn"][1])


def test_errors_up_the_chart(page, data):
    found = places(page)
    worse = sorted(data["models"], key=lambda entry: entry["test_error"])
    heights = [found[entry["model"]][1] for entry in worse]
    assert heights == sorted(heights, reverse=True)
    press(page, one(page, "#frontier-log-y"))
    assert places(page) != found


def test_methods_can_be_hidden(page, data):
    button = next(b for b in every(page, "#frontier-legend button") if b.text == "ReducedSVC")
    press(page, button)
    assert button.get_attribute("aria-pressed") == "false"
    assert not any(name.startswith("ReducedSVC") for name in places(page))
    press(page, button)
    assert set(places(page)) == {entry["model"] for entry in data["models"]}


def test_chart_by_keyboard(page):
    page.execute_script("document.querySelector('#frontier-log-y').focus()")
    ActionChains(page).send_keys(Keys.TAB).perform()
    first = page.switch_to.active_element.get_attribute("data-model")
    assert first == "SparseSVC, 10"
    assert "SparseSVC, 10" in one(page, "#tooltip").text
    ActionChains(page).send_keys(Keys.ARROW_RIGHT).perform()
    assert page.switch_to.active_element.get_attribute("data-model") == "SparseSVC, 20"
    assert "SparseSVC, 20" in one(page, "#tooltip").text
    ActionChains(page).send_keys(Keys.TAB).perform()  # one stop for the whole chart
    assert page.switch_to.active_element.tag_name == "button"


def test_vectors_as_images(page, data):
    assert len(every(page, "#vectors-gallery button")) == 20
    Select(one(page, "#vectors-size")).select_by_visible_text("50")
    assert len(every(page, "#vectors-gallery button")) == 50
    for name in dict.fromkeys(entry["method"] for entry in data["models"]):
        Select(one(page, "#vectors-method")).select_by_visible_text(name)
        sizes = [entry["vectors"] for entry in data["models"] if entry["method"] == name]
        shown = int(text_of(page, "vectors-summary").split()[0])
        assert shown == (50 if 50 in sizes else sizes[0])
        assert len(every(page, "#vectors-gallery button")) == min(100, shown)
    Select(one(page, "#vectors-method")).select_by_visible_text("SparseSVC")
    third = every(page, "#vectors-gallery button")[2]
    scroll_to(page, third)
    ActionChains(page).move_to_element(third).perform()
    assert "Vector 3 of 50" in one(page, "#vectors-detail").text
    ActionChains(page).click().send_keys(Keys.ARROW_RIGHT).perform()
    assert "Vector 4 of 50" in one(page, "#vectors-detail").text
    assert len(every(page, "#vectors-detail .track")) == 10


def test_images_are_the_vectors(page, data):
    """Ink where the vector is large: the darkest pixel is its largest."""
    entry = next(entry for entry in data["models"] if entry["model"] == "ReducedSVC, 20")
    Select(one(page, "#vectors-method")).select_by_visible_text("ReducedSVC")
    vector = np.frombuffer(base64.b64decode(entry["pictures"]["bytes"]), np.uint8)[:64].astype(int)
    pixels = page.execute_script(
        "const canvas = document.querySelector('#vectors-gallery canvas');"
        "return [...canvas.getContext('2d').getImageData(0, 0, 8, 8).data]"
    )
    red = np.array(pixels).reshape(64, 4)[:, 0]
    assert np.corrcoef(vector, red)[0, 1] < -0.99


def test_a_digit_is_read_as_python_reads_it(page, data):
    writer = data["writer"]
    machine = machine_of(writer["model"])
    for example in writer["examples"]:
        scores = machine.decision_function([np.array(example) / 16.0])[0]
        values = [float(node.text) for node in every(page, "#draw-scores .value")]
        np.testing.assert_allclose(values, scores, atol=0.0051)
        label = str(writer["model"]["classes"][scores.argmax()])
        assert text_of(page, "draw-answer") == (label if scores.max() > 0 else "unsure")
        press(page, one(page, "#draw-next"))


def write(page, strokes):
    """Strokes on a clean pad by a mouse that jumps from place to place, with nothing between."""
    press(page, one(page, "#draw-clear"))
    pad = one(page, "#draw-canvas")
    scroll_to(page, pad)
    chain = ActionChains(page, duration=0)
    for stroke in strokes:
        (x, y), *others = stroke
        chain.move_to_element_with_offset(pad, int(x), int(y)).click_and_hold()
        for x, y in others:
            chain.move_to_element_with_offset(pad, int(x), int(y))
        chain.release()
    chain.perform()


@pytest.mark.parametrize("slant", [0.0, 0.25])
def test_ten_digits_of_a_mouse_are_read(page, screenshots, slant):
    read = {}
    for digit, strokes in STROKES.items():
        places = [jumps(stroke, 240, 20, slant) - (120, 120) for stroke in strokes]
        write(page, places)
        for stroke in places:
            assert np.hypot(*np.diff(stroke, axis=0).T)[:-1].min() > 19
        read[digit] = text_of(page, "draw-answer")
        assert page.save_screenshot(str(screenshots / f"written-{digit}-{slant}.png"))
    assert sum(str(digit) == answer for digit, answer in read.items()) >= 8, read


def scores_shown(page):
    return [float(node.text) for node in every(page, "#draw-scores .value")]


def test_strokes_are_joined(page):
    """Two places at the ends of a line are the line."""
    answers = []
    for places in ([(0, -120), (0, 120)], [(0, y) for y in range(-120, 121, 10)]):
        write(page, [places])
        answers.append((text_of(page, "draw-answer"), scores_shown(page)))
    assert answers[0] == answers[1]
    assert answers[0][0] == "1"
    ActionChains(page).send_keys(Keys.ARROW_RIGHT, Keys.SPACE).perform()
    assert scores_shown(page) != answers[0][1]


def test_places_between_two_frames_count(page):
    """A pen that writes within one frame: its moves come as one event, of several places."""
    write(page, [])
    seen = page.execute_script(
        "const pad = document.getElementById('draw-canvas'), box = pad.getBoundingClientRect();"
        "const at = (kind, places, options) => { const all = places.map(([x, y]) =>"
        " new PointerEvent(kind, {pointerId: 1, clientX: box.left + x, clientY: box.top + y,"
        " buttons: 1})); const last = all[all.length - 1];"
        " return new PointerEvent(kind, {pointerId: 1, clientX: last.clientX,"
        " clientY: last.clientY, buttons: 1, coalescedEvents: all}); };"
        "pad.setPointerCapture = () => {};"
        "const row = () => document.getElementById('draw-seen').toDataURL();"
        "const images = [];"
        "for (const places of [[[60, 260], [260, 260]], [[60, 40], [60, 260], [260, 260]]]) {"
        " document.getElementById('draw-clear').click();"
        " pad.dispatchEvent(at('pointerdown', [[60, 40]]));"
        " pad.dispatchEvent(at('pointermove', places));"
        " pad.dispatchEvent(at('pointerup', [[260, 260]])); images.push(row()); }"
        "return images"
    )
    assert seen[0] == seen[1]
    write(page, [[(-100, -120), (100, 100)]])  # what the last place alone would be
    assert picture(page, "#draw-seen") not in seen


# A cross, a dot, a plus, a triangle, a zigzag, a grid: not one of ten digits.
DRAWINGS = (
    [[(-100, -100), (100, 100)], [(-100, 100), (100, -100)]],
    [[(0, 0), (1, 1)]],
    [[(0, -100), (0, 100)], [(-100, 0), (100, 0)]],
    [[(0, -100), (100, 100), (-100, 100), (0, -100)]],
    [[(-100, -100), (-50, 100), (0, -100), (50, 100), (100, -100)]],
    [[(x, -100), (x, 100)] for x in (-80, 0, 80)] + [[(-100, y), (100, y)] for y in (-50, 50)],
)


def test_it_says_when_it_is_unsure(page, data):
    press(page, one(page, "#draw-clear"))
    assert text_of(page, "draw-answer") == "unsure"
    found = set()
    for strokes in DRAWINGS:
        write(page, strokes)
        unsure = max(scores_shown(page)) <= 0
        assert (text_of(page, "draw-answer") == "unsure") == unsure
        assert text_of(page, "draw-says") == ("It is" if unsure else "It reads")
        found.add(unsure)
    for _ in data["writer"]["examples"]:
        press(page, one(page, "#draw-next"))
        unsure = max(scores_shown(page)) <= 0
        assert (text_of(page, "draw-answer") == "unsure") == unsure
        found.add(unsure)
    assert found == {False, True}


def choose_method(page, name):
    place = [node.text.split("\n")[0] for node in every(page, "#board-method .option")].index(name)
    press(page, every(page, "#board-method input")[place])


def choose_size(page, place):
    page.execute_script(
        "const slider = document.getElementById('board-size'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input', {bubbles: true}))",
        str(place),
    )


def test_board_is_evaluated_live(page, data):
    """f under the pointer is what Python says, for every method and size."""
    canvas = one(page, "#board-canvas")
    compared = 0
    for method in data["board"]["methods"]:
        choose_method(page, method["name"])
        for place, entry in enumerate(method["machines"]):
            choose_size(page, place)
            assert text_of(page, "board-count") == str(entry["model"]["nVectors"])
            assert text_of(page, "board-error") == f"{100 * entry['error']:.1f} %"
            scroll_to(page, canvas)
            ActionChains(page).move_to_element_with_offset(
                canvas, 10 * (place + 1), 7 * place - 50
            ).perform()
            live = page.execute_script(
                "return {...document.getElementById('board-readout').dataset}"
            )
            x = np.array([[float(live["x"]), float(live["y"])]])
            machine = machine_of(entry["model"])
            K = machine.kernel(x, np.asarray(machine.vectors))[0]
            reach = np.square(x).sum() + np.square(machine.vectors).sum(axis=1).max()
            terms = np.abs(K * machine.coefficients[:, 0]).sum() + abs(machine.intercepts[0])
            limit = 1e-12 * (1 + machine.kernel.gamma * reach) * terms
            assert abs(float(live["value"]) - machine.decision_function(x)[0]) <= limit
            compared += 1
    assert compared > 30


def picture(page, selector):
    return page.execute_script("return document.querySelector(arguments[0]).toDataURL()", selector)


def test_board_shows_what_is_chosen(page):
    seen = [picture(page, "#board-canvas")]
    for step in (
        lambda: choose_method(page, "ReducedSVC"),
        lambda: choose_size(page, 5),
        lambda: press(page, one(page, "#board-data")),
        lambda: press(page, one(page, "#board-vectors")),
        lambda: press(page, one(page, "#board-margins")),
    ):
        step()
        seen.append(picture(page, "#board-canvas"))
    assert len(set(seen)) == len(seen)


def test_board_plays(page):
    choose_method(page, "SparseSVC")
    choose_size(page, 0)
    assert text_of(page, "board-count") == "4"
    press(page, one(page, "#board-play"))
    WebDriverWait(page, 20).until(lambda p: text_of(p, "board-count") == "48")
    WebDriverWait(page, 5).until(lambda p: text_of(p, "board-play") == "Play")


def test_board_by_keyboard(page):
    page.execute_script("document.querySelector('#board-method input:checked').focus()")
    ActionChains(page).send_keys(Keys.ARROW_DOWN).perform()
    assert one(page, "#board-canvas").get_attribute("aria-label").startswith("compress, ")
    page.execute_script("document.querySelector('#board-size').focus()")
    before = text_of(page, "board-count")
    ActionChains(page).send_keys(Keys.ARROW_RIGHT).perform()
    assert int(text_of(page, "board-count")) > int(before)


def brightness(page):
    colour = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


def test_light_and_dark(page, demo_run, screenshots):
    assert brightness(page) > 200
    light = picture(page, "#board-canvas")
    press(page, one(page, "#theme"))
    assert brightness(page) < 60
    assert picture(page, "#board-canvas") != light
    show(page, demo_run, "dark", 1200, 4900)
    assert brightness(page) < 60
    assert page.save_screenshot(str(screenshots / "demo-dark.png"))
    show(page, demo_run, "light", 1200, 4900)
    assert page.save_screenshot(str(screenshots / "demo-light.png"))


@pytest.mark.parametrize("width", [360, 390, 768, 1600])
def test_every_width(page, demo_run, screenshots, width):
    show(page, demo_run, width=width)
    assert page.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert page.save_screenshot(str(screenshots / f"demo-{width}.png"))
    assert len(places(page)) > 10


def box_of(page, selector):
    script = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"
    return page.execute_script(script, selector)


def test_a_phone_shows_the_chart_at_once(page, demo_run):
    """All points of it, on 390 by 844 pixels, before anybody has scrolled."""
    show(page, demo_run, width=390, height=844)
    points = page.execute_script(
        "return [...document.querySelectorAll('.point .mark')].map("
        "(node) => node.getBoundingClientRect().bottom)"
    )
    assert len(points) > 10 and max(points) < 844
    assert box_of(page, "#frontier")["top"] < 844 / 2
    # below it, what changes it
    assert box_of(page, "#frontier-axis")["top"] > box_of(page, ".chart svg")["bottom"]


@pytest.mark.parametrize("width", [360, 390])
def test_the_table_scrolls_inside_its_card(page, demo_run, screenshots, width):
    show(page, demo_run, width=width, height=844)
    card, scroll = box_of(page, "#figures"), box_of(page, "#figures .scroll")
    assert card["left"] <= scroll["left"] and scroll["right"] <= card["right"] <= width
    n_columns = len(every(page, "#figures thead th"))
    names = "#figures tbody tr:nth-child(2) th"
    for column in range(2, n_columns + 1):
        selector = f"#figures tbody tr:nth-child(2) td:nth-child({column})"
        page.execute_script(
            "const cell = document.querySelector(arguments[0]), scroll = cell.closest('.scroll');"
            "scroll.scrollLeft = cell.offsetLeft - scroll.clientWidth + cell.offsetWidth",
            selector,
        )
        cell, name = box_of(page, selector), box_of(page, names)
        # beside the names, which stay where they are
        assert name["left"] == pytest.approx(scroll["left"], abs=1.0)
        assert name["right"] <= cell["left"] + 1 and cell["right"] <= scroll["right"] + 1
    assert page.save_screenshot(str(screenshots / f"table-{width}.png"))


def test_everything_to_press_has_a_name(page):
    nameless = page.execute_script(
        "return [...document.querySelectorAll('button, select, input, canvas[tabindex]')].filter("
        "(node) => !(node.textContent.trim() || node.getAttribute('aria-label')"
        " || node.labels?.length)).map((node) => node.outerHTML)"
    )
    assert nameless == []
