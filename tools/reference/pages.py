#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py KERNGRAD PROGRAMS INTO [DEPFILE]: the reference, a folder of Markdown: every exported name with its
signatures, its docstring and an example. DEPFILE gets the names of the files that it is made of, as make reads them.

KERNGRAD is the tool, which says what the rows have; the interface units are read, the dictionary, and for examples the
tutorial, the cookbook and examples/reference, what the programs reference_FILE in the folder PROGRAMS print. A page is
a family of ops, a unit of composed functions, or a folder of modules/.
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'dictionary'))
import interfaces  # noqa: E402
import page as dictionary  # noqa: E402

ROOT = interfaces.ROOT
# The folders of modules/ and what their pages are called; families and composed functions have pages by themselves.
ROOMS = {'core': 'Errors, dtypes, shapes, attributes, stops', 'tensor': 'Tensors, indices, memory',
         'engine': 'Typed calls, explanations', 'threads': 'Threads', 'autograd': 'Gradients and optimizers',
         'fuse': 'Fused functions', 'observe': 'Hooks, profiles, the first NaN', 'io': 'Files: kerngrad.io',
         'graph': 'Graph models: kerngrad.graph',
         'linalg': 'Linear algebra: kerngrad.linalg', 'mpi': 'Several processes: kerngrad.mpi',
         'regex': 'Regular expressions: kerngrad.regex', 'testkit': 'Tests of ops: kerngrad.testkit',
         'registry': 'Registered kernels, backends, custom ops', 'packs': 'Kernel packs',
         'ops': 'Rows, tables, audit', 'shapes': 'Shape rules'}
GROUPS = {'Tensors and calls': ['core', 'tensor', 'engine', 'threads'], 'Ops': [], 'Functions made of ops': [],
          'Gradients and fusion': ['autograd', 'fuse'],
          'Around programs': ['io', 'graph', 'linalg', 'mpi', 'regex', 'testkit', 'observe'],
          'Custom ops, kernels and backends': ['registry', 'packs', 'ops', 'shapes']}
EXAMPLE = re.compile(r'^```cpp\n(.*?)^```\n(?:\n?<!-- .*? -->\n)?\n?```text\n(.*?)^```\n', re.MULTILINE | re.DOTALL)
LONGEST_EXAMPLE = 24
MOST_USERS = 8  # that the entry of a type names
TYPES = ('type', 'alias', 'promise')  # and not concepts, variables, functions
# A function of examples/reference, and the line below it that names what it shows.
SHOWN = re.compile(r'^void \w+\(\) \{\s(.*?)\s\}\nconst example \w+\{\s*"([^"]*)",\s+\w+\};$', re.MULTILINE | re.DOTALL)


def place_of(source):
    """(group, page) of a unit; a group that is empty is that of the page."""
    room, *rest = source.parts[1:]
    if room == 'ops' and len(rest) == 2:
        return ('Ops', 'ops-' + rest[0]) if rest[1] == 'names.cc' else ('', 'shapes')
    return ('Functions made of ops', 'composed-' + source.stem) if room == 'composed' else ('', room)


def introduction(source):
    """A unit's description in its first lines."""
    lines = (ROOT / source).read_text().split('\n')[1:]
    said = []
    for line in lines:
        if not line.startswith('// '):
            break
        said.append(line[3:])
    return ' '.join(said)


def heading(text):
    return text.upper() if len(text) <= 3 else text[:1].upper() + text[1:].replace('_', ' ')


def title_of(page):
    return re.search(r'^# (.*)$', page.read_text(), re.MULTILINE).group(1)


def escaped(text):
    """As Markdown means it: what would be emphasis, a tag or a formula stands for itself, outside of code."""
    return ''.join(part if part.startswith('`') else re.sub(r'([*_<$|])', r'\\\1', part)
                   for part in re.split(r'(```.*?```|`[^`]*`)', text, flags=re.DOTALL))


def anchor(heading):
    """Anchor of a heading, as GitHub and MyST spell it."""
    return re.sub(r'[^\w -]', '', heading).lower().replace(' ', '-')


