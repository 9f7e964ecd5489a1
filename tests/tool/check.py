#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py KERNGRAD: the tool: its rows against its explanations, filters, names, exit codes, closed pipes."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
DONE, REFUSED, USAGE = 0, 1, 2
CONV = ['explain', 'Conv2D', '--operand', 'x=float32[1,28,28,3]', '--operand', 'filter=float32[3,3,3,8]']


def run(*arguments, code=DONE):
    made = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
    assert made.returncode == code, f'{arguments}: exit {made.returncode}, wanted {code}\n{made.stdout}{made.stderr}'
    return made


def read(*arguments, code=DONE):
    return json.loads(run(*arguments, '--json', code=code).stdout)


def rows_are_what_the_explanations_say(rows, targets):
    by_op = {}
    for row in rows:
        by_op.setdefault(row['op'], []).append(row)
    assert len(by_op) > 100
    for op, found in by_op.items():
        told = read('explain', op)
        wanted = set()
        for kernel in told['kernels']:
            for dtype in kernel['dtypes']:
                by_target = kernel['backend'] == 'simd' and dtype not in kernel['reference_dtypes']
                for target in targets if by_target else [None]:
                    wanted.add((kernel['backend'], dtype, target))
        assert {(r['backend'], r['dtype'], r['target']) for r in found} == wanted, op
        assert len(found) == len(wanted), op
        for row in found:
            differentiable = row['dtype'] in ('float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128')
            assert row['gradient'] == (differentiable and told['gradient']['origin'] != 'none'), row
            assert row['gradient'] == (not row['reason']) and row['family'] == told['family'], row


def filters_keep_what_fits(rows, targets):
    for option, key, value in [('--backend', 'backend', 'reference'), ('--dtype', 'dtype', 'int64'),
                               ('--target', 'target', targets[-1]), ('--family', 'family', 'window'),
                               ('--op', 'op', 'Conv2D')]:
        kept = [r for r in rows if r[key] == value]
        assert kept and read('list', option, value) == kept, option
    assert read('list', '--gradient') == [r for r in rows if r['gradient']]
    assert read('list', '--no-gradient') == [r for r in rows if not r['gradient']]
    assert {r['op'] for r in read('list', '--op', 'max*')} == {r['op'] for r in rows if r['op'].startswith('Max')}
    assert {r['op'] for r in read('list', '--op', '?xp')} == {'Exp'}
    assert {r['op'] for r in read('list', '--op', '*a*x*gr*')} == {r['op'] for r in rows
                                                                 if re.fullmatch('.*a.*x.*gr.*', r['op'], re.I)}
    assert {r['op'] for r in read('list', '--op', '*' * 70 + 'E?p**')} == {r['op'] for r in rows
                                                                         if re.fullmatch('.*e.p.*', r['op'], re.I)}
    run('list', '--op', '*' * 70 + 'b!', code=REFUSED)
    assert read('list', '--family', 'softmax', '--dtype', 'bool') == []


def ops_pages():
    """The first table of each family's page."""
    families = re.findall(r'^\| \[(\w+)\]\(ops/', run('docs').stdout, re.MULTILINE)
    return ''.join(run('docs', '--page', family).stdout.partition('\n## ')[0] for family in families)


def pages_have_a_line_an_op(rows):
    ops = sorted({r['op'] for r in rows})
    text = run('list').stdout.splitlines()
    assert [line.split()[0] for line in text] == ops
    table = run('list', '--markdown').stdout.splitlines()
    assert [line.split('|')[1].strip() for line in table[2:]] == ops
    assert all(line.count('|') == table[0].count('|') for line in table)
    page = ops_pages()
    assert all(f'\n| {op} |' in page for op in ops)


