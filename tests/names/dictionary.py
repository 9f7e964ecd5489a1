#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dictionary.py FOLDER COMPILER FLAGS...: what the dictionary says is written here compiles, but for modules on top.

FOLDER is tools/dictionary. The entries stand in functions below the declarations of their names.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import page  # noqa: E402

TENSORS = ('a b c h m q k v z x mask indices ids places updates along shape_a shape_b logits alpha mean variance table '
           'image filter filter_1x1 filter1d filter2d filter3d sequence volume signal maps boxes gray blocks texts '
           'row_splits cell_kernel cell_bias')
DECLARATIONS = f'''#include <array>
#include <cmath>
#include <iostream>
#include <span>
#include <vector>
import kerngrad;
extern kg::tensor {', '.join(TENSORS.split())};
extern kg::generator rng;
extern std::vector<float> values;
extern std::vector<kg::tensor> slopes, parts;
extern std::vector<kg::rnn_cell> cells;
extern kg::dlpack::managed_tensor* given;
extern kg::tensor (*f)(const kg::tensor&), (*g)(const kg::tensor&), (*f2)(const kg::tensor&, const kg::tensor&);
kg::tensor loss();
kg::tensor_list run(const kg::kernel_call&);
std::vector<kg::named_operand> run_gradient(const kg::gradient_call&);
'''


def main():
    ours = [entry[0] for _, found in page.topics() for entry in found]
    shown = [text for text in ours if text != '-' and not text.startswith(page.MODULES_ON_TOP)]
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / 'dictionary.cc'
        source.write_text(DECLARATIONS + ''.join(f'void of_{i}() {{ {text}; }}\n' for i, text in enumerate(shown)))
        done = subprocess.run([*sys.argv[2:], '-fsyntax-only', '-w', str(source)], stdin=subprocess.DEVNULL)
    print(f'{len(shown)} examples')
    sys.exit(done.returncode or not shown)


if __name__ == '__main__':
    main()
