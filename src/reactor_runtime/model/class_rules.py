"""What a model class must keep to, checked when it is defined."""

from reactor_runtime.model.annotations import keep_scope
from reactor_runtime.model.command import event_methods
from reactor_runtime.model.lifecycle import read_lifecycle


def check_model_class(cls: type) -> None:
    """Check *cls* while it is being defined, as far as no name defined later is needed.

    Types are read by ``ModelContract.of``, once its module is complete.

    Raises:
        TypeError: Two methods are one command or one hook, or a hook takes what it cannot be given.
    """
    keep_scope(cls)
    event_methods(cls)
    read_lifecycle(cls)
