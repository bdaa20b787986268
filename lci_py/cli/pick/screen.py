"""The screen of `lci pick`, drawn by prompt_toolkit: an input line, a list, a preview, and a line about the keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import BufferControl, DynamicContainer, HSplit, Layout, UIContent, UIControl, VSplit, Window
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.mouse_events import MouseButton, MouseEventType
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from lci_py.cli.pick.questions import FILES
from lci_py.render.text.style import Signs, shorten, shorten_start, visible_line, width_of
from lci_py.types.search import FILE_KIND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyPressEvent
    from prompt_toolkit.layout import AnyContainer
    from prompt_toolkit.mouse_events import MouseEvent
    from prompt_toolkit.output import Output

    from lci_py.cli.pick.preview import Piece
    from lci_py.cli.pick.questions import Entry
    from lci_py.cli.pick.state import Picker

#: Columns from which the preview stands beside the list instead of below it.
_WIDE = 110
#: Columns from which the list has the kinds of its entries.
_KINDS = 90
#: Lines of a preview above a definition.
_ABOVE = 2
#: Terminal colours, which fit whatever background somebody has.
_STYLE = Style.from_dict(
    {
        "mode": "bold", "dim": "ansibrightblack", "path": "ansimagenta", "kind": "ansicyan", "line": "ansigreen",
        "message": "ansiyellow", "selected": "reverse", "here": "bold", "match": "bold underline",
        "code.keyword": "ansiblue", "code.comment": "ansibrightblack", "code.string": "ansigreen",
        "code.number": "ansicyan", "code.function": "bold", "code.class": "bold", "code.decorator": "ansicyan",
        "code.builtin": "ansicyan",
    }
)  # fmt: skip


#: What F1 shows.
_HELP = {
    "Tab, Shift-Tab": "mode: multiview, dense, bm25, symbolic, files",
    "Up, Down": "select; Page Up, Page Down, the mouse",
    "Enter": "open in the editor, or print, and end",
    "Ctrl-O": "open in the editor, and come back",
    "Ctrl-Space, Ctrl-T": "mark, for several at once",
    "Ctrl-Y": "copy FILE:LINE",
    "F2, Alt-C": "callers of the selected",
    "F3, Alt-E": "callees",
    "F4, Alt-O": "outline of its file",
    "F5, Alt-S": "what is similar",
    "F6, Alt-T": "without tests, or with them",
    "Shift-Up, Shift-Down": "scroll the preview",
    "Esc": "back from callers and the like, or end",
    "Ctrl-C": "end",
    "F1": "these keys",
}
#: The line below the list.
_FOOT = "F1 keys  Enter open  Tab mode  F2 callers  F3 callees  F4 outline  F5 similar  F6 tests  Ctrl-T mark"
#: Keys as prompt_toolkit spells them; alternatives are separated by bars, the keys of a sequence by blanks.
_KEYS: dict[str, Callable[[Screen], object]] = {
    "tab": lambda it: it.picker.switch(1),
    "s-tab": lambda it: it.picker.switch(-1),
    "up|c-p": lambda it: it.move(-1),
    "down|c-n": lambda it: it.move(1),
    "pageup": lambda it: it.move(-it.rows),
    "pagedown": lambda it: it.move(it.rows),
    "enter": lambda it: it.end(),
    "c-o": lambda it: it.open(),
    "c-@|c-t": lambda it: it.picker.mark(),
    "c-y": lambda it: it.copy(),
    "f2|escape c": lambda it: it.picker.walk("callers"),
    "f3|escape e": lambda it: it.picker.walk("callees"),
    "f4|escape o": lambda it: it.picker.walk("outline"),
    "f5|escape s": lambda it: it.picker.walk("similar"),
    "f6|escape t": lambda it: it.picker.toggle_tests(),
    "s-up|c-up": lambda it: it.scroll(-3),
    "s-down|c-down": lambda it: it.scroll(3),
    "escape": lambda it: it.back(),
    "c-c": lambda it: it.leave(),
    "f1": lambda it: it.toggle_help(),
    "c-z": lambda it: it.application.suspend_to_background(),
}


class _Panel(UIControl):
    """A part of the screen, whose lines are laid out for the available size."""

    def __init__(
        self, draw: Callable[[int, int], Sequence[list[Piece]]], mouse: Callable[[MouseEvent], object] | None = None
    ) -> None:
        self._draw, self._mouse = draw, mouse

    def create_content(self, width: int, height: int) -> UIContent:
        lines: Any = self._draw(width, height)
        return UIContent(lambda number: lines[number], line_count=len(lines), show_cursor=False)

    def mouse_handler(self, mouse_event: MouseEvent) -> Any:
        return self._mouse(mouse_event) if self._mouse else NotImplemented


class Screen:
    """The screen of `lci pick`, which exists while the screen is open."""

    picker: Picker
    rows: int  # of the list

    def __init__(
        self, signs: Signs, opened: Callable[[list[Entry]], object], copied: Callable[[list[Entry]], str]
    ) -> None:
        """Prepare a screen that `run` shows.

        Args:
            signs: The signs, such as arrows, that the terminal can write.
            opened: Opens entries in the editor.
            copied: Returns the text to copy for entries.
        """
        self.rows = 1
        self._signs, self._opened, self._copied = signs, opened, copied
        self._top = 0
        self._help = False
        self._buffer = Buffer(multiline=False, on_text_changed=lambda buffer: self._typed(buffer.text))
        self.application: Application[list[Entry]]

    def run(
        self, picker: Picker, text: str, terminal: tuple[Input, Output], begin: Callable[[], None], *, color: bool
    ) -> list[Entry]:
        """Show the screen until the user has selected; returns the selected entries, [] for none.

        Args:
            text: The initial text of the input line.
            terminal: The keyboard and the output.
            begin: Called as soon as `post` and `changed` may be called.
            color: Whether to use colours.
        """
        self.picker = picker
        self.application = Application(
            self._layout(terminal[1]),
            style=_STYLE,
            key_bindings=self._bindings(),
            full_screen=True,
            mouse_support=True,
            input=terminal[0],
            output=terminal[1],
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
        )
        # How long Esc waits for a key that would make it Alt.
        self.application.timeoutlen = self.application.ttimeoutlen = 0.1
        if text:
            self._buffer.text, self._buffer.cursor_position = text, len(text)
        else:
            picker.begin()
        return self.application.run(pre_run=begin) or []

    def post(self, action: Callable[[], None]) -> None:
        """Call `action` in the screen's thread, if the screen is still open."""
        if (loop := self.application.loop) is not None:
            loop.call_soon_threadsafe(action)

    # --- keys ---------------------------------------------------------------------------------------------------

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()

        def bind(keys: str, action: Callable[[Screen], object]) -> None:
            def acted(_: KeyPressEvent) -> None:
                self.picker.message = ""
                action(self)

            bindings.add(*keys.split())(acted)

        for keys, action in _KEYS.items():
            for alternative in keys.split("|"):
                bind(alternative, action)
        return bindings

    def _typed(self, text: str) -> None:
        if text != self.picker.text:
            self.picker.type(text)

    def changed(self) -> None:
        """Draw the screen again after a change of the state."""
        # A walk begins with an empty input line, and its end restores the query.
        if self._buffer.text != self.picker.text:
            self._buffer.text, self._buffer.cursor_position = self.picker.text, len(self.picker.text)
        self.application.invalidate()

    def move(self, step: int) -> None:
        self.picker.select(self.picker.view.selected + step)

    def scroll(self, step: int) -> None:
        self.picker.scrolled += step

    def back(self) -> None:
        if self._help:
            self._help = False
        elif not self.picker.back():
            self.leave()

    def toggle_help(self) -> None:
        self._help = not self._help

    def leave(self) -> None:
        self.application.exit(result=[])

    def end(self) -> None:
        if entries := self.picker.chosen():
            self.application.exit(result=entries)

    def open(self) -> None:
        from prompt_toolkit.application import run_in_terminal

        if entries := self.picker.chosen():
            run_in_terminal(lambda: self._opened(entries))

    def copy(self) -> None:
        """Copy FILE:LINE of the chosen entries to the clipboard by the terminal's escape sequence (OSC 52)."""
        from base64 import b64encode

        if not (entries := self.picker.chosen()):
            return
        text = self._copied(entries)
        coded = b64encode(text.encode("utf-8", "surrogateescape")).decode()
        self.application.output.write_raw(f"\x1b]52;c;{coded}\x07")
        self.application.output.flush()
        self.picker.message = f"copied {visible_line(text)}"

    # --- the mouse ----------------------------------------------------------------------------------------------

    def _on_list(self, event: MouseEvent) -> object:
        if event.event_type == MouseEventType.SCROLL_DOWN:
            self.move(1)
        elif event.event_type == MouseEventType.SCROLL_UP:
            self.move(-1)
        elif event.event_type == MouseEventType.MOUSE_UP and event.button == MouseButton.LEFT:
            index = self._top + event.position.y
            if index == self.picker.view.selected:
                self.end()
            elif index < len(self.picker.view.entries):
                self.picker.select(index)
        else:
            return NotImplemented
        return None

    def _on_preview(self, event: MouseEvent) -> object:
        steps = {MouseEventType.SCROLL_DOWN: 3, MouseEventType.SCROLL_UP: -3}
        if event.event_type not in steps:
            return NotImplemented
        self.scroll(steps[event.event_type])
        return None

    # --- what is drawn ------------------------------------------------------------------------------------------

    def _layout(self, output: Output) -> Layout:
        text = Window(BufferControl(self._buffer, [BeforeInput(self._prompt)]), height=1)
        status = Window(_Panel(lambda width, _: [self._status(width)]), height=1)
        results, code = _Panel(self._list, self._on_list), _Panel(self._preview, self._on_preview)
        title = Window(_Panel(lambda width, _: [self._title(width)]), height=1)
        foot = Window(_Panel(lambda width, _: [[("class:dim", shorten(_FOOT, width, ""))]]), height=1)
        bar = Window(width=1, char=self._signs.bar, style="class:dim")
        beside = VSplit([Window(results), bar, HSplit([title, Window(code)])])
        below = HSplit([Window(results), title, Window(code)])
        wide = max(map(len, _HELP))
        help_lines: list[list[Piece]] = [
            [("class:kind", f"{key:<{wide}}  "), ("", does)] for key, does in _HELP.items()
        ]
        keys = Window(_Panel(lambda _width, _height: help_lines))

        def main() -> AnyContainer:
            return keys if self._help else beside if output.get_size().columns >= _WIDE else below

        return Layout(HSplit([text, status, DynamicContainer(main), foot]), focused_element=text)

    def _prompt(self) -> list[Piece]:
        return [("class:mode", f"{self.picker.mode if len(self.picker.views) == 1 else 'narrow'}> ")]

    def _status(self, width: int) -> list[Piece]:
        picker, view = self.picker, self.picker.view
        if picker.message:
            return [("class:message", shorten(visible_line(picker.message), width, self._signs.ellipsis))]
        length, total = len(view.entries), view.source.total
        ranks = len(picker.views) == 1 and picker.mode not in ("symbolic", FILES) and bool(picker.text)
        count = f"{length:,}" if length >= total else f"the best {length:,}" if ranks else f"{length:,} of {total:,}"
        parts = [view.title, count]
        parts += [f"{len(picker.marks)} marked"] if picker.marks else []
        parts += ["no tests"] if picker.filters.no_tests else []
        return [("class:dim", shorten(visible_line(f" {self._signs.dot} ".join(filter(None, parts))), width, ""))]

    def _list(self, width: int, height: int) -> list[list[Piece]]:
        self.rows, view = max(1, height), self.picker.view
        self._top = max(min(self._top, view.selected), view.selected - self.rows + 1, 0)
        page = view.entries[self._top : self._top + self.rows]
        names = min(max((width_of(_name(entry)) for entry in page), default=0), (width - 3) // 2)
        return [self._row(entry, width, names, self._top + index == view.selected) for index, entry in enumerate(page)]

    def _row(self, entry: Entry, width: int, names: int, selected: bool) -> list[Piece]:
        """The row of an entry: the name in its column, the kind if there is room, and the location at the right."""
        marked = (entry.file, entry.line) in self.picker.marks
        style = " class:selected" if selected else ""
        name = shorten(_name(entry), names, self._signs.ellipsis)
        kind = f"{entry.kind} {entry.note}".strip() if width >= _KINDS and entry.kind != FILE_KIND else ""
        room = width - names - 3
        location = shorten_start(f"{visible_line(entry.file)}:{entry.line}", room, self._signs.ellipsis)
        kind = kind if len(kind) + 2 <= room - width_of(location) else ""
        gap = " " * max(0, room - width_of(location) - len(kind))
        return [
            (f"class:message{style}", "* " if marked else "> " if selected else "  "),
            (f"class:here{style}", name + " " * (names - width_of(name) + 1)),
            (f"class:kind{style}", kind),
            (style, gap),
            (f"class:path{style}", location),
        ]

    def _title(self, width: int) -> list[Piece]:
        view = self.picker.preview
        if view is None:
            return [("class:dim", "-" * width)]
        where = shorten_start(f"{visible_line(view.entry.file)}:{view.text.match}", width - 3, self._signs.ellipsis)
        return [("class:dim", "- "), ("class:path", where), ("class:dim", " " + "-" * (width - 3 - width_of(where)))]

    def _preview(self, width: int, height: int) -> list[list[Piece]]:
        preview = self.picker.preview
        if preview is None:
            return []
        entry, text = preview.entry, preview.text
        first = entry.line - (_ABOVE if entry.end_line > entry.line else height // 3)
        if text.match >= first + height - 1:
            first = text.match - height // 2
        maximum = max(0, len(preview.lines) - height)
        top = max(0, min(first - text.start + self.picker.scrolled, maximum))
        self.picker.scrolled = top - max(0, min(first - text.start, maximum))
        digits = len(str(text.start + len(text.lines)))
        return [
            [("class:here class:line" if number == text.match else "class:dim", f"{number:>{digits}} "), *line]
            for number, line in enumerate(preview.lines[top : top + height], text.start + top)
        ]


def _name(entry: Entry) -> str:
    if entry.name:  # its last two parts: the path has the namespace
        return visible_line(".".join(entry.name.split(".")[-2:]))
    if entry.kind == FILE_KIND:
        return visible_line(entry.file.rpartition("/")[2])
    return f"lines {entry.line}-{entry.end_line}" if entry.end_line > entry.line else f"line {entry.line}"
