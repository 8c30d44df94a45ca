"""NumPy when it is first used: importing it takes several times as long as all of Lissom's own."""

import importlib
from typing import Any


class _Late:
    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module("numpy"), name)
        setattr(self, name, value)  # from now on this is not asked
        return value


np: Any = _Late()
