"""Imports numpy without the modules that serve only its documentation and types. This saves a twelfth of a warm search.

numpy imports `inspect` (with `dis` and more) to write a signature on each of its functions. Its linear algebra imports
`numpy._typing` for one annotation. Stand-ins replace both modules during the import only. `numpy.unique` asks
`numpy.ma`, which takes a fifth of numpy's import time, whether an array is masked. lci has no masked arrays, so a
stand-in says no. Any other attribute of a stand-in loads the real module.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec


class _Annotation:
    def __class_getitem__(cls, _item: object) -> type[_Annotation]:
        return cls


#: What numpy asks of each module while it is imported.
_ASKED: dict[str, dict[str, Any]] = {
    "inspect": {"signature": lambda _function: None, "cleandoc": lambda text: text},
    "numpy._typing": {"NDArray": _Annotation},
}


_MASKED: dict[str, Any] = {"is_masked": lambda _values: False}


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class _Finder:
    """An import hook that acts on the first import of numpy only."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "numpy":
            return None
        sys.meta_path.remove(self)
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec = next((item for item in specs if item is not None), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                names = [name for name in _ASKED if name not in sys.modules]
                for name in names:
                    sys.modules[name] = stand_in = _StandIn(name)
                    vars(stand_in).update(_ASKED[name])
                try:
                    run(module)
                    if "numpy.ma" not in sys.modules:
                        vars(module)["ma"] = stand_in = _StandIn("numpy.ma")
                        vars(stand_in).update(_MASKED)
                finally:
                    for name in names:
                        if isinstance(sys.modules.get(name), _StandIn):
                            del sys.modules[name]

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Make the next import of numpy leave out the modules that are not needed."""
    sys.meta_path.insert(0, _Finder())
