#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""graph.py KERNGRAD PAGE: `kerngrad graph`: what a model needs, runs on files, refusals; PAGE has the table of ops.

Without PAGE the tool was built without graph models, and has to say so.
"""
import ast
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
DONE, REFUSED, USAGE = 0, 1, 2


def run(*arguments, code=DONE):
    made = subprocess.run([TOOL, 'graph', *map(str, arguments)], capture_output=True, text=True)
    assert made.returncode == code, f'{arguments}: exit {made.returncode}, wanted {code}\n{made.stdout}{made.stderr}'
    return made


def save_npy(path, shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    path.write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() +
                     struct.pack(f'<{len(values)}f', *values))


def load_npy(path):
    data = path.read_bytes()
    length = struct.unpack('<H', data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    assert header['descr'] == '<f4', header
    return list(header['shape']), list(struct.unpack(f'<{(len(data) - 10 - length) // 4}f', data[10 + length:]))


def write_model(path, op):
    """y = op(x * x, x), z = x * x."""
    shape = {'shape': {'dim': [{'size': '-1'}, {'size': '2'}]}}
    nodes = [{'name': 'x', 'op': 'Placeholder', 'attr': {'dtype': {'type': 'DT_FLOAT'}, 'shape': shape}},
             {'name': 'square', 'op': 'Mul', 'input': ['x', 'x']},
             {'name': 'y', 'op': op, 'input': ['square', 'x']}]
    path.write_text(json.dumps({'format': 'graph-model', 'modelTopology': {'node': nodes}, 'weightsManifest': []}))


def check_says_what_runs_and_what_is_missing(folder):
    model = folder / 'model.json'
    write_model(model, 'AddV2')
    told = json.loads(run('check', model, '--json').stdout)
    assert {op['op']: (op['nodes'], op['by']) for op in told['ops']} == {
        'Placeholder': (1, 'graph'), 'Mul': (1, 'Multiply'), 'AddV2': (1, 'Add')}, told
    assert told['inputs'][0]['shape'] == [-1, 2] and told['inputs'][0]['dtype'] == 'float32', told
    assert '0 missing' in run('check', model).stdout
    write_model(model, 'NoSuchOp')
    assert 'NoSuchOp' in run('check', model, code=REFUSED).stdout
    assert not [op for op in json.loads(run('check', model, '--json', code=REFUSED).stdout)['ops']
                if op['op'] == 'NoSuchOp'][0]['by']


def a_run_reads_and_writes_files(folder):
    model, x, y = folder / 'model.json', folder / 'x.npy', folder / 'y.npy'
    write_model(model, 'AddV2')
    save_npy(x, [2, 2], [1, 2, 3, -4])
    page = run('run', model, '--input', f'x={x}', '--output', f'y={y}', '--threads', 2, '--repeat', 3).stdout
    assert load_npy(y) == ([2, 2], [2, 6, 12, 12]), load_npy(y)
    assert 'from 2 to 12, mean 8' in page and '2 threads' in page, page
    run('run', model, '--input', x, '--output', y)
    assert 'float32 [1, 2]' in run('run', model, '--fill').stdout


def a_profile_names_ops_and_nodes(folder):
    model, trace, dot = folder / 'model.json', folder / 'trace.json', folder / 'plan.dot'
    write_model(model, 'AddV2')
    page = run('run', model, '--fill', '--profile', '--trace', trace, '--dot', dot).stdout
    assert 'fused ' in page and 'y, fused [1, 2]' in page, page
    assert {'Add', 'Multiply'} <= {event.get('name') for event in json.loads(trace.read_text())['traceEvents']}
    assert dot.read_text().startswith('digraph'), dot.read_text()


def write_layer(path):
    """values and places of the two largest of relu(x w), w of constants."""
    size = {'dim': [{'size': '64'}, {'size': '64'}]}
    weights = {'dtype': 'DT_FLOAT', 'tensorShape': size, 'floatVal': [0.5]}
    two = {'dtype': 'DT_INT32', 'tensorShape': {}, 'intVal': [2]}
    nodes = [{'name': 'x', 'op': 'Placeholder', 'attr': {'dtype': {'type': 'DT_FLOAT'}, 'shape': {'shape': size}}},
             {'name': 'w', 'op': 'Const', 'attr': {'dtype': {'type': 'DT_FLOAT'}, 'value': {'tensor': weights}}},
             {'name': 'k', 'op': 'Const', 'attr': {'dtype': {'type': 'DT_INT32'}, 'value': {'tensor': two}}},
             {'name': 'product', 'op': 'MatMul', 'input': ['x', 'w']},
             {'name': 'relu', 'op': 'Relu', 'input': ['product']},
             {'name': 'y', 'op': 'TopKV2', 'input': ['relu', 'k']}]
    path.write_text(json.dumps({'format': 'graph-model', 'modelTopology': {'node': nodes}, 'weightsManifest': []}))


def a_profile_and_a_trace_are_of_the_plan(folder):
    """Product and activation are one call; nothing of the planning is there, each call once. A roof is where the row
    states its cost."""
    model, trace = folder / 'model.json', folder / 'trace.json'
    write_layer(model)
    page = run('run', model, '--fill', '--profile', '--trace', trace, '--repeat', 3).stdout
    calls = [event['name'] for event in json.loads(trace.read_text())['traceEvents'] if event['ph'] == 'X']
    assert calls == ['_FusedMatMul', 'TopK'], calls
    assert 'Relu' not in page, page
    lines = [line.split() for line in page.splitlines()]
    by_op = {line[0]: line[4] for line in lines if len(line) == 5}
    assert by_op['TopKV2'] == '-' and int(by_op['MatMul']) > 0 and int(by_op['all']) > 0, by_op
    nodes = {line[4]: line[2:4] for line in lines if len(line) > 5 and line[4].endswith(',')}
    assert nodes['y,'] == ['-', '-'], nodes
    roof, limit = nodes['product,']
    assert int(roof) > 0 and limit in ('fma', 'L1', 'L2', 'L3', 'DRAM'), nodes


def what_is_wrong_is_said_in_a_sentence(folder):
    model, x = folder / 'model.json', folder / 'x.npy'
    write_model(model, 'AddV2')
    save_npy(x, [1, 3], [1, 2, 3])
    assert 'x=FILE.npy' in run('run', model, code=USAGE).stderr
    assert '[1, 3]' in run('run', model, '--input', f'x={x}', code=USAGE).stderr
    assert 'nothing.json' in run('run', folder / 'nothing.json', '--fill', code=USAGE).stderr
    assert 'nothing.json' in run('check', folder / 'nothing.json', code=USAGE).stderr
    run(code=USAGE)


def names_of_a_model_are_shown_without_control_sequences(folder):
    """Names and ops of a model, its results, its errors: none of it reaches a terminal as a command."""
    model, evil = folder / 'model.json', 'a\x1b]0;title\x07\x1b[2J\n\x7f\u009b31m\u202e\u00e9'
    kind = {'dtype': {'type': 'DT_FLOAT'}, 'shape': {'shape': {'dim': [{'size': '2'}]}}}
    for op in ('Neg', 'No' + evil):
        nodes = [{'name': 'x' + evil, 'op': 'Placeholder', 'attr': kind},
                 {'name': 'y' + evil, 'op': op, 'input': ['x' + evil]}]
        model.write_text(json.dumps({'format': 'graph-model', 'modelTopology': {'node': nodes}, 'weightsManifest': []}))
        for arguments in (['check', model], ['check', model, '--json'], ['run', model, '--fill', '--profile'],
                          ['run', model], ['run', model, '--fill', '--output', f'y{evil}={folder}/no.folder/y.npy']):
            made = subprocess.run([TOOL, 'graph', *map(str, arguments)], capture_output=True)
            said = (made.stdout + made.stderr).decode()
            assert not [c for c in said if c != '\n' and (not c.isprintable() or c == '\u202e')], (arguments, said)
            assert made.returncode in (DONE, REFUSED, USAGE) and said, (arguments, said)
            assert all('title' in line for line in said.splitlines() if '31m' in line), said
        assert '\\x1b[2J\\n\\x7f' in run('check', model, code=DONE if op == 'Neg' else REFUSED).stdout
        told = json.loads(run('check', model, '--json', code=DONE if op == 'Neg' else REFUSED).stdout)
        assert told['inputs'][0]['name'] == 'x' + evil, told


def main():
    if len(sys.argv) < 3:
        assert '-Dgraph=enabled' in run('ops', code=REFUSED).stderr
        return
    assert run('ops').stdout in pathlib.Path(sys.argv[2]).read_text(), f'{sys.argv[2]} lacks what `graph ops` writes'
    for case in (check_says_what_runs_and_what_is_missing, a_run_reads_and_writes_files, a_profile_names_ops_and_nodes,
                 a_profile_and_a_trace_are_of_the_plan, what_is_wrong_is_said_in_a_sentence,
                 names_of_a_model_are_shown_without_control_sequences):
        with tempfile.TemporaryDirectory() as folder:
            case(pathlib.Path(folder))


main()
