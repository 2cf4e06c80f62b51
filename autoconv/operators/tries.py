"""try and with under trace: what a body does until it raises, and then each of its handlers, recorded one by one.

A try statement stands in a loop over `attempts`. Without a trace there is one round, and the statement is what it was.
Under trace the first round records the body. When nothing in it can raise while the graph runs, that was all. Else each
handler is entered in a round of its own, with the variables as they were stored before what may raise, and the ends
are joined into one `try` node.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ObjectType
from autoconv.operators.bodies import (
    AbandonTrace,
    Recorded,
    Suspended,
    cannot_be_caught,
    is_about_program,
    record_raise,
    unify_captures,
    write_spot,
)
from autoconv.operators.calls import call
from autoconv.operators.conditionals import is_staged, truth
from autoconv.operators.items import context
from autoconv.operators.kept import is_owned, keep, kept, kept_layout
from autoconv.operators.layout import (
    NEVER,
    Layout,
    Never,
    Static,
    join_layouts,
    layout_of,
    leaf_types,
    rebuild,
)
from autoconv.operators.names import Undefined
from autoconv.operators.recursion import written_by_calls
from autoconv.operators.sharing import move_into_graph, move_shared, refuse_changed_copies
from autoconv.operators.staging import give, stage_arms
from autoconv.operators.twins import frozen_where_shared, twins
from autoconv.runtime.containers import PLAIN, UnmovedError, heap_of, materialise
from autoconv.runtime.journal import MISSING, Journal, Spot, cells_spots
from autoconv.runtime.objects import (
    StagedException,
    SymbolicObject,
    apply_object,
    record_object,
)
from autoconv.runtime.recording import COMPILE, Region, current_region, enter, recording, subregion
from autoconv.runtime.spans import current_place, place_of
from autoconv.runtime.stores import Stores, is_catchable, paused

_ONCE = (None,)
_ROUNDS = 8

Clause = type[BaseException] | tuple[Any, ...]


def attempts(handlers: int, read: Callable[[], Any] | None = None, names: tuple[str, ...] = ()) -> Any:
    """The rounds of a try statement with that many except clauses.

    `read` refers to the variables called `names`, and to those that are nobody's business behind the statement."""
    region = current_region()
    return _ONCE if region is None else Trial(region, handlers, read, names).rounds()


def entering(manager: Any, read: Callable[[], Any] | None = None, names: tuple[str, ...] = ()) -> Any:
    """The rounds of a with statement."""
    region = current_region()
    if region is None:
        return _ONCE
    own = isinstance(getattr(type(manager), "__enter__", None), _FUNCTION)
    if not own or type(manager).__module__.partition(".")[0] in ("autoconv", "contextlib"):
        context(manager)
        return _ONCE
    return Trial(region, 0, read, names).rounds()


def caught(trial: Trial | None, number: int, kinds: Any) -> Any:
    """What the except clause of that number takes: `kinds`, unless another round is for it."""
    return kinds if trial is None else trial.caught(number, kinds)


def unwound(trial: Trial | None) -> Any:
    """What the end of a round takes: nothing without a trace."""
    return () if trial is None else trial.unwound()


def exception(error: Any) -> Any:
    """What a handler calls the exception."""
    return error.value if type(error) is StagedException else error


def as_exception(error: Any) -> Any:
    """What is raised, or raised from, as Python needs it."""
    return StagedException(error) if type(error) is SymbolicObject else error


def begin(trial: Trial | None) -> None:
    """The start of the body."""
    if trial is not None:
        trial.begin()


def end(trial: Trial | None) -> None:
    """The end of the body, where what a finally does follows."""
    if trial is not None:
        trial.done()


def watch(statement: str) -> Any:
    """Where the body of a try begins that is not recorded round by round."""
    region = current_region()
    return None if region is None else (region, region.graph.mark(), statement)


def watched(mark: Any, value: Any = None) -> Any:
    """`value`. Refuses a body that recorded what may raise when the graph runs: its handlers would not see it."""
    if mark is None:
        return value
    region, place, statement = mark
    for node in region.graph.since(place):
        if is_catchable(node):
            refusal = StagingError(
                f"{node.op.name!r} may raise when the graph runs, and {statement} around it only sees what is raised "
                "while it is traced",
                place_of(node.span) if node.span else None,
                "a condition that is tested before, instead of the exception",
            )
            region.trace.refusal = refusal  # the statement may swallow it
            raise refusal
    return value


