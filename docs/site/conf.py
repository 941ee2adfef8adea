"""Sphinx: the pages of docs/ and python/docs/ and the gallery, as `scripts/docs.sh` lays them out."""

import os
from importlib.metadata import version as installed

project = "keepnet"
author = "the keepnet authors"
version = release = installed("keepnet")
extensions = ["myst_parser", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["gallery/README.rst", "gallery/*.py"]
html_theme = "furo"
html_title = f"keepnet {version}"

# Headings have the anchors that they have on a page of the repository.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

sphinx_gallery_conf = {
    "examples_dirs": os.environ["KEEPNET_GALLERY"],
    "gallery_dirs": "examples-gallery",
    "filename_pattern": "plot_",
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
}
# Lexers do not know every console session; text is shown as it is then.
suppress_warnings = ["config.cache"]
