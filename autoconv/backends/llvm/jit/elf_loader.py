"""Load object files into memory, for files that need only absolute and relative addresses.

LLVM's own linker takes 40 KB and more for each library, whatever its size, and keeps a part of that when the library
is dropped. Code for x86-64 needs little of it: a few pages, and addresses of symbols, or distances to them, stored
where a table says. The format is the System V ABI's ELF-64. Files with anything else, or for another system, are left
to LLVM's linker.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import mmap
import struct
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_IDENT = b"\x7fELF\x02\x01\x01"  # first bytes of a file: 64 bits, little endian
# Byte offsets in a file's header: kind and machine; offset of the section table; size and number of its rows.
_KIND_OFFSET, _SECTIONS_OFFSET, _SECTION_SIZE_OFFSET = 16, 40, 58
_X86_64, _RELOCATABLE = 62, 1  # a machine, and a kind of files
_PROGBITS, _SYMTAB, _RELA, _NOBITS = 1, 2, 4, 8  # kinds of sections: bytes, symbols, relocations, zeros
_UNUSED = (7, 0x70000001)  # kinds of notes and exception tables: exceptions never pass through native code
_WRITE, _ALLOC, _TLS = 1, 2, 0x400  # flags of sections: writable, in memory, one for each thread
_UNDEFINED, _RESERVED = 0, 0xFF00  # instead of a symbol's section: none; from this number on, no section
_LOCAL = 0  # binding of a file's local symbols
_R_X86_64_64 = 1  # kind of relocations: the symbol's address
_RELATIVE = (2, 4)  # R_X86_64_PC32 and _PLT32: distance to the symbol; through a jump for another library's
_BY_TABLE = (9, 41, 42)  # R_X86_64_GOTPCREL and its two relaxable kinds: distance to a table entry with the address
_MMAP_FAILED = 2**64 - 1  # result of mmap on failure


class Unlinkable(Exception):
    """An object file needs more than this loader supports; `str()` names it."""


class LoadedCode:
    """The loaded code of object files that refer to each other, callable for as long as this object lives.

    `address(name)` returns the address of one of their functions or variables. They may refer to `known_addresses` and
    to functions of the C library. Raises Unlinkable.
    """

    def __init__(self, object_files: Sequence[bytes], known_addresses: Mapping[str, int]) -> None:
        files = [(code, _sections(code)) for code in object_files]
        relocations = [list(_relocations(*file)) for file in files]
        # Each symbol of a file that code reaches by its distance may need an entry in the table of addresses.
        symbols_by_distance = {
            (i, relocation.symbol)
            for i, file_relocations in enumerate(relocations)
            for relocation in file_relocations
            if relocation.kind in _RELATIVE + _BY_TABLE
        }
        all_sections = [section for _, sections in files for section in sections]
        layout = _layout(all_sections, len(symbols_by_distance))
        base = self._map_pages(layout.size)
        addresses = iter([None if offset is None else base + offset for offset in layout.offsets])
        starts = [[next(addresses) for _ in sections] for _, sections in files]  # addresses of each file's sections
        symbols = [list(_symbols(*file, file_starts)) for file, file_starts in zip(files, starts, strict=True)]
        all_symbols = itertools.chain(*symbols)
        self._addresses = {symbol.name: symbol.address for symbol in all_symbols if symbol.is_shared and symbol.address}
        image = bytearray(layout.size)
        table = _AddressTable(image, base, layout.table_offset)
        parts = zip(files, symbols, relocations, starts, strict=True)
        for (code, sections), file_symbols, file_relocations, section_starts in parts:
            for section, start in zip(sections, section_starts, strict=True):
                if start is not None and section.kind == _PROGBITS:
                    data = code[section.offset : section.offset + section.size]
                    image[start - base : start - base + section.size] = data
            for relocation in file_relocations:
                start = section_starts[relocation.section]
                if start is not None:
                    value, is_near = self._resolve(file_symbols[relocation.symbol], known_addresses)
                    table.store(relocation, start + relocation.offset, value, is_near)
        ctypes.memmove(base, bytes(image), layout.size)
        protection = mmap.PROT_READ | mmap.PROT_EXEC
        if layout.read_only_size and _libc().mprotect(base, layout.read_only_size, protection):
            raise Unlinkable("the system does not let memory become code")

    def _resolve(self, symbol: _Symbol, known_addresses: Mapping[str, int]) -> tuple[int, bool]:
        """Return the address of a symbol, and whether these files define it; raise Unlinkable for an unknown one."""
        own_address = symbol.address or self._addresses.get(symbol.name)
        address = own_address or known_addresses.get(symbol.name)
        if not address and symbol.is_shared:
            address = _find_process_function(symbol.name)
        if not address:
            raise Unlinkable(f"the symbol {symbol.name} is not defined")
        return address, own_address is not None

    def address(self, name: str) -> int:
        return self._addresses[name]

    def _map_pages(self, size: int) -> int:
        """Map pages that are freed with this object, but not at exit, when the code may still be called."""
        # Private: forked children do not share the code's variables.
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        base = _libc().mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        if base in (None, _MMAP_FAILED):
            raise MemoryError(f"there are no {size} bytes for machine code")
        weakref.finalize(self, _libc().munmap, base, size).atexit = False
        return int(base)


class _AddressTable:
    """A table of addresses that code reaches by distance, each followed by a jump to that address.

    Distances of 32 bits do not reach other libraries. The table begins at `offset` of the image, which is mapped at
    `base`.
    """

    def __init__(self, image: bytearray, base: int, offset: int) -> None:
        self._image, self._base, self._end = image, base, offset
        self._entries: dict[int, int] = {}  # address -> address of the entry that holds it

    def store(self, relocation: _Relocation, address: int, target: int, is_near: bool) -> None:
        """Store at the address of a relocation: the target, or the distance to the target or to its table entry."""
        if relocation.kind == _R_X86_64_64:
            struct.pack_into("<Q", self._image, address - self._base, (target + relocation.addend) % 2**64)
            return
        if relocation.kind in _BY_TABLE:
            target = self.entry_address(target)
        elif not is_near:
            target = self.jump_address(target)
        struct.pack_into("<i", self._image, address - self._base, target + relocation.addend - address)

    def entry_address(self, address: int) -> int:
        """Return the address of the table entry that holds the address."""
        if address not in self._entries:
            self._entries[address] = self._base + self._end
            self._image[self._end : self._end + _ENTRY] = struct.pack("<Q", address) + _JUMP
            self._end += _ENTRY
        return self._entries[address]

    def jump_address(self, address: int) -> int:
        """Return the address of the table's jump to the address."""
        return self.entry_address(address) + 8


