"""The demo as anybody runs it, once, and its page in a headless browser without a network."""

import json
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--window-size=1200,1000",
)


@dataclass
class DemoRun:
    report: dict
    page: Path
    cpu_seconds: float


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory):
    page = tmp_path_factory.mktemp("demo") / "demo.html"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "kernelet", "demo", "--json", "-o", str(page)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return DemoRun(json.loads(done.stdout), page, seconds)


def _program(*names):
    for name in names:
        if path := shutil.which(name):
            return path
    return pytest.fail(
        f"these tests need {names[0]}; on Debian: apt install chromium chromium-driver"
    )


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = _program("chromium", "chromium-browser", "google-chrome")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(_program("chromedriver", "chromium.chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    """A folder for pictures of the page; KERNELET_SCREENSHOTS names one to keep."""
    folder = os.environ.get("KERNELET_SCREENSHOTS")
    if folder is None:
        return tmp_path_factory.mktemp("screenshots")
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)
