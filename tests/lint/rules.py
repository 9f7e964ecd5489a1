# SPDX-License-Identifier: Apache-2.0
"""What each rule of tools/lint.py takes for right and for wrong."""
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / 'tools'))
import lint  # noqa: E402
import lint_prose  # noqa: E402

LICENCE = '// SPDX-License-Identifier: Apache-2.0\n'
HASH = '# SPDX-License-Identifier: Apache-2.0\n'
FAMILY = 'exp'
FORMAT = 'not as clang-format writes it: ./dev format'
# A tree that keeps all rules. NAMES are those of its sources.
TREE = {
    'meson.build': '# SPDX-License-Identifier: Apache-2.0\nsources = [NAMES]\n',
    'kernels/exp/kernels.h': LICENCE,
    'kernels/exp/meson.build': '# SPDX-License-Identifier: Apache-2.0\n',
    'modules/ops/exp/rows.cc': LICENCE,
    'bench/calls/exp.cc': LICENCE,
    'modules/ops/exp/meson.build': "# SPDX-License-Identifier: Apache-2.0\nrows = 'rows.cc'\n",
    'kernels/common/parallel.cc': LICENCE + 'int n = sched_getaffinity(0, 0, nullptr);\n',
    'docs/architecture.md': "## Linux and other systems\n| kernels/common/parallel.cc | CPUs | all of them |\n",
}
NOT_BUILT = {'modules/core/unknown.cc'}


@dataclasses.dataclass(frozen=True)
class Rule:
    says: str
    file: str    # whose lines the texts are, after a licence and `before`; or '': each is a dictionary of whole files
    right: list
    wrong: list
    before: str = ''


def files_of(rule, version):
    return {rule.file: LICENCE + rule.before + version + '\n'} if rule.file else version


def lines(count):
    return LICENCE + '\n'.join(['int x;'] * (count - 1)) + '\n'


def headers(*texts):
    """Headers with these after their licence: kernels/common/a.h, b.h."""
    return {f'kernels/common/{letter}.h': LICENCE + text for letter, text in zip('abc', texts)}


