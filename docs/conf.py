"""The site: `make docs` builds it into docs/_build/html, with warnings as errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]
# a page must come out the same on every machine, whatever data lie there
os.environ.pop("KERNELET_DATA", None)

import kernelet  # noqa: E402  # after the path and the data are settled

project = "kernelet"
author = "The kernelet developers"
project_copyright = author
version = release = kernelet.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
    "evidence",
    "commands",
    "outside_links",
    "layers",
    "names",
]
exclude_patterns = [
    "_build",
    "_extensions",
    "_start",
    "start/*.py",
    "**/GALLERY_HEADER.rst",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
suppress_warnings = [
    # examples keep no notes of their run time between builds
    "config.cache",
]
nitpicky = True
default_role = "py:obj"
# Types of the standard library and of scikit-learn in signatures: this site has no network to
# look them up in.
nitpick_ignore_regex = [("py:.*", r"(?!kernelet\.).*")]

templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme = "pydata_sphinx_theme"
html_title = "kernelet"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
# Pages that stand alone have no neighbours to list beside them.
html_sidebars = {"index": [], "choosing": [], "evidence": [], "start/*": [], "search": []}
html_theme_options = {
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
    "show_prev_next": False,
    # the first page is short
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# `predict()` in the list of contents, where `SparseSVC.predict()` is too long for its column
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples", "_start"],
    "gallery_dirs": ["gallery", "start"],
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "doc_module": ("kernelet",),
    "backreferences_dir": "reference/made/examples",
    "reference_url": {"kernelet": None},
    "plot_gallery": "True",
}
