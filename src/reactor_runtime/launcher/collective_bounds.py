"""bound_collectives: a default time-out for process groups, set when torch is imported, if it is.

torch's own default is 30 minutes, and a cut link is noticed by nothing else.
"""

import importlib.util
import sys
from collections.abc import Sequence
from datetime import timedelta
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_MODULE = "torch.distributed.distributed_c10d"
_DEFAULTS = ("default_pg_timeout", "default_pg_nccl_timeout")


def bound_collectives(timeout_s: float) -> None:
    """Make *timeout_s* the default of ``init_process_group``; 0 leaves torch's own."""
    if timeout_s > 0:
        sys.meta_path.insert(0, _Finder(timedelta(seconds=timeout_s)))


class _Finder(MetaPathFinder):
    """Finds one module, once, as the others would, with a loader around its own."""

    def __init__(self, timeout: timedelta) -> None:
        self._timeout = timeout

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the wrapped module's spec, ``None`` for every other."""
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._timeout)
        return spec


class _Loader(Loader):
    """Loads as *loader* does, then sets the time-outs."""

    def __init__(self, loader: Loader, timeout: timedelta) -> None:
        self._loader, self._timeout = loader, timeout

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Make the module as its own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then bound its groups."""
        self._loader.exec_module(module)
        for name in _DEFAULTS:
            setattr(module, name, self._timeout)
