"""What the how-tos of exports run outside Python: node, a browser, LIBSVM."""

import functools
import http.server
import subprocess
import threading

import numpy as np
import pytest
from selenium.webdriver.common.by import By

from documents import blocks, run_blocks
from run_node import need_node


def block(page, language):
    (found,) = [b.code for b in blocks(f"docs/howto/{page}.md") if b.language == language]
    return found


def _shown_below(code):
    """The block that follows one of the page on browsers."""
    found = blocks("docs/howto/browser.md")
    (place,) = [i for i, b in enumerate(found) if b.code == code]
    assert found[place + 1].language == "text"
    return found[place + 1].code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def flowers(folder):
    """The folder with what the page has written, and the model."""
    module, _ = run_blocks("docs/howto/browser.md")
    return folder, module


def test_node(flowers):
    need_node()
    folder, _ = flowers
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "iris-svm").symlink_to(folder / "iris-svm")  # as npm install does
    scripts = [b.code for b in blocks("docs/howto/browser.md") if b.language == "javascript"]
    assert len(scripts) == 2
    for script in scripts:
        (folder / "flower.mjs").write_text(script)
        done = subprocess.run(["node", "flower.mjs"], cwd=folder, capture_output=True, text=True)
        assert (done.stderr, done.stdout) == ("", _shown_below(script))


def test_page(flowers, browser):
    folder, module = flowers
    (folder / "iris.html").write_text(block("browser", "html"))
    browser.get(f"http://{_server(folder)}/iris.html")
    answer = browser.find_element(By.CSS_SELECTOR, "output")
    inputs = browser.find_elements(By.CSS_SELECTOR, "input")
    for _, row in module.table.sample(12, random_state=0).iterrows():
        for field in inputs:
            field.clear()
            field.send_keys(str(row[field.get_attribute("name")]))
        (expected,) = module.model.predict(row.to_frame().T)
        assert answer.text == expected
    # browsers ask every site for a picture of it
    messages = [entry["message"] for entry in browser.get_log("browser")]
    assert [text for text in messages if "favicon.ico" not in text] == []


def _server(folder):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"127.0.0.1:{server.server_port}"


def test_libsvm(folder):
    module, _ = run_blocks("docs/howto/json.md")
    subprocess.run(["sh", "-e", "-c", block("json", "sh")], cwd=folder, check=True)
    predicted = np.loadtxt(folder / "predicted.txt")
    np.testing.assert_array_equal(predicted, module.numbered.predict(module.X))
