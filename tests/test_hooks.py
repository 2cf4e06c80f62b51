"""Hooks: functions that a lower module calls and a higher one provides."""

import sys
import types

import pytest

from autoconv.hooks import Hook


def test_the_first_call_imports_the_provider(monkeypatch):
    hook = Hook("a_provider_of_hooks")
    provider = types.ModuleType("a_provider_of_hooks")

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name != "a_provider_of_hooks":
                return None
            from importlib.machinery import ModuleSpec

            return ModuleSpec(name, Finder)

        @staticmethod
        def create_module(spec):
            return provider

        @staticmethod
        def exec_module(module):
            hook.set(lambda x: 2 * x)

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    assert hook(21) == 42
    monkeypatch.delitem(sys.modules, "a_provider_of_hooks")


def test_one_function_is_set_once():
    hook = Hook("json")
    hook.set(len)
    hook.set(len)
    assert hook([1, 2]) == 2
    with pytest.raises(RuntimeError, match="set already"):
        hook.set(sum)


def test_a_provider_that_sets_nothing():
    with pytest.raises(RuntimeError, match="json does not set its hook"):
        Hook("json")()
