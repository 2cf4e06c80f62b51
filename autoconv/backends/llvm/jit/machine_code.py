"""Drive LLVM: compile the text of a module to an object file.

llvmlite's binding takes 20 ms to import, three quarters of that for Python code that this package does not use.
Functions of its library are therefore called directly. For a version with unknown functions, the binding is used.

This file imports nothing of this package: the helper process runs it by itself (see helper.py). A first call waits for
the helper, so imports that take long are avoided (typing takes 8 ms, functools 3).
"""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    _Arguments = ParamSpec("_Arguments")
    _Result = TypeVar("_Result")

_SUPPORTED_VERSIONS = ("0.50.",)  # versions of llvmlite whose library has the functions below
_LIBRARIES = {"win32": "llvmlite.dll", "darwin": "libllvmlite.dylib"}
_POINTER, _TEXT, _OUT_POINTER = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)
_FLAG, _INT, _SIZE = ctypes.c_bool, ctypes.c_int, ctypes.c_size_t
# Name without the prefix LLVMPY_ -> (types of the arguments, type of the result).
_FUNCTIONS: dict[str, tuple[list[Any], Any]] = {
    "InitializeNativeTarget": ([], None),
    "InitializeNativeAsmPrinter": ([], None),
    "SetCommandLine": ([_TEXT, _TEXT], None),
    "DisposeString": ([_POINTER], None),
    "GetDefaultTargetTriple": ([_OUT_POINTER], None),
    "GetHostCPUName": ([_OUT_POINTER], None),
    "GetHostCPUFeatures": ([_OUT_POINTER], _INT),
    "GetTargetFromTriple": ([_TEXT, _OUT_POINTER], _POINTER),
    "CreateTargetMachine": ([_POINTER, _TEXT, _TEXT, _TEXT, _INT, _TEXT, _TEXT, _INT, _INT, _TEXT], _POINTER),
    "ContextCreate": ([], _POINTER),
    "ContextDispose": ([_POINTER], None),
    "ParseAssembly": ([_POINTER, _TEXT, _OUT_POINTER], _POINTER),
    "SetDataLayout": ([_POINTER, _TEXT], None),
    "CreateTargetMachineData": ([_POINTER], _POINTER),
    "CopyStringRepOfTargetData": ([_POINTER, _OUT_POINTER], None),
    "DisposeTargetData": ([_POINTER], None),
    "DisposeModule": ([_POINTER], None),
    "CreatePipelineTuningOptions": ([], _POINTER),
    "PTOSetLoopInterleaving": ([_POINTER, _FLAG], None),
    "PTOSetLoopVectorization": ([_POINTER, _FLAG], None),
    "PTOSetSLPVectorization": ([_POINTER, _FLAG], None),
    "PTOSetLoopUnrolling": ([_POINTER, _FLAG], None),
    "CreatePassBuilder": ([_POINTER, _POINTER], _POINTER),
    "DisposePassBuilder": ([_POINTER], None),
    "buildPerModuleDefaultPipeline": ([_POINTER, _INT], _POINTER),
    "RunNewModulePassManager": ([_POINTER, _POINTER, _POINTER], None),
    "DisposeNewModulePassManger": ([_POINTER], None),
    "TargetMachineEmitToMemory": ([_POINTER, _POINTER, _INT, _OUT_POINTER], _POINTER),
    "GetBufferStart": ([_POINTER], _POINTER),
    "GetBufferSize": ([_POINTER], _SIZE),
    "DisposeMemoryBuffer": ([_POINTER], None),
}
# Options of LLVM's pipeline, with the lowest levels for which they are on.
_OPTION_LEVELS = {"LoopInterleaving": 3, "LoopVectorization": 3, "SLPVectorization": 2, "LoopUnrolling": 2}
# Characters of a text above which LLVM's pipeline of level 1 replaces that of level 3, with the same options for loops,
# and without vectorisation of straight-line code, which has no effect on loops. It takes a third less time; the code
# of some short loops is slower, that of deep models is not.
_LONG_TEXT = 50_000
# LLVM's options for a process of its own. Strength reduction of loops takes a third of the time of a compilation; loops
# are as fast without it, because x86 and Arm scale a counter as part of an address.
_PROCESS_OPTIONS = ("-disable-lsr",)
# Long functions, which release the GIL. Taking it back costs up to 5 ms each time.
_LONG_FUNCTIONS = ("RunNewModulePassManager", "TargetMachineEmitToMemory")


