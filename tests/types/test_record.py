"""Our dataclasses behave as those of the standard library, where lci uses them."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any, Generic, NamedTuple, TypeVar

import pytest

from lci_py.types import record

T = TypeVar("T")


class Pair(NamedTuple):
    a: int
    b: tuple[str, ...]


def classes(library: Any) -> list[type]:
    @library.dataclass(frozen=True, slots=True)
    class Frozen:
        a: int
        b: str = "b"
        c: dict[str, Any] = library.field(default_factory=dict)
        d: tuple[int, ...] = library.field(default=())

        @property
        def twice(self) -> int:
            return 2 * self.a

    @library.dataclass
    class Plain:
        a: int
        b: str = "b"
        c: list[int] = library.field(default_factory=list)

    @library.dataclass(eq=False, slots=True)
    class ByIdentity:
        a: int = 0

    return [Frozen, Plain, ByIdentity]


BOTH = list(zip(classes(record), classes(dataclasses), strict=True))


@pytest.mark.parametrize(("ours", "theirs"), BOTH, ids=["frozen", "plain", "identity"])
def test_values_are_made_shown_copied_and_compared_alike(ours: type, theirs: type) -> None:
    def seen(made: type, library: Any) -> list[Any]:
        one, same, other = made(1), made(1), made(a=2)
        found = [repr(one), one == same, one == other, one != same, one == 1, one.__match_args__]
        found += [
            library.asdict(other),
            repr(library.replace(one, a=5)),
            [field.name for field in library.fields(made)],
        ]
        for wrong in (lambda: made(1, 2, 3, 4, 5, 6), lambda: made(z=1), lambda: library.replace(one, z=1)):
            with pytest.raises(TypeError):
                wrong()
        found.append(made.__hash__ is None)
        found.append(made(1).__dict__ if hasattr(one, "__dict__") else made.__slots__)
        return found

    assert seen(ours, record) == seen(theirs, dataclasses)


def test_frozen_ones_are_keys_and_defaults_are_not_shared() -> None:
    frozen, plain = BOTH[0][0], BOTH[1][0]
    assert len({frozen(1, c=(), d=(2,)), frozen(1, c=(), d=(2,)), frozen(2, c=())}) == 2
    assert frozen(4).twice == 8
    one = plain(1)
    one.c.append(1)
    assert plain(1).c == [] and one != plain(1)


@record.dataclass(frozen=True, slots=True)
class Sent:
    """It goes to another process."""

    a: int
    inner: Pair


def test_values_can_be_sent_and_written() -> None:
    value = Sent(1, Pair(2, ("x",)))
    assert pickle.loads(pickle.dumps(value)) == value
    assert record.asdict({"k": [value]}) == {"k": [{"a": 1, "inner": Pair(2, ("x",))}]}


class Ours(record.NamedTuple):
    a: int
    b: str = "b"
    c: tuple[int, ...] = ()

    @property
    def twice(self) -> int:
        return 2 * self.a


class Theirs(NamedTuple):
    a: int
    b: str = "b"
    c: tuple[int, ...] = ()

    @property
    def twice(self) -> int:
        return 2 * self.a


def test_named_tuples_behave_like_those_of_the_standard_library() -> None:
    def seen(made: type[Ours] | type[Theirs]) -> list[Any]:
        one = made(1)
        found = [repr(made(2, c=(3,))).partition("(")[2], tuple(one), one.twice, one.b, one == (1, "b", ()), hash(one)]
        found += [one._replace(b="x"), one._asdict(), made._make([1, "y", ()]), made._fields, made._field_defaults]
        found += [sorted([made(2), made(1)]), {**dict.fromkeys([one, made(1)])}, made.__match_args__]
        for wrong in (lambda: made(), lambda: made(1, 2, 3, 4), lambda: made(z=1)):  # type: ignore[call-arg]
            with pytest.raises(TypeError):
                wrong()
        for wrong in (lambda: one._replace(z=1), lambda: made._make([])):  # type: ignore[call-arg, arg-type]
            with pytest.raises((ValueError, TypeError)):
                wrong()
        with pytest.raises(AttributeError):
            one.a = 3  # type: ignore[misc]
        with pytest.raises(AttributeError):
            one.z = 3  # type: ignore[union-attr]
        return found

    assert seen(Ours) == seen(Theirs)
    assert pickle.loads(pickle.dumps(Ours(1))) == Ours(1)


def test_named_tuples_may_be_generic() -> None:
    class Box(record.NamedTuple, Generic[T]):
        value: T

    assert Box[int](3).value == 3 and Box(4) == (4,)