def every_op_but_the_helpers_of_gradients_has_a_typed_name(rows):
    names = dict(re.findall(r'^\| (\w+) \| (`kg::\w+`(?:<br>`kg::\w+`)*|none) \|', ops_pages(), re.MULTILINE))
    assert names.keys() == {r['op'] for r in rows}
    for op, name in names.items():
        is_helper = op.endswith(('Grad', 'Gather', 'GatherInput', 'GatherFilter')) or 'Backprop' in op
        assert is_helper or name != 'none', f'{op} has no typed name in modules/ops/*/names.cc or modules/composed'
    assert names['Exp'] == '`kg::exp`' and names['GatherV2'] == '`kg::gather`' and names['MaxPoolGrad'] == 'none'
    assert names['NanMax'] == '`kg::nanmax`' and names['Gammainc'] == '`kg::gammainc`'


def a_call_is_explained():
    told = read(*CONV, '--attr', 'pad=same', '--attr', 'strides=[2,2]')
    assert told['results'] == [{'name': '', 'dtype': 'float32', 'shape': [1, 14, 14, 8], 'at_most': False,
                                'cast_from': None, 'kept': 'nothing'}]
    assert told['compute'] == 'float32' and told['runs']['backend'] == 'simd'
    assert told['gradient']['saved_bytes'] == 4 * (28 * 28 * 3 + 3 * 3 * 3 * 8)
    values = {a['name']: a['value'] for a in told['attributes']}
    assert values['pad'] == 'same' and values['strides'] == [2, 2] and values['dataFormat'] == 'NHWC'
    listed = read('explain', 'Concat', '--operand', 'tensors=float32[2]', '--operand', 'tensors=int32[3]')
    assert [x['cast'] for x in listed['operands'][0]['given']] == [None, 'float32']
    assert listed['results'][0]['shape'] == [5]
    cast = read('explain', 'Cast', '--operand', 'x=float32', '--attr', 'dtype=int32')
    assert (cast['results'][0]['dtype'], cast['results'][0]['shape']) == ('int32', [])
    huge = read('explain', 'Add', '--operand', 'a=float32[1000000,1000000,1000]', '--operand', 'b=float32[1]')
    assert huge['results'][0]['shape'] == [1000000, 1000000, 1000]


def what_is_refused_has_its_exit_code():
    refused = read(*CONV, code=REFUSED)
    assert 'pad' in refused['refusal'] and refused['runs'] is None
    assert 'throws: ' in run(*CONV, code=REFUSED).stdout
    unknown = read('explain', 'Relo', code=REFUSED)
    assert 'Relu' in unknown['similar'] and not unknown['found']
    for arguments in [('explain', 'Relo'), ('list', '--op', 'Relo')]:
        assert 'Relu' in run(*arguments, code=REFUSED).stderr
    for arguments in [(), ('bogus',), ('list', '--dtype', 'float33'), ('list', '--backend', 'bogus'),
                      ('list', '--family', 'bogus'), ('list', '--target', 'bogus'), ('explain',),
                      ('list', '--gradient', '--no-gradient'), ('list', '--json', '--markdown'),
                      ('explain', 'Exp', '--operand', 'x=float33[2]'), ('explain', 'Exp', '--operand', 'x=float32[2'),
                      ('explain', 'Exp', '--operand', 'x=float32[2,]'),
                      ('explain', 'Exp', '--operand', 'x=float32[-1]'),
                      ('explain', 'Exp', '--attr', 'alpha'), ('explain', 'Exp', '--attr', 'a=' + 'x' * 200)]:
        assert run(*arguments, code=USAGE).stderr.strip(), arguments
    run('docs', '--check', os.devnull, code=REFUSED)
    run('docs', '--page', 'bogus', code=USAGE)


