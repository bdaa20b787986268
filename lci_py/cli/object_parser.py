"""Parses a command from a JSON object, as `command_line` parses a command from a command line.

`{"command": "show", "targets": ["Session.close"], "context": 3}` is `lci show Session.close --context 3`. A key is the
long name of a flag, with `-` or `_`, or the name of the command's argument; null stands for a missing value. Flags
about printing, and flags that choose the index, are not accepted as keys.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lci_py.cli.command_line import ARGUMENT, Invocation, Value, defaults
from lci_py.cli.options import ANSWERING, COMMANDS, GENERAL, Command, Flag
from lci_py.cli.request import number, plain_text
from lci_py.errors import UnknownModeError, UsageError, unknown_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Flags of a command line only: what a process prints and opens, and -e, since an object has one pattern.
_OF_COMMAND_LINES = {
    "json", "jsonl", "paths", "vimgrep", "format", "files_with_matches", "count", "batch", "refresh", "model",
    "trust_index", "regexp",
}  # fmt: skip
COMMAND = "command"


def invocation(fields: Mapping[str, Any], base: Invocation) -> Invocation:
    """The command that a JSON object describes.

    Args:
        base: The command if the object names none, with the default values of its flags.
    Raises:
        UsageError: The command or a key is unknown, or a value has the wrong type.
    """
    name = fields.get(COMMAND)
    if name is None:
        name = base.command
    if not isinstance(name, str) or name not in ANSWERING:
        raise unknown_value(COMMAND, name if isinstance(name, str) else _json(name), ANSWERING)
    command = COMMANDS[name]
    left_out = defaults(command)
    values = dict(base.values if name == base.command else left_out)
    keys = _keys(command, fields)
    for key, value in fields.items():
        if key == COMMAND:
            continue
        field = plain_text(key).replace("-", "_")
        if field not in keys:
            raise unknown_value("key", plain_text(key)[:100], [COMMAND, *keys])
        if value is None:
            name_of_value = field if field in left_out else ARGUMENT
            values[name_of_value] = left_out[name_of_value]
        else:
            keys[field](key, value, values)
    if command.argument and command.argument.required and not values[ARGUMENT]:
        raise UsageError(f"{argument_key(command)} is missing", hint=f"`lci {name} --help` says what it is")
    return base._replace(command=name, values=values)


def text_invocation(text: str, base: Invocation) -> Invocation:
    """The default command `base`, with a line of plain text as its argument.

    Raises:
        UsageError: The command takes no argument.
    """
    command = COMMANDS[base.command]
    if command.argument is None:
        raise UsageError(f"{command.name} takes no argument", hint="write {} for one answer, or a JSON object of flags")
    if argument_key(command) == "from":
        import shlex

        try:
            return base._replace(values={**base.values, ARGUMENT: tuple(shlex.split(text))})
        except ValueError as error:
            raise UsageError(f"cannot read the two names: {error}") from error
    return invocation({argument_key(command): text}, base)


def line_object(line: str) -> dict[str, Any]:
    """The object in a line of JSON that starts with a brace.

    Raises:
        UsageError: The line is not valid JSON.
    """
    try:
        fields: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not a JSON object: {error}", hint="a line that starts with { is read as JSON") from error
    return fields


def argument_key(command: Command) -> str:
    """The JSON key of a command's argument, such as `query` or `targets`; of two arguments, the key of the first."""
    if command.argument is None:
        return ""
    word, *more = command.argument.metavar.lower().split()
    return word if more or not command.argument.many else f"{word}s"


def _keys(command: Command, fields: Mapping[str, Any]) -> dict[str, Callable[[str, Any, dict[str, Value]], None]]:
    """Maps each key that is allowed in the command's object to the function that stores the key's value."""
    flags = [flag for flag in command.flags if flag.panel != GENERAL and flag.name not in _OF_COMMAND_LINES]
    keys: dict[str, Callable[[str, Any, dict[str, Value]], None]] = {flag.name: _flag_store(flag) for flag in flags}
    argument = command.argument
    if argument is None:
        return keys
    if argument_key(command) == "from":
        return {**keys, "from": _end_store(0), "to": _end_store(1)}
    if not argument.many:
        return {**keys, argument_key(command): _store_argument}
    if "files" in keys:  # of `affected`: a list of files is both the flag and its arguments
        keys["files"] = _store_files
    plural = argument_key(command)
    singular = plural[:-1]
    if singular in keys and not fields.get(plural) and not _has_glob(fields.get(singular)):
        del keys[singular]  # `path` of `outline` is a file or folder, as in `paths`; a glob is a filter
    return {singular: _store_arguments, **keys, plural: _store_arguments}  # one target is as good as a list of one


def _has_glob(value: object) -> bool:
    texts = value if isinstance(value, list) else [value]
    return any(isinstance(text, str) and not set("*?[!").isdisjoint(text) for text in texts)


def _flag_store(flag: Flag) -> Callable[[str, Any, dict[str, Value]], None]:
    def store(key: str, value: Any, values: dict[str, Value]) -> None:
        values[flag.name] = value_of(flag, key, value)

    return store


def value_of(flag: Flag, key: str, value: Any) -> Value:
    """Check and convert the JSON value of a flag; `key` is the flag's name in error messages.

    Raises:
        UsageError: The value has the wrong type for this flag.
    """
    if flag.shape == "flag":
        if not isinstance(value, bool):
            raise UsageError(f"{key} must be true or false")
        return value
    if flag.shape == "int":
        return number({flag.name: value}, flag.name, key)
    if flag.shape == "list":
        return _texts(key, value)
    if flag.name == "fields" and not isinstance(value, str):
        return ",".join(_texts(key, value))
    if flag.name == "mode" and not isinstance(value, str):
        raise UnknownModeError(_json(value))
    return text_of(key, value)


def _store_argument(key: str, value: Any, values: dict[str, Value]) -> None:
    values[ARGUMENT] = text_of(key, value)


def _store_arguments(key: str, value: Any, values: dict[str, Value]) -> None:
    values[ARGUMENT] = _texts(key, value)


def _store_files(key: str, value: Any, values: dict[str, Value]) -> None:
    if isinstance(value, bool):
        values[key] = value
    else:
        values[key], values[ARGUMENT] = True, _texts(key, value)


def _end_store(index: int) -> Callable[[str, Any, dict[str, Value]], None]:
    def store(key: str, value: Any, values: dict[str, Value]) -> None:
        old = values[ARGUMENT]
        ends = [*(old if isinstance(old, tuple) else ()), "", ""][:2]
        ends[index] = text_of(key, value)
        values[ARGUMENT] = tuple(ends)

    return store


def text_of(key: str, value: Any) -> str:
    """Check that a JSON value is a string, and return it. Raises a `UsageError`, as `value_of` does."""
    if not isinstance(value, str):
        raise UsageError(f"{key} must be a string")
    # No argument of a command line can hold a NUL, and the calls of the system refuse one.
    return plain_text(value).replace("\0", "\ufffd")


def _texts(key: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (text_of(key, value),)
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{key} must be a string or a list of strings")
    return tuple(text_of(key, item) for item in value)


def _json(value: object) -> str:
    return json.dumps(value)[:100]
