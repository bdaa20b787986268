"""Tables of the standard types of Java, C# and Kotlin, as far as overload resolution needs them."""

from __future__ import annotations

#: Names of primitive types, and of those of C#, by one name each.
PRIMITIVES = {
    "int": "int", "long": "long", "short": "short", "byte": "byte", "char": "char", "boolean": "boolean",
    "float": "float", "double": "double", "bool": "boolean", "uint": "uint", "ulong": "ulong", "ushort": "ushort",
    "sbyte": "sbyte", "decimal": "decimal",
}  # fmt: skip
#: The canonical names of all of them.
NUMBERS = frozenset(PRIMITIVES.values())
KOTLIN = {
    "Int": "int", "Long": "long", "Short": "short", "Byte": "byte", "Char": "char", "Boolean": "boolean",
    "Float": "float", "Double": "double",
}  # fmt: skip
CSHARP = {
    "Int32": "int", "Int64": "long", "Int16": "short", "Byte": "byte", "Char": "char", "Boolean": "boolean",
    "Single": "float", "Double": "double", "UInt32": "uint", "UInt64": "ulong", "UInt16": "ushort", "SByte": "sbyte",
    "Decimal": "decimal", "string": "String", "object": "Object",
}  # fmt: skip
BOXES = {
    "Integer": "int", "Long": "long", "Short": "short", "Byte": "byte", "Character": "char", "Boolean": "boolean",
    "Float": "float", "Double": "double",
}  # fmt: skip
_WIDER = """
byte: short int long float double decimal ushort uint ulong
short: int long float double decimal
char: int long float double ushort uint ulong decimal
int: long float double decimal
long: float double decimal
float: double
sbyte: short int long float double decimal
ushort: int uint long ulong float double decimal
uint: long ulong float double decimal
ulong: float double decimal
"""
#: Types that every object is of.
TOP = frozenset({"Object", "Any", "dynamic"})
WHOLE = frozenset({"int", "long", "short", "byte", "uint", "ulong", "ushort", "sbyte"})
OF_NUMBERS = frozenset("Number Comparable Serializable IComparable IConvertible IFormattable ValueType".split())
OF_TEXTS = frozenset("CharSequence Comparable Serializable Constable IEnumerable IComparable ICloneable".split())
OF_ARRAYS = frozenset(
    "Cloneable Serializable Array IEnumerable ICollection IList ICloneable IReadOnlyCollection IReadOnlyList".split()
)
#: Types without derived types.
FINAL = frozenset(
    """String Class Integer Long Short Byte Character Boolean Float Double StringBuilder StringBuffer Void Optional URI
    URL UUID Pattern Locale""".split()
)
_LIBRARY = """
Iterable:
Collection: Iterable IList ICollection IEnumerable IReadOnlyCollection IReadOnlyList
List: Collection Iterable IList ICollection IEnumerable IReadOnlyList IReadOnlyCollection
Set: Collection Iterable
Queue: Collection Iterable ICollection IEnumerable IReadOnlyCollection
Deque: Queue Collection Iterable
SortedSet: Set Collection Iterable ISet ICollection IEnumerable IReadOnlyCollection
ArrayList: AbstractList List Collection Iterable RandomAccess
LinkedList: List Deque Queue Collection Iterable ICollection IEnumerable IReadOnlyCollection
ArrayDeque: Deque Queue Collection Iterable
HashSet: Set Collection Iterable ISet ICollection IEnumerable IReadOnlyCollection
LinkedHashSet: HashSet Set Collection Iterable
TreeSet: SortedSet Set Collection Iterable
MutableList: List Collection Iterable
MutableSet: Set Collection Iterable
Map:
SortedMap: Map
HashMap: Map
LinkedHashMap: HashMap Map
TreeMap: SortedMap Map
MutableMap: Map
Iterator:
Enumeration:
Appendable:
CharSequence:
Comparable:
StringBuilder: CharSequence Appendable Comparable
Reader: Readable Closeable AutoCloseable
StringReader: Reader Readable Closeable AutoCloseable
InputStreamReader: Reader Readable Closeable AutoCloseable
BufferedReader: Reader Readable Closeable AutoCloseable
InputStream: Closeable AutoCloseable
FileInputStream: InputStream Closeable AutoCloseable
ByteArrayInputStream: InputStream Closeable AutoCloseable
OutputStream: Closeable AutoCloseable Flushable
ByteArrayOutputStream: OutputStream Closeable AutoCloseable Flushable
Writer: Closeable AutoCloseable Appendable Flushable
StringWriter: Writer Closeable AutoCloseable Appendable Flushable TextWriter IDisposable
PrintWriter: Writer Closeable AutoCloseable Appendable Flushable
File: Comparable
Path: Iterable
Type:
Class: Type GenericDeclaration AnnotatedElement
ParameterizedType: Type
GenericArrayType: Type
WildcardType: Type
TypeVariable: Type GenericDeclaration
Method: Executable AccessibleObject Member AnnotatedElement
Field: AccessibleObject Member AnnotatedElement
Number:
BigDecimal: Number Comparable
BigInteger: Number Comparable
AtomicInteger: Number
AtomicLong: Number
Throwable:
Error: Throwable
Exception: Throwable
RuntimeException: Exception Throwable
IOException: Exception Throwable
IllegalStateException: RuntimeException Exception Throwable
IllegalArgumentException: RuntimeException Exception Throwable
NumberFormatException: IllegalArgumentException RuntimeException Exception Throwable
Runnable:
Callable:
Supplier:
Consumer:
Function:
IEnumerable:
IReadOnlyCollection: IEnumerable
IReadOnlyList: IReadOnlyCollection IEnumerable
IReadOnlyDictionary: IReadOnlyCollection IEnumerable
IQueryable: IEnumerable
ISet: ICollection IEnumerable
ICollection: IEnumerable
IList: ICollection IEnumerable
IDictionary: ICollection IEnumerable
Dictionary: IDictionary ICollection IEnumerable IReadOnlyDictionary IReadOnlyCollection
TextReader: IDisposable
TextWriter: IDisposable
"""
#: How many arguments the function of an interface of the libraries takes.
FUNCTIONAL = {
    "Runnable": 0, "Callable": 0, "Supplier": 0, "Consumer": 1, "Function": 1, "Predicate": 1, "UnaryOperator": 1,
    "BiFunction": 2, "BiConsumer": 2, "BiPredicate": 2, "BinaryOperator": 2, "Comparator": 2,
}  # fmt: skip
#: The result types of methods that every object has.
OF_OBJECTS = {
    "toString": "String", "hashCode": "int", "equals": "boolean", "getClass": "Class", "ToString": "String",
    "GetHashCode": "int", "Equals": "boolean", "GetType": "Type",
}  # fmt: skip
#: Members of a nullable value that are the value.
OF_NULLABLE = frozenset({"Value", "GetValueOrDefault"})
#: The result types of methods of strings.
OF_STRINGS = {
    "length": "int", "indexOf": "int", "isEmpty": "boolean", "charAt": "char", "substring": "String", "trim": "String",
    "toLowerCase": "String", "toUpperCase": "String", "replace": "String", "concat": "String", "startsWith": "boolean",
    "endsWith": "boolean", "contains": "boolean", "toCharArray": "char[]", "getBytes": "byte[]", "format": "String",
    "valueOf": "String", "join": "String", "repeat": "String", "Trim": "String", "Substring": "String",
    "Replace": "String", "Format": "String", "Join": "String", "Concat": "String", "IndexOf": "int",
    "StartsWith": "boolean", "EndsWith": "boolean", "Contains": "boolean", "ToCharArray": "char[]",
}  # fmt: skip


def _rows(text: str) -> dict[str, frozenset[str]]:
    return {
        name: frozenset(others.split())
        for name, _, others in (line.partition(":") for line in text.split("\n") if line)
    }


#: The types that a primitive value converts to without a cast.
WIDER = _rows(_WIDER)
#: Types of the libraries, and all that each is derived from.
SUPERTYPES = _rows(_LIBRARY)