def pages_of_ops_are_written_and_checked():
    with tempfile.TemporaryDirectory() as folder:
        index, family = pathlib.Path(folder) / 'ops.md', pathlib.Path(folder) / 'ops' / 'softmax.md'
        run('docs', '--write', folder)
        run('docs', '--check', index)
        assert index.read_text() == run('docs').stdout
        assert family.read_text() == run('docs', '--page', 'softmax').stdout
        assert '| Softmax |' in family.read_text() and '| Exp | float32 |' in run('docs', '--page', 'bounds').stdout
        for stale in index, family, family.with_name('gone.md'):
            kept = stale.read_text() if stale.exists() else None
            stale.write_text('another')
            assert stale.name in run('docs', '--check', index, code=REFUSED).stderr
            stale.unlink() if kept is None else stale.write_text(kept)
        run('docs', '--check', index)


def names_are_found_in_our_words_and_in_others():
    top_k = read('find', 'top_k')['found'][0]
    assert top_k['name'] == 'kg::top_k' and top_k['op'] == 'TopK' and 'kg::top_k(' in top_k['example']
    assert 'largest' in top_k['doc'] and 'top_k(const tensor& x' in top_k['signatures']
    assert {'torch.topk', 'jax.lax.top_k', 'tf.topk'} <= set(top_k['elsewhere'])
    for same in ['topk', 'TopK', 'kg::top_k', 'kerngrad::top_k', 'torch.topk', 'jax.lax.top_k', 'tf.topk']:
        assert read('find', same)['found'][0]['name'] == 'kg::top_k', same
    for wanted, name in [('F.relu', 'kg::relu'), ('torch.nn.functional.relu', 'kg::relu'), ('jax.grad', 'kg::grad'),
                         ('numpy.einsum', 'kg::einsum'), ('Eigen::Map', 'kg::borrow'), ('xt::arange', 'kg::arange'),
                         ('adam', 'kg::adam'), ('padding', 'kg::padding'), ('load_csv', 'kg::io::load_csv'),
                         ('MaxPoolGrad', 'kg::call<"MaxPoolGrad">')]:
        assert name in [f['name'] for f in read('find', wanted)['found']], wanted
    for wanted, name in [('item', 'kg::tensor::item'), ('tensor.dims', 'kg::tensor::dims'),
                         ('kg::tensor::dims', 'kg::tensor::dims'), ('generator.normal', 'kg::generator::normal'),
                         ('at().set', 'kg::tensor_part::set'),
                         ('tensor.at(0, 1).add', 'kg::tensor_part::add'),
                         ('io.named_tensors.contains', 'kg::io::named_tensors::contains')]:
        assert name in [f['name'] for f in read('find', wanted)['found']], wanted
    item = read('find', 'tensor.item')['found'][0]
    assert 'double item() const;' in item['signatures'].split('\n') and item['page'] == 'docs/reference/tensor.md'
    assert item['doc'].startswith('The only element') and 'docs/reference/tensor.md' in run('find', 'item').stdout
    for wanted, members in [('stft_options', {'fft_length': 'std::optional<std::int64_t> fft_length{};',
                                              'window': 'tensor window{};'}),
                            ('moments_parts', {'mean': 'tensor mean, variance;', 'variance': 'tensor mean, variance;'}),
                            ('kernel_config', {'dispose': 'std::function<void()> setup{}, dispose{};'}),
                            ('dtype', {'boolean': 'dtype::boolean'}),
                            ('generator', {'generator': 'explicit generator(std::int64_t seed = 0);'}),
                            ('keep', {'all_in': 'constexpr kept all_in{0xff};'})]:
        found = read('find', wanted)['found'][0]
        named = {member['name'].rpartition('::')[2]: member['signatures'] for member in found['members']}
        assert found['name'] == 'kg::' + wanted and members.items() <= named.items(), (wanted, named)
        assert all(signature in run('find', wanted).stdout for signature in members.values()), wanted
    assert run('find', 'moments_parts').stdout.count('tensor mean, variance;') == 1
    boolean = read('find', 'kg::dtype::boolean')['found'][0]
    assert boolean['name'] == 'kg::dtype::boolean' and boolean['doc'] == 'elements of type bool'
    exp = read('find', 'exp')['found'][0]
    assert exp['doc'] == 'e to the power x.' and exp['op'] == 'Exp'
    assert read('find', 'torch.Tensor.dim')['found'][0]['example'] == 'x.rank()'
    shown = run('find', 'torch.topk').stdout
    assert shown.startswith('kg::top_k\n') and 'kerngrad explain TopK' in shown and 'example' in shown


