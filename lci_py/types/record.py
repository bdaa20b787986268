"""Replacements for `dataclasses` and `typing.NamedTuple` that take less time when the program starts.

The standard library takes 1 ms to define a dataclass: it generates six methods, and inspects a signature; a named tuple
takes 0.08 ms. A multiview search defines 22 dataclasses and 55 named tuples. Here the constructor is generated when it
is first called, and all classes share the other methods. Only mypy, which takes these names for the standard library's,
keeps a frozen value from being changed. tests/types/test_record.py compares the methods with the standard library's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, fields, replace
    from typing import NamedTuple
else:
    from _collections import _tuplegetter

    _MISSING = object()

    class _Field:
        __slots__ = ("default", "factory", "name")

        def __init__(self, default, factory):
            self.default = default
            self.factory = factory

    def field(*, default=_MISSING, default_factory=None):
        return _Field(default, default_factory)

    def dataclass(cls=None, *, frozen=False, slots=False, eq=True):
        """A class decorator. With `eq`, values are compared by their fields; with `frozen`, hashed by them as well."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, slots=slots, eq=eq)
        own = dict(cls.__dict__)
        fields = []
        for name in cls.__annotations__:
            default = own.pop(name, _MISSING)
            spec = default if isinstance(default, _Field) else _Field(default, None)
            spec.name = name
            fields.append(spec)
        names = tuple(spec.name for spec in fields)
        if slots:
            own.pop("__dict__", None)
            own.pop("__weakref__", None)
            result = type(cls)(cls.__name__, cls.__bases__, {**own, "__slots__": names})
            result.__qualname__ = cls.__qualname__
        else:
            result = cls
            for spec in fields:
                if spec.factory is not None:
                    delattr(result, spec.name)
                elif spec.default is not _MISSING:
                    setattr(result, spec.name, spec.default)
        result.__fields__, result.__match_args__ = tuple(fields), names

        def first(self, *args, **kwargs):
            result.__init__ = _initialiser(result)
            result.__init__(self, *args, **kwargs)

        result.__init__, result.__repr__ = first, _repr
        if eq:
            result.__eq__ = _eq
            result.__hash__ = _hash if frozen else None
        return result

    def _initialiser(cls):
        """Generate the `__init__` of a class, with a parameter for each field."""
        parameters, lines, namespace = [], [], {"missing": _MISSING}
        for spec in cls.__fields__:
            name, value = spec.name, spec.name
            if spec.factory is not None:
                namespace[f"{name}_factory"] = spec.factory
                parameters.append(f"{name}=missing")
                value = f"{name}_factory() if {name} is missing else {name}"
            elif spec.default is not _MISSING:
                namespace[f"{name}_default"] = spec.default
                parameters.append(f"{name}={name}_default")
            else:
                parameters.append(name)
            lines.append(f" self.{name} = {value}\n")
        methods = {}
        exec(f"def __init__(self, {', '.join(parameters)}):\n{''.join(lines)}", namespace, methods)
        methods["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return methods["__init__"]

    def _values(self):
        return tuple([getattr(self, name) for name in self.__match_args__])

    def _repr(self):
        text = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{self.__class__.__qualname__}({text})"

    def _eq(self, other):
        return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented

    def _hash(self):
        return hash(_values(self))

    def fields(cls):
        """The fields of a class as objects, whose attribute `name` is the name of the field."""
        return cls.__fields__

    def replace(value, /, **changes):
        """A copy of a value with some fields changed."""
        cls = value.__class__
        copy = cls.__new__(cls)
        for name in cls.__match_args__:
            setattr(copy, name, changes.pop(name) if name in changes else getattr(value, name))
        if changes:
            raise TypeError(f"{cls.__name__} has no field {', '.join(changes)}")
        return copy

    def asdict(value):
        """Convert a value to a dict from field names to values; values nested in it are converted, too."""
        if hasattr(value, "__fields__"):
            return {name: asdict(getattr(value, name)) for name in value.__match_args__}
        if isinstance(value, dict):
            return {asdict(key): asdict(item) for key, item in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(asdict, value))
        return type(value)(map(asdict, value)) if isinstance(value, (list, tuple)) else value

    class _NamedTupleClass(type):
        """Metaclass that turns a subclass of `NamedTuple` into a subclass of `tuple`."""

        def __new__(cls, name, bases, own):
            names = tuple(own.get("__annotations__", ()))
            defaults = {field: own.pop(field) for field in names if field in own}
            getters = {field: _tuplegetter(at, None) for at, field in enumerate(names)}
            shared = {"__slots__": (), "__match_args__": names, "_fields": names, "_field_defaults": defaults}
            bases = tuple(tuple if isinstance(base, _NamedTupleClass) else base for base in bases)
            result = type(name, bases, {**_TUPLE_METHODS, **own, **getters, **shared})

            def first(cls, *args, **kwargs):
                result.__new__ = staticmethod(_tuple_constructor(result))
                return result.__new__(cls, *args, **kwargs)

            result.__new__ = staticmethod(first)
            return result

    def _tuple_constructor(cls):
        """Generate the `__new__` of a named tuple's class, with a parameter for each field."""
        namespace = {"new": tuple.__new__, **{f"{name}_default": value for name, value in cls._field_defaults.items()}}
        parameters = [f"{name}={name}_default" if name in cls._field_defaults else name for name in cls._fields]
        values = "".join(f"{name}, " for name in cls._fields)
        methods = {}
        exec(f"def __new__(_cls, {', '.join(parameters)}):\n return new(_cls, ({values}))\n", namespace, methods)
        methods["__new__"].__qualname__ = f"{cls.__qualname__}.__new__"
        return methods["__new__"]

    def _tuple_repr(self):
        text = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{self.__class__.__name__}({text})"

    def _make(cls, values):
        return cls.__new__(cls, *values)

    def _replace(self, /, **changes):
        copy = self._make(changes.pop(name, value) for name, value in zip(self._fields, self, strict=True))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return copy

    _TUPLE_METHODS = {
        "__repr__": _tuple_repr,
        "__getnewargs__": lambda self: tuple(self),
        "_make": classmethod(_make),
        "_replace": _replace,
        "_asdict": lambda self: dict(zip(self._fields, self, strict=True)),
    }
    NamedTuple = type.__new__(_NamedTupleClass, "NamedTuple", (), {})


__all__ = ["NamedTuple", "asdict", "dataclass", "field", "fields", "replace"]
