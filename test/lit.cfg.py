# The one lit suite: .mlir, .test and .ptx files below test/.
#
# Tools on the path: tessera-opt, tessera (from the build), FileCheck, not, split-file, llc, opt,
# mlir-translate (from LLVM). Substitutions: %ptxas, %inputs (the Inputs folder beside the test),
# %python, %tools (the folder of the build's programs).
# Features, for REQUIRES: and UNSUPPORTED: lines
#   assembler  ptxas was found, so PTX can be assembled
#   gpu        a CUDA driver and at least one device are here
import ctypes
import os
import sys

import lit.formats


def has_gpu():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return (
        driver.cuInit(0) == 0
        and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        and count.value > 0
    )


config.name = "Tessera"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".ptx"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tessera_build, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.tessera_build, "bin"),
        config.llvm_bin,
        config.environment.get("PATH", "/usr/bin:/bin"),
    ]
)
config.substitutions.append(("%inputs", "%S/Inputs"))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%tools", os.path.join(config.tessera_build, "bin")))
if config.ptxas and not config.ptxas.endswith("-NOTFOUND"):
    config.available_features.add("assembler")
    config.substitutions.append(("%ptxas", config.ptxas))
if has_gpu():
    config.available_features.add("gpu")
