"""The first thing that runs: the command line must never import modules from the folder that it is used in.

Nothing beyond `sys` and `os` may be imported here at once: both are loaded before the first line of any program.
"""

from __future__ import annotations

import os
import sys

LOADED_BEFORE = frozenset(sys.modules)
"""Names of the modules that were there before autoconv imported anything."""


def leave_current_folder() -> None:
    """Takes the current folder off `sys.path` when this process is the `autoconv` command, and only then.

    `python -m autoconv` puts that folder first, a PYTHONPATH may name it too: a user's own gast.py or
    numpy.py would run instead of the library. The folder that autoconv itself lies in stays, so that an
    installation by `pip install --target` can be used from within.
    """
    if not _is_command():
        return
    here = os.path.realpath(os.curdir)
    if here == os.path.dirname(os.path.dirname(os.path.realpath(__file__))):
        return
    inherited = os.environ.get("PYTHONPATH", "")
    leading = (0 if sys.flags.safe_path else 1) + (inherited.count(os.pathsep) + 1 if inherited else 0)
    kept = [entry for entry in sys.path[:leading] if os.path.realpath(entry or os.curdir) != here]
    sys.path[:leading] = kept


_is_quiet = False


def end_quietly_while_loading() -> None:
    """Has ctrl-C end the `autoconv` command without a word, until it is `loaded`. To be called when the current
    folder is off `sys.path`: a user's signal.py may lie there."""
    global _is_quiet
    if not _is_command():
        return
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _is_quiet = True


def loaded() -> None:
    """From here on ctrl-C is a KeyboardInterrupt again."""
    global _is_quiet
    if not _is_quiet:
        return
    import signal

    signal.signal(signal.SIGINT, signal.default_int_handler)
    _is_quiet = False


def _is_command() -> bool:
    """Whether the program is the console script, or `python -m autoconv` that is just being located."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":
        return _module_option(sys.orig_argv[1:]) in ("autoconv", "autoconv.__main__")
    name = os.path.basename(program).lower()
    return name in ("autoconv", "autoconv.exe", "autoconv-script.py")


def _module_option(arguments: list[str]) -> str:
    """The module that follows -m among the interpreter's own options (`-Bm autoconv`, `-X dev
    -mautoconv`)."""
    waiting = iter(arguments)
    for argument in waiting:
        if argument.startswith("--"):
            next(waiting, "")  # --check-hash-based-pycs, the one long option that takes a value
            continue
        for position, letter in enumerate(argument[1:], start=2):
            if letter == "m":
                return argument[position:] or next(waiting, "")
            if letter in "WX":
                if not argument[position:]:
                    next(waiting, "")
                break
    return ""
