"""What differs between languages when names are resolved: sets of languages, by rule.

Most sets hold the languages whose `call_rules` in grammars/ name the rule.
"""

from __future__ import annotations

from lci_py.source.syntax.languages import load_languages


def _languages(rule: str) -> frozenset[str]:
    return frozenset(spec.name for spec in load_languages().values() if rule in spec.call_rules)


#: A file sees its folder's (or package's) definitions without an import.
FOLDER_SCOPE = _languages("folder_scope")
#: A bare name reaches a function anywhere in the program (linked, sourced, one module), import or not.
PROGRAM_SCOPE = _languages("program_scope")
#: A bare name is bound in the file, by its package or by an import, or it is the language's own.
EXPLICIT_NAMES = _languages("explicit_names")
#: A file is a module that everybody knows by the file's name with a capital: `Store.add` is in store.ml.
FILE_MODULES = _languages("file_modules")
#: What a file imports is not among the names that others can take from it.
PRIVATE_IMPORTS = _languages("private_imports")
#: A macro that is defined, or exported, is known in all modules that come after it.
MACROS_ANYWHERE = _languages("macros_anywhere")
#: A type is known by its name alone somewhere in the program, without an import that says from where.
PROGRAM_TYPES = _languages("program_types")
#: A type inside another one is out of reach for its bare name.
NESTED_HIDDEN = _languages("nested_hidden")
#: A bare name reaches the methods and fields of the object around it.
IMPLICIT_SELF = _languages("implicit_self")
#: Functions and variables have names of their own: a local does not hide a function that is called.
SEPARATE_NAMES = _languages("separate_names")
#: Methods of a type may stand anywhere in the program: extensions, `void A::f() {}` in another file.
ADOPTING = _languages("adopting")
#: `this(...)` and `super(...)` call constructors, by themselves.
DELEGATING = _languages("delegating")
#: Types are written with a capital: a receiver that is, and that nothing defines, is a type from outside.
CAPITAL_TYPES = _languages("capital_types")
#: Every type in use is declared, so one that the repository does not define is from outside.
TYPED = _languages("typed")
#: Types are known by their qualified names without an import.
QUALIFIED = _languages("qualified")
#: An import may name a type as its module, and take a member of it.
STATIC_IMPORTS = _languages("static_imports")
#: A file or table of functions is an object: `list.append(x)` may be a function.
MODULE_OBJECTS = _languages("module_objects")
#: Methods stand in their types, and nowhere else.
INSIDE_METHODS = _languages("inside_methods")
#: Several functions of one type may have one name, and differ in their parameters.
OVERLOADS = _languages("overloads")
#: A function's name has its number of arguments in it; what there is several times then is one function's clauses.
BY_ARITY = _languages("by_arity")
#: A class that says what it is made of is its own constructor, beside others.
PRIMARY_CONSTRUCTORS = _languages("primary_constructors")
#: What further constructors are called where they are defined, if not like the class.
SECONDARY_CONSTRUCTORS = {"kotlin": "constructor"}
#: Types have names of their own: what is called is none.
TAGGED_TYPES = _languages("tagged_types")
#: A call on a declared type may run what a type derived from it has put in the place of the method.
VIRTUAL = _languages("virtual")
#: A name with a capital is that of the module around, or of one further out, in whichever file it is declared.
SPELLED = _languages("spelled")
#: Variables begin with a sign that is no part of their name.
PREFIXED = _languages("prefixed")
#: A class's method that makes an object of it.
MAKERS = {"ruby": "new"}
#: What a file's module is as a value, by the name it has in `Extract.types`.
MODULE_VALUES = {"lua": "return"}
#: A method and a field may have one name: which is meant shows in whether it is called.
SEPARATE_MEMBERS = _languages("separate_members")
#: Names of the class around and its base that construct when they are called.
OWN_CONSTRUCTORS = {"php": frozenset({"self", "static", "parent"}), "scala": frozenset({"this"})}
#: What stands in the place of a receiver where a constructor is called.
CONSTRUCTED = frozenset({"new", "extends"})
#: `self` is a name like any other, though mostly one that somebody gave to the object around.
PLAIN_SELF = _languages("plain_self")
#: A class may have an object of its name beside it, which has what is called on the name.
COMPANIONS = _languages("companions")
#: What is called on an object may be defined for its type elsewhere.
EXTENSIONS = _languages("extensions")
#: Methods of the standard library's objects: on a receiver that nobody knows, the name says nothing.
BUILTIN_METHODS = {
    "ruby": frozenset(
        """all? any? append call chomp class clear close collect compact concat count delete detect dig dup each
        each_key each_pair each_value each_with_index each_with_object empty? fetch filter filter_map find
        first flat_map flatten format freeze get gsub include? index inject inspect join key? keys last
        length lines map match match? max merge merge! min name new nil? none? open pop puts push read
        reduce reject replace reverse round select send set shift size sleep sort sort_by split start_with?
        strip sub sum tap then to_a to_h to_i to_json to_proc to_s to_sym transform_values uniq update
        upcase value values write zip""".split()
    ),
}
#: How a constructor is called where it is defined.
CONSTRUCTORS = {
    "python": ("__init__", "__new__"),
    "javascript": ("constructor",),
    "typescript": ("constructor",),
    "tsx": ("constructor",),
    "ruby": ("initialize",),
    "php": ("__construct",),
    "swift": ("init",),
    "scala": ("this",),
}
#: How a method names the object around it as one of its base class.
SUPERS = frozenset({"super", "super()", "parent", "base", "Base"})
#: Names of a class's own type inside it.
OWN_TYPES = frozenset({"self", "static", "Self", "this", "$this", "@This()"})
#: Types that stand for the one between their brackets: what is called on them is mostly a member of that.
TRANSPARENT = frozenset(
    """Optional Awaitable Coroutine Final ClassVar Annotated Required NotRequired Type type Box Rc Arc Pin Ref RefMut
    Promise Task ValueTask Lazy Option Weak Cell RefCell Mutex RwLock unique_ptr shared_ptr weak_ptr Readonly Partial
    Nullable Supplier Provider Future CompletableFuture NonNull ManuallyDrop Cow Result ContextManager
    AsyncContextManager Self""".split()
)
#: Methods of containers that give one of what is in them.
ELEMENT_GETTERS = frozenset(
    """get unwrap expect first last pop next peek remove getOrNull orElse orElseThrow orElseGet as_ref as_mut lock
    borrow borrow_mut read write iter iter_mut into_iter values items await clone cloned take unwrap_or
    unwrap_or_default to_owned front back top at find single firstOrNull poll element value
    popleft stream""".split()
)
