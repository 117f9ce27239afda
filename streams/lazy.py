"""Modules that are loaded when something of them is first used: `schemas = lazy("schemas")`."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType


def lazy(name: str) -> ModuleType:
    """The module `name`, executed at the first access to an attribute (the standard library's LazyLoader)."""
    if name in sys.modules:
        return sys.modules[name]
    found = importlib.util.find_spec(name)
    if found is None or found.loader is None:
        raise ModuleNotFoundError(name)
    loader = importlib.util.LazyLoader(found.loader)
    found.loader = loader
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    loader.exec_module(module)
    return module
