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
        assert text_of(page, "draw-answer") == str(writer["model"]["classes"][scores.argmax()])
        press(page, one(page, "#draw-next"))


def test_a_digit_can_be_written(page):
    press(page, one(page, "#draw-clear"))
    before = [node.text for node in every(page, "#draw-scores .value")]
    pad = one(page, "#draw-canvas")
    scroll_to(page, pad)
    chain = ActionChains(page).move_to_element_with_offset(pad, 0, -120).click_and_hold()
    for _ in range(8):
        chain = chain.move_by_offset(0, 30)
    chain.release().perform()
    written = [node.text for node in every(page, "#draw-scores .value")]
    assert written != before
    assert text_of(page, "draw-answer") == "1"
    ActionChains(page).send_keys(Keys.ARROW_RIGHT, Keys.SPACE).perform()
    assert [node.text for node in every(page, "#draw-scores .value")] != written


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


@pytest.mark.parametrize("width", [360, 768, 1600])
def test_every_width(page, demo_run, screenshots, width):
    show(page, demo_run, width=width)
    assert page.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert page.save_screenshot(str(screenshots / f"demo-{width}.png"))
    assert len(places(page)) > 10


def test_everything_to_press_has_a_name(page):
    nameless = page.execute_script(
        "return [...document.querySelectorAll('button, select, input, canvas[tabindex]')].filter("
        "(node) => !(node.textContent.trim() || node.getAttribute('aria-label')"
        " || node.labels?.length)).map((node) => node.outerHTML)"
    )
    assert nameless == []
