"""An older import path of ``ModelContract``."""

from reactor_runtime.model.contract import ModelContract

__all__ = ["ModelContract"]
