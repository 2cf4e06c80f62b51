"""Names of TensorFlow that autoconv does not have, and what to use in their place."""

from __future__ import annotations

REMEDY_BY_NAME = {
    "estimator": "TensorFlow removed tf.estimator in version 2.16: write a Keras model (autoconv.keras).",
    "feature_column": "tf.feature_column is deprecated: use Keras' preprocessing layers (autoconv.keras.layers).",
    "lite": "autoconv writes no TensorFlow Lite models: save with autoconv.saved_model.save.",
    "tpu": "there is one device, the CPU: use autoconv.distribute.get_strategy().",
    "contrib": "TensorFlow removed tf.contrib in version 2.0.",
    "app": "use absl.app.run (or autoconv.compat.v1.app).",
    "flags": "use absl.flags.",
    "layers": "version 2 has autoconv.keras.layers.",
    "placeholder": "functions have parameters instead: decorate a function with autoconv.function.",
    "Session": "ops run eagerly; a function is called: decorate it with autoconv.function.",
    "get_variable": "make a variable once and keep it: autoconv.Variable.",
    "global_variables_initializer": "variables have their values when they are made; drop the call.",
}

def message(module: str, name: str) -> str:
    """Return the text of the AttributeError for a name that a module does not have."""
    remedy = REMEDY_BY_NAME.get(name)
    return f"module {module!r} has no attribute {name!r}" + (f": {remedy}" if remedy else "")