def managed(trial: Trial | None, manager: Any) -> Any:
    """The manager of a with statement in one round of it."""
    return manager if trial is None else _Managed(trial, manager)


class Trial:
    """One try statement being recorded."""

    def __init__(self, parent: Region, handlers: int, read: Any, names: tuple[str, ...]) -> None:
        self.parent = parent
        self.handlers = handlers
        self.cells = cells_spots(read, read, names) if read is not None else []
        others = sorted(set(read.__code__.co_freevars) - set(names)) if read is not None else []
        self.others = cells_spots(read, read, tuple(others)) if others else []
        self.clauses: dict[int, Any] = {}
        self.entered: Any = None
        self.around = sys.exc_info()[1]  # what is being handled where the statement stands
        self._reset()

    def _reset(self) -> None:
        self.region = self.handler = self.parent
        self.state = ""
        self.settled = False
        self.passing = False
        self.suspended = False
        self.body: Recorded | None = None
        self.normal: Recorded | None = None
        self.ends: list[Recorded] = []
        self.spots: dict[Any, Spot] = {}
        self.seen: dict[Any, list[Layout]] = {}
        self.stores: Stores | None = None

    def rounds(self) -> Iterator[Trial]:
        """The body, then the handlers; again from the start when a list has to move into the graph first."""
        for _ in range(_ROUNDS):
            start = self.parent.graph.mark()
            outer, self.parent.journal = self.parent.journal, Journal()
            self._reset()
            completed = False
            self.entry = [(spot, spot.read()) for spot in (*self.cells, *self.others)]
            try:
                yield self
                self._end_first_round()
                if self.settled:
                    return
                yield from self._handler_rounds()
                completed = True
            finally:
                enter(self.parent)
                self._stop_storing()
                for region in (self.region, self.handler):
                    if region is not self.parent and region.journal is not None:  # left by what is no round's end
                        region.journal.hand_on(self.parent.journal)
                written, self.parent.journal = self.parent.journal, outer
                if not completed:
                    written.hand_on(outer)
            if self._join(start, written):
                return
        raise StagingError("the lists that this try statement changes do not settle", current_place())

    def begin(self) -> None:
        """The body starts here, or the handler of this round is to be entered."""
        if self.state in ("handler", "escape"):
            raise StagedException(self.error)
        with recording(self.parent):
            self.frame = record_object("object_build", [], kind="dict")
        self.region = self._open("try_body", self.parent)
        self.state = "body"
        self.stores = Stores(self._kept_spots, self._keep, inside=self.region)
        self.parent.trace.stores.append(self.stores)

    def done(self) -> None:
        """The body has come to its end."""
        error = sys.exc_info()[1]
        if isinstance(error, AbandonTrace) and error is not self.around:
            raise error  # nothing that follows would be recorded, or happen
        if self.state != "body":
            self.passing |= error is not None and error is not self.around and _passes(error)
        elif error is None or error is self.around:
            self._finish_body(None)
        else:  # on the way out with what was raised while it was traced
            self._failed()

    def caught(self, number: int, kinds: Any) -> Any:
        if self.state == "body":
            self._failed()
        if self.settled:
            return kinds
        self.clauses[number] = kinds
        return StagedException if self.state == "handler" and number == self.number else ()

    def unwound(self) -> Any:
        error = sys.exc_info()[1]
        if self.settled or self.passing or _passes(error):
            return ()
        if self.state == "body":
            self._failed()
            return () if self.settled or self.passing else BaseException
        if self.state == "failed":
            return BaseException
        assert isinstance(error, (Exception, Suspended))
        self._diverge(error)
        return BaseException

    def _failed(self) -> None:
        """The body raised while it was traced."""
        error = sys.exc_info()[1]
        if _passes(error):
            self.passing = True
            return
        assert isinstance(error, (Exception, Suspended))
        self._finish_body(error)

    def _open(self, name: str, parent: Region) -> Region:
        region = subregion(parent, name)
        region.journal = Journal(region)
        enter(region)
        return region

    def _close(self, diverges: bool = False) -> Recorded:
        """The region of this round with what the variables hold at its end; everything is put back."""
        journal = self.region.journal
        assert journal is not None
        results = [NEVER if diverges else spot.read() for spot in self.cells]
        written = journal.roll_back()
        self.region.journal = None
        for spot, value in self.entry:
            if spot.read() is not value:
                spot.write(value)
        self.spots.update(journal.spots)
        return Recorded(self.region, results, written, dict(journal.spots), diverges)

    def _finish_body(self, error: Exception | Suspended | None) -> None:
        if type(error) is Suspended:
            error.caught()
            self.suspended = True
        elif not any(map(is_catchable, self.region.graph.nodes)):
            self._stop_storing()
            self._splice()
            return
        elif error is not None:
            record_raise(self.region, error)
        self._stop_storing()
        self.body = self._close(diverges=error is not None)
        self.state = "failed" if error is not None else "normal"
        self.region = self._open("try_normal", self.parent)
        if error is not None:
            return
        body = self.body
        spots = [*self.cells, *body.spots.values()]
        values = [*body.results, *(body.written[key] for key in body.spots)]
        move_shared(self.region, body, values)
        layouts = [layout_of(value, body.region) for value in values]
        same = twins([[value] for value in values], [body.region])
        alone = [[NEVER if n in same else value] for n, value in enumerate(values)]
        layouts = [NEVER if n in same else layout for n, layout in enumerate(layouts)]
        layouts = frozen_where_shared(layouts, alone, [body.region])
        give([body], alone, layouts)
        parameters = [self.region.graph.add_parameter(leaf, "try") for layout in layouts for leaf in leaf_types(layout)]
        leaves = iter(parameters)
        values = [rebuild(layout, leaves) for layout in layouts]
        for position, spot in enumerate(spots):
            value = values[same.get(position, position)]
            if position >= len(self.cells):
                write_spot(spot, value)
            elif spot.read() is not value:
                spot.write(value)

    def _splice(self) -> None:
        """Nothing in the body can raise when the graph runs: it is part of what is around it."""
        graph, outer = self.region.graph, self.parent
        frame = self.frame.value_in_graph.node
        outer.graph.nodes.remove(frame)
        back = {inner: captured for captured, inner in self.region.captures.items()}
        for node in graph.nodes:
            node.inputs = tuple(_outermost(value, back, outer) for value in node.inputs)
            node.name = outer.graph.unique_name(node.name)
            for result in node.results:
                result.graph, result.name = outer.graph, node.name
            outer.graph.nodes.append(node)
        journal = self.region.journal
        assert journal is not None
        journal.hand_on(outer.journal)
        self.region.became = outer
        self.settled = True
        self.state = "settled"  # every clause asks: the first one splices
        enter(outer)

    def _end_first_round(self) -> None:
        if self.settled or self.passing:
            self.settled = True
            return
        if self.state == "body":
            self._finish_body(None)
        if self.settled:
            return
        if self.normal is None:
            self.normal = self._close(diverges=self.state == "failed")

    def _handler_rounds(self) -> Iterator[Trial]:
        self.handler = subregion(self.parent, "try_handler")
        self.handler.journal = Journal(self.handler)
        self.error = SymbolicObject(self.handler.graph.add_parameter(ObjectType("Exception"), "exception"))
        if not self.handlers:
            yield from self._round("escape", self.handler, 0)
            return
        for number in range(self.handlers):
            yield from self._round("handler", None, number)

    def _round(self, state: str, region: Region | None, number: int) -> Iterator[Trial]:
        self.state, self.number, self.ended = state, number, False
        self.region = region or self._open(f"except_{number}", self.handler)
        enter(self.region)
        self._restore()
        yield self
        if not self.ended:
            self.ends.append(self._close())
        enter(self.parent)

    def _diverge(self, error: Exception | Suspended) -> None:
        if type(error) is Suspended:
            error.caught()
            self.suspended = True
        else:
            record_raise(self.region, error)
        end = self._close(diverges=True)
        if self.state == "normal":
            self.normal = end
        else:
            self.ends.append(end)
            self.ended = True

    # What the variables held when the body raised

    def _kept_spots(self, region: Region) -> Iterator[Spot]:
        yield from self.cells
        inside: Region | None = region
        known = {spot.key for spot in self.cells}
        while inside is not None and inside is not self.parent:
            for key, spot in inside.journal.noted() if inside.journal is not None else ():
                inside_body = spot.home is not None and spot.home.is_inside(self.region)
                if key not in known and type(spot.owner) not in PLAIN and not inside_body:
                    known.add(key)
                    yield spot
            inside = inside.parent

    def _keep(self, spot: Spot, value: Any) -> None:
        region = current_region()
        assert region is not None
        self.seen.setdefault(spot.key, []).append(kept_layout(value, region))
        self.spots.setdefault(spot.key, spot)
        position = list(self.seen).index(spot.key)
        if isinstance(self.seen[spot.key][-1], Static) and is_owned(value, region):
            return  # the object that it was before the body, unless another was stored as well
        keep(self.frame, position, value, spot.name)

    def _stop_storing(self) -> None:
        if self.stores is not None and self.stores in self.parent.trace.stores:
            self.parent.trace.stores.remove(self.stores)

    def _restore(self, wanted: Collection[Any] | None = None) -> None:
        """The variables as they were when the body raised; those with keys among `wanted` alone, if given."""
        with paused(self.parent.trace.stores):  # what they held before must not be stored in between
            self._read_back(wanted)

    def _read_back(self, wanted: Collection[Any] | None) -> None:
        spots = {spot.key: spot for spot in self.cells} | self.spots
        for position, (key, layouts) in enumerate(self.seen.items()):
            if wanted is not None and key not in wanted:
                continue
            spot = spots[key]
            before = spot.read()
            unsaid = [kept_layout(before, self.parent)] if spot.kind == "attribute" else []
            value = kept(self.frame, position, [*unsaid, *layouts], spot.name, before, self.parent.contract)
            if any(spot is cell for cell in self.cells):
                spot.write(value)
            else:
                write_spot(spot, value)
        if self.stores is not None and self.stores.calls:
            for spot, value in written_by_calls(self.parent):
                write_spot(spot, value)

    # The ends joined

    def _join(self, start: Node | None, written: Journal) -> bool:
        """Records the try node; False when the rounds have to be made again."""
        assert self.normal is not None
        parent = self.parent
        before = parent.journal
        arms = [self.normal, *self.ends]
        spots = [s for s in self.spots.values() if not any(s.key == cell.key for cell in self.cells)]
        columns = [[_named(arm.results[i], cell.name) for arm in arms] for i, cell in enumerate(self.cells)]
        columns += [[arm.value_of(spot) for arm in arms] for spot in spots]
        titles = [spot.name for spot in (*self.cells, *spots)]
        with recording(parent):
            if self._moves(start, arms, columns, titles, spots, written):
                return False
            layouts = [_joined(column, arms, title) for column, title in zip(columns, titles, strict=True)]
            written.hand_on(before)
            same = twins(columns, [arm.region for arm in arms])
            alone = [column if n not in same else [NEVER] * len(arms) for n, column in enumerate(columns)]
            layouts = [NEVER if n in same else layout for n, layout in enumerate(layouts)]
            layouts = frozen_where_shared(layouts, alone, [arm.region for arm in arms])
            mark = len(parent.graph.nodes)
            try:
                give(arms, alone, layouts)
            except UnmovedError as unmoved:
                materialise(unmoved.container)
                self._take_back(start, mark, written)
                return False
            types = [leaf for layout in layouts for leaf in leaf_types(layout)]
            if self.handlers:
                self._join_handlers(types)
            self.handler.journal = None
            leading = [0, len(self.body.region.graph.outputs), 1]  # type: ignore[union-attr]
            regions = [self.body.region, self.normal.region, self.handler]  # type: ignore[union-attr]
            captures = unify_captures(regions, leading)
            graphs: list[Graph] = [region.graph for region in regions]
            node = parent.record("try", captures, {}, regions=graphs, types=types, shown="try")
            leaves = iter(node.results)
            values = [rebuild(layout, leaves) for layout in layouts]
            for position, spot in enumerate((*self.cells, *spots)):
                first = same.get(position, position)
                value, layout = values[first], layouts[first]
                if position >= len(self.cells):
                    if not isinstance(layout, Never):  # else what follows is not reached
                        write_spot(spot, value)
                elif isinstance(layout, Never):
                    spot.write(MISSING)
                else:
                    spot.write(value)
            if all(arm.diverges for arm in arms):  # what follows is not reached, and has none of the variables
                raise Suspended(parent)
        return True

    def _moves(
        self, start: Node | None, arms: Any, columns: Any, titles: Any, spots: Any, written: Journal
    ) -> bool:
        """Moves lists that a tensor decides over into the graph, in front of the statement."""
        nodes = self.parent.graph.nodes
        mark = len(nodes)
        values = list(zip(*columns, strict=True))
        shared = [move_shared(self.parent, arm, held) for arm, held in zip(arms, values, strict=True)] if values else []
        layouts = [_joined(column, arms, title) for column, title in zip(columns, titles, strict=True)]
        refuse_changed_copies(self.parent, spots)
        moved = any(shared) or move_into_graph(self.parent, columns, layouts, spots, len(self.cells))
        for spot in spots if self.parent.contract == COMPILE else ():
            # A body that always raises has no end that says what it did to a list; the handlers find it changed.
            if self._changed_before_raising(spot) and heap_of(spot.owner) is None:
                materialise(spot.owner)
                moved = True
        if moved:
            self._take_back(start, mark, written)
        return moved

    def _take_back(self, start: Node | None, mark: int, written: Journal) -> None:
        """Everything that the rounds did; what was recorded behind the first `mark` nodes stays."""
        self.parent.graph.nodes[self.parent.graph.position(start) : mark] = []
        written.roll_back()

    def _changed_before_raising(self, spot: Spot) -> bool:
        assert self.body is not None
        return self.body.diverges and type(spot.owner) in PLAIN and spot.key in self.body.written

    def _join_handlers(self, types: Sequence[Any]) -> None:
        """The handlers as arms of a cond on the first clause that takes the exception; the last raises it again."""
        handler = self.handler
        again = subregion(handler, "not_caught")
        again.journal = Journal(again)
        with recording(again):
            # Whoever handles it finds the variables as the body left them.
            self._restore({spot.key for stores in again.trace.stores for spot in stores.spots(again)})
            again.record("object_raise", [again.lift(self.error.value_in_graph)], {})
            again.graph.outputs = [again.record("absent", [], {"type": leaf}).results[0] for leaf in types]
        again.journal.roll_back()
        again.journal = None
        for spot, value in self.entry:
            if spot.read() is not value:
                spot.write(value)
        regions = [*(end.region for end in self.ends), again]
        with recording(handler):
            clauses = tuple(self.clauses.get(number, ()) for number in range(self.handlers))
            index = record_object("object_match", [self.error], clauses=clauses)
            captures = unify_captures(regions)
            node = handler.record(
                "cond", [index.value_in_graph, *captures], {}, regions=[r.graph for r in regions], types=list(types),
                shown="cond",
            )  # fmt: skip
        handler.graph.outputs = list(node.results)


