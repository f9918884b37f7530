"""An older import path of ``ReactorPipeline`` and ``Idle``."""

from reactor_runtime.model.idle import Idle
from reactor_runtime.model.pipeline import ReactorPipeline

__all__ = ["Idle", "ReactorPipeline"]
