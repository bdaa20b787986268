"""Operating systems, processors and compilers as variables that the conditions of most languages share. Go, Rust and
Zig have tables of their own: of their ports, and of the words of their compilers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic.solve import Formula, Literal, Or, both, opposite
from lci_py.source.conditions.paths import platform_word

if TYPE_CHECKING:
    from lci_py.search.conflicts.logic.machine import Machine
    from lci_py.search.conflicts.logic.values import Allowed

_SYSTEMS = (
    "windows cygwin linux android macos ios tvos watchos visionos freebsd openbsd netbsd dragonfly solaris aix haiku "
    "qnx emscripten wasi hpux hurd fuchsia amiga dos vms os400 mvs beos irix osf os2 minix riscos vxworks symbian "
    "interix java"
)
#: A bit for each; a target has one of them. The endless bits above stand for all other systems, so that "none of these"
#: can hold.
SYSTEM = {name: 1 << bit for bit, name in enumerate(_SYSTEMS.split())}
_PROCESSORS = (
    "x86 x86_64 arm aarch64 ppc ppc64 mips mips64 riscv32 riscv64 s390 s390x sparc sparc64 ia64 loongarch64 alpha "
    "wasm32 wasm64 hppa m68k sh avr xtensa"
)
PROCESSOR = {name: 1 << bit for bit, name in enumerate(_PROCESSORS.split())}
COMPILER = {name: 1 << bit for bit, name in enumerate("gcc clang msvc clang-cl icc icl borland watcom tcc sun".split())}
#: As `Dialect.named`.
NAMED = {" @system": ("", SYSTEM), " @processor": ("", PROCESSOR), " @compiler": ("", COMPILER)}
APPLE = "macos ios tvos watchos visionos"
BSD = "freebsd openbsd netbsd dragonfly"
#: Processors with pointers of 64 bits in every ABI that is in use.
WIDE = "ppc64 mips64 riscv64 s390x sparc64 ia64 loongarch64 alpha wasm64 x86_64 aarch64"


def bits(table: dict[str, int], names: str) -> int:
    """The bits of some names, separated by blanks."""
    return sum(table[name] for name in names.split())


def system(names: str) -> Literal:
    """The operating system is one of these."""
    return Literal(" @system", bits(SYSTEM, names))


def processor(names: str) -> Literal:
    """The processor is one of these."""
    return Literal(" @processor", bits(PROCESSOR, names))


def compiler(names: str) -> Literal:
    """The compiler is one of these."""
    return Literal(" @compiler", bits(COMPILER, names))


def big_endian(yes: bool) -> Literal:
    """The order of bytes in a number is big-endian, or it is not."""
    return Literal(" @bytes", 1 if yes else 2)


_LITTLE_ONLY = bits(PROCESSOR, "x86 x86_64 ia64 alpha loongarch64 wasm32 wasm64")
FACTS: tuple[Formula, ...] = (
    # Microsoft's compiler and those that stand in for it are for Windows.
    Or((Literal(" @compiler", ~bits(COMPILER, "msvc clang-cl icl")), system("windows")), 2),
    Or((big_endian(False), Literal(" @processor", ~_LITTLE_ONLY)), 2),
)

_SYSTEM_MACROS = (
    ("_WIN32 WIN32 __WIN32__ __WIN32 __WINDOWS__ __TOS_WIN__ Q_OS_WIN OS_WIN", "windows"),
    ("__CYGWIN__ __MSYS__ Q_OS_CYGWIN", "cygwin"),
    ("__linux__ __linux linux __gnu_linux__", "linux android"),
    ("Q_OS_LINUX", "linux"),
    ("__ANDROID__ Q_OS_ANDROID", "android"),
    ("__APPLE__ Q_OS_DARWIN TARGET_OS_MAC", APPLE),
    ("__MACH__", f"{APPLE} hurd"),
    ("TARGET_OS_OSX Q_OS_MACOS", "macos"),
    ("TARGET_OS_IPHONE", "ios tvos watchos visionos"),
    ("TARGET_OS_IOS Q_OS_IOS", "ios"),
    ("TARGET_OS_TV", "tvos"),
    ("TARGET_OS_WATCH", "watchos"),
    ("TARGET_OS_VISION", "visionos"),
    ("__FreeBSD__ __FreeBSD_kernel__ __MidnightBSD__ Q_OS_FREEBSD", "freebsd"),
    ("__OpenBSD__ Q_OS_OPENBSD", "openbsd"),
    ("__NetBSD__ Q_OS_NETBSD", "netbsd"),
    ("__DragonFly__", "dragonfly"),
    ("__sun __sun__ sun __solaris__ __illumos__ Q_OS_SOLARIS", "solaris"),
    ("_AIX __AIX__", "aix"),
    ("__hpux __hpux__ hpux", "hpux"),
    ("__HAIKU__ Q_OS_HAIKU", "haiku"),
    ("__QNX__ __QNXNTO__ Q_OS_QNX", "qnx"),
    ("__EMSCRIPTEN__ Q_OS_WASM", "emscripten"),
    ("__wasi__", "wasi"),
    ("__GNU__", "hurd"),
    ("__Fuchsia__", "fuchsia"),
    ("__AMIGA__ AMIGA _AMIGA amiga __amigaos__ __amigaos4__", "amiga"),
    ("MSDOS __MSDOS__ __MSDOS _MSDOS __DOS__ __DJGPP__ DJGPP", "dos"),
    ("__VMS VMS __VMS__", "vms"),
    ("__OS400__ __ILEC400__", "os400"),
    ("__MVS__", "mvs"),
    ("__BEOS__", "beos"),
    ("__sgi sgi", "irix"),
    ("__osf__ __osf", "osf"),
    ("__OS2__ OS2 __EMX__", "os2"),
    ("__minix __minix__", "minix"),
    ("__riscos__ __riscos", "riscos"),
    ("__VXWORKS__ __vxworks", "vxworks"),
    ("__SYMBIAN32__", "symbian"),
    ("__INTERIX", "interix"),
)
_PROCESSOR_MACROS = (
    ("__x86_64__ __x86_64 __amd64__ __amd64 _M_X64 _M_AMD64 x86_64_HOST_ARCH", "x86_64"),
    ("__i386__ __i386 i386 _M_IX86 _X86_ __i686__ __i586__ i386_HOST_ARCH", "x86"),
    ("__aarch64__ __arm64__ __arm64 _M_ARM64 aarch64_HOST_ARCH", "aarch64"),
    ("__arm__ __arm _M_ARM __thumb__ arm_HOST_ARCH", "arm"),
    ("__powerpc64__ __ppc64__ __PPC64__ _ARCH_PPC64 powerpc64_HOST_ARCH powerpc64le_HOST_ARCH", "ppc64"),
    ("__powerpc__ __powerpc __ppc__ __PPC__ _ARCH_PPC __POWERPC__", "ppc ppc64"),
    ("__s390x__ s390x_HOST_ARCH", "s390x"),
    ("__s390__", "s390 s390x"),
    ("__mips64 __mips64__", "mips64"),
    ("__mips__ __mips mips", "mips mips64"),
    ("__riscv", "riscv32 riscv64"),
    ("riscv64_HOST_ARCH", "riscv64"),
    ("__sparc__ __sparc sparc", "sparc sparc64"),
    ("__sparcv9 __sparc_v9__", "sparc64"),
    ("__ia64__ __ia64 _M_IA64", "ia64"),
    ("__loongarch__ __loongarch64", "loongarch64"),
    ("__alpha__ __alpha", "alpha"),
    ("__wasm__", "wasm32 wasm64"),
    ("__wasm32__", "wasm32"),
    ("__wasm64__", "wasm64"),
    ("__hppa__ __hppa", "hppa"),
    ("__m68k__", "m68k"),
    ("__sh__", "sh"),
    ("__AVR__", "avr"),
    ("__XTENSA__", "xtensa"),
)
_COMPILER_MACROS = (
    ("_MSC_VER _MSC_FULL_VER", "msvc clang-cl icl"),
    ("__GNUC__ __GNUC_MINOR__ __GNUC_PATCHLEVEL__", "gcc clang icc"),
    ("__clang__ __clang_major__ __clang_minor__ __llvm__", "clang clang-cl"),
    ("__INTEL_COMPILER __ICC", "icc icl"),
    ("__BORLANDC__", "borland"),
    ("__WATCOMC__", "watcom"),
    ("__SUNPRO_C __SUNPRO_CC", "sun"),
)
#: Systems whose compilers do not define `unix`. One that is not listed above may well be a Unix.
_NO_UNIX = f"windows {APPLE} wasi fuchsia amiga dos vms os400 mvs os2 riscos symbian"
_LITTLE = "__LITTLE_ENDIAN__ __ARMEL__ __AARCH64EL__ __MIPSEL__ _MIPSEL"
_BIG = "__BIG_ENDIAN__ __ARMEB__ __AARCH64EB__ __MIPSEB__ _MIPSEB WORDS_BIGENDIAN"
#: GHC's CPP. Source: the GHC user's guide, "Standard CPP macros".
_HASKELL = "mingw32 linux darwin freebsd openbsd netbsd dragonfly solaris2 aix"
_FAMILIES = {
    "x86": "x86 x86_64", "ppc": "ppc ppc64", "mips": "mips mips64", "riscv": "riscv32 riscv64", "s390": "s390 s390x",
    "sparc": "sparc sparc64",
}  # fmt: skip
_SUGGESTED = {"apple": APPLE, "bsd": BSD, "kqueue": f"{APPLE} {BSD}"}
#: What programs call a system, and no path does: in `uname`, OSTYPE, `sys.platform`, RUBY_PLATFORM.
_SPELLED = {
    **dict.fromkeys("mingw mswin msys bccwin windows_nt ms_windows".split(), "windows"),
    "linux-gnu": "linux", "linux-musl": "linux", "linux-android": "android", "hp-ux": "hpux", "java": "java",
}  # fmt: skip
_RELEASE = re.compile(r"[\d.]+$")


def suggested(word: str) -> Literal:
    """What a word of `source.conditions.paths.inferred_condition` stands for."""
    if word in PROCESSOR or word in _FAMILIES:
        return processor(_FAMILIES.get(word, word))
    if word == "unix":
        return Literal(" @system", ~bits(SYSTEM, "windows dos os2 amiga vms os400 riscos symbian"))
    return system(_SUGGESTED.get(word, word))


def named(name: str) -> Literal | None:
    """The system that programs call so, in any case and maybe with its release: `Darwin`, `SunOS`, `freebsd14.1`. None
    if it is not known."""
    for word in (name.lower(), _RELEASE.sub("", name.lower())):
        meaning = _SPELLED.get(word) or platform_word(word) or word
        if meaning in SYSTEM or meaning in _SUGGESTED or meaning == "unix":
            return suggested(meaning)
    return None


def _macros() -> dict[str, Formula]:
    found: dict[str, Formula] = {}
    for names, values in _SYSTEM_MACROS:
        found |= dict.fromkeys(names.split(), system(values))
    for names, values in _PROCESSOR_MACROS:
        found |= dict.fromkeys(names.split(), processor(values))
    for names, values in _COMPILER_MACROS:
        found |= dict.fromkeys(names.split(), compiler(values))
    found |= dict.fromkeys(_LITTLE.split(), big_endian(False)) | dict.fromkeys(_BIG.split(), big_endian(True))
    found |= {f"{name}_HOST_OS": meant for name in _HASKELL.split() if (meant := named(name))}
    found |= dict.fromkeys(("__unix__", "__unix", "unix"), Literal(" @system", ~bits(SYSTEM, _NO_UNIX)))
    windows, wide, gnu = system("windows"), processor(WIDE), compiler("gcc clang")
    found |= dict.fromkeys(("_WIN64", "WIN64", "__WIN64__", "Q_OS_WIN64"), both(windows, wide))
    found |= {"__MINGW32__": both(windows, gnu), "__MINGW64__": both(windows, gnu, wide)}
    found |= dict.fromkeys(("__LP64__", "_LP64"), both(wide, opposite(windows), Literal("  __LP64__", 1)))
    return found


#: The macros that compilers define themselves, and when. Sources: "Pre-defined Compiler Macros"
#: (sourceforge.net/p/predef/wiki), Microsoft's and Apple's (TargetConditionals.h) documentation, qsystemdetection.h.
MACROS = _macros()
#: The macros whose value is a version.
VERSIONS = frozenset(name for name, formula in MACROS.items() if formula[0] == " @compiler")


def here(machine: Machine) -> dict[str, Allowed]:
    """What is known of a machine, by variable."""
    known: dict[str, Allowed] = {" @bytes": 1 if machine.byteorder == "big" else 2}
    if machine.system in SYSTEM:
        known[" @system"] = SYSTEM[machine.system]
    if machine.processor in PROCESSOR:
        known[" @processor"] = PROCESSOR[machine.processor]
    return known
