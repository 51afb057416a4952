"""Generated HTML pages: their templates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2


def template(path: Path, **filters: Callable[[Any], str]) -> jinja2.Template:
    """Load the template of a page.

    A name that it uses and is not given is an error (jinja2.UndefinedError), not an empty text.

    Parameters
    ----------
    path : Path
    filters : callable
        What it calls as ``value | name``.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= filters
    return environment.get_template(path.name)
