"""The command line ``treeglot``: one module per group of commands, mounted here.

Results go to standard output, everything else (messages, progress) to standard error. Exit codes: 0 done, 1 bad input or a
failed check, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Annotated

import typer

from treeglot import TreeglotError, __version__, progress
from treeglot.cli.align import app as align_app
from treeglot.cli.bitext import app as bitext_app
from treeglot.cli.compare import compare
from treeglot.cli.config import app as config_app
from treeglot.cli.coverage import cover
from treeglot.cli.demo import demo
from treeglot.cli.evaluate import evaluate
from treeglot.cli.example import app as example_app
from treeglot.cli.forest import forest
from treeglot.cli.interrupted import interruption
from treeglot.cli.lm import app as lm_app
from treeglot.cli.parse import parse, parsers_app
from treeglot.cli.project import export_app, init, train, tune
from treeglot.cli.rules import app as rules_app
from treeglot.cli.translate import translate
from treeglot.cli.trees import app as trees_app
from treeglot.cli.verify import verify
from treeglot.files import check_mapped

app = typer.Typer(
    name="treeglot",
    help="Translation learnt from parallel text and two kinds of syntax trees.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, command in (
    ("init", init),
    ("train", train),
    ("tune", tune),
    ("translate", translate),
    ("evaluate", evaluate),
    ("compare", compare),
    ("demo", demo),
    ("parse", parse),
    ("forest", forest),
    ("coverage", cover),
    ("verify", verify),
):
    app.command(name)(command)
for name, group in (
    ("trees", trees_app),
    ("bitext", bitext_app),
    ("parsers", parsers_app),
    ("align", align_app),
    ("rules", rules_app),
    ("lm", lm_app),
    ("export", export_app),
    ("config", config_app),
    ("example", example_app),
):
    app.add_typer(group, name=name)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"treeglot {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
    verbose: Annotated[int, typer.Option("-v", "--verbose", count=True, help="Say more; -vv for all.")] = 0,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress, only errors.")] = False,
) -> None:
    level = logging.ERROR if quiet else (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr, force=True)
    progress.set_quiet(quiet)


NO_MEMORY = """not enough memory: nothing was changed
  remedy: end other programs, take fewer threads, or give a smaller --memory where a command has it"""


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # trees and messages are UTF-8 whatever the locale says
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    code = 0
    try:
        try:
            app(prog_name="treeglot")
        except SystemExit as stop:
            if not stop.code:
                check_mapped()
            raise
    except TreeglotError as error:
        print(f"treeglot: {error}", file=sys.stderr)
        code = 1
    except KeyboardInterrupt as stop:
        code = _interrupted(stop)
    except MemoryError:
        print(f"treeglot: {NO_MEMORY}", file=sys.stderr)
        code = 1
    except SystemExit as stop:
        stopped = interruption(stop)  # click makes an exit of it
        if stopped is not None:
            sys.exit(_interrupted(stopped))
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        _reader_has_gone()
    except BrokenPipeError:
        _reader_has_gone()
    except OSError as error:
        print(f"treeglot: {error}", file=sys.stderr)
        code = 1
    sys.exit(code)


def _interrupted(stop: KeyboardInterrupt) -> int:
    kept = str(stop)
    print("treeglot: interrupted" + (f": {kept}" if kept else ""), file=sys.stderr)
    return 130


def _reader_has_gone() -> None:
    """In ``treeglot ... | head`` the reader stops early, which is no error; nothing more may be written to it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
