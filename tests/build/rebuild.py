#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rebuild.py SOURCE_ROOT SCRATCH: after an edit exactly the right units are compiled, in one call of Ninja, and the
next call does nothing. Runs in the scratch superproject, so consumers are among the importers.

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
        # Modules on top that nothing in the superproject imports are not built by default.
        built = set(project.make('-t', 'inputs', 'all').splitlines())
        self.source_of = {entry['output']: os.path.normpath(os.path.join(project.build, entry['file']))
                          for entry in commands if entry['output'] in built}

    def compiled(self, *arguments):
        """Runs Ninja; the sources that it compiled or, with -n, would."""
        lines = self.project.make('-d', 'stats', *arguments).splitlines()
        objects = [match.group(1) for line in lines if (match := re.search(r'Compiling C\+\+ object (\S+)', line))]
        return {self.source_of[name] for name in objects}

    def listed(self, paths):
        return ', '.join(os.path.relpath(path, self.project.source) for path in sorted(paths)) or 'nothing'

    def expect_sources(self, what, wanted, *arguments):
        found, wanted = self.compiled(*arguments), set(map(str, wanted)) & set(self.source_of.values())
        if found != wanted:
            sys.exit(f'{what}: not compiled: {self.listed(wanted - found)}; '
                     f'compiled for nothing: {self.listed(found - wanted)}')
        report(f'{what}: {len(found)} of {len(set(self.source_of.values()))} sources are compiled and no other')

    def expect(self, what, wanted):
        """Files that one call compiles; the next one has nothing to do."""
        self.expect_sources(what, wanted)
        again = self.project.make()
        if 'no work to do' not in again:
            sys.exit(f'{what}: the next ninja did something:\n{again}')
        report(f'{what}: the next ninja has nothing to do')


def reached(project):
    """The interface units by name: source, and the names of those that each reaches, itself included."""
    modules, made = project.library / 'modules', project.build / 'subprojects' / 'kerngrad' / 'modules'
    units = module_graph.declared_units(modules)
    direct = {name: imports for name, (source, imports) in units.items()}
    return {name: (module_graph.path_of(source, modules, made), module_graph.closure(name, direct) | {name})
            for name, (source, _) in units.items()}


def interfaces(project, unit):
    """The interface units that see a unit: by the table."""
    return {path for path, units in reached(project).values() if unit in units}


def interfaces_for_consumers(project, unit):
    """Those among them that a consumer reads."""
    units = reached(project)
    return {path for name, (path, needs) in units.items() if unit in needs and name in units[''][1]}


def importers(project, unit):
    """The sources that see a public interface unit: interfaces by the table, all implementation units, modules on top,
    all consumers; of the examples those that import something, which their kernels do not.
    """
    modules = project.library / 'modules'
    found = interfaces(project, unit) | {str(path) for path in modules.rglob('*_impl.cc')}
    found |= {str(path) for path in modules.rglob('*.cc')
              if re.search(r'^import kerngrad;', path.read_text(), re.MULTILINE)}
    for example in scratch.example_names(project.root):
        found |= {str(path) for path in (project.source / 'subprojects' / example).rglob('*.cc')
                  if re.search(r'^(export )?import ', path.read_text(), re.MULTILINE)}
    return found | {str(path) for path in project.source.glob('*.cc')}


def importers_inside(project, unit):
    """The sources that see an interface unit which the module keeps to itself: those that import it, or one that does.
    """
    found, units = interfaces(project, unit), reached(project)
    for path in (project.library / 'modules').rglob('*_impl.cc'):
        names = re.findall(r'^import :(\w+);', path.read_text(), re.MULTILINE)
        if any(unit in units[name][1] for name in names):
            found.add(str(path))
    return found


def add_function(interface, name, kind=''):
    more = f'\n{kind}namespace kerngrad {{\ninline int {name}() {{ return 1; }}\n}}  // namespace kerngrad\n'
    interface.write_text(interface.read_text() + more)


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

    add_function(modules / 'packs' / 'pack_host.cc', 'edited_inside')
    rebuilds.expect('an interface inside the module with a new function', importers_inside(project, 'pack_host'))

    # Compiling all importers would take as long as the library did. Ninja says which they are; the interfaces among
    # them are compiled, and a consumer, which uses what is new.
    add_function(modules / 'autograd' / 'grad.cc', 'edited', 'export ')
    rebuilds.expect_sources('an interface with a new function', importers(project, 'grad'), '-n')
    consumer = project.source / 'import_only.cc'
    consumer.write_text(consumer.read_text() + 'static_assert(sizeof(kerngrad::edited()) > 0);\n')
    rebuilds.expect_sources('the interfaces and a consumer that calls the function',
                            interfaces_for_consumers(project, 'grad') | {consumer}, 'import_only.p/import_only.cc.o')


if __name__ == '__main__':
    main()
