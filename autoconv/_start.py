"""First code to run: the command line must never import modules from the folder in which it is used.

At module level only `sys` and `os` may be imported here: both are loaded before the first line of any program.
"""

from __future__ import annotations

import os
import sys

LOADED_BEFORE_AUTOCONV = frozenset(sys.modules)
"""Names of the modules loaded before autoconv imported anything."""


def leave_current_folder() -> None:
    """Remove the current folder from `sys.path`, only if this process is the `autoconv` command.

    `python -m autoconv` puts that folder first, and PYTHONPATH may name it: a user's own gast.py or numpy.py would then
    be imported instead of the library. The folder of autoconv itself stays, so that an installation by `pip install
    --target` works from within.
    """
    if not _is_command():
        return
    current_folder = os.path.realpath(os.curdir)
    if current_folder == os.path.dirname(os.path.dirname(os.path.realpath(__file__))):
        return
    inherited_path = os.environ.get("PYTHONPATH", "")
    leading_count = (0 if sys.flags.safe_path else 1) + (inherited_path.count(os.pathsep) + 1 if inherited_path else 0)
    entries = sys.path[:leading_count]
    sys.path[:leading_count] = [entry for entry in entries if os.path.realpath(entry or os.curdir) != current_folder]


_is_quiet = False


def end_quietly_while_loading() -> None:
    """Let ctrl-C end the `autoconv` command without a message, until `restore_interrupts` is called.

    Call it after the current folder has left `sys.path`, which may contain a user's signal.py.
    """
    global _is_quiet
    if not _is_command():
        return
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _is_quiet = True


def restore_interrupts() -> None:
    """Make ctrl-C raise KeyboardInterrupt again."""
    global _is_quiet
    if not _is_quiet:
        return
    import signal

    signal.signal(signal.SIGINT, signal.default_int_handler)
    _is_quiet = False


def _is_command() -> bool:
    """Return whether the program is the console script, or `python -m autoconv` during its start."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":
        return _find_module_option(sys.orig_argv[1:]) in ("autoconv", "autoconv.__main__")
    name = os.path.basename(program).lower()
    return name in ("autoconv", "autoconv.exe", "autoconv-script.py")


def _find_module_option(arguments: list[str]) -> str:
    """Return the module after -m among the interpreter's own options (`-Bm autoconv`, `-X dev -mautoconv`)."""
    remaining_arguments = iter(arguments)
    for argument in remaining_arguments:
        if argument.startswith("--"):
            next(remaining_arguments, "")  # --check-hash-based-pycs, the only long option with a separate value
            continue
        for position, letter in enumerate(argument[1:], start=2):
            if letter == "m":
                return argument[position:] or next(remaining_arguments, "")
            if letter in "WX":
                if not argument[position:]:
                    next(remaining_arguments, "")
                break
    return ""