def what_is_not_found_has_near_names_and_an_exit_code():
    for wanted, near in [('topkk', 'kg::top_k'), ('conv2', 'kg::conv2d'), ('moving_averages', 'kg::moving_average'),
                         ('k_top', 'kg::top_k'), ('hyperbolic tangent', 'kg::tanh'),
                         ('tensor.dimms', 'kg::tensor::dims'), ('to_double', 'kg::tensor::to_doubles'),
                         ('generator.normals', 'kg::generator::normal')]:
        told = read('find', wanted, code=REFUSED)
        assert not told['found'] and near in [f['name'] for f in told['near']], (wanted, told)
        assert near in run('find', wanted, code=REFUSED).stdout
    assert read('find', 'qqqqqqqq', code=REFUSED) == {'wanted': 'qqqqqqqq', 'found': [], 'near': []}
    without = read('find', 'np.frexp', code=REFUSED)['found']
    assert [f['offered'] for f in without] == [False] and 'not offered' in run('find', 'np.frexp', code=REFUSED).stdout
    for arguments in [('find',), ('find', '::'), ('find', 'a', 'b')]:
        assert run(*arguments, code=USAGE).stderr.strip(), arguments


def every_op_and_every_typed_name_is_found(rows):
    for op, name in re.findall(r'^\| (\w+) \| (?:`kg::(\w+)`|none)', ops_pages(), re.MULTILINE):
        told = read('find', op)['found']
        assert op in [f['op'] for f in told] and all(f['doc'] for f in told if f['name']), op
        assert not name or f'kg::{name}' in [f['name'] for f in read('find', name)['found']], name


def a_closed_pipe_ends_the_output_only():
    for arguments in (['list', '--json'], ['docs'], ['find', 'conv'], CONV):
        ends = os.pipe()
        os.close(ends[0])
        made = subprocess.run([TOOL, *arguments], stdout=ends[1], stderr=subprocess.PIPE, text=True)
        os.close(ends[1])
        assert made.returncode in (DONE, REFUSED) and not made.stderr, (arguments, made)
    with open('/dev/full', 'w') as full:
        made = subprocess.run([TOOL, 'docs'], stdout=full, stderr=subprocess.PIPE, text=True)
    assert made.returncode == REFUSED and made.stderr.strip()


def help_names_every_command():
    text = run('--help').stdout
    assert all(word in text for word in ('list', 'explain', 'find', 'modules', 'docs', 'Examples', 'Exit codes'))
    assert run('--version').stdout.startswith('kerngrad ')
    compiled = read('list', '--targets')
    assert [t['active'] for t in compiled].count(True) == 1 and all(t['supported'] for t in compiled if t['active'])
    assert all(t['supported'] != bool(t['missing']) for t in compiled), compiled
    return [t['name'] for t in compiled]


all_targets = help_names_every_command()
all_rows = read('list')
rows_are_what_the_explanations_say(all_rows, all_targets)
filters_keep_what_fits(all_rows, all_targets)
pages_have_a_line_an_op(all_rows)
every_op_but_the_helpers_of_gradients_has_a_typed_name(all_rows)
a_call_is_explained()
what_is_refused_has_its_exit_code()
pages_of_ops_are_written_and_checked()
names_are_found_in_our_words_and_in_others()
what_is_not_found_has_near_names_and_an_exit_code()
every_op_and_every_typed_name_is_found(all_rows)
a_closed_pipe_ends_the_output_only()
