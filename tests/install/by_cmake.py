# SPDX-License-Identifier: Apache-2.0
"""Programs that CMake builds against an installed library, all of them with one set of BMIs: CMakeLists.txt."""
import os
import re
import shutil
import subprocess
import sys

from prefixes import fresh, run, started_alone


def cmake_command():
    """CMAKE of the environment, or else the system's, if it is one that knows modules."""
    cmake = os.environ.get('CMAKE') or 'cmake'
    return cmake if version_of(cmake) >= (3, 28) else None


def version_of(cmake):
    said = re.search(r'version (\d+)\.(\d+)', run([cmake, '--version']) if shutil.which(cmake) else '')
    return (int(said[1]), int(said[2])) if said else (0, 0)


def in_cmake(root, variant, compiler):
    """A call of the function `variant` of CMakeLists.txt."""
    words = {'NAME': [variant.name], 'SOURCES': [root / source for source in variant.sources],
             'TARGETS': variant.targets(), 'OPTIONS': variant.options_for(compiler),
             'MODULES': [root / source for _, source in variant.modules],
             'INCLUDE': [root / variant.include] if variant.include else [],
             'PACK': [root / variant.pack] if variant.pack else []}
    given = [f'{key} ' + ' '.join(f'"{word}"' for word in of_key) for key, of_key in words.items() if of_key]
    return f'variant({" ".join(["THROUGH"] * variant.through + given)})\n'


class CMake:
    def __init__(self, cmake, at, prefix, folder, options, variants):
        """`at` says where the sources and the compiler are: check.py."""
        self.cmake, self.folder = cmake, fresh(folder)
        listed = self.folder / 'variants.cmake'
        listed.write_text(''.join(in_cmake(at.root, variant, at.compiler) for variant in variants))
        self.options = [
            cmake, '-S', at.root / 'tests' / 'install', '-G', 'Ninja', f'-DVARIANTS={listed}',
            f'-DVERSION={at.version}', f'-DCMAKE_PREFIX_PATH={prefix}', f'-DCMAKE_CXX_COMPILER={at.cxx[-1]}',
            *options]

    def configure(self, kind):
        """For the shared or the static library."""
        self.configuring = [*self.options, f'-Dkerngrad_USE_STATIC_LIBS={"ON" if kind == "static" else "OFF"}']
        run([*self.configuring, '-B', self.folder])

    def program(self, variant):
        """Builds and runs one. The first one has all interfaces compiled."""
        run([self.cmake, '--build', self.folder, '--target', variant.name])
        started_alone(self.folder / variant.name)
        return self.folder / variant.name

    def check_other_standard(self, name):
        """A program of another standard than the interfaces' is an error before anything is compiled."""
        command = [*self.configuring, '-B', fresh(self.folder.with_name('cmake_other')), '-DFEATURE=cxx_std_26']
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        wanted = f'The target {name} is compiled as C++26'
        if done.returncode == 0 or wanted not in ' '.join(done.stdout.split()):
            sys.exit(f'configuring returned {done.returncode}, and is to say "{wanted}":\n{done.stdout[-3000:]}')
