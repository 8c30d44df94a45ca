# Configuration of Sphinx; scripts/build-docs copies it with all pages to build/docs-source and runs it there.
import pathlib
import re

project = "Lissom"
author = "The Lissom authors"
copyright = "The Lissom authors, BSD-3-Clause"
release = re.search(r"project\(lissom\s+VERSION\s+([\d.]+)", pathlib.Path("CMakeLists.txt").read_text())[1]

root_doc = "docs/index"
extensions = ["myst_parser", "sphinx.ext.mathjax"]
# the front page of GitHub; docs/index.md is that of the site
exclude_patterns = ["README.md", "CONTRIBUTING.md", "python/**"]
source_suffix = {".md": "markdown"}
# plain dollars for mathematics, as GitHub has them
myst_enable_extensions = ["dollarmath"]
# headings are anchors by GitHub's rule, so that links work in both places
myst_heading_anchors = 4
# a sentence that ends in "etc." is none of Sphinx' business
smartquotes = False
# nothing is fetched: Debian's MathJax lies beside the pages
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_CHTML"
mathjax2_config = {"tex2jax": {"inlineMath": [["\\(", "\\)"]], "displayMath": [["\\[", "\\]"]], "processClass": "math"},
                   "CommonHTML": {"scale": 95}, "messageStyle": "none", "showMathMenu": False}
# a code block that Pygments does not know (a deck of CalculiX) is shown as it is
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "text"

html_theme = "furo"
html_title = f"Lissom {release}"
html_static_path = ["docs/_static"]
html_extra_path = ["docs/_extra"]
html_css_files = ["lissom.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
