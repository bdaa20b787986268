"""Small random programs in many languages, with many colliding names."""

from __future__ import annotations

from hypothesis import strategies as st

#: Language -> possible paths of files, the start of each file, and pieces to make files of. {f} {g} are names of
#: functions, {T} {U} of types, {m} of modules, as the language writes them.
LANGUAGES: dict[str, tuple[tuple[str, ...], str, tuple[str, ...], tuple[str, ...]]] = {
    "python": (
        ("a.py", "b.py", "p/__init__.py", "p/a.py", "p/b.py", "q/a.py", "tests/test_a.py", "bin/tool", "conftest.py"),
        "#!/usr/bin/env python3\n",
        ("a", "b", "p", "p.a", "p.b", "q.a", ".a", ".b", ".", "..b", "tool"),
        (
            "import {m}\n", "from {m} import {T}\n", "from {m} import {f} as {g}\n", "from {m} import a\n",
            "from {m} import *\n", "def {f}():\n    {g}()\n    a.{f}()\n",
            "class {T}({U}):\n    def {f}(self):\n        self.{g}()\n        x.{f}()\n        {g}()\n",
            "class {T}:\n    def {f}(self):\n        def {g}(): pass\n        {g}()\n        {U}.{g}()\n",
            "class {T}(a.{U}, {T}):\n    pass\n", "{f}({T}().{g}())\n", "x.{f}()\n" * 7,
            "def {f}(x, y={g}):\n    x({T})\n    return y.{g}\n", "{f}({g}, lambda: {f}())\n", "v = [{f}, {T}()]\n",
            "def {g}(x: {T}) -> {U}:\n    x.{f}(v)\n    return x.v()\n", "for x in v:\n    x()\n    x.{f}({g})\n",
            "class {T}({U}):\n    def __init__(self, x):\n        super().__init__(x)\n        self.v = x\n        self.v()\n",
            "@{f}\ndef {g}():\n    yield {f}\n",
            "class {T}({U}):\n    def {f}(self, x: '{U}'):\n        self.{h}()\n        x.{g}(v)\n        getattr(self, x)('{f}')\n",
            "class {T}({U}):\n    @property\n    def {f}(self) -> {U}: return self.{g}\n    def __add__(self, x): return self\n",
            "def {f}(x: {T}, y: {U}):\n    with x: return (x + y) < y.{g}.{f}\n",
            "urlpatterns = [path('/{f}', {m}.{f}), path('/{g}', {T}.as_view())]\n",
            "def test_{f}({g}, {f}):\n    pass\n@fixture\ndef {f}({g}):\n    pass\n",
        ),
    ),
    "bash": (
        ("a.sh", "lib.sh", "p/b.sh", "bin/tool"),
        "#!/bin/bash\n",
        ("lib.sh", "a.sh", "p/b.sh", "./b.sh"),
        ("source {m}\n", "{f}() {{\n  {g}\n}}\n", "{f}\n"),
    ),
    "go": (
        ("main.go", "p/a.go", "p/b.go", "p/a_test.go", "q/p/c.go"),
        "package p\n",
        ("example.org/m/p", "example.org/q/p", "p", "q/p"),
        (
            'import "{m}"\n', "type {T} struct {{ {U} }}\n", "func (t *{T}) {f}() {{ t.{g}(); {g}(); p.{f}() }}\n",
            "func {f}() {{ {g}(); p.{g}(); {T}.{f}() }}\n", "type {T} interface {{ {f}() }}\n",
            "type {T} struct {{ {f} func(); h {U} }}\nvar x = {T}{{{f}: {g}}}\n", "var {f} = []func(){{{g}, {h}}}\n",
            "func (t *{T}) {f}(u {U}) {{ u.h.{g} = t.{h}; t.{g}(); t.h.{f}(); {h}[0]() }}\n",
            "type {T} interface {{ {f}(); {g}() }}\nfunc {h}(x {T}) {{ x.{f}() }}\n",
        ),
    ),
    "java": (
        ("com/p/A.java", "com/p/B.java", "com/q/A.java", "com/q/test/ATest.java"),
        "package {P};\n",
        ("com.p", "com.q"),
        (
            "import {m}.{T};\n", "import {m}.*;\n",
            "class {T} extends {U} {{ void {f}() {{ {g}(); this.{f}(); {U}.{g}(); x.{f}(); }} }}\n",
            "class {T} {{ void {f}() {{ {g}(1); x.{g}(); }} static void {f}(int x) {{}} void {g}(int... x) {{}} }}\n",
            "interface {T} {{ void {f}(); }}\n", "class {T} {{ {T}() {{ {f}(); }} class {U} {{ void {g}() {{}} }} }}\n",
            "class {T} extends {U} {{ void {f}({U} x) {{}} void {f}(int x) {{}} void {g}({T} t) {{ t.{f}(t); t.{f}(1); }} }}\n",
            "class {T} {{ Runnable {h} = this::{f}; void {g}({U} x) {{ x.{h}.run(); {h}.run(); }} }}\n",
        ),
    ),
    "csharp": (
        ("n/A.cs", "n/B.cs", "m/A.cs", "u/C.cs", "u/test/ATests.cs"),
        "",
        ("N", "N.A", "M", "M.N", "M.N.B"),
        (
            "using {m};\n", "using static {m}.{T};\n", "using {T} = {m}.{U};\n",
            "namespace {m} {{ class {T} : {U} {{ void {f}() {{ {g}(); this.{f}(); {U}.{g}(); x.{f}(); }} }} }}\n",
            "namespace {m} {{ class {T} {{ public static void {f}({U} x) {{ x.{g}(); new {T}(); }} class {U} {{ }} }} }}\n",
            "namespace {m} {{ using {m}; static class {T} {{ static {U} {g}; static {U} {f}(int x) {{ return {h}(); }} }} }}\n",
            "class {T} {{ void {f}() {{ {U}.{g}(); {T}.{h}(1); }} }}\n",
        ),
    ),
    "kotlin": (
        ("p/A.kt", "p/B.kt", "q/A.kt", "q/test/ATest.kt"),
        "package {P}\n",
        ("p", "q", "p.A", "q.B"),
        (
            "import {m}.{f}\n", "import {m}.*\n", "fun {f}(x: {T}) {{ {g}(x); x.{f}() }}\n", "val {f} = {T}()\n",
            "fun {T}.{g}() {{ {f}.{g}() }}\n", "object {T} {{ fun {f}() = {U}().{g}() }}\n",
            "open class {T} : {U}() {{ fun {f}() {{ {g}(); {h}.{f}() }}\n companion object {{ fun {h}() {{}} }} }}\n",
        ),
    ),
    "c": (
        ("a.c", "a.h", "p/a.h", "p/b.c", "include/p/b.h"),
        "",
        ("a.h", "p/a.h", "p/b.h", "b.h"),
        (
            '#include "{m}"\n', "int {f}(void) {{ return {g}(); }}\n", "#define {f}(x) {g}(x)\n",
            "#define {f} {g}\n", "#define {T} {f}({g}(1))\n", "void {f}(void) {{ {T}; {g}(2); }}\n",
            "struct {T} {{ int {f}; }};\n", "int {f}(void) {{ return x->{g}(); }}\n",
            "struct {T} {{ int (*{f})(void); int (*{g})(void); struct {U} *h; }};\n", "typedef struct {T} {U};\n",
            "struct {T} x = {{.{f} = {g}}}, y = {{{h}, {f}}};\n", "int (*x[])(void) = {{{f}, {g}}};\n",
            "int {f}(struct {T} *x, {U} *y) {{ x->h->{g} = {h}; return x->{g}() + y->h->{f}(); }}\n",
            "void {f}(struct {T} *x, int (*p)(void)) {{ x->{g} = p; p(); x = y; x[0](); {h}(x, {f}); }}\n",
            "static int {f}(void) {{ int (*p)(void) = {g}; return p() + {T}({h}); }}\n",
            "#define {T}(p) (p() + {U}(1, p))\n",
        ),
    ),
    "cpp": (
        ("a.cpp", "b.cpp", "p/a.hpp", "p/c.cpp"),
        "",
        ("a.h", "p/a.hpp", "a.hpp"),
        (
            '#include "{m}"\n', "class {T} : public {U} {{ void {f}(); void {g}() {{ {f}(); }} }};\n",
            "void {T}::{f}() {{ {g}(); this->{f}(); }}\n", "namespace p {{ void {f}() {{ {g}(); }} }}\n",
        ),
    ),
    "typescript": (
        ("src/a.ts", "src/b.ts", "src/p/index.ts", "src/p/a.ts", "src/a.js", "src/a.test.ts"),
        "",
        ("./a", "./b", "./p", "../a", "../b", "./p/a", "a", "src/p/a"),
        (
            "import {{ {f}, {T} as {U} }} from '{m}';\n", "import * as a from '{m}';\n", "import {T} from '{m}';\n",
            "export {{ {f} }} from '{m}';\n", "export function {f}() {{ {g}(); a.{f}(); }}\n",
            "export class {T} extends {U} {{ {f}() {{ this.{g}(); {T}.{f}(); x.{g}(); }} }}\n",
            "export const {f} = () => {g}();\n", "export const {g} = (x) => x({f}, {T});\n{g}({h});\n",
            "const v = [{f}, {g}];\nv.forEach((x) => x({h}));\nnew {T}({f}).{g}();\n",
            "export class {T} {{ constructor(x) {{ this.{f} = x; }} {g}() {{ return this.{f}({U}); }} }}\n",
            "module.exports = {{ {f}, {g}: {h} }};\n",
            "it(() => {{ class {T} extends {U} {{ {g}() {{}} }}\nconst {f} = new {T}(); it(() => {f}.{g}()); }});\n",
        ),
    ),
    "ruby": (
        ("a.rb", "lib/b.rb", "lib/p/a.rb", "spec/a_spec.rb"),
        "",
        ("a", "b", "./a", "p/a", "../a", "lib/b"),
        (
            "require_relative '{m}'\n", "require '{m}'\n", "def {f}\n  {g}()\nend\n",
            "class {T} < {U}\n  def {f}\n    {g}()\n    self.{f}()\n    {U}.{g}()\n    x.{g}()\n  end\nend\n",
            "module {T}\n  class {U}\n    def {g}\n    end\n  end\nend\n",
            "module {T}\n  include Enumerable\n  def {f}\n    {g}\n    map\n  end\n  def each\n  end\nend\n",
            "class {T}\n  include {U}\n  def initialize(x)\n    @x = x\n  end\n  def self.{f}\n    {g}\n    {U}.new(self)\n  end\n"
            "  def {f}(y)\n    @x.{g}(self)\n    y.{g}\n    {U}.new(@x).{f}(y: {T}.new)\n  end\nend\n",
        ),
    ),
    "php": (
        ("src/A.php", "src/B.php", "src/q/A.php", "tests/ATest.php"),
        "<?php\nnamespace {P};\n",
        ("P", "Q", "P\\Q"),
        (
            "use {m}\\{T};\n", "use {m}\\{f};\n", "function {f}() {{ {g}(); }}\n",
            "class {T} extends {U} {{ function {f}() {{ $this->{g}(); {U}::{f}(); $x->{g}(); }} }}\n",
            "trait {T} {{ function {f}() {{ $this->{g}(); }} }}\n", "$x->{f}();\n" * 7,
            "class {T} extends {U} {{ function {f}() {{ $this->h = [$this, '{g}']; ($this->h)(1); }} }}\n",
        ),
    ),
    "rust": (
        (
            "src/lib.rs", "src/a.rs", "src/b/mod.rs", "src/b/a.rs", "src/b/tests/c.rs", "Cargo.toml", "k/Cargo.toml",
            "k/src/lib.rs", "k/src/a.rs",
        ),
        "",
        ("crate::a", "crate::b", "crate::b::a", "super::a", "std::a", "f", "g::a"),
        (
            "use {m}::{f};\n", "use {m}::{T};\n", "use {m};\n", "fn {f}() {{ {g}(); a::{g}(); {T}::{f}(); }}\n",
            "struct {T};\nimpl {T} {{ fn {f}(&self) {{ self.{g}(); }} }}\n", "impl {T} {{ fn {g}() {{ {f}(); }} }}\n",
            "mod {f} {{ pub fn {g}() {{}} }}\n", '[package]\nname = "{f}"\n',
            "m! {{ mod a; pub use {m}::{{self, {f} as {g}}}; }}\n", "m! {{ fn {f}() {{ {g}::a::{f}(); }} }}\n",
            "struct {T} {{ {f}: fn(), h: {U} }}\nconst {g}: &[fn()] = &[{f}, {h}];\n",
            "fn {f}(t: {T}) {{ let x = {T} {{ {g}: {h}, {f} }}; (t.{g})(); (t.h.{f})(); {h}[0](); }}\n",
        ),
    ),
    "lua": (
        ("a.lua", "b.lua", "p/init.lua", "p/a.lua"),
        "",
        ("a", "b", "p", "p.a"),
        (
            'local {T} = require("{m}")\n', 'local {f} = require("{m}").{g}\n',
            "local {T} = {{}}\nfunction {T}.{f}() {g}(); {U}.{g}() end\nreturn {T}\n",
            "local {T} = setmetatable({{}}, {{ __index = {U} }})\nfunction {T}:{f}() self:{g}() end\n",
            "local function {f}({g}) {g}(); {T}.{f}() end\n", "return setmetatable({{}}, {T})\n",
            "{T}.{f} = {g}\nlocal {U} = {{ {g} = {T}.{f} }}\n",
        ),
    ),
    "perl": (
        ("lib/P/A.pm", "lib/P/B.pm", "lib/C.pm", "run.pl", "t/a.t"),
        "package {P};\n",
        ("P::A", "P::B", "C"),
        (
            "use {m};\n", "use parent '{m}';\n", "sub new {{ bless {{}}, shift }}\n", "has {f} => sub {{ {m}->new }};\n",
            "sub {f} {{ my $self = shift; $self->{g}; {m}->new->{f} }}\n", "{m}::{f}(1);\n{g}();\n",
            "sub {g} {{ my $x = {m}->new; $x->{f}; shift->{f}->{g} }}\n", "my $y = {m}->new;\n$y->{f};\n",
        ),
    ),
    "elixir": (
        ("lib/a.ex", "lib/b.ex", "lib/p/a.ex", "test/a_test.exs"),
        "",
        ("A", "B", "P", "P.A", "P.C"),
        (
            "defmodule {T} do\n  def {f}(x), do: {g}(x)\n  def {g}(x), do: {U}.{f}(x)\nend\n",
            "defmodule P.{T} do\n  alias {m}\n  import {m}\n  def {f}(x), do: {T}.{g}(x)\n"
            "  def {g}(x), do: x |> {f} |> P.{U}.{f}()\nend\n",
            "defmodule P.{T} do\n  use {m}\n  defdelegate {f}(x), to: {U}\n  defmodule C do\n    def {g}(x), do: {f}(x)\n  end\nend\n",
        ),
    ),
    "ocaml": (
        ("a.ml", "b.ml", "p/a.ml", "p/c.ml", "test/a_test.ml"),
        "",
        ("A", "B", "C", "P.A", "A.B"),
        (
            "open {m}\n", "include {m}\n", "module {T} = {m}\n", "module {T} = {U} ({T})\n",
            "let {f} x = {g} x; {U}.{f} x; P.{T}.{g} x\n", "let {f} {g} = List.iter {h} ({g} 1)\nlet {h} = {U}.{g}\n",
            "module {T} = struct\n  include {U}\n  let {f} x = {g} x\nend\n",
            "class {f} = object (self)\n  inherit {g}\n  method {h} = self#{g}; x#{f}\nend\n",
        ),
    ),
    "scala": (
        ("p/A.scala", "p/B.scala", "q/A.scala", "q/test/ASpec.scala"),
        "package {P}\n",
        ("p", "q"),
        (
            "import {m}.{T}\n", "import {m}._\n", "object {T} {{ def apply() = new {T}(); def {f} = {U}.{g}() }}\n",
            "class {T} extends {U} {{ def this(x: Int) = this(); def {f}() = {g}; def {g} = super.{f}() }}\n",
            "class {T}(x: {U}) {{ def {f}() = x.{g}; def {h}() = {U}(1).{f}() }}\n",
            "object {T} {{ implicit class {U}(x: {T}) {{ def {g} = x.{f}() }} }}\n",
        ),
    ),
    "swift": (
        ("A.swift", "p/B.swift", "p/C.swift"),
        "",
        ("P",),
        (
            "class {T}: {U} {{ func {f}() {{ {g}(); self.{f}(); x.{g}() }} }}\n",
            "extension {T} {{ func {f}() {{ {g}() }} }}\n", "func {f}() {{ {g}(); {T}.{f}() }}\n",
        ),
    ),
}  # fmt: skip
_FUNCTIONS, _TYPES, _PACKAGES = (
    ("f", "g", "h"),
    ("A", "B", "C"),
    {"java": ("com.p", "com.q"), "php": ("P", "P\\Q"), "scala": ("p", "q"), "kotlin": ("p", "q")},
)


