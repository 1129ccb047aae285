"""Which build of the hot modules this processor can run."""
import importlib
import os

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GNUC__)
    static int tav_has_v3(void) {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
            && __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt");
    }
    #else
    static int tav_has_v3(void) { return 0; }
    #endif
    """
    int has_v3 "tav_has_v3"()


def level() -> str:
    """``v3`` (x86-64-v3: AVX2, BMI2) or ``base``; the environment's TAVOLATA_CPU overrides it."""
    wanted = os.environ.get("TAVOLATA_CPU", "")
    if wanted not in ("", "base", "v3"):
        raise ValueError(f"TAVOLATA_CPU is {wanted!r}; allowed are 'base' and 'v3'")
    if wanted == "v3" and not has_v3():
        raise ValueError("TAVOLATA_CPU is 'v3', which this processor can't run")
    return wanted or ("v3" if has_v3() else "base")


def is_portable_wanted() -> bool:
    """Whether TAVOLATA_CPU asks for builds that every processor can run, whatever this one can."""
    return os.environ.get("TAVOLATA_CPU") == "base"


def best_build(package: str, module: str):
    """Import ``package.module_v3`` where the processor has it and it was built, else ``module_base``."""
    if level() == "v3":
        try:
            return importlib.import_module(f"{package}.{module}_v3")
        except ModuleNotFoundError:
            pass
    return importlib.import_module(f"{package}.{module}_base")
