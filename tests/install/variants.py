#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs by which every way of using the library is tried: as a subproject, installed and found by pkg-config,
installed and found by CMake, each with the shared and with the static library. This table is the one place that says
of what they consist; each way makes its own commands of it.

variants.py SOURCE_ROOT PROGRAM...: whether the table names files that there are, and all of these programs.
"""
import dataclasses
import pathlib
import sys

CONSUMER = 'tests/consumer/project'
WAYS = ('subproject', 'pkg-config', 'CMake')
KINDS = ('shared', 'static')
OWN_MODULES = 'what Meson makes modules of a program with takes Clang'


@dataclasses.dataclass(frozen=True)
class Variant:
    """A program. Sources and folders are below the project's root."""
    name: str
    sources: tuple[str, ...]
    packages: tuple[str, ...] = ('kerngrad',)  # as pkg-config and Meson call them; CMake's targets have :: for the -
    options: tuple[str, ...] = ()              # the program is compiled and linked with these, the interfaces are not
    clang: tuple[str, ...] = ()                # further ones that Clang takes for the same
    modules: tuple[tuple[str, str], ...] = ()  # (name, source) of the program's own, after those that they import
    include: str = ''                          # a folder where its sources find headers
    through: bool = False                      # in CMake a library of the project's brings the packages
    pack: str = ''                             # a kernel pack in C, whose path is SOFTSHRINK_PACK in the sources
    not_there: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict)  # (way, compiler): why it cannot be

    def options_for(self, compiler):
        """For the compiler of that name: clang, gcc."""
        return [*self.options, *(self.clang if compiler == 'clang' else ())]

    def targets(self):
        """CMake's names of the packages."""
        return ['kerngrad::' + package.removeprefix('kerngrad-') for package in self.packages]


def import_only(name, *options, **more):
    return Variant(name, (f'{CONSUMER}/import_only.cc',), options=options, **more)


def on_top(name):
    """A module on top, which a build has where it has its libraries."""
    return Variant(name, (f'tests/install/{name}.cc',), ('kerngrad', f'kerngrad-{name}'))


VARIANTS = [
    import_only('import_only'),
    Variant('own_module', ('tests/install/own_module.cc',),
            modules=(('model', f'{CONSUMER}/model.cc'), ('training', f'{CONSUMER}/training.cc')),
            not_there={('subproject', 'gcc'): OWN_MODULES}),
    Variant('pack', ('examples/packs/load.cc',), pack='examples/packs/softshrink.c'),
    on_top('testkit'),
    import_only('lto', '-fno-plt', '-flto', clang=('-fuse-ld=lld',)),
    import_only('native', '-march=native', '-O3'),
    import_only('sanitizers', '-fsanitize=address,undefined'),
    import_only('debug', '-g', '-O0', through=True),
    import_only('fortified', '-O2', '-D_FORTIFY_SOURCE=2'),
    Variant('kernel', ('examples/own_module/main.cc', 'examples/own_module/snake.cc'), ('kerngrad', 'kerngrad-kernel'),
            modules=(('my.ops', 'examples/own_module/ops.cc'),), include='examples/own_module',
            not_there={('subproject', 'gcc'): OWN_MODULES}),
    on_top('regex'),
    on_top('io'),
    on_top('graph'),
    on_top('linalg'),
    on_top('mpi'),
]


def main():
    root, *programs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    named = {root / source for each in VARIANTS
             for source in [*each.sources, *(source for _, source in each.modules), *filter(None, [each.pack])]}
    wrong = [f'{path} is not there' for path in sorted(named) if not path.is_file()]
    wrong += [f'{path} is in no variant' for path in programs if path not in named]
    wrong += [f'{each.name}: {way} is no way' for each in VARIANTS for way, _ in each.not_there if way not in WAYS]
    names = [each.name for each in VARIANTS]
    wrong += [f'{name} is there twice' for name in names if names.count(name) > 1]
    print(*wrong, f'{len(VARIANTS)} variants', sep='\n')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
