"""Compiled methods: each instance gets a compiled function of its own, unless its calls run as plain Python."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from autoconv.runtime.recording.activity import BUSY
from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.key.ephemerons import Ephemerons
from autoconv.tracing.specialise.bailout import Bailout
from autoconv.tracing.specialise.tiers import PLAIN, Tiers
from autoconv.tracing.specialise.trace_cache import MAX_KEYS

# Where a class body binds one of these names to a function of Python's own type, Python wraps the function.
# `MethodBinding.__set_name__` does the same for a Function.
_IMPLICIT_WRAPPERS = {"__new__": staticmethod, "__init_subclass__": classmethod, "__class_getitem__": classmethod}


class MethodBinding:
    """The part of a Function that returns the methods of instances, each a Function with a cache of its own."""

    takes_instances: bool | None = False
    """True if Python calls objects of the class with the instance, without `__get__`; None if not determined yet."""
    method_class: type | None = None  # the class of methods of instances; if None, the class of the function itself
    _attribute_name = ""  # the name of the class attribute that holds this object
    python_function: Any
    _bailout: Bailout
    _tiers: Tiers
    _methods: dict[int, Any]  # a slot of the class, read by native code

    @property
    def constructor_options(self) -> tuple[Any, ...]:
        """The constructor's arguments after `python_function`."""
        raise NotImplementedError

    def _initialise_binding(self, name: str) -> None:
        """Create the empty tables of the methods of instances; `name` is that of the function."""
        self._method_by_instance: Ephemerons[Any] = Ephemerons(name)
        self._method_by_id: BoundedDict[int, Any] = BoundedDict(MAX_KEYS)  # methods of instances without attributes

    def __set_name__(self, owner: type, name: str) -> None:
        self._attribute_name = name
        if (wrapper := _IMPLICIT_WRAPPERS.get(name)) and vars(owner).get(name) is self:
            setattr(owner, name, wrapper(self))
        elif name == "__getattribute__" and vars(owner).get(name) is self:
            # It runs as plain Python: finding the method of an instance would read attributes of the instance by it.
            setattr(owner, name, self.python_function)

    def method_for_call(self, args: tuple[Any, ...]) -> Any:
        """Return the method for a call of this object with an instance as the first argument.

        Return None if this object is to run the call itself: it is not an attribute of the instance's class, or the
        method would be a TransientMethod. Native code calls existing methods without this function.
        """
        instance = args[0]
        if not any(vars(base).get(self._attribute_name) is self for base in type(instance).__mro__):
            return None
        self._methods = self._method_by_instance.entries  # native code looks up methods here
        return self.find_method(instance) or (None if self.prefers_plain else self.method_of_instance(instance))

    if not TYPE_CHECKING:  # a type checker refuses attributes that no method has

        def __getattr__(self, name: str) -> Any:
            """Return an attribute that the program has set on the method's function."""
            function = vars(self).get("__func__")
            if function is None or name not in vars(function):
                return self._missing_attribute(name)
            return vars(function)[name]

    def _missing_attribute(self, name: str) -> object:
        """Return the value of an attribute that neither the object nor its function has, or raise AttributeError."""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def _explain_methods(self) -> list[tuple[type, str]]:
        """Return the class and the explanation of each method of an instance that is alive."""
        pairs = [(reference(), method) for reference, method in list(self._method_by_instance.entries.values())]
        pairs += [(method.__self__, method) for method in list(self._method_by_id.values())]
        return [(type(instance), method.explain()) for instance, method in pairs if instance is not None]

    @property
    def prefers_plain(self) -> bool:
        """True if the latest examined call of a method ran as plain Python, and no trace or tape is recording."""
        return self._tiers.latest_form == PLAIN and not BUSY.value

    def find_method(self, instance: Any) -> Any:
        """Return the method of an instance; None if it has none of its own yet."""
        return self._method_by_instance.get(instance) or self._method_by_id.get(id(instance))

    def method_of_instance(self, instance: Any) -> Any:
        """Return the method of an instance: a Function with traces of its own, which are freed with the instance."""
        method = self.find_method(instance)
        if method is None:
            function_class: Any = type(self)
            method = function_class(types.MethodType(self.python_function, instance), *self.constructor_options)
            method._bailout, method._tiers = Bailout(self._bailout.trace_budget), self._tiers
            attributes = vars(method)
            for name, value in getattr(self.python_function, "__dict__", {}).items():
                if not name.startswith("__") and attributes.get(name) is value:
                    del attributes[name]  # `__getattr__` then reads the current value from the function
            attributes.update(__func__=self, __self__=instance)
            method.__class__ = self.method_class or function_class
            if not self._method_by_instance.put(instance, method):
                self._method_by_id[id(instance)] = method  # it keeps the instance alive, so that its id stays unique
        return method


class MethodAttributes:
    """Mixin of methods: as for Python's own methods, attributes of the function cannot be set or deleted."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a type checker then also refuses the attributes that no method has

        def __setattr__(self, name: str, value: object) -> None:
            setattr(types.MethodType(self.__func__.python_function, self.__self__), name, value)  # raises

        def __delattr__(self, name: str) -> None:
            delattr(types.MethodType(self.__func__.python_function, self.__self__), name)  # raises Python's error


@skipped_by_warnings
class TransientMethod(MethodAttributes):
    """A method without a compiled function of its own: it calls the Function of the class with the instance.

    Making a compiled function for an instance takes as long as a hundred short calls. If the latest calls of the method
    ran as plain Python, other instances get their functions only when an attribute of the method is read.
    """

    __autoconv_function__ = True
    __slots__ = ("__func__", "__self__")

    def __init__(self, function: Any, instance: Any) -> None:
        object.__setattr__(self, "__func__", function)
        object.__setattr__(self, "__self__", instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__func__.method_of_instance(self.__self__), name)

    if not TYPE_CHECKING:  # a type checker expects the docstring above

        @property
        def __doc__(self) -> Any:
            return self.__func__.python_function.__doc__

    def __eq__(self, other: object) -> bool:
        method = self.__func__.method_of_instance(self.__self__)
        if isinstance(other, TransientMethod):
            other = other.__func__.method_of_instance(other.__self__)
        return method is other

    def __hash__(self) -> int:
        return hash(self.__func__.method_of_instance(self.__self__))

    def __repr__(self) -> str:
        return repr(self.__func__.method_of_instance(self.__self__))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__func__.method_of_instance(self.__self__).__reduce_ex__(protocol)
