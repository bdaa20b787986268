"""Help and completion, by typer, from the table of options. No command runs here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lci_py.cli.command_line import ARGUMENT, MORE
from lci_py.cli.options import COMMANDS
from lci_py.cli.options.flags import Command, Flag, Positional

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES: dict[str, Any] = {
    "flag": bool,
    "int": int | None,
    "text": str | None,
    "once": list[str] | None,
    "list": list[str] | None,
}


def _completion(choices: tuple[str, ...] | None) -> Callable[[str], list[str]] | None:
    """The completion function for the shell, without choices empty. None stands for the names of languages."""

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


def _signature(command: Command) -> Callable[..., None]:
    """A function whose signature tells typer the command's argument and flags."""

    def run(**_: object) -> None:
        """Never called: `command_line` reads what runs."""

    # With --batch, the lines of the batch have the argument.
    batch = any(flag.name == "batch" for flag in command.flags)
    required = command.argument is not None and command.argument.required and not batch
    positionals = [
        *_argument(ARGUMENT, command.argument, required=required),
        *_argument(MORE, command.more, required=False),
    ]
    parameters = [*positionals, *(_parameter(flag) for flag in command.flags)]
    run.__name__ = command.name
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions allow it
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _epilog(command: Command) -> str:
    """The examples below a command's help; brackets are escaped because typer reads them as markup."""
    wide = max(len(line) for line, _ in command.examples)
    rows = [f"  {line:<{wide}}  # {does}" for line, does in command.examples]
    if wide > 44:
        rows = [f"  # {does}\n  {line}" for line, does in command.examples]
    return "Examples:\n" + "\n".join(rows).replace("[", "\\[")


def application() -> typer.Typer:
    """All commands as typer sees them."""
    app = typer.Typer(
        name="lci",
        help="Local code search: by meaning, by words, by structure, over the call graph.",
        epilog="Exit: 0 results, 1 none, 2 usage, 3 no usable index, 4 degraded with --strict, 70 internal error.",
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def root(version: bool = typer.Option(False, "--version", help="Show the version.")) -> None:
        pass

    for command in COMMANDS.values():
        app.command(command.name, help=command.help, epilog=_epilog(command))(_signature(command))
    return app


def run_typer(argv: list[str]) -> int:
    """Print help or completions for the shell; returns the exit code."""
    command: Any = typer.main.get_command(application())
    try:
        command.main(args=argv, prog_name="lci", standalone_mode=False)
    except SystemExit as exit_:
        # Completion exits by itself. So does typer, with 1, when the reader of its help has gone.
        if isinstance(exit_.__context__, BrokenPipeError):
            raise BrokenPipeError from exit_
        return exit_.code if isinstance(exit_.code, int) else 0
    return 0
