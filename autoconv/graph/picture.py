"""A graph as a picture for notebooks: SVG inside of HTML, with the bodies of branches and loops folded below it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from autoconv.graph.graph import Graph, Node, Value

_MAX_NODES = 200  # per picture
_BOXES_PER_ROW = 8
_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y = 150, 34, 16, 26  # pixels: box width and height, horizontal and vertical gap
_MAX_LINE_LENGTH = 21  # characters of a line of text in a box
_STYLE = "font:11px monospace"
_COLOURS = {"input": "#e8f0fe", "op": "#ffffff", "region": "#fff4d6", "output": "#e6f4ea"}


def graph_html(graph: Graph) -> str:
    """Return the graph as HTML: a box per parameter, node and output, and a line per use of a value.

    Boxes of nodes with bodies are marked; each body is a folded picture of its own.
    """
    bodies = "".join(_folded_bodies(node) for node in graph.nodes[:_MAX_NODES] if node.regions)
    remaining = len(graph.nodes) - _MAX_NODES
    remainder_note = f"<div>… and {remaining} more nodes</div>" if remaining > 0 else ""
    return f"<div>{_svg(graph)}{remainder_note}{bodies}</div>"


def _folded_bodies(node: Node) -> str:
    pictures = "".join(f"<div>{escape(body.name)}</div>{graph_html(body)}" for body in node.regions)
    node_count = sum(len(body.nodes) for body in node.regions)
    title = f"{escape(node.name)}: {len(node.regions)} bodies, {node_count} nodes"
    return f'<details style="margin-left:1em"><summary>{title}</summary>{pictures}</details>'


def _svg(graph: Graph) -> str:
    """Return a picture of the graph as SVG; a node with regions is one box."""
    nodes = graph.nodes[:_MAX_NODES]
    positions = _box_positions(graph, nodes)
    width = max((x for x, _ in positions.values()), default=0) + _BOX_WIDTH + _GAP_X
    height = max((y for _, y in positions.values()), default=0) + _BOX_HEIGHT + _GAP_Y
    lines = [
        _line(positions[source], positions[target]) for source, target in _edges(graph, nodes) if source in positions
    ]
    boxes = [_box(positions[value], value.name, str(value.type), "input") for value in graph.parameters]
    for node in nodes:
        text = ", ".join(str(value.type) for value in node.results)
        line = "" if node.span is None else f"\nline {node.span.line}"
        boxes.append(_box(positions[node], node.op.name, text, "region" if node.regions else "op", node.name + line))
    boxes += [_box(positions[i], "output", str(value.type), "output") for i, value in enumerate(graph.outputs)]
    view_attributes = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view_attributes}>{"".join(lines)}{"".join(boxes)}</svg>'


def _box_positions(graph: Graph, nodes: list[Node]) -> dict[object, tuple[int, int]]:
    """Return the position of each box, by its parameter, its node or the index of its output.

    A box is below the boxes of its operands; outputs are at the bottom.
    """
    depths: dict[object, int] = dict.fromkeys(graph.parameters, 0)
    for node in nodes:
        depths[node] = 1 + max((depths.get(_producer(value), 0) for value in node.inputs), default=0)
    output_depth = max(depths.values(), default=0) + 1
    depths.update(dict.fromkeys(range(len(graph.outputs)), output_depth))
    boxes_by_depth: dict[int, list[object]] = {}
    for box, depth in depths.items():
        boxes_by_depth.setdefault(depth, []).append(box)
    positions: dict[object, tuple[int, int]] = {}
    y = _GAP_Y // 2
    for depth in sorted(boxes_by_depth):
        for start in range(0, len(boxes_by_depth[depth]), _BOXES_PER_ROW):
            for column, box in enumerate(boxes_by_depth[depth][start : start + _BOXES_PER_ROW]):
                positions[box] = (_GAP_X + column * (_BOX_WIDTH + _GAP_X), y)
            y += _BOX_HEIGHT + _GAP_Y
    return positions


def _producer(value: Value) -> object:
    return value if value.node is None else value.node


def _edges(graph: Graph, nodes: list[Node]) -> Iterator[tuple[object, object]]:
    for node in nodes:
        yield from ((_producer(value), node) for value in dict.fromkeys(node.inputs))
    yield from ((_producer(value), position) for position, value in enumerate(graph.outputs))


def _line(source: tuple[int, int], target: tuple[int, int]) -> str:
    x0, y0 = source[0] + _BOX_WIDTH // 2, source[1] + _BOX_HEIGHT
    x1, y1 = target[0] + _BOX_WIDTH // 2, target[1]
    middle = (y0 + y1) // 2
    return f'<path d="M{x0} {y0} C{x0} {middle} {x1} {middle} {x1} {y1}" fill="none" stroke="#999"/>'


def _box(position: tuple[int, int], title: str, text: str, kind: str, tooltip: str = "") -> str:
    """Return a box of two lines, `title` and `text`; its tooltip is `tooltip`, or else the title, before the text."""
    x, y = position
    text_lines = "".join(
        f'<text x="{x + 5}" y="{y + 13 + 14 * i}" style="{_STYLE}">{escape(_shorten(line))}</text>'
        for i, line in enumerate((title, text))
    )
    size_attributes = f'width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}"'
    frame = f'<rect x="{x}" y="{y}" {size_attributes} rx="4" fill="{_COLOURS[kind]}" stroke="#666"/>'
    return f"<g><title>{escape(tooltip or title)}: {escape(text)}</title>{frame}{text_lines}</g>"


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_LINE_LENGTH else text[: _MAX_LINE_LENGTH - 1] + "…"
