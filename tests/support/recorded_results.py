# SPDX-License-Identifier: Apache-2.0
"""A header with the results that another library gives for expressions: writes it, and checks that the library still
gives them."""
import re
import sys

import numpy as np

RECORDED = re.compile(r'R"py\((.*?)\)py", \{([^}]*)\}', re.DOTALL)


def entry(expression, numbers):
    """The lines of one expression, filled up to 118 columns."""
    lines, text = [], '    {R"py(' + expression + ')py", {'
    for i, number in enumerate(numbers):
        piece = number + (', ' if i + 1 < len(numbers) else '}},')
        if len(text) + len(piece.rstrip()) > 118:
            lines.append(text.rstrip())
            text = '      '
        text += piece
    return [*lines, text]


def header(name, comment, results, digits):
    lines = ['// SPDX-License-Identifier: Apache-2.0', *[f'// {line}' for line in comment], '#pragma once',
             '#include <map>', '#include <string>', '#include <vector>', '', 'namespace kgtest {', '',
             '// clang-format off', f'inline const std::map<std::string, std::vector<double>> {name} = {{']
    for expression, values in results.items():
        lines += entry(expression, [f'{v:.{digits}g}' for v in values])
    return '\n'.join([*lines, '};', '', '}  // namespace kgtest', ''])


def main(name, comment, results, digits, rtol, atol):
    """Prints the header `name`.h with the results, {expression: values}. With --check HEADER, compares it with them."""
    if sys.argv[1:2] != ['--check']:
        print(header(name, comment, results, digits), end='')
        return 0
    with open(sys.argv[2], encoding='utf-8') as file:
        found = {expression: [float(v) for v in numbers.split(',')]
                 for expression, numbers in RECORDED.findall(file.read())}
    wrong = [expression for expression in sorted(found.keys() | results.keys())
             if len(found.get(expression, [])) != len(results.get(expression, []))
             or not np.allclose(found[expression], results[expression], rtol=rtol, atol=atol)]
    print('\n'.join(f'other results than recorded: {expression}' for expression in wrong) or
          f'{len(found)} results agree')
    return bool(wrong)