_JUMP = b"\xff\x25\xf2\xff\xff\xff\xcc\xcc"  # jmp *-14(%rip): to the address in the eight bytes before
_ENTRY = 16  # bytes of an entry: an address and a jump


class _Section(NamedTuple):
    """A row of the section table, with the ABI's fields."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int  # in the file
    size: int
    link: int  # of symbols: the section of their names
    info: int  # of relocations: the section that they change
    alignment: int
    entry_size: int


def _sections(code: bytes) -> list[_Section]:
    """Return the sections of an object file. Raises Unlinkable for other files."""
    if sys.platform != "linux" or code[: len(_IDENT)] != _IDENT:
        raise Unlinkable("this is no ELF file for Linux")
    kind, machine = struct.unpack_from("<HH", code, _KIND_OFFSET)
    if machine != _X86_64 or kind != _RELOCATABLE:
        raise Unlinkable("this is no object file for x86-64")
    start = struct.unpack_from("<Q", code, _SECTIONS_OFFSET)[0]
    size, count = struct.unpack_from("<HH", code, _SECTION_SIZE_OFFSET)
    return [_Section(*struct.unpack_from("<IIQQQQIIQQ", code, start + i * size)) for i in range(count)]


class _Layout(NamedTuple):
    """The positions of sections, and of a table of addresses, in an image; offsets and sizes are in bytes.

    Code and constants are whole pages and come first; the table is within them.
    """

    offsets: list[int | None]  # of each section; None for one that is not loaded
    read_only_size: int  # of code and constants
    size: int  # of the image
    table_offset: int


def _layout(sections: Sequence[_Section], entry_count: int) -> _Layout:
    """Lay out the sections, and a table of `entry_count` addresses. Raises Unlinkable for unsupported sections."""
    offsets: list[int | None] = [None] * len(sections)
    end = read_only_size = table_offset = 0
    for is_writable in (False, True):
        for i, section in enumerate(sections):
            if not section.flags & _ALLOC or bool(section.flags & _WRITE) is not is_writable:
                continue
            if section.kind in _UNUSED:
                continue
            if section.kind not in (_PROGBITS, _NOBITS) or section.flags & _TLS or section.alignment > mmap.PAGESIZE:
                raise Unlinkable(f"sections of kind {section.kind} with flags {section.flags:#x} are not supported")
            offsets[i] = _round_up(end, max(section.alignment, 1))
            end = (offsets[i] or 0) + section.size
        if not is_writable:
            table_offset = _round_up(end, _ENTRY)
            end = read_only_size = _round_up(table_offset + entry_count * _ENTRY, mmap.PAGESIZE)
    return _Layout(offsets, read_only_size, max(_round_up(end, mmap.PAGESIZE), mmap.PAGESIZE), table_offset)


def _round_up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


class _Symbol(NamedTuple):
    """A symbol of a file; other files may refer to it by name if `is_shared`."""

    name: str
    address: int | None
    is_shared: bool


def _symbols(code: bytes, sections: Sequence[_Section], starts: Sequence[int | None]) -> Iterator[_Symbol]:
    """Yield the symbols of the file's table; undefined ones have no address."""
    for table in sections:
        if table.kind != _SYMTAB:
            continue
        strings_offset = sections[table.link].offset
        rows = code[table.offset : table.offset + table.size]
        for name, binding_and_kind, _, index, value, _ in struct.iter_unpack("<IBBHQQ", rows):
            symbol_name = code[strings_offset + name : code.index(b"\0", strings_offset + name)].decode()
            start = starts[index] if _UNDEFINED < index < _RESERVED else None
            yield _Symbol(symbol_name, None if start is None else start + value, binding_and_kind >> 4 != _LOCAL)


