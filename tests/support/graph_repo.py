"""A small repository with known calls, indexed once for the tests of commands that walk the call graph."""

from __future__ import annotations

from pathlib import Path

from lci_py import app

SOURCES = {
    "shop/__init__.py": "",
    "shop/store.py": (
        "import json\nfrom os import path\n\n\n"
        "class Base:\n    def __init__(self):\n        self.items = []\n\n\n"
        'class Store(Base):\n    """Keeps orders."""\n\n'
        "    def save(self, name):\n"
        "        data = json.dumps(self.items)\n"
        "        if path.exists(name):\n"
        "            self.check(name)\n"
        "        return self.check(data)\n\n"
        "    def check(self, data):\n        # check the check\n        return clean(data) or 'check'\n\n"
        "    @property\n    def size(self):\n        return clean(self)\n\n"
        "    @size.setter\n    def size(self, value):\n        clean(value)\n\n\n"
        "def clean(data):\n    return data.strip()\n"
    ),
    "shop/app.py": (
        "from shop.store import Store, clean\n\n\n"
        "def main():\n    store = make()\n    clean(1)\n    ping(3)\n\n\n"
        "def make():\n    return Store()\n\n\n"
        "def ping(n):\n    return pong(n)\n\n\n"
        "def pong(n):\n    return ping(n - 1) if n else clean(n)\n\n\n"
        "main()\n"
    ),
    "other/tools.py": "def clean(text):\n    return text\n\n\ndef use():\n    return clean('')\n",
    "notes.md": "# clean\n\nRun clean twice.\n",
    "todo.txt": "clean up\n",
    "shop/fast.pyi": "def turn(n: int) -> int: ...\n",
    "shop/fast.py": "def turn(n):\n    return n\n",
}


def build(root: Path, sources: dict[str, str] = SOURCES) -> Path:
    """Write the sources and index them."""
    for name, text in sources.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    app.build_index(str(root), jobs=1)
    return root