SIMD = 'kernels/common/x-inl.h'
SIMD_BEGIN = 'namespace kerngrad::kernels::HWY_NAMESPACE {\n'
VECTORS = [
    Rule('an array or a container of vectors', SIMD, before=SIMD_BEGIN,
         right=['V* at[4];', 'V v = x[i];', 'T a[4];', 'V& operator[](int i) const { return *at[i]; }',
                'void f(V v, T lanes[4]);', 'vectors<V, 4> v;', 'static_assert(std::is_same_v<V, hn::Vec<D>>);',
                'HWY_INLINE V f(D d, [[maybe_unused]] V a, [[maybe_unused]] V b);', 'hn::Vec<D>* rows[2];',
                '// An array V v[4] has no size.', '#if KG_AVX512\nV v[4];\n#endif'],
         wrong=['V v[4];', 'std::array<V, 4> v;', 'std::array<hn::Vec<D>, 4> v;', 'hn::VFromD<D> v[4];', 'VI a[2];',
                'VU a, b[2];', 'hn::Mask<D> m[2];', 'hn::MFromD<D> m[2];', 'void f(const V (&rows)[4]);',
                'hn::Vec<hn::Repartition<float, D>> v[2];', 'hn::Vec<decltype(d)> v[kRows];', 'auto* v = new V[n];',
                'std::vector<hn::VFromD<D>> all(n);', 'std::pair<V, int> p;', 'using F = hn::Vec<D>;\nF v[4];',
                'using F = decltype(hn::Zero(d));\nF v[4];', '#if KG_AVX512\n#else\nV v[4];\n#endif']),
    Rule('a copy of vectors in a lambda', SIMD, before=SIMD_BEGIN,
         right=['auto f = [&](int i) { return i; };', 'const V v = hn::Zero(d);\nauto f = [&v](int i) { return v; };',
                'const T* row = x;\nauto f = [row](int i) { return row[i]; };', 'T& operator=(const T&);',
                'const V v = hn::Zero(d);\nT t = lanes[v](i);'],
         wrong=['auto f = [=](int i) { return v; };', 'auto f = [=, &x](int i) { return v; };',
                'auto f = [=] { return v; };', 'auto f = [=]() HWY_ATTR { return v; };',
                'const V v = hn::Zero(d);\nauto f = [v](int i) { return v; };',
                'const auto v = hn::Zero(d);\nauto f = [&x, v](int i) { return v; };',
                'void f(D d, V v) { g([v](int i) { return v; }); }',
                'hn::Vec<D> v;\nauto f = [w = v](int i) { return w; };',
                'auto f = [w = hn::Zero(d)](int i) { return w; };']),
    Rule('a vector as a member', SIMD, before=SIMD_BEGIN,
         right=['struct s {\n  V* v;\n  V at(V x) const {\n    V y = x;\n    return y;\n  }\n};', 'V f(V v);',
                'struct s {\n  template <class D, class V>\n  HWY_INLINE V operator()(D d, V v) const;\n};'],
         wrong=['struct s {\n  V v;\n};', 'struct s {\n  int n = 0;\n  hn::Vec<D> v, w;\n};',
                'struct s : base {\n  int f() const { return 1; }\n  const V v;\n};',
                'class s {\n  hn::Mask<D> m{};\n};']),
    Rule('a static vector', SIMD, before=SIMD_BEGIN,
         right=['static V f(V v);', 'static HWY_INLINE V f(D d, V v) { return v; }'],
         wrong=['static V v;', 'static const hn::Vec<D> ones = hn::Set(d, 1);', 'thread_local V v{};']),
    Rule('MaxLanes is the size', SIMD, before=SIMD_BEGIN,
         right=['HWY_ALIGN T lanes[hn::MaxLanes(d)];', 'T lanes[2 * hn::MaxLanes(D{})] = {};',
                'float a[hn::MaxLanes(d)] = {}, b[hn::MaxLanes(d)];', 'T x[4], y[hn::MaxLanes(d)];',
                'if constexpr (hn::MaxLanes(d) == 1) return;', 'constexpr bool one = hn::MaxLanes(d) == 1;'],
         wrong=['x[i + hn::MaxLanes(d)] = 0;', 'return x[hn::MaxLanes(d)];', 'const size_t n = hn::MaxLanes(d);',
                'y[i] = x[hn::MaxLanes(d) - 1];', 'for (; i < n; i += MaxLanes(d)) {', 'T v = x[hn::MaxLanes(d)];']),
]