def _cache_by_arguments(make: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return a function that calls `make` once for given positional arguments, and returns the same result again."""
    results: dict[Any, _Result] = {}

    def get(*arguments: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        if arguments not in results:
            results[arguments] = make(*arguments, **keywords)
        return results[arguments]

    return get


def object_file_compiler(is_in_helper: bool = False) -> Callable[[str, int], bytes]:
    """Return the function that compiles a text to an object file at a level.

    Level 3 is for speed, 2 for speed without loop vectorisation, 1 for a short compilation, 0 for the shortest. The
    function raises BadText for text that is no valid module. Threads may call it concurrently if `supports_threads()`.
    If `is_in_helper`, it releases the GIL in every step, however short, and sets LLVM's options of the process, which
    would otherwise hold for other users of LLVM.
    """
    library = load_library(is_in_helper)
    return compile_by_binding if library is None else library.object_file


def supports_threads(is_in_helper: bool = False) -> bool:
    """Return whether several threads may compile at the same time."""
    return load_library(is_in_helper) is not None


class BadText(RuntimeError):
    """LLVM rejects the text, or makes no machine code of it: an internal error of this package."""

    _autoconv_is_fault = True


@_cache_by_arguments
def binding() -> Any:
    """Return llvmlite's binding, imported and initialised on first use."""
    import llvmlite.binding as llvmlite_binding  # slow to import

    for initialiser in ("initialize_native_target", "initialize_native_asmprinter"):
        getattr(llvmlite_binding, initialiser)()
    return llvmlite_binding


@_cache_by_arguments
def linking_machine() -> Any:
    """Return the target machine of the binding's linker."""
    return _binding_machine(3)


@_cache_by_arguments
def load_library(is_in_helper: bool) -> Library | None:
    """Return llvmlite's library, or None if the installed version of llvmlite is not supported."""
    import llvmlite  # light: only for its version

    if not llvmlite.__version__.startswith(_SUPPORTED_VERSIONS):
        return None
    folder = os.path.join(os.path.dirname(llvmlite.__file__), "binding")
    try:
        return Library(os.path.join(folder, _LIBRARIES.get(sys.platform, "libllvmlite.so")), is_in_helper)
    except (OSError, AttributeError):
        return None


class Library:
    """llvmlite's shared library, with its functions as attributes.

    Raises OSError if it cannot be loaded, and AttributeError if it lacks an expected function.
    """

    def __init__(self, path: str, is_in_helper: bool) -> None:
        library = ctypes.CDLL(path)
        gil_library = ctypes.PyDLL(path, handle=library._handle)
        for name, (arguments, result) in _FUNCTIONS.items():
            function = getattr(library if is_in_helper or name in _LONG_FUNCTIONS else gil_library, f"LLVMPY_{name}")
            function.argtypes, function.restype = arguments, result
            setattr(self, name, function)
        self.InitializeNativeTarget()
        self.InitializeNativeAsmPrinter()
        for option in _PROCESS_OPTIONS if is_in_helper else ():
            self.SetCommandLine(b"autoconv", option.encode())
        self._triple, self._processor, self._features = map(
            self._call_with_message, (self.GetDefaultTargetTriple, self.GetHostCPUName, self.GetHostCPUFeatures)
        )
        self._machines: dict[int, list[int]] = {}  # unused machines by level
        self._options = {level: self._create_tuning_options(level) for level in (1, 2, 3)}
        self._long_text_options = self._create_tuning_options(3)
        self.PTOSetSLPVectorization(self._long_text_options, False)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def object_file(self, text: str, level: int) -> bytes:
        """Compile a text, as the function of `object_file_compiler`."""
        idle_machines = self._machines.setdefault(level, [])
        try:
            machine = idle_machines.pop()
        except IndexError:
            machine = self._create_machine(level)
        context = self.ContextCreate()  # one for each module, as it keeps every type and constant
        try:
            message = ctypes.c_void_p()
            module = self.ParseAssembly(context, text.encode(), ctypes.byref(message))
            if not module:
                raise BadText(f"LLVM does not take the text of a module: {self._take_message(message)}")
            try:
                self.SetDataLayout(module, self._data_layout(machine))
                if level == 3 and len(text) > _LONG_TEXT:
                    self._optimise(module, machine, self._long_text_options, 1)
                elif level:
                    self._optimise(module, machine, self._options[level], level)
                return self._emit(module, machine)
            finally:
                self.DisposeModule(module)
        finally:
            self.ContextDispose(context)
            idle_machines.append(machine)

    def _data_layout(self, machine: int) -> bytes:
        """Return the data layout (of structures, for example).

        LLVM's passes assume another one where a module has none, and modules that call each other have to agree.
        """
        target_data = self.CreateTargetMachineData(machine)
        try:
            return self._call_with_message(lambda message: self.CopyStringRepOfTargetData(target_data, message))
        finally:
            self.DisposeTargetData(target_data)

    def _optimise(self, module: int, machine: int, options: int, pipeline_level: int) -> None:
        """Run LLVM's pipeline of a level over a module, with options for its passes."""
        builder = self.CreatePassBuilder(machine, options)
        manager = self.buildPerModuleDefaultPipeline(builder, pipeline_level)
        self.RunNewModulePassManager(manager, module, builder)
        self.DisposeNewModulePassManger(manager)
        self.DisposePassBuilder(builder)

    def _emit(self, module: int, machine: int) -> bytes:
        """Return the bytes of the module's object file."""
        message = ctypes.c_void_p()
        is_object_file = 1  # not assembly
        buffer = self.TargetMachineEmitToMemory(machine, module, is_object_file, ctypes.byref(message))
        if not buffer:
            raise BadText(f"LLVM makes no machine code: {self._take_message(message)}")
        try:
            return ctypes.string_at(self.GetBufferStart(buffer), self.GetBufferSize(buffer))
        finally:
            self.DisposeMemoryBuffer(buffer)

    def _create_machine(self, level: int) -> int:
        """Return the handle of a target machine for this processor at a level of optimisation."""
        message = ctypes.c_void_p()
        target = self.GetTargetFromTriple(self._triple, ctypes.byref(message))
        if not target:
            raise RuntimeError(f"LLVM knows no machine code for {self._triple!r}: {self._take_message(message)}")
        triple = self._triple + (b"-elf" if sys.platform == "win32" else b"")
        addressing = [word.encode() for word in _addressing(level)]
        host = (self._processor, self._features)
        prints_code, is_for_jit, abi_name = 0, 1, b""
        last_arguments = prints_code, is_for_jit, abi_name
        machine: int = self.CreateTargetMachine(target, triple, *host, level, *addressing, *last_arguments)
        return machine

    def _create_tuning_options(self, level: int) -> int:
        """Return the handle of options for the passes of a level."""
        options: int = self.CreatePipelineTuningOptions()
        for option, lowest_level in _OPTION_LEVELS.items():
            getattr(self, f"PTOSet{option}")(options, level >= lowest_level)
        return options

    def _call_with_message(self, function: Any) -> bytes:
        """Call a function that stores the address of a text; return the text."""
        message = ctypes.c_void_p()
        function(ctypes.byref(message))
        return self._take_message(message).encode()

    def _take_message(self, message: ctypes.c_void_p) -> str:
        """Return the message of LLVM and free it."""
        if not message.value:
            return ""
        text = ctypes.string_at(message.value).decode(errors="replace")
        self.DisposeString(message)
        return text


@_cache_by_arguments
def _binding_machine(level: int) -> Any:
    """Return LLVM's target machine for this processor."""
    llvm = binding()
    target = llvm.Target.from_default_triple()
    reloc, codemodel = _addressing(level)
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=level, jit=True,
        reloc=reloc, codemodel=codemodel,
    )  # fmt: skip


