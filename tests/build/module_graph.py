#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""module_graph.py SOURCE_ROOT BUILD SCANNER: what module units import is what modules/**/meson.build say.

The order in which units are compiled is stated by hand there. This compares it with how SCANNER, clang-scan-deps,
reads the sources, through the compile commands that Meson wrote: all units must be among them, so that clangd sees
them too.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


# The units that stand for those of all families: how the names of these begin.
OF_FAMILIES = {'all_shapes': 'shapes_', 'all_rows': 'rows_', 'ops': 'ops_', 'all_rules': 'grads_'}


def declared_units(modules):
    """Unit -> (its source, the units it is said to import), from the tables in the meson.build files of `modules`."""
    text = ''.join(path.read_text() for path in sorted(modules.rglob('meson.build')))
    items = re.findall(
        r"\['(\w*)', '([^']+\.cc)',\s+(?:(\[[^\]]*\])|family_names\['(\w+)'\]|(composed_names))\]", text)
    composed = re.findall(r"^  \['(\w+)'", (modules / 'composed' / 'meson.build').read_text(), re.MULTILINE)
    units = {}
    for name, source, imports, kind, is_composed in items:
        of_families = [other for other, *_ in items if kind and other.startswith(OF_FAMILIES[kind])]
        units[name] = (source, re.findall(r"'(\w*)'", imports) + of_families + (composed if is_composed else []))
    return units


def path_of(source, modules, build_modules):
    """Path of a unit's source: in `modules`, or made in their build folder."""
    return os.path.normpath((modules if (modules / source).exists() else build_modules) / source)


def declared_modules(text):
    """Module on top of the library -> its interface unit; those that a build may lack."""
    found = re.findall(r"(\+= \{)?\s*'(kerngrad\.\w+)': \{\s*'interface': '([^']+)'", text)
    return {name: source for _, name, source in found}, {name for added, name, _ in found if added}


def closure(name, direct):
    """All units that a unit reaches."""
    found, waiting = set(), list(direct[name])
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting += direct[other]
    return found


def logical_name(unit):
    return 'kerngrad:' + unit if unit else 'kerngrad'


def scan(scanner, commands, folder):
    """clang-scan-deps over a copy of the commands that writes no depfiles: it would overwrite the build's own."""
    copies = []
    for entry in commands:
        words, kept = shlex.split(entry['command']), []
        while words:
            word = words.pop(0)
            if word in ('-MF', '-MQ'):
                words.pop(0)
            elif word != '-MD':
                kept.append(word)
        copies.append(entry | {'command': shlex.join(kept)})
    with tempfile.TemporaryDirectory() as scratch:
        database = pathlib.Path(scratch) / 'compile_commands.json'
        database.write_text(json.dumps(copies))
        done = subprocess.run([scanner, '-format=p1689', '-compilation-database', str(database)], cwd=folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f'{scanner} failed:\n{done.stderr[-4000:]}')
    return json.loads(done.stdout)['rules']


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    units = declared_units(root / 'modules')
    modules, optional = declared_modules((root / 'modules' / 'meson.build').read_text())
    direct = {name: imports for name, (source, imports) in units.items()}
    made = list((build / 'modules').rglob('*.cc'))
    exporting = [*(root / 'modules').rglob('*.cc'), *made]
    exported = re.findall(r'^export import :(\w+);', ''.join(path.read_text() for path in exporting), re.MULTILINE)
    commands = json.loads((build / 'compile_commands.json').read_text())
    problems = []

    # The library's own commands come first: other targets compile some units again, when they are asked for.
    in_build = {}
    for entry in commands:
        in_build.setdefault(os.path.normpath(os.path.join(entry['directory'], entry['file'])), entry)
    # The build lacks a folder whose sources are in no target.
    absent = [name for name in optional if path_of(modules[name], root / 'modules', build) not in in_build]
    left_out = [(root / 'modules' / modules.pop(name)).parent for name in absent]
    interfaces = {path_of(source, root / 'modules', build / 'modules'): name for name, (source, _) in units.items()}
    interfaces |= {path_of(source, root / 'modules', build / 'modules'): name for name, source in modules.items()}
    for path, name in interfaces.items():
        if path not in in_build:
            problems.append(f'compile_commands.json has no {path}')
    sources = made + [path for folder in ('modules', 'grads') for path in (root / folder).rglob('*.cc')
                      if path.parent not in left_out]
    for path in map(str, sources):
        if path not in in_build:
            problems.append(f'{path} is in no target')
        unit = pathlib.Path(path).read_text()
        if re.search(r'^export module ', unit, re.MULTILINE) and path not in interfaces:
            problems.append(f'{path} is an interface unit that modules/meson.build does not list')
        partition = re.search(r'^export module kerngrad:(\w+);', unit, re.MULTILINE)
        if partition and partition.group(1) not in exported:  # ill-formed, and Clang does not say so
            problems.append(f'{path} is an interface partition that no unit exports')

    rules = scan(sys.argv[3], [in_build[str(path)] for path in sources if str(path) in in_build], build)
    imports_of = {}
    for rule in rules:
        for provided in rule.get('provides', []):
            imports_of[provided['logical-name']] = {item['logical-name'] for item in rule.get('requires', [])}
    for name in units:
        said = {logical_name(other) for other in closure(name, direct)}
        found = imports_of.get(logical_name(name))
        if found is None:
            problems.append(f'no source provides {logical_name(name)}')
            continue
        for other in sorted(found - said):
            problems.append(f'{logical_name(name)} imports {other}: modules/meson.build does not say so')
        for other in sorted(logical_name(other) for other in direct[name]):
            reached = {other} & found or any(other in imports_of.get(one, ()) for one in found)
            if not reached:
                problems.append(f'modules/meson.build says that {logical_name(name)} imports {other}: it does not')
    for name in modules:
        if imports_of.get(name) != {'kerngrad'}:
            problems.append(f'{name} imports {imports_of.get(name)}: it may use the public interface only')
    for name in sorted(set(imports_of) - {logical_name(name) for name in units} - set(modules)):
        problems.append(f'{name} is provided by a source, but modules/meson.build does not list it')

    print(f'{len(units)} units, {sum(map(len, imports_of.values()))} imports, {len(rules)} commands')
    sys.exit('\n'.join(problems) if problems else 0)


if __name__ == '__main__':
    main()
