#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint.py [--no-format]: the rules of the project that a program can check, over all files that Git knows or would add.

One line per finding, `file:line: what is wrong`; exits 1 when there is one.
"""
import collections
import pathlib
import re
import subprocess
import sys

import layers
import lint_prose
from llvm_version import llvm_version

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES, MAX_COLUMNS = 500, 120
LLVM = llvm_version()
# Who names Clang's version: the one place that has it, and pages and data, where others are named too.
CLANG_VERSION = re.compile(r'\b(?:clang|llvm|lld)[a-z+-]*-?\d\d')
CLANG_VERSION_ALLOWED = re.compile(
    r'tools/clang\.ini|tools/platforms/platforms\.toml|examples/installed/Makefile|.*\.md')
CODE = ('.cc', '.h', '.inc')
LICENSED = CODE + ('.py', '.build', '.ini')
# Names that may not occur in the library: it reports by throwing, and prints nothing.
FORBIDDEN_CALLS = re.compile(r'\b(?:std::)?(abort|exit|_Exit|quick_exit|terminate|printf|fprintf|puts|fputs)\s*\('
                             r'|\bstd::(cout|cerr|clog)\b')
SIMD_INCLUDE = re.compile(r'#\s*include\s*["<](hwy/|immintrin|[a-z]mmintrin|arm_neon|arm_sve)')
# Tools stand on the library, not the other way.
TOOLS_INCLUDE = re.compile(r'#\s*include\s*["<]tools/')
# nlohmann's values take 30 times their text, and their destructor allocates.
JSON_INCLUDE, JSON_FILE = re.compile(r'#\s*include\s*["<]nlohmann/'), 'modules/io/json_impl.cc'
# Algorithms that other headers of one standard library bring along, and those of another do not.
ALGORITHM = re.compile(
    r'\bstd::(?:ranges::)?(?:adjacent_find|(?:all|any|none)_of|clamp|copy(?:_n|_if|_backward)?|count(?:_if)?|equal|'
    r'fill(?:_n)?|find(?:_if(?:_not)?|_first_of)?|for_each|generate(?:_n)?|is_sorted|lexicographical_compare|'
    r'(?:lower|upper)_bound|(?:max|min|minmax)(?:_element)?|mismatch|nth_element|partition|remove(?:_if)?|'
    r'replace(?:_if)?|reverse|rotate|search|shuffle|(?:stable_)?sort|transform|unique)\s*[(<{]')
# A new version of Highway brings new targets: kernels/common/target-inl.h says for each what it can do.
TARGET_BY_NAME = re.compile(r'\bHWY_TARGET\s*[=!<>]')
# The vectors of SVE and RISC-V have no size that a compiler knows: no array or container holds them, no member, no
# static variable, no lambda a copy; those of AVX-512 have one. MaxLanes, how many lanes they may have, is the size of
# an array of lanes or a question to a type; how many they have is Lanes.
ARGUMENTS = r'<(?:[^<>;{}]|<(?:[^<>;{}]|<[^<>;{}]*>)*>)*>'  # of a template
HIGHWAYS_VECTOR = rf'(?:typename )?hn::(?:(?:Vec|Mask|VFromD|MFromD){ARGUMENTS}|Vec\d+{ARGUMENTS})'
VECTOR_ALIAS = re.compile(rf'\busing (\w+) = (?:{HIGHWAYS_VECTOR}|(?:hn::)?decltype\(hn::\w+\()')
VECTOR_VARIABLE = r'(?:{0}|const auto|auto)&? (\w+)(?= = hn::|[,)])|(?:{0}) (\w+)(?= =|;)'
CONTAINER = r'\bstd::(?:array|vector|pair|tuple|optional|variant|span|deque|list|initializer_list)<\s*(?:const )?'
CAPTURES = re.compile(r'(?<![\w\])])\[([^\[\]]*)\](?=\s*(?:\(|\{|<|HWY_ATTR))')
STRUCT = re.compile(r'\b(?:struct|class|union)(?: \w+)?(?: final)?(?: : [^{;()]*)? \{')
MOST_LANES = re.compile(r'\bMaxLanes\(')
ARRAY_BY_MOST_LANES = re.compile(r'(?:^|[;{(]|\bHWY_ALIGN)\s*(?!return\b|case\b|else\b)[\w:]+(?:<[^<>]*>)? '
                                 r'\w+\[[^\[\]]*\](?:(?: = \{[^{}]*\})?, \w+\[[^\[\]]*\])*')
MOST_LANES_ASKED = re.compile(r'\b(?:if constexpr|constexpr bool)\b.*')
# Features that systems other than Linux may lack, in installed files; the page names these and the alternatives.
LINUX = re.compile(r'\b(?:sched_[gs]etaffinity|CPU_COUNT|madvise|mremap|ElfW|dl(?:open|sym|close|error)|tls_model)\('
                   r'|\b(?:cpu_set_t|MADV_\w+|__dso_handle|__linux__|__ELF__)\b|"/(?:proc|sys)/'
                   r'|<(?:elf|link|dlfcn|sys/(?:auxv|prctl|syscall))\.h>|-Wl,(?:--version-script|-z,nodelete)')
LINUX_FOLDERS = ('modules/', 'kernels/', 'grads/', 'tools/kerngrad/')
LINUX_PAGE = 'docs/architecture.md'
# GCC 16 does not survive the import of a defaulted comparison that is a friend.
DEFAULTED_FRIEND = re.compile(r'\bfriend\b.*\boperator(==|<=>)\(.*\)\s*=\s*default')
# Requests for memory; the text up to the closing bracket is the amount.
ASKS_FOR_MEMORY = re.compile(r'\b(?:vector|work_array|scratch)<[^;(){}]*>\s+\w+\(|[.>](?:resize|reserve|reach)\('
                             r'|\b(?:AllocateAligned(?:<[^()]*>)?|aligned_alloc|malloc|mmap|take_scratch)\('
                             r'|\bnew [\w:]+(?:<[^()]*>)?\[')
# Products that are rejected, or stay the largest number, where they overflow (kernels/common/sizes.h).
CHECKED_PRODUCT = re.compile(r'\b(?:product_of|saturated_product|extent)\(')
# The standard library has these; range-v3 is for the others, such as `contains`, and for views.
RANGES_STANDARD = re.compile(r'#\s*include\s*["<]range/v3/algorithm/(?!contains\.)')
RANGES_INCLUDE = re.compile(r'#\s*include\s*["<]range/v3/(all\.hpp)?')
# Locks that a fork would not know of; modules/core/locks_impl.cc has those of the library, the pool makes itself again.
LOCK = re.compile(r'\bstd::(?:recursive_|shared_|timed_|recursive_timed_|shared_timed_)?mutex\b|\bpthread_mutex_t\b')
LOCK_FILES = {'modules/core/locks_impl.cc', 'kernels/common/parallel.cc'}
# The families of ops: the one list.
FAMILIES = set(re.findall(r"'(\w+)'", re.search(r'^families = \[(.*?)\]', (ROOT / 'meson.build').read_text(),
                                               re.MULTILINE | re.DOTALL).group(1)))
# Folders of each family's parts, each with the folders next to them that hold no family.
MIRROR = {'kernels': {'common', 'math', 'fuse', 'optimizer', 'onednn', 'include', 'linalg', 'random'},
          'modules/ops': set()}
REQUIRED = ('kernels/{}/kernels.h', 'kernels/{}/meson.build', 'modules/ops/{}/rows.cc', 'modules/ops/{}/meson.build',
            'bench/calls/{}.cc')
# Kernels are typed functions. These folders hand untyped arguments on: entry points, authors' macros, another library.
UNTYPED = re.compile(r'\bconst void\* geometry\b')
UNTYPED_FOLDERS = ('kernels/common/', 'kernels/include/', 'kernels/onednn/')
# Facts of an op are in its row. Launchers, the test kit, benchmarks and fuse compare no op's name, and have no table of
# op names.
ROWS = re.compile(r'modules/ops/\w+/rows\.cc')
OPS = {op for path in (ROOT / 'modules' / 'ops').glob('*/rows.cc')
       for op in re.findall(r'"(_?[A-Z][A-Za-z0-9]+)"', path.read_text())}
OP_BY_NAME = re.compile(r'\b(?:name|op)(?: [!=]= |\.(?:find|starts_with|ends_with|contains)\()"[A-Z_]'
                        rf'|\{{\s*(?:\.\w+ = )?"(?:{"|".join(sorted(OPS))})"[,}}]')
ROW_ASKERS = ('bench/', 'kernels/fuse/', 'modules/fuse/', 'modules/ops/', 'modules/testkit/')
# Macros in kernels/, without Highway's lines, include guards and the lists of kernels.
MACRO = re.compile(r'^#\s*define (?!HWY_TARGET_INCLUDE|KERNGRAD_FILE|\w+_H_$|\w+_COMMON$|\w+_(?:KERNELS|OPS)\()',
                   re.MULTILINE)
MOST_MACROS = 150
# A unit's own name, its namespaces, and variables that other units of its module see.
MODULE = re.compile(r'^(?:export )?module ([\w.]+)(?::\w+)?;', re.MULTILINE)
NAMESPACE = re.compile(r'(?:export )?(?:inline )?namespace (?:([\w:]+) )?\{$')
SHARED_VARIABLE = re.compile(
    r'(?:export )?inline (?:constexpr|constinit|const) [^=({;]*?[ *&](\w+)(?:\[\w*\])*(?: = | ?\{|;|$)')
SHARED_TYPE = re.compile(r'(?:struct|class|enum|enum class) (\w+)(?: final)?(?: :[^:].*)? \{')
MOST_SOURCES = 40  # in one folder: more are not taken in at a glance; the cases that must not compile are a list


def tracked_files():
    listed = subprocess.run(['git', '-C', str(ROOT), 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                            check=True, stdout=subprocess.PIPE).stdout.decode()
    return sorted({name for name in listed.split('\0') if name and (ROOT / name).is_file()})


def code_of(line, state):
    """The line without comments and string literals; `state` remembers an open /* */."""
    line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
    if state['comment']:
        before, end, line = line.partition('*/')
        if not end:
            return ''
        state['comment'] = False
    line = re.sub(r'/\*.*?\*/', '', line).split('//')[0]
    if '/*' in line:
        state['comment'] = True
        line = line.split('/*')[0]
    return line


def check_text(name, text):
    lines = text.splitlines()
    if name.endswith(LICENSED) or name in ('dev', '.ci/run'):
        if not any('SPDX-License-Identifier: Apache-2.0' in line for line in lines[:2]):
            yield 1, 'the first line must be the SPDX licence identifier'
    if len(lines) > MAX_LINES and not name.endswith('.md'):
        yield len(lines), f'{len(lines)} lines, at most {MAX_LINES}'
    if text and not text.endswith('\n'):
        yield len(lines), 'no newline at the end'
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS and not name.endswith(('.md', '.wrap', '.json', '.jsonl', '.svg')):
            yield number, f'{len(line)} columns, at most {MAX_COLUMNS}'
        if not line.isascii():
            yield number, 'a character that is not ASCII'
        if line != line.rstrip() and not name.endswith('.md'):
            yield number, 'white space at the end of the line'
        if '\t' in line:
            yield number, 'a tab'
        if name != 'tools/lint.py' and re.search(r'\b(TODO|FIXME|XXX|HACK)\b', line):
            yield number, 'unfinished work belongs into an issue, not into a comment'
        if CLANG_VERSION.search(line) and not CLANG_VERSION_ALLOWED.fullmatch(name):
            yield number, "Clang's version stands in tools/clang.ini alone: tools/llvm_version.py reads it"


def check_code(name, text):
    folder = name.split('/')[0]
    state = {'comment': False}
    needs_algorithm = '#include <algorithm>' not in text
    for number, line in enumerate(text.splitlines(), 1):
        code = code_of(line, state)
        if folder in ('modules', 'kernels', 'grads'):
            found = FORBIDDEN_CALLS.search(code)
            if found:
                yield number, f'`{found.group(0).strip()}` in the library: it reports by throwing'
        if folder in ('modules', 'kernels', 'grads') and TOOLS_INCLUDE.match(line):
            yield number, 'a header of tools/ in the library'
        if folder in ('modules', 'kernels', 'grads') and name != JSON_FILE and JSON_INCLUDE.match(line):
            yield number, 'JSON is read and written by modules/io/json.h'
        if folder in ('modules', 'kernels') and name not in LOCK_FILES and LOCK.search(code):
            yield number, 'a mutex of its own: lock_of in modules/core/locks.cc, so that it is free in a forked process'
        if folder != 'kernels' and folder != 'tests' and SIMD_INCLUDE.search(line):
            yield number, 'a SIMD header outside kernels/'
        if needs_algorithm and ALGORITHM.search(code):
            yield number, 'an algorithm of the standard library without #include <algorithm>'
            needs_algorithm = False
        if folder == 'kernels' and not name.startswith(UNTYPED_FOLDERS) and UNTYPED.search(code):
            yield number, 'an untyped kernel: KG_DEFINE_KERNELS calls typed ones (kernels/common/lists.h)'
        if name.startswith(ROW_ASKERS) and not ROWS.fullmatch(name) and OP_BY_NAME.search(line.split('//')[0]):
            yield number, "an op by its name: ask the op's row, its attributes or its operands"
        if TARGET_BY_NAME.search(code) and name != 'kernels/common/target-inl.h':
            yield number, 'a CPU target by its name: ask kernels/common/target-inl.h for what it can do'
        if folder == 'kernels' and MOST_LANES.search(ARRAY_BY_MOST_LANES.sub('', MOST_LANES_ASKED.sub('', code))):
            yield number, 'MaxLanes is the size of an array or a question to a type: Lanes is how many there are'
        if folder in ('modules', 'grads') and DEFAULTED_FRIEND.search(code):
            yield number, 'a defaulted comparison in a module is a member: compilers fail on friends'
        if folder in ('modules', 'grads') and RANGES_STANDARD.search(line):
            yield number, 'an algorithm of range-v3: std::ranges has it'
        found = RANGES_INCLUDE.search(line)
        if found and found.group(1):
            yield number, 'range/v3/all.hpp: include the narrow header'
        if found and (folder in ('kernels', 'grads') or name.startswith('modules/') and not name.endswith('_impl.cc')):
            yield number, 'range-v3 belongs into implementation units and tests'


def line_of(code, place):
    return code.count('\n', 0, place) + 1


def members_of(code, begin):
    """Members in the body of a struct that is opened before `begin` says itself, with ~ for what is in braces there
    and @ for what is in parentheses."""
    body, before = inside_brackets(code, begin), ''
    while body != before:
        before = body
        for brackets, mark in (r'\{[^{}]*\}', '~'), (r'\([^()]*\)', '@'):
            body = re.sub(brackets, lambda found: mark + '\n' * found[0].count('\n'), body)
    return body


def without_avx512(code):
    """The code with empty lines for those that are compiled for AVX-512 alone."""
    depth = 0  # of conditions, the one that asks for AVX-512 included
    for line in code.splitlines():
        if depth:
            depth += line.startswith('#if') - line.startswith('#endif')
            depth = 0 if depth == 1 and line.startswith('#el') else depth
        else:
            depth = int(line == '#if KG_AVX512')
        yield '' if depth else line


def check_vectors(name, text):
    """Vectors where they would have to have a size."""
    if not name.startswith('kernels/') or 'HWY_NAMESPACE' not in text:
        return
    state = {'comment': False}
    code = '\n'.join(without_avx512('\n'.join(code_of(line, state) for line in text.splitlines())))
    aliases = {found[1] for found in VECTOR_ALIAS.finditer(code)}
    vector = '|'.join([HIGHWAYS_VECTOR, r'\bV[A-Z]?(?:\d+)?\b', *(rf'\b{alias}\b' for alias in sorted(aliases))])
    array = rf'(?:{vector})\s*(?:\([&*]\s*\w*\)|(?:\w+,\s*)*\w*)\s*\[(?!\[)'
    for found in re.finditer(rf'{array}|{CONTAINER}(?:{vector})\s*[,>]', code):
        yield line_of(code, found.start()), 'an array or a container of vectors: kernels/common/vectors-inl.h'
    for found in re.finditer(rf'\b(?:static|thread_local) (?:const )?(?:{vector}) \w+\s*(?:=|\{{|;)', code):
        yield line_of(code, found.start()), 'a static vector: it has no size'
    member = re.compile(rf'(?<=[;:~])\s*(?:const )?(?:{vector}) [\w, ]+(?=[=;~])')
    for found in STRUCT.finditer(code):
        body = ';' + members_of(code, found.end())
        for place in member.finditer(body):
            yield line_of(code, found.end()) + body.count('\n', 0, place.end()), 'a vector as a member: it has no size'
    names = {one or other for one, other in re.findall(VECTOR_VARIABLE.format(vector), code)}
    for found in CAPTURES.finditer(code):
        for captured in found[1].split(','):
            copied = captured.strip().split(' = ')[-1]
            if copied == '=' or copied in names or (' = ' in captured and copied.startswith('hn::')):
                yield line_of(code, found.start()), 'a copy of vectors in a lambda: capture them by reference'


def inside_brackets(code, begin):
    """The code between the bracket that was opened before `begin` and the one that closes it."""
    depth = 1
    for end in range(begin, len(code)):
        depth += (code[end] in '([{') - (code[end] in ')]}')
        if depth == 0:
            return code[begin:end]
    return code[begin:]


def without_checked_products(code):
    found = CHECKED_PRODUCT.search(code)
    while found:
        inside = inside_brackets(code, found.end())
        # As many line ends as before, for the numbers of the lines after it.
        code = code[:found.start()] + 'size' + '\n' * inside.count('\n') + code[found.end() + len(inside) + 1:]
        found = CHECKED_PRODUCT.search(code)
    return code


def check_sizes(name, text):
    """Sizes are multiplied by kernels/common/sizes.h, which rejects a product that overflows: an amount of memory, and
    how far the window of an attribute's dilation reaches. The formatter writes a product, and no pointer, as ` * `;
    rounding up to a multiple is none."""
    if not name.startswith(('kernels/', 'modules/')) or name == 'kernels/common/sizes.h':
        return
    state = {'comment': False}
    code = without_checked_products('\n'.join(code_of(line, state) for line in text.splitlines()))
    for found in ASKS_FOR_MEMORY.finditer(code):
        asked = re.sub(r'/ (\w+) \* \1\b', '', inside_brackets(code, found.end()))
        if re.search(r' \*\s', asked):
            yield code.count('\n', 0, found.start()) + 1, 'a size in memory that may overflow: kernels/common/sizes.h'
    if name.startswith('modules/'):
        for found in re.finditer(r' \*\s+(?:\w+\.)*dilations?\w*\b|\bdilations?\w*(?:\[\w+\])? \*\s', code):
            yield code.count('\n', 0, found.start()) + 1, 'a window that may reach too far: kernels/common/sizes.h'


def check_mirrors(names):
    """The folders mirror each other: a family has the same name everywhere."""
    known, folders = set(names), {str(parent) for name in names for parent in pathlib.PurePosixPath(name).parents}
    for family in FAMILIES:
        for path in REQUIRED:
            if path.format(family) not in known:
                yield path.format(family), 1, f'missing: the family {family} stands in meson.build'
    for place, others in MIRROR.items():
        for folder in folders:
            head, _, family = folder.rpartition('/')
            if head == place and family not in FAMILIES | others:
                yield folder, 1, 'a folder of no family in meson.build'
    for name in names:
        folder, _, file = name.rpartition('/')
        stem = file.rsplit('.', 1)[0]
        if folder == 'grads' and stem not in FAMILIES:
            yield name, 1, 'rules of no family in meson.build'
        if folder.removeprefix('kernels/') in FAMILIES and file.endswith('.cc'):
            other = stem.removeprefix('reference_') if stem.startswith('reference_') else f'reference_{stem}'
            if f'{folder}/{other}.cc' not in known:
                yield f'{folder}/{other}.cc', 1, f'missing: the other definition of the kernels of {name}'

    tests = '\n'.join((ROOT / name).read_text(errors='replace') for name in names if name.startswith('tests/'))
    for name in names:
        found = re.fullmatch(r'(kernels/\w+/(?!reference_)\w+)\.cc', name)
        if found and name.split('/')[1] in FAMILIES and f'{found.group(1)}.h' not in tests:
            yield name, 1, 'no test includes its header'


def shared_names(text, pattern):
    """Line, namespace and name of each variable or type that a file defines where others see it."""
    opened = []
    for number, line in enumerate(text.splitlines(), 1):
        found = NAMESPACE.match(line)
        if found:
            opened.append(found.group(1) or '')
        elif line.startswith('}  // namespace'):
            opened = opened[:-1]
        elif '' not in opened:
            found = pattern.match(line)
            if found:
                yield number, '::'.join(opened), found.group(1)


def check_shared_names(names):
    """A variable that two units of a module define is one or the other for their importers, and what two headers define
    as one type has the functions of one or the other in all of a program; no compiler says so.
    """
    seen = {}
    for name in names:
        text = (ROOT / name).read_text() if name.endswith(CODE) else ''
        if name.startswith('kernels/'):
            scope, pattern = 'kernels', SHARED_TYPE
        else:
            module = MODULE.search(text) if name.startswith(('modules/', 'grads/')) else None
            scope, pattern = module and module.group(1), SHARED_VARIABLE
        for number, space, shared in shared_names(text, pattern) if scope else ():
            first = seen.setdefault((scope, space, shared), name)
            if first != name:
                yield name, number, f'{space}::{shared} is defined in {first} too'


def check_imports(names):
    """Imports of a header come after all headers of libraries: GCC 16 takes their definitions for second ones
    where a module has it."""
    texts = {name: (ROOT / name).read_text() for name in names if name.endswith(CODE)}

    def includes(name):
        """Positions at which a file includes another of the project, and that file."""
        for found in re.finditer(r'^#include "(.*)"', texts[name], re.MULTILINE):
            for other in (found[1], f'{name.rpartition("/")[0]}/{found[1]}'):
                if other in texts:
                    yield found.start(), other

    imports = {name for name, text in texts.items() if re.search(r'^import ', text, re.MULTILINE)}
    while more := {name for name in texts if any(other in imports for _, other in includes(name))} - imports:
        imports |= more
    for name, text in texts.items():
        first = min((at for at, other in includes(name) if other in imports), default=len(text))
        for found in re.compile('^#include <', re.MULTILINE).finditer(text, first):
            yield name, text.count('\n', 0, found.start()) + 1, 'a header of a library after one that imports a module'


def linux_files():
    """The files that LINUX_PAGE names: those that have a fall-back there."""
    section = (ROOT / LINUX_PAGE).read_text().partition('## Linux and other systems\n')[2].partition('\n## ')[0]
    return re.findall(r'^\| (\w\S*/\S+) \| [^|]+ \| [^|]+ \|$', section, re.MULTILINE)


def check_linux(names):
    """Code for Linux alone is in the files that the page names, and these have it."""
    known, having = linux_files(), set()
    for name in names:
        if not name.startswith(LINUX_FOLDERS) or not name.endswith((*CODE, 'meson.build')):
            continue
        comment = '#' if name.endswith('meson.build') else '//'
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            if found := LINUX.search(line.split(comment)[0]):
                having.add(name)
                if name not in known:
                    yield name, number, f'`{found[0]}` is Linux\'s: {LINUX_PAGE} says which files have that'
    for name in known:
        if name not in having:
            yield LINUX_PAGE, 1, f'{name} has nothing of Linux\'s'


def check_rooms(names):
    """A folder is taken in at a glance."""
    sources = collections.Counter(name.rpartition('/')[0] for name in names if name.endswith(CODE))
    for folder, count in sources.items():
        if count > MOST_SOURCES and folder != 'tests/fail':
            yield folder, 1, f'{count} sources, at most {MOST_SOURCES}: give what belongs together a folder'


def macros_of(names):
    """Number of macros in kernels/."""
    return sum(len(MACRO.findall((ROOT / name).read_text())) for name in names
               if name.startswith('kernels/') and name.endswith(CODE))


def check_macros(names):
    """Macros of one file repeat what kernels/common/lists.h does for all."""
    if macros_of(names) > MOST_MACROS:
        yield 'kernels/common/lists.h', 1, f'more than {MOST_MACROS} macros in kernels/'


def check_layers():
    """The diagram of the layers is that of the imports."""
    if (ROOT / layers.PAGE).read_text() != layers.page(ROOT):
        yield layers.PAGE, 1, 'the layers are others: python3 tools/layers.py'


def check_build_files(names):
    """Every source is named in the meson.build of its folder, or of one above: a file that is never compiled rots."""
    for name in names:
        if not name.endswith('.cc') or name.startswith(('tests/fail/', 'tests/consumer/project/', 'tests/places/')):
            continue
        path = pathlib.PurePosixPath(name)
        builds = [parent / 'meson.build' for parent in path.parents]
        if name.startswith('grads/'):
            builds.append(pathlib.PurePosixPath(f'modules/ops/{path.stem}/meson.build'))
        texts = [(ROOT / build).read_text() for build in builds if (ROOT / build).is_file()]
        if not any(re.search(rf"['/]{re.escape(word)}'", text) for text in texts for word in (path.name, path.stem)):
            yield name, 1, 'no meson.build names it'


def check_order(names):
    """Tests that run alone come last: Meson starts no other while one of them waits."""
    for name in names:
        if not name.endswith('meson.build'):
            continue
        text = (ROOT / name).read_text()
        for call in re.finditer(r'\btest\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)', text):
            if 'is_parallel: false' in call[0] and not re.search(r'priority: -\d', call[0]):
                yield name, line_of(text, call.start()), 'a test that runs alone comes last: give it a priority below 0'


def check_format(names):
    # Many at once: the formatter takes longer to start than to read some files.
    sources = [name for name in names if name.endswith(('.cc', '.h'))]
    for begin in range(0, len(sources), 100):
        done = subprocess.run([f'clang-format-{LLVM}', '--dry-run', '-Werror', *sources[begin:begin + 100]], cwd=ROOT,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = {}
        for name, line in re.findall(r'^(\S+):(\d+):\d+: error', done.stderr, re.MULTILINE):
            found.setdefault(name, int(line))
        if done.returncode != 0 and not found:
            sys.exit(f'clang-format-{LLVM}: {done.stderr}')
        for name, line in found.items():
            yield name, line, 'not as clang-format writes it: ./dev format'


def all_findings(names):
    """Those of all rules but the formatter's: file, line, what is wrong."""
    findings = [*check_mirrors(names), *check_rooms(names), *check_build_files(names), *check_shared_names(names)]
    findings += [*check_imports(names), *check_linux(names), *check_macros(names), *check_order(names), *check_layers()]
    for name in names:
        data = (ROOT / name).read_bytes()
        if b'\0' in data or name.startswith(('subprojects/packagefiles/', 'tests/fuzz/seeds/')) or name == 'LICENSE':
            continue
        text = data.decode(errors='replace')
        findings += [(name, *found) for found in check_text(name, text)]
        findings += [(name, *found) for found in lint_prose.findings(name, text)]
        if name.endswith(CODE):
            findings += [(name, *found) for found in check_code(name, text)]
            findings += [(name, *found) for found in check_vectors(name, text)]
            findings += [(name, *found) for found in check_sizes(name, text)]
    return findings


def main():
    names = tracked_files()
    findings = all_findings(names)
    if '--no-format' not in sys.argv[1:]:
        findings += check_format(names)
    for name, line, what in sorted(set(findings)):
        print(f'{name}:{line}: {what}')
    print(f'{len(names)} files, {macros_of(names)} macros in kernels/, {len(set(findings))} findings')
    sys.exit(1 if findings else 0)


if __name__ == '__main__':
    main()
