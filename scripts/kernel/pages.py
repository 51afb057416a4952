"""Generated pages: their templates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2


def template(path: Path, **filters: Callable[[Any], str]) -> jinja2.Template:
    """Load the template of a page in HTML.

    A name that it uses and is not given is an error (jinja2.UndefinedError), not an empty text.

    Parameters
    ----------
    path : Path
    filters : callable
        What it calls as ``value | name``.
    """
    environment = _environment(path, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= filters
    return environment.get_template(path.name)


def render(path: Path, **values: Any) -> str:
    """The text of a document in Markdown, from its template.

    A name that it uses and is not given is an error (jinja2.UndefinedError), not an empty text.

    Parameters
    ----------
    path : Path
    values
        What the template names.
    """
    environment = _environment(path, keep_trailing_newline=True, trim_blocks=True)
    return environment.get_template(path.name).render(values)


def _environment(path: Path, **options: bool) -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(path.parent)
    return jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, **options)
