#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rebuild.py SOURCE_ROOT SCRATCH: after an edit exactly the right units are compiled, in one call of Ninja, and the
next call does nothing. Runs in the consumer test's scratch superproject, so consumers are among the importers.

The imports of each unit come from the table in modules/meson.build (which module_graph.py compares with the sources).
"""
import json
import os
import pathlib
import re
import sys

import module_graph
import scratch


def report(text):
    print(f'ok: {text}', flush=True)


class Rebuilds:
    def __init__(self, project):
        self.project = project
        commands = json.loads((project.build / 'compile_commands.json').read_text())
        self.source_of = {entry['output']: os.path.normpath(os.path.join(project.build, entry['file']))
                          for entry in commands}

    def compiled(self):
        """Runs Ninja; the sources that it compiled."""
        lines = self.project.make('-d', 'stats').splitlines()
        objects = [match.group(1) for line in lines if (match := re.search(r'Compiling C\+\+ object (\S+)', line))]
        return {self.source_of[name] for name in objects}

    def listed(self, paths):
        return ', '.join(os.path.relpath(path, self.project.source) for path in sorted(paths)) or 'nothing'

    def expect(self, what, wanted):
        found, wanted = self.compiled(), set(map(str, wanted)) & set(self.source_of.values())
        if found != wanted:
            sys.exit(f'{what}: not compiled: {self.listed(wanted - found)}; '
                     f'compiled for nothing: {self.listed(found - wanted)}')
        report(f'{what}: compiled {len(found)} of {len(set(self.source_of.values()))} sources and no other')
        again = self.project.make()
        if 'no work to do' not in again:
            sys.exit(f'{what}: the next ninja did something:\n{again}')
        report(f'{what}: the next ninja has nothing to do')


def importers(project, unit):
    """The sources that see an interface unit: interfaces by the table, all implementation units, modules on top, all
    consumers; of the examples those that import something, which their kernels do not.
    """
    modules = project.library / 'modules'
    made = project.build / 'subprojects' / 'kerngrad' / 'modules'
    units = module_graph.declared_units(modules)
    direct = {name: imports for name, (source, imports) in units.items()}
    found = {module_graph.path_of(source, modules, made) for name, (source, _) in units.items()
             if name == unit or unit in module_graph.closure(name, direct)}
    found |= {str(path) for path in modules.rglob('*_impl.cc')}
    found |= {str(path) for path in modules.rglob('*.cc')
              if re.search(r'^import kerngrad;', path.read_text(), re.MULTILINE)}
    for example in scratch.example_names(project.root):
        found |= {str(path) for path in (project.source / 'subprojects' / example).rglob('*.cc')
                  if re.search(r'^(export )?import ', path.read_text(), re.MULTILINE)}
    return found | {str(path) for path in project.source.glob('*.cc')}


def main():
    root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    project = scratch.Superproject(root, folder)
    project.prepare()
    rebuilds = Rebuilds(project)
    modules = project.library / 'modules'

    rebuilds.expect('nothing was edited', [])

    touched = modules / 'autograd' / 'rule.cc'
    os.utime(touched)
    rebuilds.expect('an interface with a new date and the same text', [touched])

    body = modules / 'autograd' / 'grad_impl.cc'
    body.write_text(body.read_text() + '// edited\n')
    rebuilds.expect('a comment in an implementation unit', [body])

    interface = modules / 'autograd' / 'grad.cc'
    more = '\nexport namespace kerngrad {\ninline int edited() { return 1; }\n}  // namespace kerngrad\n'
    interface.write_text(interface.read_text() + more)
    rebuilds.expect('an interface with a new function', importers(project, 'grad'))
    project.program('import_only')


if __name__ == '__main__':
    main()
