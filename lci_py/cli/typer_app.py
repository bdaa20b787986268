"""The typer application, built from the table of options: help, completion, and usage errors."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lci_py import __version__
from lci_py.cli.fast_parser import ARGUMENT, MORE, Invocation, Value
from lci_py.cli.options import COMMANDS, Command, Flag, Positional
from lci_py.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TYPES: dict[str, Any] = {
    "flag": bool,
    "int": int | None,
    "text": str | None,
    "once": list[str] | None,
    "list": list[str] | None,
}


def _completion(choices: tuple[str, ...] | None) -> Callable[[str], list[str]] | None:
    """What the shell asks; without choices it completes nothing. None stands for the words of languages."""

    def complete(incomplete: str) -> list[str]:
        if choices is None:
            from lci_py import app

            return [word for word in app.language_words() if word.startswith(incomplete)]
        return [choice for choice in choices if choice.startswith(incomplete)]

    return None if choices == () else complete


def _parameter(flag: Flag) -> inspect.Parameter:
    option = typer.Option(
        *flag.spellings,
        help=flag.help,
        metavar=flag.metavar,
        rich_help_panel=flag.panel,
        autocompletion=_completion(flag.choices),
        show_default=flag.default is not None,
    )
    return inspect.Parameter(
        flag.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if flag.shape == "flag" else flag.default,
        annotation=Annotated[_TYPES[flag.shape], option],
    )


def _argument(name: str, spec: Positional | None, *, required: bool) -> list[inspect.Parameter]:
    if spec is None:
        return []
    info = typer.Argument(metavar=spec.metavar, help=spec.help, autocompletion=_completion(spec.choices))
    annotation: Any = list[str] | None if spec.many else str if required else str | None
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if required else None,
            annotation=Annotated[annotation, info],
        )
    ]


def _callback(command: Command, execute: Callable[[Invocation], int]) -> Callable[..., None]:
    """A function whose signature tells typer the command's argument and flags."""

    def run(**values: Any) -> None:
        found: dict[str, Value] = {}
        if command.argument:
            given = values.get(ARGUMENT)
            found[ARGUMENT] = tuple(given or ()) if command.argument.many else given
        if command.more:
            found[MORE] = tuple(values.get(MORE) or ())
        for flag in command.flags:
            value = values.get(flag.name)
            if flag.shape == "once":
                value = _one(flag, value or ())
            found[flag.name] = tuple(value or ()) if flag.shape == "list" else value
        if needed and found["batch"] is None and not found[ARGUMENT] and found[ARGUMENT] != "":
            raise UsageError(f"missing argument '{needed}'", hint=f"see `lci {command.name} --help`")
        raise typer.Exit(execute(Invocation(command.name, found)))

    # With --batch, the lines of the batch have the argument.
    required = command.argument is not None and command.argument.required
    batch = any(flag.name == "batch" for flag in command.flags)
    needed = command.argument.metavar if command.argument and required and batch else ""
    positionals = [
        *_argument(ARGUMENT, command.argument, required=required and not batch),
        *_argument(MORE, command.more, required=False),
    ]
    parameters = [*positionals, *(_parameter(flag) for flag in command.flags)]
    run.__name__ = command.name
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions allow it
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _one(flag: Flag, given: Sequence[str]) -> str | None:
    if len(given) > 1:
        raise UsageError(f"{flag.spellings[0]} is given {len(given)} times", hint="give it once")
    return given[0] if given else None


def _epilog(command: Command) -> str:
    """The examples below a command's help; brackets are escaped because typer reads them as markup."""
    wide = max(len(line) for line, _ in command.examples)
    rows = [f"  {line:<{wide}}  # {does}" for line, does in command.examples]
    if wide > 44:
        rows = [f"  # {does}\n  {line}" for line, does in command.examples]
    return "Examples:\n" + "\n".join(rows).replace("[", "\\[")


def build(execute: Callable[[Invocation], int]) -> typer.Typer:
    """The application; each command calls `execute` and exits with the code that it returns."""
    app = typer.Typer(
        name="lci",
        help="Local code search: by meaning, by words, by structure, over the call graph.",
        epilog="Exit: 0 results, 1 none, 2 usage, 3 no usable index, 4 degraded with --strict, 70 internal error.",
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def version(value: bool) -> None:
        if value:
            typer.echo(f"lci {__version__}")
            raise typer.Exit()

    @app.callback()
    def root(
        version: bool = typer.Option(False, "--version", callback=version, is_eager=True, help="Show the version."),
    ) -> None:
        pass

    for command in COMMANDS.values():
        app.command(command.name, help=command.help, epilog=_epilog(command))(_callback(command, execute))
    return app