class _Relocation(NamedTuple):
    """A value to store at `offset` of section `section`; `kind` is one of the constants R_X86_64_… above."""

    kind: int
    section: int
    offset: int
    symbol: int
    addend: int


def _relocations(code: bytes, sections: Sequence[_Section]) -> Iterator[_Relocation]:
    """Yield the relocations of a file's loaded sections. Raises Unlinkable for one of another kind."""
    for table in sections:
        if table.kind != _RELA or not sections[table.info].flags & _ALLOC or sections[table.info].kind in _UNUSED:
            continue
        rows = code[table.offset : table.offset + table.size]
        for offset, symbol_and_kind, addend in struct.iter_unpack("<QQq", rows):
            kind = symbol_and_kind & 0xFFFFFFFF
            if kind not in (_R_X86_64_64, *_RELATIVE, *_BY_TABLE):
                raise Unlinkable(f"relocations of kind {kind} are not supported")
            yield _Relocation(kind, table.info, offset, symbol_and_kind >> 32, addend)


@functools.cache
def _find_process_function(name: str) -> int | None:
    """Return the address of a function that this process has loaded."""
    function = getattr(ctypes.CDLL(None), name, None) if name else None
    return None if function is None else ctypes.cast(function, ctypes.c_void_p).value


@functools.cache
def _libc() -> Any:
    """Return the C library with the types of the functions that map memory."""
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library
