#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py: each rule of tools/lint.py finds what it is for, and no more.

A small tree that keeps all rules is linted with one file of each rule of rules.py: with what is right, which has no
finding, and with each thing that is wrong, whose only finding is the rule's. The messages of lint.py are read in its
source and that of lint_prose.py: a rule that nothing here breaks is a failure.
"""
import ast
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / 'tools')]
import lint  # noqa: E402
import lint_prose  # noqa: E402
import rules  # noqa: E402


def sayings():
    """Patterns of all that lint.py can say."""
    bodies = [ast.parse(pathlib.Path(module.__file__).read_text()).body for module in (lint, lint_prose)]
    for function in sum(bodies, []):
        if isinstance(function, ast.FunctionDef) and function.name.startswith('check_'):
            for at in ast.walk(function):
                text = at.value.elts[-1] if isinstance(at, ast.Yield) and isinstance(at.value, ast.Tuple) else None
                if isinstance(text, ast.Constant):
                    yield re.escape(text.value)
                elif isinstance(text, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else None for part in text.values]
                    yield ''.join('.*' if part is None else re.escape(part) for part in parts)


def linted(files, formatted):
    """The findings in the small tree with these files in it; None takes one away."""
    tree = {name: text for name, text in (rules.TREE | files).items() if text is not None}
    tree['meson.build'] = tree['meson.build'].replace(
        'NAMES', ',\n'.join(f"'{name}'" for name in tree if name.endswith('.cc') and name not in rules.NOT_BUILT))
    with tempfile.TemporaryDirectory() as folder:
        lint.ROOT = pathlib.Path(folder)
        for name, text in tree.items():
            (lint.ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (lint.ROOT / name).write_bytes(text.encode())
        found = lint.all_findings(sorted(tree))
        return found + (list(lint.check_format(sorted(files))) if formatted else [])


def main():
    lint.FAMILIES = {rules.FAMILY}
    lint.LLVM = lint.LLVM if shutil.which(f'clang-format-{lint.LLVM}') else None
    possible = {saying: False for saying in sayings()}
    wrong, tried = [], 0
    for rule in rules.RULES:
        formatted = rule.says == rules.FORMAT
        if formatted and not lint.LLVM:
            continue
        for is_right, versions in (True, rule.right), (False, rule.wrong):
            for version in versions:
                tried += 1
                found = linted(rules.files_of(rule, version), formatted)
                said = {what for _, _, what in found}
                for saying in possible:
                    possible[saying] |= any(re.fullmatch(saying, what) for what in said)
                if is_right and found:
                    wrong.append(f'{version!r} is right, and lint.py says {found}')
                elif not is_right and (len(said) != 1 or rule.says not in next(iter(said))):
                    wrong.append(f'{version!r} is wrong, as {rule.says}, and lint.py says {found or "nothing"}')
    unbroken = [saying for saying, broken in possible.items() if not broken]
    if not lint.LLVM:
        unbroken = [saying for saying in unbroken if not re.fullmatch(saying, rules.FORMAT)]
    wrong += [f'no rule of tests/lint/rules.py makes lint.py say {saying}' for saying in unbroken]
    print(*wrong, f'{tried} texts, {len(possible)} things that lint.py can say, {len(wrong)} mistakes', sep='\n')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