def _addressing(level: int) -> tuple[str, str]:
    """Return the relocation model and the code model.

    The loader places related code within 32-bit distances. Code for such distances compiles faster; at level 3, loops
    run faster where addresses are constants in registers.
    """
    uses_near_addresses = level < 3 and sys.platform == "linux" and os.uname().machine == "x86_64"
    return ("pic", "small") if uses_near_addresses else ("default", "jitdefault")


def compile_by_binding(text: str, level: int) -> bytes:
    """Compile a text by llvmlite's binding, as the function of `object_file_compiler`."""
    llvm, machine = binding(), _binding_machine(level)
    try:
        module = llvm.parse_assembly(text)
    except RuntimeError as error:
        raise BadText(f"LLVM does not take the text of a module: {error}") from None
    module.data_layout = str(machine.target_data)
    if not level:
        return bytes(machine.emit_object(module))
    # One for each module: a run registers analyses with it for good.
    builder = llvm.create_pass_builder(machine, _binding_options(level))
    manager = builder.getModulePassManager()
    manager.run(module, builder)
    code = bytes(machine.emit_object(module))
    _dispose(manager)
    return code


@_cache_by_arguments
def _binding_options(level: int) -> Any:
    """Return LLVM's tuning of passes at a level."""
    options = binding().create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.loop_interleaving = level > 2
    options.slp_vectorization = options.loop_unrolling = level > 1
    return options


def _dispose(manager: Any) -> None:
    """Free a pass manager: up to llvmlite 0.50 its own `close` calls an empty method, which leaks 45 KB a module."""
    binding().newpassmanagers.NewPassManager._dispose(manager)
    manager.detach()
