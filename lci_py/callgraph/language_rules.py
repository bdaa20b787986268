"""What differs between languages when names are resolved: sets of languages, by rule."""

from __future__ import annotations

#: A file sees its folder's (or package's) definitions without an import.
FOLDER_SCOPE = frozenset({"go", "java", "kotlin", "scala", "csharp", "swift", "php"})
#: A bare name reaches a function anywhere in the program (linked, sourced, one module), import or not.
PROGRAM_SCOPE = frozenset({"c", "cpp", "objc", "bash", "swift", "csharp", "ruby", "php"})
#: A bare name is bound in the file, by its package or by an import, or it is the language's own.
EXPLICIT_NAMES = frozenset({"python", "javascript", "typescript", "tsx", "go", "rust", "java"})
#: What a file imports is not among the names that others can take from it.
PRIVATE_IMPORTS = frozenset({"java", "kotlin", "scala", "csharp", "swift", "go", "zig", "c", "cpp", "objc"})
#: A macro that is defined, or exported, is known in all modules that come after it.
MACROS_ANYWHERE = frozenset({"rust"})
#: A type is known by its name alone somewhere in the program, without an import that says from where.
PROGRAM_TYPES = frozenset("c cpp objc swift csharp ruby php java kotlin scala elixir haskell rust zig go".split())
#: A type inside another one is out of reach for its bare name.
NESTED_HIDDEN = frozenset({"scala"})
#: A bare name reaches the methods and fields of the object around it.
IMPLICIT_SELF = frozenset({"java", "kotlin", "scala", "csharp", "swift", "ruby", "cpp", "zig"})
#: Functions and variables have names of their own: a local does not hide a function that is called.
SEPARATE_NAMES = frozenset({"java", "ruby", "php", "bash", "elixir"})
#: Methods of a type may stand anywhere in the program: extensions, `void A::f() {}` in another file.
ADOPTING = frozenset({"cpp", "objc", "swift", "kotlin", "rust"})
#: `this(...)` and `super(...)` call constructors, by themselves.
DELEGATING = frozenset({"java", "kotlin", "csharp", "javascript", "typescript", "tsx"})
#: Types are written with a capital: a receiver that is, and that nothing defines, is a type from outside.
CAPITAL_TYPES = frozenset({"objc", "java", "kotlin", "scala", "csharp", "swift", "rust", "haskell", "zig"})
#: Every type in use is declared, so one that the repository does not define is from outside.
TYPED = frozenset({"java", "kotlin", "scala", "csharp", "swift", "rust", "zig", "go", "cpp", "objc"})
#: Types are known by their qualified names without an import.
QUALIFIED = frozenset({"java", "kotlin", "scala", "csharp"})
#: An import may name a type as its module, and take a member of it.
STATIC_IMPORTS = QUALIFIED | {"rust"}
#: A file or table of functions is an object: `list.append(x)` may be a function.
MODULE_OBJECTS = frozenset({"zig", "lua", "elixir", "haskell", "bash"})
#: Methods stand in their types, and nowhere else.
INSIDE_METHODS = frozenset({"python", "java", "php"})
#: Several functions of one type may have one name, and differ in their parameters.
OVERLOADS = frozenset({"java", "kotlin", "scala", "csharp", "swift", "cpp"})
#: A function's name has its number of arguments in it; what there is several times then is one function's clauses.
BY_ARITY = frozenset({"elixir"})
#: A class that says what it is made of is its own constructor, beside others.
PRIMARY_CONSTRUCTORS = frozenset({"kotlin", "csharp"})
#: What further constructors are called where they are defined, if not like the class.
SECONDARY_CONSTRUCTORS = {"kotlin": "constructor"}
#: Types have names of their own: what is called is none.
TAGGED_TYPES = frozenset({"c"})
#: A call on a declared type may run what a type derived from it has put in the place of the method.
VIRTUAL = frozenset({"java", "kotlin", "scala", "csharp", "swift", "php", "typescript", "cpp", "rust", "objc"})
#: A name with a capital is that of the module around, or of one further out, in whichever file it is declared.
SPELLED = frozenset({"ruby", "elixir", "php"})
#: Variables begin with a sign that is no part of their name.
PREFIXED = frozenset({"php", "ruby", "bash"})
#: A class's method that makes an object of it.
MAKERS = {"ruby": "new"}
#: What a file's module is as a value, by the name it has in `Extract.types`.
MODULE_VALUES = {"lua": "return"}
#: A method and a field may have one name: which is meant shows in whether it is called.
SEPARATE_MEMBERS = frozenset({"php", "java"})
#: Names of the class around and its base that construct when they are called.
OWN_CONSTRUCTORS = {"php": frozenset({"self", "static", "parent"}), "scala": frozenset({"this"})}
#: What stands in the place of a receiver where a constructor is called.
CONSTRUCTED = frozenset({"new", "extends"})
#: `self` is a name like any other, though mostly one that somebody gave to the object around.
PLAIN_SELF = frozenset({"scala"})
#: A class may have an object of its name beside it, which has what is called on the name.
COMPANIONS = frozenset({"scala"})
#: What is called on an object may be defined for its type elsewhere.
EXTENSIONS = frozenset({"scala"})
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
