"""Language differences in the meaning of names: for each rule, the languages that have it.

Most rules are in grammars/: a language lists its own as `call_rules`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from lci_py.source.syntax.languages import load_languages
from lci_py.source.text.language_tables import table_of


def _values(key: str) -> dict[str, Any]:
    """A key of language.toml, by language."""
    return {name: table_of(name)[key] for name in load_languages() if key in table_of(name)}


def _languages(rule: str) -> frozenset[str]:
    return frozenset(spec.name for spec in load_languages().values() if rule in spec.call_rules)


#: A file sees the definitions of its folder (or package) without an import.
FOLDER_SCOPE = _languages("folder_scope")
#: A bare name reaches a function anywhere in the program (linked, sourced, one module), import or not.
PROGRAM_SCOPE = _languages("program_scope")
#: A bare name is bound in the file, by its package or by an import, or it is built in.
EXPLICIT_NAMES = _languages("explicit_names")
#: A file is a module that other files know by its capitalised name: `Store.add` is in store.ml.
FILE_MODULES = _languages("file_modules")
#: Other files cannot import what a file imports itself.
PRIVATE_IMPORTS = _languages("private_imports")
#: What a star import of a package or namespace finds in a file is what the file itself declares.
STAR_PACKAGES = _languages("private_imports") & _languages("qualified") - _languages("module_scope")
#: A macro is known in all modules after its definition.
MACROS_ANYWHERE = _languages("macros_anywhere")
#: A type may be used by its name alone anywhere in the program, without an import that says where it is.
PROGRAM_TYPES = _languages("program_types")
#: The bare name of a nested type does not reach it.
NESTED_HIDDEN = _languages("nested_hidden")
#: A bare name reaches the methods and fields of the object around it.
IMPLICIT_SELF = _languages("implicit_self")
#: Functions and variables have separate name spaces: a local does not hide a function that is called.
SEPARATE_NAMES = _languages("separate_names")
#: Methods of a type may stand anywhere in the program: extensions, or `void A::f() {}` in another file.
ADOPTING = _languages("adopting")
#: A type or module may be opened again in any file, and has what all of them say.
REOPENED_TYPES = _languages("reopened_types")
#: `this(...)` and `super(...)` call constructors.
DELEGATING = _languages("delegating")
#: Types are capitalised: a capitalised receiver that nothing defines is a type from outside the repository.
CAPITAL_TYPES = _languages("capital_types")
#: Every type is declared, so one that the repository does not define is from outside.
TYPED = _languages("typed")
#: Types are known by their qualified names without an import.
QUALIFIED = _languages("qualified")
#: An import may name a type as its module, and take a member of it.
STATIC_IMPORTS = _languages("static_imports")
#: A file or table of functions can be a receiver: `list.append(x)` may call a plain function.
MODULE_OBJECTS = _languages("module_objects")
#: Methods stand inside their types only.
INSIDE_METHODS = _languages("inside_methods")
#: Functions of one type may share a name and differ in their parameters.
OVERLOADS = _languages("overloads")
#: Functions of one package may do so, too.
FREE_OVERLOADS = _languages("free_overloads")
#: A type has the overloads of its bases besides its own.
INHERITED_OVERLOADS = _languages("inherited_overloads")
#: The number of arguments is a part of a function's name: definitions with the same number are clauses of one function.
BY_ARITY = _languages("by_arity")
#: A class that lists constructor parameters in its head is a constructor itself, beside others.
PRIMARY_CONSTRUCTORS = _languages("primary_constructors")
#: The name under which further constructors are defined, if that is not the name of the class.
SECONDARY_CONSTRUCTORS: dict[str, str] = _values("secondary_constructor")
#: Types have a name space of their own: a name that is called is never one.
TAGGED_TYPES = _languages("tagged_types")
#: A call of a method on a declared type may run an override in a derived type.
VIRTUAL = _languages("virtual")
#: A type implements an interface if it has all methods of it, and does not say so.
METHOD_SETS = _languages("method_sets")
#: A capitalised name is looked up in the module around and then in those further out, in whichever file they are.
MODULE_SCOPE = _languages("module_scope")
#: Variables begin with a sign that is not a part of their name.
PREFIXED = _languages("prefixed")
#: The method of a class that makes an object of it.
MAKERS: dict[str, str] = _values("maker")
#: The name in `Extract.types` of the value that a file gives to those that import it.
MODULE_VALUES: dict[str, str] = _values("module_value")
#: A method and a field may share a name; a call means the method.
SEPARATE_MEMBERS = _languages("separate_members")
#: Names of the class around, or of its base, that call its constructor.
OWN_CONSTRUCTORS = {name: frozenset(words) for name, words in _values("own_constructors").items()}
#: Texts in the place of a receiver that mark the call of a constructor.
CONSTRUCTED = frozenset({"new", "extends"})
#: `self` is no keyword, but mostly a name that the program gave to the object around.
PLAIN_SELF = _languages("plain_self")
#: A class may have a companion object of the same name, whose members are called on that name.
COMPANIONS = _languages("companions")
#: Methods that are called on an object may be defined as extensions of its type elsewhere.
EXTENSIONS = _languages("extensions")
#: Methods of the standard library: on a receiver of unknown type, such a name says nothing.
BUILTIN_METHODS = {name: frozenset(words) for name, words in _values("builtin_methods").items()}
#: Modules of Python's standard library: beside a module of that name, an import means the library.
STANDARD_MODULES = frozenset(
    """__future__ abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64
    bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop
    collections colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg crypt
    csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest dummy_threading email encodings
    ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc
    genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr
    imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma macpath mailbox
    mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath
    nturl2path numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil
    platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data
    pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve
    shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants
    sre_parse ssl stat statistics string stringprep struct subprocess sunau symbol symtable sys sysconfig syslog
    tabnanny tarfile telnetlib tempfile termios test textwrap this threading time timeit tkinter token tokenize
    tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv
    warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib
    zoneinfo""".split()
)
#: Headers of C's standard library and of POSIX that libraries have, too, for themselves.
STANDARD_HEADERS = frozenset(
    """assert.h complex.h ctype.h dirent.h errno.h fcntl.h fenv.h float.h inttypes.h limits.h locale.h malloc.h math.h
    poll.h pthread.h sched.h setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h
    stdlib.h string.h strings.h syslog.h termios.h threads.h time.h unistd.h wchar.h wctype.h""".split()
)
#: Macros of these that programs define for themselves as well.
STANDARD_MACROS = {"assert": "assert.h"}
#: Names under which constructors are defined.
CONSTRUCTORS = {name: tuple(words) for name, words in _values("constructors").items()}
#: Functions that are stored in fields and variables are followed by `StoredFunctions`.
STORING = _languages("storing")
#: Functions are stored in tables, by name.
FUNCTION_TABLES = _languages("function_tables")
#: An argument may be of a type that the callee's template deduces; conversions are ranked, and members stand anywhere.
TEMPLATES = _languages("templates")
#: `super` in a method calls the method of its name in the base.
SUPER_CALLS = _languages("super_calls")
#: Numbers are objects: none is wrapped, and none becomes a wider one.
NUMBER_OBJECTS = _languages("number_objects")
#: A type may say that it is made of others.
OWN_CONVERSIONS = _languages("own_conversions")
#: A value converts to no other type but as the language's own numbers and texts do.
STRICT_TYPES = _languages("strict_types")
#: Labels before arguments are a part of a function's name.
LABELS = _languages("labels")
#: An argument may say which parameter it is for, as `name=` before it, and what a function takes is `name:type`.
NAMED_ARGUMENTS = _languages("named_arguments")
#: Types say their parameters in brackets after the name.
GENERIC = _languages("generic")
#: An extension is known by the import that names it; without a package, a name is its file's.
NAMED_EXTENSIONS = _languages("named_extensions")
#: `x.class` is the class of an object.
CLASS_OF_OBJECTS = _languages("class_of_objects")
#: Methods that call the function they are called on.
CALLING = {name: frozenset(words) for name, words in _values("calling").items()}
#: A folder is a package, which imports name.
PACKAGES = _languages("packages")
#: An import's path leads through modules that files declare.
CRATES = _languages("crates")
#: An import of an item may mean what its module has from another one.
ITEM_IMPORTS = _languages("item_imports")
#: `name.py` and `name/__init__.py` are modules, and an import names the whole path of one.
PYTHON_MODULES = _languages("python_modules")
#: Bare names in imports are installed packages.
NPM_PACKAGES = _languages("npm_packages")
#: Imports are texts that are included.
INCLUDES = _languages("includes")
#: The script's own folder may be written before a path.
SCRIPT_FOLDERS = _languages("script_folders")
#: Imports name declarations, not paths.
DECLARED_IMPORTS = _languages("declared_imports")
#: Macros are replaced by their text.
EXPANDING = _languages("expanding")
#: What the scopes around bind may be a member of the type around.
OPEN_SCOPES = _languages("open_scopes")
#: Names of methods that make an object, besides constructors.
MAKING = frozenset({"initialize", "__construct", "constructor"})
#: Parts of an entry of a table that are its value.
PARTS = frozenset({"value", "Value", "second", "Item2", "1"})
#: Wrappers: what is called on such a type is mostly a member of the type between its brackets.
TRANSPARENT = frozenset(
    """Optional Awaitable Coroutine Final ClassVar Annotated Required NotRequired Type type Box Rc Arc Pin Ref RefMut
    Promise Task ValueTask Lazy Option Weak Cell RefCell Mutex RwLock unique_ptr shared_ptr weak_ptr Readonly Partial
    Nullable Supplier Provider Future CompletableFuture NonNull ManuallyDrop Cow Result ContextManager
    AsyncContextManager Self""".split()
)
#: Types of libraries whose elements are of their last argument; of a few, of the first.
CONTAINERS = frozenset(
    """list dict set frozenset tuple deque defaultdict List Dict Set FrozenSet Tuple Deque DefaultDict OrderedDict
    Sequence MutableSequence Iterable Iterator Collection Container Reversible AbstractSet MutableSet Mapping
    MutableMapping AsyncIterable AsyncIterator IterableIterator AsyncIterableIterator ValuesView KeysView
    Generator AsyncGenerator
    Map HashMap TreeMap LinkedHashMap ConcurrentHashMap ArrayList LinkedList HashSet LinkedHashSet TreeSet Queue Stack
    Vector ArrayDeque PriorityQueue Stream Enumeration ListIterator IEnumerable IEnumerator IList ICollection
    IReadOnlyList IReadOnlyCollection IDictionary IReadOnlyDictionary Dictionary HashTable SortedDictionary Array
    ReadonlyArray ReadonlyMap ReadonlySet""".split()
)
FIRST_ARGUMENT = frozenset({"Generator", "AsyncGenerator", "KeysView"})
#: Containers whose places may differ in type.
TUPLES = frozenset({"tuple", "Tuple"})
#: Methods of containers that return another one of the same elements, if that is iterated.
VIEWS = frozenset("values iter iter_mut into_iter copy items stream withIndex toList ToList AsEnumerable".split())
#: Methods of containers that return an element.
ELEMENT_GETTERS = frozenset(
    """get unwrap expect first last pop next peek remove getOrNull orElse orElseThrow orElseGet as_ref as_mut lock
    borrow borrow_mut read write iter iter_mut into_iter values items await clone cloned take unwrap_or
    unwrap_or_default to_owned front back top at find single firstOrNull poll element value
    popleft stream fetch getValue getOrDefault GetValueOrDefault""".split()
)
#: Rules that are read from the table of one language, by `has_rule`: elsewhere than in `callgraph`, or seldom.
READ_BY_NAME = {
    "passed_types": "What a call passes is compared with what is declared.",
    "trailing_lambdas": "A lambda behind the parentheses of a call is its last argument.",
    "function_arity": "Only functions have an arity, types have none.",
    "lowered": "Functions are followed as values through the program, by what `source.dataflow` makes of it.",
    "parted_types": "A type may be reopened in another file and is still one type.",
    "declared_methods": "A method is declared in one file and defined in another.",
    "type_first": "A declaration has the type before the name.",
    "bare_fields": "A bare name may be a field of the object around.",
    "function_names": "Each name of a function is a value; elsewhere, a reference to a function is written as one.",
    "captured_stores": "The queries capture what is stored.",
    "callable_texts": "A text or a list may name a function.",
    "delegates": "Functions are added to fields and events with `+=`, and called by `Invoke`.",
    "named_receivers": "A method names its own object as its first parameter.",
    "blocks": "A call may have a block, or a function as `&name`.",
    "bound_references": "`::name` is a function of the file or of the object around.",
    "receivers_only": "Only what is called on a parameter shows that it is a function.",
    "taken_apart": "Options are taken apart, and are the properties of objects.",
    "keyword_defaults": "The default of a parameter stands after `name:`.",
    "attribute_constants": "`@name value` is a constant.",
    "free_arity": "A method may take fewer or more arguments than the one it overrides.",
    "spread_modules": "A module is spread over several files, and code in it uses qualified names.",
    "including": "Imports may be texts that are included.",
    "whole_imports": "An import without names binds every name of its module.",
    "class_functions": "Methods of a type class are functions of the module.",
}


class NameRules(NamedTuple):
    """The rules of one language for bare names, cached: a file looks up a hundred."""

    name: str
    own: frozenset[str]  # names of the object or class around, or of its bases
    supers: frozenset[str]  # of these, those of its bases
    own_types: frozenset[str]  # names of the type around where a type is declared
    maker: str | None
    plain_self: bool
    separate: bool
    implicit_self: bool
    module_scope: bool
    lexical: bool  # a name means what the scopes around bind, never a member of the type around


_NOT_LEXICAL = IMPLICIT_SELF | MODULE_SCOPE | PREFIXED | OPEN_SCOPES


@cache
def name_rules(name: str) -> NameRules:
    """The rules of a language; for a file without one, the common rules."""
    spec = load_languages().get(name)
    supers, own_types = (frozenset(spec.super_names), frozenset(spec.own_types)) if spec else (frozenset(), frozenset())
    return NameRules(
        name=name,
        own=supers | own_types | frozenset(spec.self_names if spec else ()),
        supers=supers,
        own_types=own_types,
        maker=MAKERS.get(name),
        plain_self=name in PLAIN_SELF,
        separate=name in SEPARATE_NAMES,
        implicit_self=name in IMPLICIT_SELF,
        module_scope=name in MODULE_SCOPE,
        lexical=name not in _NOT_LEXICAL,
    )
