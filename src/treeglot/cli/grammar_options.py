"""Command-line options of the grammars: declared once in the core, here turned into options of a command."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer

from treeglot.grammars import registry


def with_grammar_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give ``command`` an option for each option of extraction that some grammar has.

    ``command`` takes them as ``options``: those that were given on the command line, by name.
    """
    declared = registry.options(extraction=True)
    hints = typing.get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    parameters = [
        parameter.replace(annotation=hints[name])
        for name, parameter in signature.parameters.items()
        if name != "options"
    ]
    known = {parameter.name for parameter in parameters}
    for name, (option, grammars) in declared.items():
        if name in known:
            raise TypeError(f"{command.__name__} and a grammar both have an option {name}")
        parameters.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(option, grammars)
            )
        )

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        options = {name: given.pop(name) for name in declared}
        command(**given, options={name: value for name, value in options.items() if value is not None})

    setattr(wrapped, "__signature__", inspect.Signature(parameters))  # noqa: B010
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del wrapped.__wrapped__
    return wrapped


def _annotation(option: registry.Option, grammars: tuple[str, ...]) -> Any:
    flag = "--" + option.name.replace("_", "-")
    shown = option.default if not isinstance(option.default, bool) else str(option.default).lower()
    help = f"{', '.join(grammars)}: {option.help} (default {shown})."
    if isinstance(option.default, bool):
        return Annotated[bool | None, typer.Option(f"{flag}/--no-{flag[2:]}", help=help, show_default=False)]
    if isinstance(option.default, str):
        return Annotated[Literal[option.choices] | None, typer.Option(flag, help=help, show_default=False)]
    number = type(option.default)
    return Annotated[
        number | None,
        typer.Option(flag, help=help, show_default=False, min=number(option.low), max=number(option.high)),
    ]