IMPL, INTERFACE = 'modules/core/x_impl.cc', 'modules/core/x.cc'
CODE = [
    Rule('in the library: it reports by throwing', IMPL, right=['fail("x");', '// Calls std::abort().', 'my_exit(1);'],
         wrong=['std::abort();', 'exit(1);', 'std::printf("x");', 'std::cerr << 1;']),
    Rule('a mutex of its own', IMPL, right=['library_lock lock(lock_of::limits);'],
         wrong=['std::mutex m;', 'std::shared_mutex m;', 'pthread_mutex_t m;']),
    Rule('a SIMD header outside kernels/', IMPL, right=['#include "kernels/common/abi.h"'],
         wrong=['#include "hwy/highway.h"', '#include <immintrin.h>', '#include <arm_neon.h>']),
    Rule('a header of tools/ in the library', IMPL, right=['#include "modules/io/json.h"', '// #include "tools/x.h"'],
         wrong=['#include "tools/strict_json.h"', '#include <tools/x.h>']),
    Rule('JSON is read and written by', IMPL, right=['#include "modules/io/json.h"'],
         wrong=['#include <nlohmann/json.hpp>', '#include "nlohmann/json_fwd.hpp"']),
    Rule('without #include <algorithm>', IMPL,
         right=['#include <algorithm>\nint x = std::clamp(1, 2, 3);', 'auto x = std::next(y);'],
         wrong=['int x = std::clamp(1, 2, 3);', 'std::ranges::sort(x);', 'std::fill_n(x, 3, 1);']),
    Rule('a CPU target by its name', SIMD, right=['#if KG_AVX512'],
         wrong=['#if HWY_TARGET == HWY_AVX3', '#if HWY_TARGET <= HWY_SSE4']),
    Rule('a defaulted comparison', INTERFACE, right=['bool operator==(const s&) const = default;'],
         wrong=['friend bool operator==(const s&, const s&) = default;']),
    Rule('range/v3/all.hpp', IMPL, right=['#include <range/v3/view/zip.hpp>'],
         wrong=['#include <range/v3/all.hpp>', '#include "range/v3/all.hpp"']),
    Rule('an algorithm of range-v3', IMPL,
         right=['#include <range/v3/view/zip.hpp>', '#include <range/v3/algorithm/contains.hpp>'],
         wrong=['#include <range/v3/algorithm/sort.hpp>']),
    *[Rule('an op by its name', name, right=['if (row.depthwise) {', '// name == "Conv2D"', 'if (name == "axis") {'],
           wrong=['if (row.name == "Conv2D") {', 'row.name.starts_with("Depthwise");', 'if (op != "Mod") return;',
                  'row.name.find("Depthwise");', '{"MaxPool", pooled},', '{.op = "Mod", .jumps = true},'])
      for name in ('bench/x.cc', 'modules/fuse/x_impl.cc', 'modules/ops/x_impl.cc', 'modules/testkit/x_impl.cc')],
    Rule('range-v3 belongs', INTERFACE, right=['#include <vector>'], wrong=['#include <range/v3/view/zip.hpp>']),
    Rule('a size in memory that may overflow', IMPL,
         right=['std::vector<int> x(product_of(n, m));', 'std::vector<int> x(n);', 'x.resize((n + 7) / 8 * 8);'],
         wrong=['std::vector<int> x(n * m);', 'x.resize(2 * n);', 'void* p = std::malloc(n * sizeof(int));',
                'auto* p = new int[n * m];']),
    Rule('a window that may reach too far', IMPL, right=['auto n = extent(size, dilation);'],
         wrong=['auto n = (size - 1) * dilation;', 'auto n = g.dilations[0] * size;']),
    Rule("is Linux's", IMPL, right=['int dlopen = 1;  // as of dlopen() and <elf.h>'],
         wrong=['#include <elf.h>', 'dlopen(path, 0);', 'madvise(p, n, 0);', 'std::ifstream f("/proc/self/maps");',
                '[[gnu::tls_model("initial-exec")]] thread_local int x;', 'sched_getaffinity(0, 0, nullptr);',
                '#if defined(__linux__)', 'int x = MADV_HUGEPAGE;']),
    Rule("is Linux's", '', right=[{'modules/meson.build': "# SPDX-License-Identifier: Apache-2.0\n# dlopen(a)\n"}],
         wrong=[{'modules/meson.build': "# SPDX-License-Identifier: Apache-2.0\nx = '-Wl,--version-script=a'\n"}]),
    Rule("has nothing of Linux's", '', right=[], wrong=[{'kernels/common/parallel.cc': LICENCE}]),
    Rule(FORMAT, IMPL, right=['int x;'], wrong=['int   x;']),
]

TEXT = [
    Rule('the first line must be', '',
         right=[{'tests/x.py': '#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\n'}],
         wrong=[{'tests/x.py': 'x = 1\n'}, {'kernels/common/a.h': '\n\n' + LICENCE}]),
    Rule('lines, at most', '', right=[{'kernels/common/a.h': lines(lint.MAX_LINES)}],
         wrong=[{'kernels/common/a.h': lines(lint.MAX_LINES + 1)}]),
    Rule('no newline at the end', '', right=[{'docs/x.md': 'x\n', 'docs/y.md': ''}], wrong=[{'docs/x.md': 'x'}]),
    Rule('columns, at most', IMPL, right=['// ' + 'x' * (lint.MAX_COLUMNS - 3)],
         wrong=['// ' + 'x' * (lint.MAX_COLUMNS - 2)]),
    Rule('not ASCII', IMPL, right=['// ae'], wrong=['// \u00e4', '// \u2013']),
    Rule('white space at the end', IMPL, right=['int x;'], wrong=['int x; ']),
    Rule('a tab', IMPL, right=['  int x;'], wrong=['\tint x;']),
    Rule('unfinished work', IMPL, right=['// A list of TO_DO.'], wrong=['// TO' + 'DO: more', '// FIX' + 'ME']),
    Rule('an untyped kernel', 'kernels/math/x.h', right=['void f(const step_geometry& g, const float* x, float* y);'],
         wrong=['void f(const void* const* in, void* const* out, const void* geometry);']),
    Rule("Clang's version", 'tests/x.py', right=['compiler = "clang++"'], wrong=[f'compiler = "clang++-{lint.LLVM}"']),
]

