"""Statements of one line."""

from __future__ import annotations

from grammar.containers import Containers
from grammar.writer import Options

ERRORS = ("ValueError", "KeyError", "IndexError", "ZeroDivisionError", "Stop", "Later")


class Simple(Containers):
    """A writer of such statements. Each method writes lines; its result is not used."""

    def put(self, text: str) -> str:
        self.line(text)
        return ""

    def simple(self) -> None:
        self.choose([
            (7, "", self.assign_int),
            (2, "", self.assign_float),
            (1.2, "", self.assign_bool),
            (2, "", self.augment),
            (0.15, "", lambda: self.put("pass")),
            (0.4, "chains", self.assign_chain),
            (0.2, "annotations", self.annotate),
            (1.2, "lists", lambda: self.assign("list", self.list_of(2))),
            (0.5, "dicts", lambda: self.assign("counts", self.dict_of(2))),
            (1.2, "tuples", self.assign_tuple),
            (0.6, "sets", lambda: self.assign("set", self.set_of(2))),
            (1.2, "strings", lambda: self.assign("str", self.text(2))),
            (0.8, "arrays", lambda: self.assign("array", self.array(2))),
            (0.5, "objects", lambda: self.assign("object", self.object_of(2))),
            (0.8, "none", lambda: self.assign("none", self.pick("None", "None", self.bounded(self.integer(1))))),
            (0.6, "mixed", self.assign_mixed),
            (1.5, "list_writes", self.change_list),
            (1, "dicts", self.change_dict),
            (0.8, "sets", self.change_set),
            (1.2, "nested", self.change_nested),
            (1.2, "aliases", self.alias),
            (0.5, "strings", self.grow_text),
            (1.5, "object_writes", self.change_object),
            (1, "array_writes", self.change_array),
            (1, "log_argument", self.event),
            (1, "log_global", self.event),
            (1, "log_local", self.event),
            (1.2, "print", self.print_something),
            (0.6, "asserts", self.check),
            (0.3, "delete", self.delete),
            (0.8, "globals", self.write_global),
            (0.5, "walrus", lambda: self.put(self.walrus(2)) if self.chance(0.1) else self.assign_int()),
            (0.4, "starred tuples", self.unpack_starred),
            (3, "kept", self.keep),
        ])  # fmt: skip

    def assign(self, type_: str, text: str) -> str:
        name = self.write(type_)
        return self.put(f"{name} = {text}") if name else self.assign_int()

    def assign_int(self) -> str:
        name = self.write("int")
        return (
            self.put(f"{name} = {self.bounded(self.integer(self.rng.choice((1, 2, 2, 3))))}")
            if name
            else self.put("pass")
        )

    def assign_float(self) -> str:
        text = self.floating(2)
        return self.assign("float", f"({text}) % 16" if self.may_grow(text) else text)

    def assign_bool(self) -> str:
        text = self.condition(2)
        plain = any(sign in text for sign in ("<", ">", "=", " in ", " is ", "not ")) and not any(
            word in text for word in (" and ", " or ", " if ", "%")
        )
        return self.assign("bool", text if plain else f"bool({text})")

    def assign_mixed(self) -> str:
        return self.assign("mixed", self.pick(self.integer(1), self.floating(1), self.condition(1)))

    def augment(self) -> str:
        name = self.write("int")
        other = self.write("float")
        if other and self.chance(0.25):
            return self.put(f"{other} {self.pick('+', '-', '*', '/')}= {self.pick('0.5', '2', '1.5', '-0.25')}")
        if not name:
            return self.put("pass")
        if self.chance(0.3):
            return self.put(f"{name} {self.pick('//', '%', '&', '|', '^', '>>')}= {self.pick('2', '3', '5')}")
        return self.put(f"{name} {self.pick('+', '-')}= {self.bounded(self.integer(1))}")

    def assign_chain(self) -> str:
        first, second = self.write("int"), self.write("int")
        if not first:
            return self.put("pass")
        target = self.choose([
            (2, "", lambda: str(second)),
            (1, "list_writes", lambda: f"items[{self.integer(1)} % 3]"),
            (1, "object_writes", lambda: "box.m"),
        ])  # fmt: skip
        return self.put(f"{first} = {target} = {self.bounded(self.integer(2))}")

    def annotate(self) -> str:
        """Write an assignment with an annotation, or an annotation alone for a name that is never read."""
        return self.put(f"{self.fresh('noted')}: int" + self.pick("", f" = {self.integer(1)}"))

    def assign_tuple(self) -> str:
        first, second, pair = self.write("int"), self.write("int"), self.write("tuple")
        if not first or not pair:
            return self.assign_int()
        first_value, second_value = self.bounded(self.integer(2)), self.bounded(self.integer(1))
        return self.put(self.pick(
            f"{pair} = {first_value}, {second_value}", f"{pair} = ({second_value}, {first_value})",
            f"{first}, {second} = {first_value}, {second_value}",
            f"{first}, {second} = {second}, {first}", f"{first}, {second} = {self.tuple_of(1)}",
            f"({first}, [{second}, {self.write('int')}]) = {first_value}, ({second_value}, 1)",
        ))  # fmt: skip

    def unpack_starred(self) -> str:
        first, second = self.write("int"), self.write("int")
        if not first:
            return self.put("pass")
        rest = self.write("list") or self.fresh("rest")
        return self.put(self.pick(
            f"{first}, *{rest} = {self.int_atom()}, 1, {self.integer(1)}, 2",
            f"*{rest}, {second} = [4, {self.integer(1)}, 5, {self.int_atom()}]",
            f"{first}, *_, {second} = ({self.int_atom()}, {self.integer(1)}, 6)",
        ))  # fmt: skip

    def replaced_slice(self) -> str:
        return self.pick("1:2", ":1", "1:", f"{self.int_atom()} % 3:")

    def change_list(self) -> str:
        name = self.read("list")
        if not name:
            return self.assign_int()
        value = self.bounded(self.integer(2))
        options: Options = [
            (3, "", lambda: self.put(f"{name}.append({value})")),
            (2, "", lambda: self.put(f"{name}[{self.integer(1)} % 3] = {value}")),
            (1, "", lambda: self.put(f"{name}[{self.pick('0', '1', '-1')}] {self.pick('+', '-')}= {value}")),
            (0.5, "", lambda: self.put(f"{name}.insert({self.pick('0', '1')}, {value})")),
            (0.5, "", lambda: self.put(f"{name}.extend([{value}, 1])")),
            (0.4, "", lambda: self.put(f"{name} += [{value}]") if name == self.write("list") else self.put("pass")),
            (0.5, "", lambda: self.guarded(f"len({name}) > 3", f"{self.write('int') or '_'} = {name}.pop()")),
            (
                0.3,
                "",
                lambda: self.guarded(f"len({name}) > 3", f"{name}.{self.pick('pop(0)', 'remove(' + name + '[0])')}"),
            ),
            (0.3, "", lambda: self.put(f"{name}.{self.pick('reverse()', 'sort()')}")),
            (0.4, "slices", lambda: self.put(f"{name}[{self.replaced_slice()}] = [{value}, {self.int_atom()}]")),
            (0.3, "delete", lambda: self.guarded(f"len({name}) > 3", f"del {name}[{self.pick('0', '-1', '1')}]")),
            (0.2, "delete slices", lambda: self.guarded(f"len({name}) > 4", f"del {name}[1:2]")),
        ]
        return self.choose(options)

    def guarded(self, test: str, text: str) -> str:
        self.put(f"if {test}:")
        with self.deeper():
            return self.put(text)

    def change_dict(self) -> str:
        value, key = self.bounded(self.integer(2)), f"{self.integer(1)} % 4"
        return self.choose([
            (2, "", lambda: self.put(f"counts[{key}] = {value}")),
            (2, "", lambda: self.put(f"counts[{key}] = counts.get({key}, 0) + 1")),
            (1.5, "", lambda: self.put(f"table['{self.pick('p', 'q')}'] = {value}")),
            (1, "", lambda: self.put(f"table['{self.pick('p', 'q')}'] {self.pick('+', '-')}= {value}")),
            (0.5, "", lambda: self.put(f"counts.setdefault({key}, {value})")),
            (0.5, "", lambda: self.put(f"counts.update({{{key}: {value}}})")),
            (0.5, "", lambda: self.put(f"counts.pop({key}, None)")),
            (0.3, "delete", lambda: self.guarded("0 in counts", "del counts[0]")),
            (0.3, "try", lambda: self.put("counts.clear()")),
        ])  # fmt: skip

    def change_set(self) -> str:
        name = self.read("set")
        return self.put(f"{name}.{self.pick('add', 'add', 'discard')}({self.integer(2)})") if name else self.put("pass")

    def change_object(self) -> str:
        value = self.bounded(self.integer(2))
        return self.choose([
            (2, "", lambda: self.put(f"box.{self.pick('n', 'm')} = {value}")),
            (2, "", lambda: self.put(f"box.{self.pick('n', 'm')} {self.pick('+', '-')}= {value}")),
            (1, "", lambda: self.put(f"box.add({self.integer(1)})")),
            (0.3, "properties", lambda: self.put(f"box.double = {value}")),
            (0.2, "delete", lambda: self.put(f"box.extra = {value}; del box.extra")),
            (0.3, "dunders", lambda: self.put(f"box[{self.int_atom()}] = {value}")),
            (0.3, "dunders", lambda: self.assign("object", f"box + {self.pick(self.int_atom(), 'box')}")),
            (0.2, "", lambda: self.put(f"Box.scale = {self.pick('1', '2', self.bounded(self.int_atom()))}")),
            (0.2, "", lambda: self.put(f"setattr(box, 'm', {value})")),
        ])  # fmt: skip

    def change_array(self) -> str:
        name = self.write("array") or "v"
        value = self.bounded(self.integer(1))
        return self.choose([
            (2, "", lambda: self.put(f"{name}[{self.pick('0', '1', '2', self.integer(1) + ' % 3')}] = {value}")),
            (1, "", lambda: self.put(f"{name}{'' if self.scope.kind == 'program' else '[1]'} += {value}")),
            (1, "", lambda: self.put(f"{name}[{self.pick('0', '-1')}] += {value}")),
            (0.4, "slices", lambda: self.put(f"{name}[{self.pick(':2', '1:', ':')}] = {value}")),
        ])  # fmt: skip

    def event(self) -> str:
        value = self.choose([
            (3, "", lambda: self.bounded(self.integer(1))),
            (1, "", lambda: self.floating(1)),
            (0.5, "", lambda: f"({self.rng.randint(1, 99)}, {self.integer(1)})"),
            (0.5, "strings", lambda: self.text(1)),
        ])  # fmt: skip
        return self.put(self.pick(f"log.append({value})", f"note({self.rng.randint(1, 99)}, {value})"))

    def print_something(self) -> str:
        first = self.choose([
            (3, "", lambda: self.integer(1)),
            (1, "", lambda: self.floating(1)),
            (1, "", lambda: self.condition(1)),
            (0.5, "strings", lambda: self.text(1)),
            (0.3, "lists", lambda: self.list_of(0)),
            (0.3, "tuples", lambda: self.tuple_of(0)),
            (0.2, "arrays", lambda: self.array(0)),
        ])  # fmt: skip
        return self.put(self.pick(
            f"print({first})", f"print('at', {first})", f"print({first}, {self.int_atom()}, sep='-')",
            f"print({first}, end=';')", f"print({self.int_atom()}, {first})",
        ))  # fmt: skip

    def check(self) -> str:
        message = self.choose([
            (1, "", lambda: ""),
            (1, "", lambda: f", {self.int_atom()}"),
            (0.5, "", lambda: ", 'wrong'"),
            (0.5, "fstrings", lambda: f", {self.fstring(1)}"),
        ])  # fmt: skip
        likely = self.pick(f"{self.int_atom()} < 60", f"abs({self.integer(1)}) < 300", f"{self.float_atom()} != 100")
        return self.put(
            f"assert {likely if self.scope.in_try == 0 or self.chance(0.5) else self.condition(1)}{message}"
        )

    def delete(self) -> str:
        name = self.fresh("gone")
        self.put(f"{name} = {self.integer(1)}")
        return self.put(self.pick(f"del {name}", f"del ({name})", f"{self.write('int') or '_'} = {name}; del {name}"))

    def change_nested(self) -> str:
        value, index = self.bounded(self.integer(1)), f"{self.integer(1)} % 3"
        return self.choose([
            (2, "", lambda: self.put(f"grid[{index}][{self.pick('0', '1')}] {self.pick('', '+', '-')}= {value}")),
            (1, "", lambda: self.put(f"grid[{self.pick('0', '1', '2')}].append({value})")),
            (0.7, "", lambda: self.put(f"grid[{self.pick('0', '2')}] = [{value}, 1]")),
            (0.5, "", lambda: self.put(f"grid.append([{value}, 2])")),
            (0.7, "", lambda: self.put(f"rows['{self.pick('p', 'q')}'].append({value})")),
            (0.5, "", lambda: self.put(f"rows.setdefault('r', []).append({value})")),
            (1, "objects", lambda: self.put(f"box.parts.append({value})")),
            (0.5, "objects", lambda: self.put(f"box.parts = [{value}, box.n]")),
            (0.5, "aliases", lambda: self.put(f"grid[{self.pick('0', '1')}] = grid[{self.pick('2', index)}]")),
        ])  # fmt: skip

    def alias(self) -> str:
        """Write a second name of a list, dict or object, and a write through it."""
        name, value = self.fresh("same"), self.bounded(self.integer(1))
        return self.choose([
            (0.1, "", self.assign_int),
            (2, "lists list_writes", lambda: self.put(f"{name} = {self.list_of(0)}; {name}.append({value})")),
            (1, "lists", lambda: self.put(f"items = other = [{value}, 1, 2]" if self.write("list") else "pass")),
            (1, "lists", lambda: self.assign("list", self.list_of(0))),
            (1, "dicts", lambda: self.put(f"{name} = counts; {name}[{self.integer(1)} % 4] = {value}")),
            (1, "objects object_writes", lambda: self.put(f"{name} = box; {name}.n = {value}")),
            (1, "nested", lambda: self.put(f"{name} = grid[{self.integer(1)} % 3]; {name}[0] = {value}")),
            (1, "functions lists list_writes", lambda: self.put(
                f"def {name}(xs, more): xs.append(more)\n{'    ' * self.indent}{name}({self.list_of(0)}, {value})")),
            (1, "lambdas lists", lambda: self.put(
                f"{name} = [lambda: {self.int_atom()}, lambda: {value}]\n{'    ' * self.indent}"
                f"{self.write('int') or '_'} = {name}[{self.integer(1)} % 2]()")),
        ])  # fmt: skip

    def grow_text(self) -> str:
        name = self.write("str")
        return (
            self.put(f"{name} += {self.pick(repr('+'), 'str(' + self.int_atom() + ')')}") if name else self.put("pass")
        )

    def write_global(self) -> str:
        if self.scope.kind != "program":
            return self.assign_int()
        return self.choose([
            (2, "", lambda: self.put(f"total = {self.bounded(self.integer(2))}")),
            (2, "", lambda: self.put(f"total {self.pick('+', '-')}= {self.bounded(self.integer(1))}")),
            (0.5, "dicts", lambda: self.put(f"STATE['last'] = {self.bounded(self.integer(1))}")),
            (0.5, "list_writes", lambda: self.put(f"HISTORY.append({self.bounded(self.integer(1))})")),
        ])  # fmt: skip

    def keep(self) -> str:
        """Keep a function or an iterator for later, when its names may have other values."""
        with self.only_expressions():
            body, value = self.integer(1), self.bounded(self.integer(1))
        called = self.choose([
            (3, "", lambda: f"lambda: {body}"),
            (1.5, "", lambda: f"lambda k={value}: k + {self.int_atom()}"),
            (0.7, "", lambda: f"lambda: ({value}, lambda: {body})"),
            (0.7, "objects", lambda: f"{self.pick('box', f'Box({value})')}.{self.pick('peek', 'add', 'n.bit_length')}"),
            (0.5, "lists", lambda: f"{self.list_of(0)}.{self.pick('copy', 'pop', '__len__')}"),
            (0.3, "dicts", lambda: f"{self.pick('counts', 'table')}.{self.pick('copy', 'keys')}"),
            (0.3, "strings", lambda: f"{self.text(0)}.upper"),
            (0.4, "arrays", lambda: f"{self.read('array')}.{self.pick('sum', 'copy')}"),
        ])  # fmt: skip
        held = self.choose([
            (1, "", lambda: f"(k + {body} for k in range({self.int_atom()} % 4))"),
            (1, "generators", lambda: self.rng.choice(self.scope.streams)(1) if self.scope.streams else "iter(())"),
            (0.5, "", lambda: f"range({value}, 9)"),
            (0.5, "", lambda: f"slice({value}, {self.int_atom()})"),
            (1, "lists", lambda: f"{self.pick('iter', 'reversed', 'enumerate')}({self.list_of(0)})"),
            (1, "lists", lambda: f"map(lambda t: t + {self.int_atom()}, {self.list_of(0)})"),
        ])  # fmt: skip
        return self.put(self.pick(
            f"hooks.append({called})", f"hooks.append({called})", f"named['{self.pick('p', 'q')}'] = {called}",
            f"hooks.append({held})",
            f"{self.write('int') or '_'} = hooks[-1]() if hooks and callable(hooks[-1]) else 0",
        ))  # fmt: skip

    def throw(self) -> str:
        kind = self.pick(*ERRORS)
        value = self.choose([
            (2, "", lambda: self.int_atom()),
            (1, "", lambda: f"'bad', {self.integer(1)}"),
            (0.5, "", lambda: "'bad'"),
            (0.5, "fstrings", lambda: self.fstring(1)),
        ])  # fmt: skip
        cause = self.pick(" from None", " from ValueError(1)", "", "") if self.on("causes") else ""
        return self.put(
            self.pick(f"raise {kind}({value}){cause}", f"raise {kind}({value}){cause}", f"raise {kind}{cause}")
        )
