"""Lists how languages differ in the meaning of names, and names of the standard libraries.

Each language lists its rules as `call_rules` in grammars/; `has_rule` tests whether a language has a rule.
"""

from __future__ import annotations

from functools import cache

from lci_py.source.text.language_tables import has_rule, table_of, words_of
from lci_py.types.record import NamedTuple

#: The rules, and what each means.
RULES = {
    "folder_scope": "A file sees the definitions of its folder (or package) without an import.",
    "program_scope": "A bare name reaches a function anywhere in the program (linked, sourced, one module).",
    "explicit_names": "A bare name is bound in the file, by its package or by an import, or it is built in.",
    "file_modules": "A file is a module that other files know by its capitalised name: `Store.add` is in store.ml.",
    "private_imports": "Other files cannot import what a file imports itself.",
    "macros_anywhere": "A macro is known in all modules after its definition.",
    "program_types": "A type may be used by its name alone anywhere in the program, without an import.",
    "nested_hidden": "The bare name of a nested type does not reach it.",
    "implicit_self": "A bare name reaches the methods and fields of the object around it.",
    "separate_names": "Functions and variables have separate name spaces: a local hides no function that is called.",
    "adopting": "Methods of a type may stand anywhere in the program: extensions, or `void A::f() {}` in another file.",
    "reopened_types": "A type or module may be opened again in any file, and has what all of them say.",
    "delegating": "`this(...)` and `super(...)` call constructors.",
    "capital_types": "Types are capitalised: a capitalised receiver that nothing defines is from outside.",
    "typed": "Every type is declared, so one that the repository does not define is from outside.",
    "qualified": "Types are known by their qualified names without an import.",
    "static_imports": "An import may name a type as its module, and take a member of it.",
    "module_objects": "A file or table of functions can be a receiver: `list.append(x)` may call a plain function.",
    "package_objects": "The package of a file is a class: what its `new` makes has the functions of the file.",
    "inside_methods": "Methods stand inside their types only.",
    "overloads": "Functions of one type may share a name and differ in their parameters.",
    "free_overloads": "Functions of one package may do so, too.",
    "inherited_overloads": "A type has the overloads of its bases besides its own.",
    "by_arity": "The number of arguments is a part of a function's name: those of one number are its clauses.",
    "primary_constructors": "A class that lists parameters in its head is a constructor itself, beside others.",
    "tagged_types": "Types have a name space of their own: a name that is called is never one.",
    "virtual": "A call of a method on a declared type may run an override in a derived type.",
    "method_sets": "A type implements an interface if it has all methods of it, and does not say so.",
    "module_scope": "A capitalised name is looked up in the module around, then further out, in whichever file.",
    "prefixed": "Variables begin with a sign that is not a part of their name.",
    "separate_members": "A method and a field may share a name; a call means the method.",
    "plain_self": "`self` is no keyword, but mostly a name that the program gave to the object around.",
    "companions": "A class may have a companion object of the same name, whose members are called on that name.",
    "extensions": "Methods that are called on an object may be defined as extensions of its type elsewhere.",
    "extension_methods": "A static method may be called on an object that it takes as its first parameter, `this`.",
    "storing": "Functions that are stored in fields and variables are followed by `StoredFunctions`.",
    "function_tables": "Functions are stored in tables, by name.",
    "templates": "Templates deduce types of arguments, conversions are ranked, and members stand anywhere.",
    "super_calls": "`super` in a method calls the method of its name in the base.",
    "number_objects": "Numbers are objects: none is wrapped, and none becomes a wider one.",
    "own_conversions": "A type may say that it is made of others.",
    "strict_types": "A value converts to no other type but as the language's own numbers and texts do.",
    "labels": "Labels before arguments are a part of a function's name.",
    "named_arguments": "An argument may say which parameter it is for: `name=` before it; parameters are `name:type`.",
    "generic": "Types say their parameters in brackets after the name.",
    "named_extensions": "An extension is known by the import that names it; without a package, a name is its file's.",
    "passed_objects": "What a parameter is follows from the objects that calls pass for it.",
    "class_methods": "A class has methods of its own, which may have the names of methods that its objects have.",
    "mixins": "A class may call on its own object what only classes that derive from it have.",
    "class_of_objects": "`x.class` is the class of an object.",
    "packages": "A folder is a package, which imports name.",
    "crates": "An import's path leads through modules that files declare.",
    "item_imports": "An import of an item may mean what its module has from another one.",
    "python_modules": "`name.py` and `name/__init__.py` are modules, and an import names the whole path of one.",
    "npm_packages": "Bare names in imports are installed packages.",
    "includes": "Imports are texts that are included.",
    "script_folders": "The script's own folder may be written before a path.",
    "declared_imports": "Imports name declarations, not paths.",
    "expanding": "Macros are replaced by their text.",
    "open_scopes": "What the scopes around bind may be a member of the type around.",
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
#: Texts in the place of a receiver that mark the call of a constructor.
CONSTRUCTED = frozenset({"new", "extends"})
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
    Vector ArrayDeque PriorityQueue Stream Entry Enumeration ListIterator IEnumerable IEnumerator IList ICollection
    IReadOnlyList IReadOnlyCollection IDictionary IReadOnlyDictionary Dictionary HashTable SortedDictionary Array
    ReadonlyArray ReadonlyMap ReadonlySet""".split()
)


def is_transparent(language: str, name: str) -> bool:
    """Whether calls on an object of this type go to its type argument: `Box<Foo>`, a smart pointer, acts as `Foo`."""
    return name in TRANSPARENT and not has_rule(language, "strict_types")


def is_container(language: str, name: str) -> bool:
    """Whether a type of this name is a container of elements, as `List`; in languages as Java, also `Optional`."""
    return name in CONTAINERS or (name in TRANSPARENT and has_rule(language, "strict_types"))


FIRST_ARGUMENT = frozenset({"Generator", "AsyncGenerator", "KeysView"})
#: Containers whose places may differ in type.
TUPLES = frozenset({"tuple", "Tuple"})
#: Methods of containers that return another one of the same elements, if that is iterated.
VIEWS = frozenset("values iter iter_mut into_iter copy items stream withIndex toList ToList AsEnumerable".split())
#: The same, whatever is called on it.
PIPED = frozenset("stream parallelStream filter sorted distinct limit skip".split())
#: Methods of containers that return an element.
ELEMENT_GETTERS = frozenset(
    """get unwrap expect first last pop next peek remove getOrNull orElse orElseThrow orElseGet as_ref as_mut lock
    borrow borrow_mut read write iter iter_mut into_iter values items await clone cloned take unwrap_or
    unwrap_or_default to_owned front back top at find single firstOrNull poll element value
    popleft stream computeIfAbsent findFirst findAny fetch getValue getOrDefault GetValueOrDefault""".split()
)


class NameRules(NamedTuple):
    """The rules of one language for bare names, kept ready because linking one file needs them a hundred times."""

    name: str
    own: frozenset[str]  # names of the object or class around, or of its bases
    supers: frozenset[str]  # of these, those of its bases
    own_types: frozenset[str]  # names of the type around where a type is declared
    maker: str | None
    plain_self: bool
    separate: bool
    implicit_self: bool
    module_scope: bool
    lexical: bool  # a name means what the scopes around bind, never a member of the type or module around
    scoped: bool  # a name means the same in all methods that do not bind it


@cache
def lists_star_names(language: str) -> bool:
    """Whether a star import of a package or namespace finds in a file exactly what that file declares."""
    return all(has_rule(language, rule) for rule in ("private_imports", "qualified")) and not has_rule(
        language, "module_scope"
    )


@cache
def name_rules(name: str) -> NameRules:
    """The rules of the language with this name; for a file without a language, the common rules."""
    supers, own_types = words_of(name, "super_names"), words_of(name, "own_types")
    return NameRules(
        name=name,
        own=supers | own_types | words_of(name, "self_names"),
        supers=supers,
        own_types=own_types,
        maker=table_of(name).get("maker"),
        plain_self=has_rule(name, "plain_self"),
        separate=has_rule(name, "separate_names"),
        implicit_self=has_rule(name, "implicit_self"),
        module_scope=has_rule(name, "module_scope"),
        lexical=not has_rule(name, "implicit_self") and not has_rule(name, "module_scope"),
        scoped=not has_rule(name, "class_methods"),
    )
