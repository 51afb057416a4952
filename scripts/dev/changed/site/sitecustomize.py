"""What a test's processes read of some folders, told to the test: see ../reading.py.

Python imports this module by itself when it starts, as its folder is in PYTHONPATH.
"""

import contextlib
import os
import sys

_TOLD = os.environ.get("TOLD_READS")  # the file to tell it in
_FOLDERS = tuple(filter(None, os.environ.get("TOLD_FOLDERS", "").split(os.pathsep)))
_OWN = os.path.dirname(os.path.abspath(__file__))  # in the path of every such process
_known = set()


def _hook(event: str, arguments: tuple) -> None:
    if event != "open" or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    path = os.path.abspath(os.fsdecode(arguments[0]))
    # os.open may name it from a folder that the event does not tell, as shutil.rmtree does.
    if arguments[1] is None and not os.path.lexists(path):
        return
    if path.startswith(_FOLDERS) and not path.startswith(_OWN) and path not in _known:
        _known.add(path)
        try:
            told = os.open(_TOLD, os.O_WRONLY | os.O_APPEND)
        except FileNotFoundError:  # the test that would ask is over
            return
        line, written = os.fsencode(f"{path}\n"), 0
        with contextlib.suppress(OSError):  # a test may limit the size of files
            written = os.write(told, line)
        if 0 < written < len(line):
            os.ftruncate(told, os.fstat(told).st_size - written)
        os.close(told)


if _TOLD and _FOLDERS:
    sys.addaudithook(_hook)
