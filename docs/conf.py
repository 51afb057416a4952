"""How Sphinx builds the site from the repository's pages: `make docs`."""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "Multibody dynamics on an FPGA"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",  # formulas without a network
]
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "sw/README.md"]
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = project
html_extra_path = ["site"]  # the first page of the folder leads to ours
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give types and shapes
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
suppress_warnings = ["ref.python"]  # shapes name sizes, as nq, that several classes have


def setup(app: Sphinx) -> None:
    """Show the diagrams that GitHub draws (mermaid) as their text."""
    app.add_lexer("mermaid", TextLexer)
