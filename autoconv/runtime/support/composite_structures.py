"""Templates of structures that contain composite tensors, and the specs in such templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from autoconv.runtime.support.structure import Template, flatten
from autoconv.runtime.support.type_spec import TypeSpec, is_composite_spec, part_specs


def replace_spec(template: Template | None, spec: TypeSpec) -> Template | None:
    """Return the template of a composite with another spec, such as one with open sizes."""
    if template is None or not isinstance(template.kind, TypeSpec):
        return template
    children = zip(template.children, part_specs(spec), strict=True)
    return replace(template, kind=spec, children=tuple(replace_spec(child, inner) for child, inner in children))


def leaf_specs(template: Template | None, spec: Any = None) -> Iterator[Any]:
    """Yield for each leaf its spec, according to the spec of its composite; None for leaves outside of composites.

    `spec` is the spec of the whole structure, if this is a component of a composite.
    """
    if template is None:
        yield spec
        return
    if isinstance(template.kind, TypeSpec):
        inner_specs = part_specs(template.kind)
    elif isinstance(spec, (dict, list, tuple)):
        inner_specs = [spec[key] for key in template.keys] if template.keys is not None else list(spec)  # type: ignore[call-overload]
    else:
        inner_specs = [None] * len(template.children)
    for child, inner_spec in zip(template.children, inner_specs, strict=True):
        yield from leaf_specs(child, inner_spec)


def expand_specs(leaves: Sequence[Any], template: Template | None) -> tuple[list[Any], Template | None]:
    """Return the leaves and the template, with each spec of a composite replaced by the specs of the components."""
    if not any(map(is_composite_spec, leaves)):
        return list(leaves), template
    expansions = [spec_parts(leaf) if is_composite_spec(leaf) else ([leaf], None) for leaf in leaves]
    expanded_template = replace_leaves(template, iter([inner_template for _, inner_template in expansions]))
    return [leaf for inner_leaves, _ in expansions for leaf in inner_leaves], expanded_template


def spec_parts(spec: TypeSpec) -> tuple[list[Any], Template]:
    """Return the specs of the tensors in composites with this spec, and the template of these composites."""
    all_leaves: list[Any] = []
    children = []
    for part in part_specs(spec):
        leaves, template = expand_specs(*flatten(part))
        all_leaves += leaves
        children.append(template)
    return all_leaves, Template(spec, None, tuple(children))


def contains_composite(template: Template | None) -> bool:
    """Return whether a composite is in the structure."""
    if template is None:
        return False
    return isinstance(template.kind, TypeSpec) or any(map(contains_composite, template.children))


def replace_leaves(template: Template | None, replacements: Iterator[Template | None]) -> Template | None:
    """Return the template with each leaf replaced by the next of `replacements`."""
    if template is None:
        return next(replacements)
    return replace(template, children=tuple(replace_leaves(child, replacements) for child in template.children))


def collapse_composites(template: Template | None, leaves: Iterator[Any]) -> tuple[list[Any], Template | None]:
    """Return the leaves and the template with each composite as one leaf, namely its spec."""
    if template is None:
        return [next(leaves)], None
    parts = [collapse_composites(child, leaves) for child in template.children]
    if isinstance(template.kind, TypeSpec):
        return [template.kind], None
    inner_leaves = [leaf for part, _ in parts for leaf in part]
    return inner_leaves, replace(template, children=tuple(child for _, child in parts))


def is_narrower_template(narrow: Template | None, wide: Template | None) -> bool:
    """Return whether the templates are equal, except that specs of composites may be wider in the second one."""
    if narrow == wide:
        return True
    if narrow is None or wide is None or len(narrow.children) != len(wide.children) or narrow.keys != wide.keys:
        return False
    if isinstance(narrow.kind, TypeSpec) and isinstance(wide.kind, TypeSpec):
        is_kind_narrower = narrow.kind.is_subtype_of(wide.kind)
    else:
        is_kind_narrower = narrow.kind is wide.kind
    return is_kind_narrower and all(map(is_narrower_template, narrow.children, wide.children))


def join_templates(first: Template | None, second: Template | None) -> Template | None:
    """Return the template with the common spec of each pair of composites; raise ValueError if structures differ."""
    if first == second:
        return first
    if first is None or second is None or first.keys != second.keys or len(first.children) != len(second.children):
        raise ValueError("the structures differ")
    if isinstance(first.kind, TypeSpec):
        kind: Any = first.kind.most_specific_compatible_type(second.kind)
    elif first.kind is second.kind:
        kind = first.kind
    else:
        raise ValueError("the structures differ")
    return replace(first, kind=kind, children=tuple(map(join_templates, first.children, second.children)))