class Reference:
    """All that is exported, by pages, and what is known of it elsewhere."""

    def __init__(self, rows, programs):
        self.rows_of = collections.defaultdict(list)
        for row in rows:
            for function in row['functions']:
                self.rows_of[function].append(row)
        self.declarations = [found for source in sorted((ROOT / 'modules').rglob('*.cc'))
                             for found in interfaces.declarations(source)]
        self.callable = {found.name: found.signature for found in self.declarations
                         if found.kind == 'type' and 'operator()(' in found.signature}
        self.foreign, self.expressions = collections.defaultdict(list), {}
        for ours, names, _ in (entry for _, entries in dictionary.topics() for entry in entries):
            for name in re.findall(r'kg::\w+(?:::\w+)*', ours)[:1]:
                self.foreign[name] += [theirs for theirs in names if theirs not in self.foreign[name]]
                self.expressions.setdefault(name, ours)
        self.examples = self.shortest_examples(programs)
        self.users = self.users_of_types()

    @staticmethod
    def examples_by_name(programs):
        """(names, code, output) of the functions of examples/reference whose program is there."""
        for path in sorted((ROOT / 'examples' / 'reference').glob('*.cc')):
            program = programs / f'reference_{path.stem}'
            if not program.exists():  # main.cc, or a module that it imports was not built
                continue
            with tempfile.TemporaryDirectory() as folder:
                said = subprocess.run([program.resolve()], cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
            outputs = dict(re.findall(r'^== (.*)\n((?:(?!== ).*\n)*)', said.stdout, re.MULTILINE))
            shown = SHOWN.findall(path.read_text())
            if [names for _, names in shown] != list(outputs):
                raise ValueError(f'{path.name} has an example that is not written as example.h says')
            for body, names in shown:
                yield names.split(), textwrap.dedent(body).strip('\n') + '\n', outputs[names]

    def shortest_examples(self, programs):
        """name -> (lines, code, output, page) of the shortest block with it whose output is shown; of no page where it
        is of examples/reference."""
        shortest, mentioned = {}, {}
        for names, code, output in self.examples_by_name(programs):
            shown = ((code + output).count('\n'), code, output, None)
            for name in names_in(code):
                mentioned[name] = min(mentioned.get(name, shown), shown)
            for name in names:
                if name in shortest:
                    raise ValueError(f'examples/reference shows {name} twice')
                last = name.rpartition('::')[2]
                if not last.startswith('operator') and not re.search(rf'\b{last}\b', code):
                    raise ValueError(f'an example of {name} in examples/reference does not call it')
                shortest[name] = shown
        for path in sorted(path for room in ('cookbook', 'tutorial') for path in (ROOT / 'docs' / room).glob('*.md')):
            for code, output in EXAMPLE.findall(path.read_text()):
                lines = (code + output).count('\n')
                for name in names_in(code):
                    if lines <= LONGEST_EXAMPLE and lines < shortest.get(name, (LONGEST_EXAMPLE + 1,))[0]:
                        shortest[name] = (lines, code, output, path.relative_to(ROOT / 'docs'))
        return mentioned | shortest

    def users_of_types(self):
        """name of a type -> {(page, names)} of the entries that take, return or hold it, by their signatures."""
        entries = [(page, names, declared) for (_, page), found in self.pages().items()
                   for names, declared in entries_of(found)]
        users = collections.defaultdict(list)
        for name in {name for _, names, declared in entries if declared[0].kind in TYPES for name in names}:
            namespace, _, last = name.rpartition('::')
            near, far = type_in(last), type_in(name)
            for page, names, declared in entries:
                used = near if names[0].rpartition('::')[0].startswith(namespace) else far
                if name not in names and any(used.search(code_of(each.signature)) for each in declared):
                    users[name].append((page, names))
        return users

    def pages(self):
        """(group, page) -> the declarations on it, in the order of the groups and of the families."""
        found = collections.defaultdict(list)
        for each in self.declarations:
            group, name = place_of(each.source)
            group = group or next((g for g, rooms in GROUPS.items() if name in rooms), '')
            if not group:
                raise ValueError(f'{each.source}: tools/reference/pages.py has no page for this folder')
            found[group, name].append(each)
        order = list(GROUPS)
        return dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), self.order(*item[0]))))

    @staticmethod
    def order(group, name):
        return (GROUPS[group].index(name), '') if name in GROUPS[group] else (0, name)

    def doc_of(self, name, docs):
        """Text about a name: its docstring, or the line of the row that it calls."""
        rows = self.rows_of.get('kg::' + name, [])
        return [doc for doc in docs if doc] or [row['doc'] for row in rows[:1]]

    def without_example(self):
        """(name, page) of functions and types that nothing shows: no example, no call in a docstring and, of a type, no
        entry that uses it and is shown itself. Tables and shape rules are left out: rows are their examples."""
        entries = [(page, names, declared) for (_, page), found in self.pages().items()
                   if page not in ('ops', 'shapes') for names, declared in entries_of(found)]
        wanted = {names[0]: page for page, names, declared in entries
                  if any(each.kind in ('function', *TYPES) or self.signature(each) != each.signature
                         for each in declared)}
        shown, more = set(), {names[0] for _, names, declared in entries
                              if any('kg::' + name in self.examples or
                                     any(re.search(rf'`[^`]*\b{name}[(<{{]', each.doc) for each in declared)
                                     for name in names)}
        while more - shown:  # a type that a type holds that a function returns
            shown |= more
            more = {names[0] for _, names, _ in entries
                    if any(user[0] in shown for name in names for _, user in self.users[name])}
        return [(name, page) for name, page in wanted.items() if name not in shown]

    def undocumented(self):
        """(name, unit) of what has neither docstring nor row."""
        docs = collections.defaultdict(list)
        for each in self.declarations:
            docs[each.name, each.unit].append(each.doc)
        return sorted((name, unit) for (name, unit), said in docs.items() if not self.doc_of(name, said))

    # ---------------------------------------------------------------------------------------- Markdown

    def signature(self, found):
        """A variable that is called shows the calls; other names what they are declared as."""
        kind = re.match(r'(?:constexpr )?(\w+)(?:<.*>)? ' + re.escape(found.name.split('::')[-1]) + r'\b',
                        found.signature)
        if found.kind == 'variable' and kind and kind.group(1) in self.callable:
            calls = re.findall(r'^  (?!  )(.*operator\(\)\(.*;)$', self.callable[kind.group(1)], re.MULTILINE)
            return '\n'.join(re.sub(r' const;$', ';', call.replace('operator()', found.name)) for call in calls)
        return found.signature

    def entry(self, level, names, found):
        yield level + ' ' + ', '.join(f'`{name}`' for name in names)
        docs = collections.defaultdict(list)
        for each in found:
            docs[each.doc].append(self.signature(each))
        for doc, signatures in docs.items():
            yield '```cpp\n' + '\n'.join(dict.fromkeys(signatures)) + '\n```'
            yield escaped(doc)
        for name in names:
            for row in self.rows_of.get('kg::' + name, []):
                yield from self.row(row, self.line_of(row, docs))
            yield from self.uses('kg::' + name)

    @staticmethod
    def line_of(row, docs):
        """The line of an op below the docstrings of a function that calls it; empty if one of them has it already."""
        if not any(docs):
            return row['doc']
        return '' if any(row['doc'] in doc for doc in docs) else f'The op `{row["op"]}`: {row["doc"]}'

    @staticmethod
    def row(row, doc):
        yield escaped(doc)
        lines = [f'- **Op** `{row["op"]}`, kernels for {row["kernels"]}']
        for operand in row['operands']:
            kind = ' (list)' * operand['list'] + ' (optional)' * operand['optional']
            lines.append(f'- **Operand** `{operand["name"]}`{kind}: {operand["dtypes"]}')
        for attribute in row['attributes']:
            lines.append(f'- **Attribute** {escaped(attribute["text"])}{range_of(attribute)}')
        lines.append('- **Result** ' + row['results'].replace('<br>', '; '))
        why = row['no_gradient']
        lines.append('- **Gradient** ' + (f'none: {escaped(why)}' if why else 'to any order'))
        if row['bounds']:
            bounds = ', '.join(f'{bound} for {dtype}' for dtype, bound in row['bounds'].items())
            lines.append(f'- **Error** in units in the last place, at most {bounds}')
        lines.append(f'- **Cost** of an element of the result, roughly, in arithmetic operations: {row["cost"]:g}')
        yield '\n'.join(lines)

    def uses(self, name):
        if name in self.examples:
            _, code, output, path = self.examples[name]
            of_page = f', of [{title_of(ROOT / "docs" / path)}](../{path.as_posix()}):' if path else ''
            yield '**Example**' + of_page
            yield f'```cpp\n{code}```\n```text\n{output}```'
        elif name in self.expressions and self.expressions[name] != '-':
            yield f'**Example** `{self.expressions[name]}`'
        users = [f'[`{names[0]}`]({page}.md#{anchor(", ".join(names))})'
                 for page, names in self.users.get(name.removeprefix('kg::'), [])]
        if users:
            yield '**Used by** ' + ', '.join(users[:MOST_USERS]) + ', ...' * (len(users) > MOST_USERS)
        if self.foreign.get(name):
            yield '**Elsewhere** ' + ', '.join(f'`{theirs}`' for theirs in self.foreign[name])

    def page(self, name, found):
        title = ROOMS.get(name) or heading(name.partition('-')[2])
        units = list(dict.fromkeys(each.source for each in found))
        lines = [f'# {title}', f'`import {found[0].unit.partition(":")[0]};`']
        level = '###' if len(units) > 1 or any(each.title for each in found) else '##'
        for unit in units:
            sections = collections.defaultdict(list)
            for each in found:
                if each.source == unit:
                    sections[each.title].append(each)
            for number, (section, declared) in enumerate(sections.items()):
                if number == 0 and len(units) == 1:
                    lines.append(escaped(introduction(unit)))
                if level == '###':
                    lines.append(f'## {heading(section or unit_name(unit))}')
                if number == 0 and len(units) > 1:
                    lines.append(escaped(introduction(unit)))
                for names, group in entries_of(declared):
                    lines += self.entry(level, names, group)
        return '\n\n'.join(line for line in lines if line) + '\n'

