#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reference.py KERNGRAD PROGRAMS [--examples]: the reference has every exported name, with a docstring, and no link of
any page is dead. PROGRAMS is the folder of the examples' programs; --examples wants one of every function that programs
call, which may be a call in its docstring where a function alone cannot show it, and of every type, which may be that
of what uses it.

The pages are made in a scratch folder next to those of docs/. Reading of declarations by a C++ reader in Python is
tried on a unit of our own first, which also has the exports without docstring that have to be named.
"""
import pathlib
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / 'tools' / 'reference'), str(ROOT / 'tests' / 'docs')]
import interfaces  # noqa: E402
import pages  # noqa: E402
import snippets  # noqa: E402

UNIT = '''export module kerngrad:sample;
namespace kerngrad::detail {
/// Not exported.
void hidden();
}  // namespace kerngrad::detail
export namespace kerngrad {
/// A function.
inline int f(int a, std::string_view b = "x;{") {
  return a;
}
int f(double a);  // an overload shares the docstring
void bare();

/// A class.
class box {
 public:
  /// Makes one.
  explicit box(int a) : a_{a}, b_(a) {}
  int value() const { return a_; }
  int a = 1;  ///< a member

 private:
  int a_, b_;
};
/// Made by a macro, or so it
/// looks:
///   if (g(1))
///     g(2);
/// That is all.
template <class T, class... Rest>
  requires(sizeof...(Rest) > 0) && std::same_as<T, int>
constexpr auto g(T x) -> decltype(x + 1);
/// A set.
inline constexpr auto three = [] { return 3; }();
inline constexpr auto four = 4;
/// In the library.
extern const std::span<const int> six;
using kerngrad::five;  ///< from a header
enum class kind { one, two };
/// Its values have docstrings.
enum class level : int {
  low = 1,  ///< the least
  /// More.
  high,
};
/// Holds others.
struct holder {
  box first_one, second_one{1};  ///< two of them
  std::function<void(int)> call{}, back{};
  std::array<int, 2> numbers{};
  holder(const holder&) = delete;
};
/// With an attribute.
struct [[gnu::may_alias]] packed { box held; };
namespace keep {
/// Two of them.
inline constexpr box first{1}, second{2};
}  // namespace keep
/// An operator, and the others.
box operator+(box a, box b);

box operator-(box a, box b);
}  // namespace kerngrad
'''
SIGNATURES = {
    'f': 'int f(int a, std::string_view b = "x;{");', 'bare': 'void bare();', 'three': 'constexpr auto three;',
    'six': 'const std::span<const int> six;',
    'g': 'template <class T, class... Rest> requires(sizeof...(Rest) > 0) && std::same_as<T, int> '
         'constexpr auto g(T x) -> decltype(x + 1);',
    'box': 'class box {\n  /// Makes one.\n  explicit box(int a);\n  int value() const;\n  int a = 1;  ///< a member\n'
           '};'}
MEMBERS = {'box': {'box': [['explicit box(int a);'], 'Makes one.'], 'value': [['int value() const;'], ''],
                   'a': [['int a = 1;'], 'a member']},
           'kind': {'one': [['kind::one'], ''], 'two': [['kind::two'], '']},
           'level': {'low': [['level::low'], 'the least'], 'high': [['level::high'], 'More.']},
           'holder': {'first_one': [['box first_one, second_one{1};'], 'two of them'],
                      'second_one': [['box first_one, second_one{1};'], 'two of them'],
                      'call': [['std::function<void(int)> call{}, back{};'], ''],
                      'back': [['std::function<void(int)> call{}, back{};'], ''],
                      'numbers': [['std::array<int, 2> numbers{};'], '']}}
DOCS = {'f': 'A function.', 'bare': '', 'box': 'A class.',
        'g': 'Made by a macro, or so it looks:\n\n```cpp\nif (g(1))\n  g(2);\n```\n\nThat is all.', 'three': 'A set.',
        'four': '', 'six': 'In the library.', 'five': 'from a header', 'kind': '',
        'level': 'Its values have docstrings.', 'holder': 'Holds others.', 'packed': 'With an attribute.',
        'keep::first': 'Two of them.', 'keep::second': 'Two of them.',
        'operator+': 'An operator, and the others.', 'operator-': 'An operator, and the others.'}


def misread():
    found = interfaces.declarations_of(UNIT, pathlib.Path('modules/core/sample.cc'))
    for name, doc in {each.name: each.doc for each in found}.items():
        if DOCS.get(name) != doc:
            yield f'the docstring of {name} is read as {doc!r}'
    for name in DOCS.keys() - {each.name for each in found}:
        yield f'{name} is not read'
    if [each.doc for each in found if each.name == 'f'] != ['A function.'] * 2:
        yield 'an overload does not share its docstring'
    for name, signature in SIGNATURES.items():
        read = next(each.signature for each in found if each.name == name)
        if read != signature:
            yield f'the signature of {name} is read as\n{read}'
    uses = {each.name for each in found if pages.type_in('box').search(pages.code_of(each.signature))}
    if uses != {'holder', 'packed', 'keep::first', 'keep::second', 'operator+', 'operator-'}:
        yield f'box is found in the signatures of {sorted(uses)}'
    if pages.type_in('box').search('void h(int box, kind other);') or not pages.type_in('box').search('void h(box);'):
        yield 'a parameter is taken for a type, or a type for a parameter'
    for name, wanted in MEMBERS.items():
        members = next(each.members for each in found if each.name == name)
        if members != wanted:
            yield f'the members of {name} are read as {members}'
    if interfaces.dtypes('#define KG_DTYPES(X) \\\n  X(int32, std::int32_t, "int32", integer, false, 2)\n') != {
            'int32': [['dtype::int32'], 'elements of type std::int32_t']}:
        yield 'the dtypes of a header are not read'


def wrong_lines():
    """Lines of ops that are not below docstrings as they should be."""
    row = {'op': 'Max', 'doc': 'The largest element. NaN wins.'}
    for docs, wanted in (([], row['doc']), ([''], row['doc']), ([row['doc']], ''), (['A maximum. ' + row['doc']], ''),
                         (['The largest of x.', ''], 'The op `Max`: The largest element. NaN wins.')):
        if (line := pages.Reference.line_of(row, docs)) != wanted:
            yield f'below the docstrings {docs} the line of an op is {line!r}'


def missing(reference, written, exported):
    """Exports that have no docstring, or are on no page."""
    for name, unit in reference.undocumented():
        yield f'{unit} exports {name} without a docstring: say what it computes, shapes, dtypes, what it throws'
    shown = set(re.findall(r'`([^`]*)`', '\n'.join(re.findall(r'^##+ (.*)$', written, re.MULTILINE))))
    namespaces = {name.rpartition('::')[0] for name in exported}
    for name in exported - shown - namespaces:
        if not name.startswith('detail::'):
            yield f'{name} is exported, and no page of the reference has it'
    for functions in reference.rows_of:
        if not any(row['op'] in written for row in reference.rows_of[functions]):
            yield f'{functions} says nothing of its op'


def not_shown(reference, programs):
    """Files of examples that no program is made of, and functions and types without example."""
    for name, page in reference.without_example():
        yield f'{name} of the page {page} has no example: add one to examples/reference'
    for path in sorted((ROOT / 'examples' / 'reference').glob('*.cc')):
        if path.stem != 'main' and not (programs / f'reference_{path.stem}').exists():
            yield f'{path.name} is no program: name it in examples/meson.build'


def dead(folder):
    """Links that lead nowhere, on all pages."""
    for path in sorted(folder.rglob('*.md')):
        yield from snippets.dead_links(folder, path.relative_to(folder).as_posix())


def main():
    programs = pathlib.Path(sys.argv[2])
    exported = {name.removeprefix('kg::') for name in (ROOT / 'tests' / 'names' / 'exported.txt').read_text().split()}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / 'pages'
        shutil.copytree(ROOT / 'docs', folder / 'docs')
        for name in ('README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'):
            shutil.copy(ROOT / name, folder)
        made = folder / 'docs' / 'reference'
        reference = pages.write(pages.rows_of(sys.argv[1]), programs, made)
        written = '\n'.join(path.read_text() for path in made.glob('*.md'))
        shown = not_shown(reference, programs) if '--examples' in sys.argv else []
        found = [*misread(), *wrong_lines(), *shown, *missing(reference, written, exported), *dead(folder)]
        count = len(list(made.glob('*.md')))
    print(*found, f'{len(reference.declarations)} declarations on {count} pages', sep='\n')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