ROWS, KERNEL = 'modules/ops/exp/rows.cc', {'tests/exp/x.cc': LICENCE + '#include "kernels/exp/fast.h"\n'}
BOTH = {'kernels/exp/fast.cc': LICENCE, 'kernels/exp/reference_fast.cc': LICENCE}
PAGE_OF_LAYERS = lint.layers.PAGE
LAYERED = {'modules/core/core.cc': LICENCE + 'export module kerngrad:core;\n',
           'modules/ops/exp/op.cc': LICENCE + 'export module kerngrad:op;\nimport :core;\n',
           'modules/ops/exp/op_impl.cc': LICENCE + 'module kerngrad;\nimport :none;\n'}


def layers_with(diagram):
    return lint.layers.BEGIN + diagram + lint.layers.END + TREE[PAGE_OF_LAYERS]


TREES = [
    Rule('missing: the family', '', right=[{}], wrong=[{'kernels/exp/kernels.h': None}, {ROWS: None}]),
    Rule('a folder of no family', '', right=[{'kernels/math/a.h': LICENCE}],
         wrong=[{'kernels/log/a.h': LICENCE}, {'modules/ops/log/a.h': LICENCE}]),
    Rule('rules of no family', '', right=[{'grads/exp.cc': LICENCE}], wrong=[{'grads/log.cc': LICENCE}]),
    Rule('the other definition', '', right=[KERNEL | BOTH],
         wrong=[KERNEL | {'kernels/exp/fast.cc': LICENCE}, {'kernels/exp/reference_fast.cc': LICENCE}]),
    Rule('no test includes', '', right=[], wrong=[BOTH]),
    Rule('is defined in', '',
         right=[headers('namespace a {\nstruct one {\n};\n}  // namespace a\n',
                        'namespace b {\nstruct one {\n};\n}  // namespace b\n')],
         wrong=[headers(*['namespace a {\nstruct one {\n};\n}  // namespace a\n'] * 2),
                {f'modules/core/{name}.cc': LICENCE + f'module kerngrad:{name};\nnamespace a {{\n'
                                                      'inline constexpr int one = 1;\n}  // namespace a\n'
                 for name in ('x', 'y')}]),
    Rule('after one that imports a module', '',
         right=[headers('import kerngrad;\n', '#include <vector>\n#include "a.h"\n')],
         wrong=[headers('import kerngrad;\n', '#include "a.h"\n#include <vector>\n'),
                headers('import kerngrad;\n', '#include "a.h"\n',
                        '#include "kernels/common/b.h"\n#include <vector>\n')]),
    Rule('give what belongs together', '',
         right=[{f'kernels/math/a{i}.h': LICENCE for i in range(lint.MOST_SOURCES)}],
         wrong=[{f'kernels/math/a{i}.h': LICENCE for i in range(lint.MOST_SOURCES + 1)}]),
    Rule('macros in kernels/', '',
         right=[{'kernels/math/a.h': LICENCE + '#define A\n' * lint.MOST_MACROS + '#define KG_EXP_KERNELS(X)\n'}],
         wrong=[{'kernels/math/a.h': LICENCE + '#define A\n' * (lint.MOST_MACROS + 1),
                 'kernels/common/lists.h': LICENCE}]),
    Rule('the layers are others', '',
         right=[LAYERED | {PAGE_OF_LAYERS: layers_with(' 1  core\n 2  op\n')}],
         wrong=[LAYERED | {PAGE_OF_LAYERS: layers_with(text)} for text in (' 1  core\n', ' 1  op\n 2  core\n')]),
    Rule('no meson.build names it', '', right=[{'modules/core/known.cc': LICENCE}],
         wrong=[{'modules/core/unknown.cc': LICENCE}]),
    Rule('runs alone comes last', '',
         right=[{'modules/meson.build': HASH + "test('a', f(x), is_parallel: false, priority: -1)\ntest('b', y)\n"}],
         wrong=[{'modules/meson.build': HASH + "test('a', f(x), is_parallel: false)\n"}]),
]