def index(written):
    """The first page, of the texts of the others by (group, page)."""
    lines = ['# Reference', 'Every exported function and type, made from the interfaces, their docstrings and the rows '
             'of ops. Facts about an op hold for all three APIs. Docstrings describe its typed name. '
             '[Dtypes](../dtypes.md) explains how dtypes mix, and [all ops](../ops.md) has all ops in tables.']
    for group in GROUPS:
        names = [name for of, name in written if of == group]
        table = ['| page | names |', '| --- | --- |']
        for name in names:
            text = written[group, name]
            entries = dict.fromkeys(re.findall(r'^##+ (`(?!(?:\w+::)*operator).*)$', text, re.MULTILINE))
            links = ', '.join(f'[{entry}]({name}.md#{anchor(entry)})' for entry in entries)
            table.append(f'| [{text.partition(chr(10))[0][2:]}]({name}.md) | {links} |')
        lines += [f'## {group}', '\n'.join(table), '```{toctree}\n:hidden:\n' + '\n'.join(names) + '\n```']
    return '\n\n'.join(lines) + '\n'


def names_in(code):
    return set(re.findall(r'\bkg::\w+(?:::\w+)*', code))


def type_in(name):
    """Pattern that matches a type's name in a signature, and no parameter's."""
    return re.compile(rf'(?<![\w.]){name}(?:\s*[&*<>]|::|\s+\w)|[(,] ?{name}[,)]')