class _Managed:
    """A context manager of the user's in one round."""

    def __init__(self, trial: Trial, manager: Any) -> None:
        self.trial = trial
        self.manager = manager

    def __enter__(self) -> Any:
        trial = self.trial
        if trial.state != "escape":
            trial.entered = call(type(self.manager).__enter__)(self.manager)
        return trial.entered

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        trial, leave = self.trial, call(type(self.manager).__exit__)
        if error is None:
            trial.done()
            leave(self.manager, None, None, None)
            return False
        if trial.state == "body":
            trial._failed()
        if trial.passing or _passes(error):
            return False
        if trial.state == "failed":
            return True
        if trial.settled:
            answer = leave(self.manager, kind, error, trace)
        else:
            raised = exception(error)
            answer = leave(self.manager, apply_object("type", raised), raised, None)
        if not is_staged(answer):
            return answer

        def again() -> tuple[()]:
            raise error

        stage_arms(truth(answer), [lambda: (), again], [], ())
        return True


def _passes(error: BaseException | None) -> bool:
    """Whether an exception is nothing that the program's clauses are to see."""
    region = current_region()
    if type(error) is Suspended:
        return False  # nothing is known of the body's end, and the handlers may be reached
    if error is None or cannot_be_caught(error):
        return True
    assert isinstance(error, Exception)
    return region is not None and region.contract == COMPILE and is_about_program(error)


_FUNCTION = type(lambda: None)


def _outermost(value: Value, back: dict[Value, Value], outer: Region) -> Value:
    """The value of the outer region that a parameter of a spliced one stood for."""
    found = back.get(value)
    return value if found is None else outer.lift(found)


def _joined(column: Sequence[Any], arms: Sequence[Recorded], title: str) -> Layout:
    joined: Layout = NEVER
    for value, arm in zip(column, arms, strict=True):
        layout = NEVER if value is NEVER else layout_of(_named(value, title), arm.region)
        joined = join_layouts(joined, layout, title, arm.region.contract)
    return joined


def _named(value: Any, name: str) -> Any:
    """A variable that is not assigned, as a value."""
    return Undefined(name) if value is MISSING else value