PAGE, TOOL = 'docs/x.md', 'tools/x.py'
LONG = 'Word' + ' word' * (lint_prose.MOST_WORDS - 1)
CODE_OF_A_PAGE = '```cpp\n' + f'int x;  // {LONG} and more\n' + '```'
PROSE = [
    Rule(f'words, at most {lint_prose.MOST_WORDS}', '',
         right=[{PAGE: f'# X\n\nA word. {version}\n\nA word.\n\nA word.\n'}
                for version in (f'{LONG}.', f'One {LONG[5:]}. Two {LONG[5:]}.\n\nA.\n\nA b.\n\nA b.\n\nA b.',
                                f'`{LONG} and code`.', f'[{LONG}](https://a.b/c_d).', f'A word.\n\n{CODE_OF_A_PAGE}',
                                f'<!-- begin: written by x -->\n{LONG} {LONG}.\n<!-- end of x -->')],
         wrong=[{PAGE: f'# X\n\nA word. {version}\n\nA word.\n\nA word.\n\nA word.\n'}
                for version in (f'{LONG} more.', f'\n- {LONG} more.', f'\n| a | {LONG} more |\n')]),
    Rule('words a sentence in the mean', '', right=[{PAGE: f'{LONG}.\n\nOne two.\n'}, {'docs/ops/x.md': f'{LONG}.\n'}],
         wrong=[{PAGE: f'{LONG}.\n\n{LONG}.\n\nOne two.\n'}]),
    Rule('a sentence that opens with a noun clause', '',
         right=[{PAGE: f'{text}\n'} for text in ('The op stores it.', 'What does it cost?', '# What it costs',
                                                 '`Where(x)` selects.', 'Whatever follows.', 'Whereas.')],
         wrong=[{PAGE: f'A word. {text}\n'} for text in
                ('What it costs is time.', '\n\n- Whether it runs is known.', 'Of these, one runs.',
                 'Where it runs, it runs.', '\n\n| a | That it runs |', '**Such** ops run.')]),
    Rule('write ', '', right=[{PAGE: f'{text}\n'} for text in ('Fundamental.', '`refused` is code.', 'A silent one.')]
         + [{IMPL: LICENCE + 'bool refused = true;  // unlike others\n'}],
         wrong=[{PAGE: f'{text}\n'} for text in ('A known op.', 'Known ops run.', 'It gives the same bits.',
                                                 '| lent |')]
         + [{IMPL: LICENCE + f'{text}\n'}
            for text in ('// It is refused.', 'int x;  // beside it', '// It is\n// lent.')]
         + [{TOOL: f'# SPDX-License-Identifier: Apache-2.0\n{text}\n'}
            for text in ('# It is refused.', '"""It is anew."""', 'x = 1  # whoever it is')]),
    Rule('a comment that opens with a noun clause', IMPL,
         right=['// Number of rows.', '// The rows.  // that', 'int x;  // Rows: what they are', '// What is it?',
                '// Rows of what it\n// Says.', '/// Returns what it found.'],
         wrong=['// What it costs.', 'int x;  // Whether it runs', '/// Of rows: the first.',
                '// A row. That it runs.']),
    Rule('a comment that opens with a noun clause', TOOL, right=[],
         wrong=['# What it costs.', '"""Where it runs."""', 'x = 1  # Such rows']),
    Rule('a comment that opens with a noun clause', '', right=[],
         wrong=[{'modules/meson.build': '# SPDX-License-Identifier: Apache-2.0\n# What is built.\n'}]),
    Rule('a string that opens with a noun clause', IMPL,
         right=['f("The rows.");', 'f("What");', 'f("Where?");', 'f("Why does it? What is it?");'],
         wrong=['f("What it costs.");', 'f("A row. Whether it runs.");']),
    Rule('a string that opens with a noun clause', '', right=[{'tools/dictionary/x.txt': 'Of all\n    The rows.\n'}],
         wrong=[{'tools/dictionary/x.txt': 'x\n    Of bool alone.\n'}]),
    Rule('write ', '', right=[{'tools/dictionary/x.txt': 'x = np.lent\n'}],
         wrong=[{'tools/dictionary/x.txt': 'x\n    The rows are lent.\n'}]),
]

RULES = [*VECTORS, *CODE, *TEXT, *TREES, *PROSE]
