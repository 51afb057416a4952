"""Digests of texts, and of sets of files."""

import functools
import hashlib
from collections.abc import Mapping


def key_of(texts: Mapping[str, str]) -> str:
    """The digest of a set of files: name -> text."""
    return digest("".join(f"{file} {digest(text)}\n" for file, text in texts.items()))


@functools.cache
def digest(text: str) -> str:
    """The digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