def code_of(signature):
    """Without comments."""
    return re.sub(r'//.*', '', signature)


def unit_name(source):
    return source.parts[-2] if source.stem in ('names', 'shapes', 'rows') else source.stem


def range_of(attribute):
    """Range of its values, unless all of its kind are taken."""
    least, most = attribute['least'], attribute['most']
    if attribute['kind'] not in ('integer', 'number', 'list', 'numbers'):
        return ''
    below, above = least is None or least < -1e300, most is None or most > 1e300
    if below and above:
        return ''
    return f', at most {most:g}' if below else f', at least {least:g}' if above else f', {least:g} to {most:g}'


def entries_of(declared):
    """(names, declarations) of each entry: overloads are one, and operators, and what one declaration declares."""
    entries = []
    for each in declared:
        name = each.name
        for names, found in entries:
            if name in names or found[0].signature == each.signature or \
                    name.startswith('operator') and names[0].startswith('operator') and found[0].doc == each.doc:
                if name not in names:
                    names.append(name)
                found.append(each)
                break
        else:
            entries.append(([name], [each]))
    return entries


def write(rows, programs, into):
    reference = Reference(rows, programs)
    into.mkdir(parents=True, exist_ok=True)
    written = {(group, name): reference.page(name, found) for (group, name), found in reference.pages().items()}
    for (_, name), text in written.items():
        (into / f'{name}.md').write_text(text)
    (into / 'index.md').write_text(index(written))
    return reference


def sources():
    """The files that the pages are made of, and those that make them. Bodies are none of them: a change of one does not
    make the pages again."""
    yield from (path for path in sorted(ROOT.glob('modules/**/*.cc')) if interfaces.UNIT.search(path.read_text()))
    for pattern in ('tools/reference/*.py', 'tools/dictionary/*', 'examples/reference/*.cc', 'docs/tutorial/*.md',
                    'docs/cookbook/*.md'):
        yield from sorted(path for path in ROOT.glob(pattern) if path.is_file())


def rows_of(tool):
    return json.loads(subprocess.run([tool, 'docs', '--json'], check=True, stdout=subprocess.PIPE).stdout)


if __name__ == '__main__':
    tool, programs, into, *depfile = sys.argv[1:]
    shutil.rmtree(into, ignore_errors=True)
    write(rows_of(tool), pathlib.Path(programs), pathlib.Path(into))
    for name in depfile:
        pathlib.Path(name).write_text(f'{into}: {" ".join(map(str, sources()))}\n')