@st.composite
def sources(draw: st.DrawFn, language: str) -> str:
    """The text of one file."""
    _, head, modules, pieces = LANGUAGES[language]
    head = head.replace("{P}", draw(st.sampled_from(_PACKAGES.get(language, ("",)))))
    filled = [
        piece.format(
            h=draw(st.sampled_from(_FUNCTIONS)), f=draw(st.sampled_from(_FUNCTIONS)), g=draw(st.sampled_from(_FUNCTIONS)),
            T=draw(st.sampled_from(_TYPES)), U=draw(st.sampled_from(_TYPES)), m=draw(st.sampled_from(modules)),
        )
        for piece in draw(st.lists(st.sampled_from(pieces), max_size=5))
    ]  # fmt: skip
    # Imports first: some languages read them nowhere else.
    filled.sort(key=lambda text: not text.startswith(("import", "from", "use", "require", "#include", "source")))
    return head + "".join(filled)


@st.composite
def histories(draw: st.DrawFn, among: tuple[str, ...] = tuple(sorted(LANGUAGES))) -> list[dict[str, str]]:
    """A repository of one or two languages with its later versions: edits, additions, removals and renames."""
    languages = draw(st.lists(st.sampled_from(among), min_size=1, max_size=2, unique=True))
    files: dict[str, str] = {}
    for _ in range(draw(st.integers(3, 12))):
        _edit(draw, files, languages)
    states = [files]
    for _ in range(draw(st.integers(1, 4))):
        files = dict(files)
        for _ in range(draw(st.integers(1, 2))):
            match draw(st.sampled_from(("edit", "edit", "edit", "shift", "shift", "remove", "rename"))):
                case "shift" if files:
                    path = draw(st.sampled_from(sorted(files)))
                    files[path] = _shifted(draw, files[path])
                case "remove" if files:
                    del files[draw(st.sampled_from(sorted(files)))]
                case "rename" if files:
                    text = files.pop(draw(st.sampled_from(sorted(files))))
                    files[draw(st.sampled_from(LANGUAGES[draw(st.sampled_from(languages))][0]))] = text
                case _:
                    _edit(draw, files, languages)
        states.append(files)
    return states


def _shifted(draw: st.DrawFn, text: str) -> str:
    """The same text with other lines before, between or after its own: blank ones, a repeated one or none of one kind."""
    lines = text.splitlines(keepends=True)
    at = draw(st.integers(0, len(lines)))
    match draw(st.sampled_from(("blank", "blank", "blank", "repeat", "drop", "join"))):
        case "blank":
            lines[at:at] = ["\n"] * draw(st.integers(1, 3))
        case "repeat" if at < len(lines):
            lines[at:at] = [lines[at]]
        case "drop":
            del lines[at : at + 1]
        case "join" if at + 1 < len(lines):
            lines[at : at + 2] = [lines[at].rstrip("\n") + "; " + lines[at + 1].lstrip()]
    return "".join(lines)


def _edit(draw: st.DrawFn, files: dict[str, str], languages: list[str]) -> None:
    language = draw(st.sampled_from(languages))
    files[draw(st.sampled_from(LANGUAGES[language][0]))] = draw(sources(language))
