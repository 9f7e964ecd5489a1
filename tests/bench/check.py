#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py ROOT [BUILD]: the tools of ./dev bench on results that are made up here; with BUILD, on its programs too."""
import contextlib
import fnmatch
import functools
import html.parser
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
BUILD = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
RUN = ROOT / 'tools' / 'bench' / 'run.py'
sys.path.insert(0, str(ROOT / 'tools' / 'bench'))
import compare  # noqa: E402
import compare_targets  # noqa: E402
import element_times  # noqa: E402
import figures  # noqa: E402
import front_page  # noqa: E402
import heat_map  # noqa: E402
import linalg  # noqa: E402
import op_memory  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
import sizes  # noqa: E402

LEVELS = ('L1', 'L2', 'L3', 'DRAM')
UNITS = ('fma', 'divide', 'root')


def record(name, ns, **more):
    return {'name': name, 'run_name': name, 'run_type': 'iteration', 'cpu_time': ns, 'real_time': 9 * ns,
            'time_unit': 'ns', **more}


def kernel(name, ns, label='unary L2', **more):
    return record(name, ns, label=label, floor_ns=ns / 2, items_per_second=1e9, bytes_per_second=8e9, flops=1e10,
                  **more)


def made_up(repetitions=1):
    """The repetitions of Exp<f32> on AVX2 lie a fifth of their median apart, the others a hundredth."""
    context = {'date': '2026-01-02T03:04:05', 'cpu_model': 'A & B </script>', 'simd_targets': 'AVX2 SSE4'}
    for target in ('AVX2', 'SSE4'):
        context |= {f'roof/{target}/{what}/{t}': '1e+11' for what in UNITS for t in ('f32', 'f64')}
        context |= {f'roof/{target}/{what}/{level}': '5e+10' for what in ('read', 'write', 'copy') for level in LEVELS}
    names = ['Exp<f32>', 'Sum<f64>/rows', 'Cast<u8>/to:f32', 'sgd<f32>']
    rows = [kernel(f'{name}/target:{target}/n:{n}', (100 + n) * (1 + apart * again))
            for name in names for target in ('AVX2', 'SSE4') for n in (1000, 65536)
            for apart in [0.1 if (name, target) == ('Exp<f32>', 'AVX2') else 0.005]
            for again in ([0] if repetitions == 1 else range(-1, repetitions - 1))]
    peers = {'cases': [{'id': 'B4', 'name': 'exp', 'size': '65536', 'unit': 'ns', 'ours': 5600.0, 'comparator': 'eigen',
                        'peers': {'eigen': 6830.0}, 'ratio': 0.82, 'must': 0.85},
                       {'id': 'Q', 'name': 'no peer', 'ours': 1.0}]}
    return {'context': context, 'benchmarks': rows + [record('dispatch/typed/target:AVX2/n:8', 5.0)] * repetitions,
            'peers': peers}


class Page(html.parser.HTMLParser):
    """Tags must be closed in the order in which they were opened; what scripts hold is kept."""
    VOID = {'meta', 'br', 'link', 'img', 'input', 'hr'}

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.attributes, self.scripts = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag == 'script':
            self.scripts.append('')
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == 'script':
            self.scripts[-1] += data


def the_page_is_valid_and_needs_nothing_else():
    text = report.html_of(made_up())
    page = Page(text)
    assert not page.open and not page.wrong, (page.open, page.wrong)
    assert len(page.scripts) == 2, 'what the data holds has ended its script element'
    assert not [a for a in page.attributes if a[0] in ('src', 'href')] and 'url(' not in text and '@import' not in text
    assert not re.findall(r'https?://(?!www\.w3\.org/)', text)
    assert 'prefers-color-scheme: dark' in text
    assert not re.search(r'/\*(STYLE|DATA|SCRIPT)\*/', text)
    ids = [value for key, value in page.attributes if key == 'id']
    assert len(ids) == len(set(ids))
    wanted = set(re.findall(r"get\('([\w-]+)'\)", page.scripts[1]))
    assert wanted <= set(ids), f'the script asks for {wanted - set(ids)}'


def the_page_holds_every_kernel_on_every_target():
    data = json.loads(Page(report.html_of(made_up())).scripts[0])
    assert [k['name'] for k in data['kernels']] == ['Exp<f32>', 'Sum<f64>/rows', 'Cast<u8>/to:f32', 'sgd<f32>']
    assert data['targets'] == ['AVX2', 'SSE4'] and len(data['rows']) == 16
    assert data['rows'][0] == [0, 0, 1000, 1100.0, 0.5, 'L2', 1e9, 8e9, 1e10, None]
    assert data['roofs']['SSE4']['read/L3'] == 5e10
    assert data['others'] == [['dispatch', 'typed', 'AVX2', 8, 5.0, None]]
    assert data['peers']['cases'][0]['ours'] == 5600.0


def the_table_holds_every_kernel_too():
    text = report.markdown_of(made_up())
    for wanted in ('Exp<f32>', 'Sum<f64>/rows', 'Cast<u8>/to:f32', 'sgd<f32>', 'AVX2', 'SSE4', '50% L2', '0.82 eigen',
                   'B4 exp', 'dispatch/typed', '| read L3, GB/s | 50 | 50 |'):
        assert wanted in text, wanted
    for lines in re.findall(r'(?:^\|.*\n)+', text, re.M):
        assert len({line.count('|') for line in lines.splitlines()}) == 1, lines


def values_that_scatter_are_marked_and_one_repetition_says_nothing():
    data = data_of(3)
    assert [row[9] for row in data['rows'][:4]] == [0.2, 0.2, 0.01, 0.01] and data['scatters'] == 0.1
    text = report.markdown_of(made_up(3))
    assert text.count('| ~') == 2 and '| Exp<f32> | 1000 | ~1.1 us, ' in text, text
    assert 'at least 3 repetitions; ~ marks the 2 of 17' in text, text
    assert '~' not in report.markdown_of(made_up()) and 'on one repetition' in data_of(1)['noise']


def data_of(repetitions):
    return json.loads(Page(report.html_of(made_up(repetitions))).scripts[0])


def results_without_roofs_or_kernels_make_a_report_all_the_same():
    for found in ({'benchmarks': []}, {'context': {}, 'benchmarks': [record('dispatch/typed/target:AVX2/n:8', 5.0)]}):
        assert not Page(report.html_of(found)).wrong
        assert report.markdown_of(found).startswith('# kerngrad benchmarks')


def the_heat_map_has_the_part_of_the_bound_on_each_target():
    """Kernels take twice their floor here, and the first target is the best one."""
    shown = heat_map.SHOWN
    heat_map.SHOWN = [('Exp<f32>', 1000, 'exp'), ('Sum<f64>/rows', 65536, 'sums')]
    data = heat_map.record_of(made_up())
    assert data['targets'] == ['AVX2', 'SSE4'] and data['ops'] == {'exp': [0.5, 0.5], 'sums': [0.5, 0.5]}, data
    assert (data['machine'], data['date']) == ('A & B </script>', '2026-01-02'), data
    heat_map.SHOWN = [('Sin<f32>', 1000, 'sin')]
    try:
        heat_map.record_of(made_up())
        raise AssertionError('a kernel that was not measured is accepted')
    except SystemExit as stop:
        assert 'Sin<f32>, n 1000' in str(stop), stop
    heat_map.SHOWN = shown


def lines_against_size_have_the_better_of_two_settings_and_square_products_alone():
    def case(name, size, **peers):
        return {'name': name, 'size': size, 'ours': 10.0, 'peers': peers}

    result = {'machine': {'cpu': 'A CPU'}, 'cases': [
        case('add_fresh', '8', eigen=5, torch=9, torch_tuned=7, floor=1), case('exp', '64', onednn=3),
        case('matmul', '16x16x16', eigen=2), case('matmul', '64x784x128', eigen=2), case('softmax', '4x8')]}
    data = sizes.record_of(result, '2026-01-02')
    assert data['panels'] == {
        'add': {'kerngrad': [(8, 10)], 'Eigen': [(8, 5)], 'libtorch': [(8, 7)]},
        'exp': {'kerngrad': [(64, 10)], 'oneDNN': [(64, 3)]},
        'matmul, n x n': {'kerngrad': [(16, 10)], 'Eigen': [(16, 2)]}, 'softmax': {'kerngrad': [(32, 10)]}}, data


def element_record(*times):
    """A record of calls on 4, 5, 6, ... elements of 100 bytes that take these times, with a cache of 1000 bytes."""
    lines = ['L1\t1000', *(f'add\t100\t{n}\t{time}' for n, time in enumerate(times, 4))]
    return element_times.record_of(lines, 'A CPU', '2026-01-02')


def steps_between_sizes_are_found_except_near_a_cache_and_where_a_call_costs_the_same():
    def steps(of_element, *times):
        record = element_record(*times)
        record['ops']['add']['bytes'] = of_element
        return [(count, round(ratio, 2)) for _, count, _, ratio in element_times.jumps(record)]

    assert steps(1, 4, 5, 6) == [], 'the same for each element'
    assert steps(1, 4, 5 * 1.29, 6 * 1.29) == [] and steps(1, 4, 5 * 1.31, 6 * 1.31) == [(4, 1.31)]
    assert steps(1, 4 * 1.31, 5, 6) == [(4, 0.76)], 'the time for an element falls too fast'
    assert steps(100, 4, 5 * 1.31, 6 * 1.31) == [] and steps(251, 4, 5, 9, 9) == [], 'half to twice the cache'
    assert steps(501, 4, 5 * 1.31, 6 * 1.31) == [(4, 1.31)], 'far beyond the cache'
    few = element_times.record_of(['add\t1\t1\t9', 'add\t1\t2\t9', 'add\t1\t3\t9'], 'A CPU', '2026-01-02')
    assert list(element_times.jumps(few)) == [], 'a call on two elements costs as much as one on one'


def the_figure_of_elements_marks_the_caches_and_is_on_the_page_once_there_is_a_record():
    record = element_record(40, 50, 90, 95, 100, 110, 120, 130)
    drawn = figures.of_elements(record)['element-times']('dark')
    assert drawn.startswith('<svg') and '>L1</text>' in drawn and '>add</text>' in drawn, drawn
    assert 'Measured on A CPU, 2026-01-02, by tools/bench/element_times.py' in drawn
    assert figures.of_elements(None) == {} and front_page.elements_section(None) == ''
    assert 'finds none.' in front_page.elements_section(record)
    record['ops']['add']['bytes'] = 1
    assert 'finds 1.' in front_page.elements_section(record)


def a_peak_is_copies_and_bytes_of_two_sizes_and_no_op_may_need_more():
    mebi = 1 << 20
    assert op_memory.peak((mebi, 4 * mebi), (mebi, 4 * mebi)) == (1, 0)
    assert op_memory.peak((mebi, 4 * mebi), (65536, 65536)) == (0, 65536)
    assert op_memory.peak((mebi, 4 * mebi), (2 * mebi + 65000, 8 * mebi + 65000)) == (2, 64 << 10)
    assert op_memory.peak((mebi, 4 * mebi), ('none', 'none')) == (op_memory.NONE, 0)
    assert op_memory.peak((mebi, 4 * mebi), (16 * mebi, 256 * mebi)) == (64, op_memory.GROWS)
    before = {('Sort', 'rows'): ((0.5, 0), (op_memory.NONE, 0))}
    for value, gradient, wanted in (((0.5, 0), (op_memory.NONE, 0), 0), ((0, 0), (op_memory.NONE, 0), 0),
                                    ((1, 0), (op_memory.NONE, 0), 1), ((0.5, 1 << 16), (op_memory.NONE, 0), 1),
                                    ((0.5, 0), (0, 0), 1)):
        found = list(op_memory.differences({('Sort', 'rows'): (value, gradient)}, before))
        assert len(found) == wanted, (value, gradient, found)
    assert list(op_memory.differences({}, before)) == ['Sort rows: recorded, but not measured']
    assert list(op_memory.differences(before, {})) == ['Sort rows: not recorded']
    with tempfile.TemporaryDirectory() as folder:
        op_memory.write(pathlib.Path(folder) / 'x.h', before)
        assert op_memory.read(pathlib.Path(folder) / 'x.h') == before


def the_tables_of_linalg_have_a_row_for_each_function():
    small = {'solve/4x4/float64/n:10000': {'fastest': 0.19}, 'solve/8x8/float32/n:10000': {'fastest': 0.5}}
    made = linalg.markdown({'qr/n:256': {'after_us': 1500, 'fastest': 1.02}}, small, '2026-01-02').splitlines()
    assert '| `solve` | 0.19 |  |  | 0.50 |  |  |' in made and '| `qr` | 256 | 1.50 | 1.02 |' in made, made
    assert made[-1].endswith('2026-01-02, by `tools/bench/linalg.py`.'), made


def verdicts(old, new):
    def found(times):
        return {'benchmarks': [record('a/target:X/n:1', t) for t in times]}
    _, pairs = compare.report(found(old), found(new))
    return pairs[0].verdict


def a_difference_beyond_all_repetitions_is_one():
    assert verdicts([100, 102, 104], [90, 91, 92]) == 'faster'
    assert verdicts([90, 91, 92], [100, 102, 104]) == 'slower'
    assert verdicts([100, 102, 110], [95, 101, 104]) == 'same', 'the repetitions overlap'
    assert verdicts([100.0, 100.1, 100.2], [101.0, 101.1, 101.2]) == 'same', 'one per cent is nothing'


def single_runs_are_taken_to_be_noisy():
    assert verdicts([100], [106]) == 'same' and verdicts([106], [100]) == 'same'
    assert verdicts([100], [125]) == 'slower' and verdicts([125], [100]) == 'faster'


def a_comparison_says_what_is_in_one_run_only_and_that_the_machine_is_another():
    old = {'context': {'cpu_model': 'A'}, 'benchmarks': [record('gone/n:1', 1), record('both/n:1', 10)]}
    new = {'context': {'cpu_model': 'B'}, 'benchmarks': [record('both/n:1', 20), record('new/n:1', 1)]}
    text, pairs = compare.report(old, new)
    assert [p.name for p in pairs] == ['both/n:1'] and '| both/n:1 | 10 ns | 20 ns | 2.000 |' in text
    assert 'Not the same CPU' in text and '- gone/n:1' in text and '- new/n:1' in text


def times_are_brought_to_one_unit_and_failures_left_out():
    rows = results.rows_of({'benchmarks': [
        record('a/n:1', 2) | {'time_unit': 'us'}, record('b/n:1', 1, error_occurred=True, error_message='why'),
        record('a/n:1_mean', 3) | {'run_type': 'aggregate'}]})
    assert [(r.name, r.time) for r in rows] == [('a/n:1', 2000.0)]


def rounds_of(*times):
    """Rounds of Sort<f32> at one size; each has its times on AVX3, AVX2 and SSE4."""
    return [{'context': {'simd_targets': 'AVX3 AVX2 SSE4'},
             'benchmarks': [record(f'Sort<f32>/whole/target:{target}/n:16384', ns)
                            for target, ns in zip(('AVX3', 'AVX2', 'SSE4'), of_round) if ns]} for of_round in times]


def slower_of(*times):
    rounds = rounds_of(*times)
    return [(one.wide, one.narrow, round(one.ratio, 2)) for one in compare_targets.slower_targets(
        compare_targets.least_times(rounds), compare_targets.targets_of(rounds[0]))]


def a_target_is_slower_when_its_fastest_round_is_slower_than_that_of_a_narrower_one():
    assert slower_of((126, 100, 200)) == [('AVX3', 'AVX2', 1.26)]
    assert slower_of((124, 100, 200)) == [] and slower_of((50, 100, 200)) == []
    assert slower_of((200, 300, 100)) == [('AVX2', 'SSE4', 3.0), ('AVX3', 'SSE4', 2.0)], 'the worst first'
    assert slower_of((300, 100, 200), (120, 900, 200), (400, 110, 500)) == [], 'one round was disturbed'
    assert slower_of((126, 900, 900), (900, 100, 900)) == [('AVX3', 'AVX2', 1.26)], 'its rounds alternate'
    assert slower_of((200, None, 100)) == [('AVX3', 'SSE4', 2.0)], 'a target that was not measured'


def a_slower_target_is_accepted_by_name_target_and_ratio():
    rounds = rounds_of((150, 100, 200))
    least, order = compare_targets.least_times(rounds), compare_targets.targets_of(rounds[0])
    entry = {'name': 'Sort<f*>/whole', 'target': 'AVX3*', 'most': 1.6, 'reason': 'why'}
    text, code = compare_targets.report(least, order, [])
    assert code == 1 and 'slower: Sort<f32>/whole, n = 16384: AVX3 150 ns, AVX2 100 ns, ratio 1.50' in text, text
    text, code = compare_targets.report(least, order, [entry])
    assert code == 0 and 'as slower_targets.toml says: Sort<f32>/whole' in text, text
    for other in ({'name': 'Sort<f32>'}, {'target': 'AVX2'}, {'most': 1.4}):
        text, code = compare_targets.report(least, order, [entry | other])
        assert code == 1 and 'is not slower here' in text, text


def every_entry_of_the_list_of_slower_targets_has_a_reason():
    assert all(1.25 < entry['most'] < 10 for entry in compare_targets.accepted_list())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'list.toml'
        for text in ('[[kernel]]\nname = "A"\ntarget = "B"\nmost = 2\n',
                     '[[kernel]]\nname = "A"\ntarget = "B"\nmost = 2\nreason = ""\n'):
            path.write_text(text)
            try:
                compare_targets.accepted_list(path)
            except results.Unusable as error:
                assert 'reason are wanted' in str(error), error
            else:
                raise AssertionError(text)


def a_regular_expression_has_the_kernels_that_it_is_made_of_and_no_others():
    names = ['Sort<f32>/whole', 'Cast<c64>/to:f32', 'A.B<u8>']
    found = compare_targets.exact(names)
    assert all(re.search(found, f'{name}/target:AVX2/n:16') for name in names)
    for other in ('Sort<f32>', 'ArgSort<f32>/whole', 'AxB<u8>'):
        assert not re.search(found, f'{other}/target:AVX2/n:16'), other


def command(*arguments):
    return subprocess.run([sys.executable, str(RUN), *map(str, arguments)], capture_output=True, text=True, check=False)


def refused(done, *words):
    lines = done.stderr.strip().splitlines()
    assert done.returncode == 2 and lines and all(word in lines[-1] for word in words), (done.returncode, done.stderr)


def compare_exits_with_1_only_when_told_to_and_something_is_slower():
    with tempfile.TemporaryDirectory() as folder:
        fast, slow = (pathlib.Path(folder) / name for name in ('fast.json', 'slow.json'))
        fast.write_text(json.dumps({'benchmarks': [record('a/n:1', t) for t in (100, 101)]}))
        slow.write_text(json.dumps({'benchmarks': [record('a/n:1', t) for t in (150, 151)]}))
        assert command('--compare', fast, slow).returncode == 0
        assert command('--compare', fast, slow, '--fail-above', '1.1').returncode == 1
        assert command('--compare', fast, slow, '--fail-above', '1.6').returncode == 0
        assert command('--compare', slow, fast, '--fail-above', '1.1').returncode == 0
        assert '| a/n:1 | 100 ns | 150 ns | 1.498 |' in command('--compare', fast, slow).stdout
        refused(command('--compare', fast, pathlib.Path(folder) / 'nowhere.json'), 'nowhere.json')
        (pathlib.Path(folder) / 'text.json').write_text('no JSON')
        refused(command('--compare', fast, pathlib.Path(folder) / 'text.json'), 'text.json', '--json')
        (pathlib.Path(folder) / 'other.json').write_text('[1]')
        refused(command('--compare', fast, pathlib.Path(folder) / 'other.json'), 'other.json', 'benchmarks')


def options_that_make_no_sense_are_refused_with_2():
    refused(command('--filter', '('), '--filter', 'regular expression')
    refused(command('--fail-above', '1.1'), '--compare')
    refused(command('--from', 'x.json', '--target', 'AVX2'), '--from')
    refused(command('--build', '/nowhere'), '/nowhere')
    refused(command('--compare-targets', '--quick'), '--compare-targets', '--filter')


def a_report_is_made_of_an_earlier_run():
    with tempfile.TemporaryDirectory() as folder:
        earlier, out = pathlib.Path(folder) / 'earlier.json', pathlib.Path(folder) / 'new' / 'out'
        earlier.write_text(json.dumps(made_up()))
        done = command('--from', earlier, '--report', out)
        assert done.returncode == 0, done.stderr
        assert 'Exp<f32>' in (out / 'report.md').read_text() and 'Exp<f32>' in (out / 'index.html').read_text()


# ------------------------------------------------------------------------------------------ with the programs

def slowest_target():
    """The last of the CPU targets that the build has, by the sentence that names them."""
    return command('--build', BUILD, '--no-build', '--target', 'ABACUS').stderr.split('there are: ')[1].split()[-1]


@functools.cache
def listed():
    """All benchmarks by their names."""
    done = command('--build', BUILD, '--no-build', '--benchmark_list_tests')
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def unknown_targets_filters_and_sizes_say_what_there_is():
    refused(command('--build', BUILD, '--no-build', '--target', 'ABACUS'), 'ABACUS', slowest_target())
    refused(command('--build', BUILD, '--no-build', '--filter', 'Softmox'), 'Softmox', 'Softmax')
    refused(command('--build', BUILD, '--no-build', '--sizes', 'many'), 'many', 'whole numbers')
    refused(command('--build', BUILD, '--no-build', '--benchmark_nonsense=1'), 'nonsense')


def one_file_holds_the_results_of_all_programs_and_their_roofs():
    target = slowest_target()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'all.json'
        done = command('--build', BUILD, '--no-build', '--target', target, '--sizes', '16,1000',
                       '--benchmark_min_time=0.0001',
                       '--filter', r'^(Add<f32>|RealDiv<f64>|Sum<i64>/rows|dispatch/typed)/',
                       '--json', out, '--report', folder)
        assert done.returncode == 0, done.stderr
        found = results.load(out)
        rows = {row.name: row for row in results.rows_of(found)}
        assert {f'Add<f32>/target:{target}/n:16', f'Sum<i64>/rows/target:{target}/n:1000',
                f'dispatch/typed/target:{target}/n:8'} <= set(rows), list(rows)
        roofs = results.roofs_of(found['context'])
        assert list(roofs) == [target] and set(roofs[target]) == {
            *(f'{what}/{t}' for what in UNITS for t in ('f32', 'f64')),
            *(f'{what}/{level}' for what in ('read', 'write', 'copy') for level in LEVELS)}
        assert all(value > 1e8 for value in roofs[target].values()), roofs
        for fact in ('cpu_model', 'simd_targets', 'compiler', 'version_kerngrad', 'version_highway',
                     'version_google_benchmark'):
            assert found['context'].get(fact), fact
        # Some virtual machines state no caches.
        assert bool(found['context']['cpu_caches']) == pathlib.Path('/sys/devices/system/cpu/cpu0/cache').is_dir()
        # No more than the system states, whatever was measured.
        stated = re.search(r'L3 (\d+) KiB', found['context']['cpu_caches'])
        usable = float(found['context']['cache_l3_usable'].removesuffix(' KiB'))
        assert usable > 0 and (not stated or usable <= int(stated.group(1)) * 1.001), found['context']
        add = rows[f'Add<f32>/target:{target}/n:1000']
        assert add.family == 'elementwise' and add.limit in ('L1', 'fma'), (add.family, add.limit)
        # Three arrays of 4000 bytes fit the first level anywhere: a pair goes at a copy's rate, the third is read.
        of = roofs[target]
        floor = max(8000 / of['copy/L1'] + 4000 / of['read/L1'], 1000 / of['fma/f32']) * 1e9
        assert abs(add.floor / floor - 1) < 1e-3 and abs(add.roof * add.time / floor - 1) < 1e-3, (add.floor, floor)
        # A quotient takes longer than moving its 24 bytes.
        div = rows[f'RealDiv<f64>/target:{target}/n:1000']
        floor = 1000 / of['divide/f64'] * 1e9
        assert div.limit == 'divider' and abs(div.floor / floor - 1) < 1e-3, (div.limit, div.floor, floor)
        assert abs(add.bytes / add.items - 12) < 1e-6 and abs(add.operations / add.items - 1) < 1e-6
        assert 'Add<f32>' in (pathlib.Path(folder) / 'report.md').read_text()


def targets_are_compared_in_alternating_rounds():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'all.json'
        done = command('--build', BUILD, '--no-build', '--compare-targets', '--filter', '^Neg<f32>', '--json', out)
        assert done.returncode in (0, 1), done.stderr  # the machine may have other work to do
        rows = results.rows_of(results.load(out))
        assert rows and all(row.op == 'Neg' and len(row.times) % compare_targets.ROUNDS == 0 for row in rows)
        assert f'round {compare_targets.ROUNDS} of' in done.stdout, done.stdout


def every_entry_of_the_list_of_slower_targets_names_a_kernel():
    names = [line.split('/target:')[0] for line in listed()]
    for entry in compare_targets.accepted_list():
        assert fnmatch.filter(names, entry['name']), entry['name']


def scans_are_measured_along_the_last_the_only_and_the_first_axis():
    names = {line.split('/target:')[0] for line in listed()}
    for op in ('Cumsum', 'Cumprod', 'CumMax', 'CumMin'):
        assert {f'{op}<f32>', f'{op}<f32>/all', f'{op}<f32>/columns'} <= names, op


def every_kernel_of_the_ops_page_and_every_optimizer_step_is_measured():
    names = {line.split('/')[0] for line in listed()}
    short = {'float32': 'f32', 'float64': 'f64', 'int32': 'i32', 'int64': 'i64', 'uint8': 'u8', 'bool': 'bool',
             'complex64': 'c64'}
    wanted = set()
    for page in (ROOT / 'docs' / 'ops').glob('*.md'):
        head, _, table = page.read_text().partition('## Kernels and gradients\n')
        for line in table.splitlines():
            cells = [cell.strip() for cell in re.split(r'(?<!\\)\|', line)]
            if len(cells) < 3 or cells[1] in ('op', '---', 'Identity', 'Reshape', 'ExpandDims'):  # these share elements
                continue
            stated = cells[2] or re.search(r'^Kernels exist for (.*), unless', head, re.MULTILINE)[1]
            types = short if stated in ('any', 'any dtype') else [t for t in stated.split(', ') if t in short]
            wanted |= {f'{cells[1]}<{short[t]}>' for t in types}
    assert len(wanted) > 300, len(wanted)
    updates = (ROOT / 'kernels' / 'optimizer' / 'update.h').read_text()
    for name, dtype in re.findall(r'^void (\w+)_(float\d\d)\(', updates, re.M):
        wanted.add(f'{name}<{short[dtype]}>')
    assert wanted <= names, sorted(wanted - names)


TOOLS = [the_page_is_valid_and_needs_nothing_else, the_page_holds_every_kernel_on_every_target,
         the_table_holds_every_kernel_too, values_that_scatter_are_marked_and_one_repetition_says_nothing,
         results_without_roofs_or_kernels_make_a_report_all_the_same,
         the_heat_map_has_the_part_of_the_bound_on_each_target,
         lines_against_size_have_the_better_of_two_settings_and_square_products_alone,
         a_difference_beyond_all_repetitions_is_one, single_runs_are_taken_to_be_noisy,
         a_comparison_says_what_is_in_one_run_only_and_that_the_machine_is_another,
         steps_between_sizes_are_found_except_near_a_cache_and_where_a_call_costs_the_same,
         the_figure_of_elements_marks_the_caches_and_is_on_the_page_once_there_is_a_record,
         a_peak_is_copies_and_bytes_of_two_sizes_and_no_op_may_need_more,
         the_tables_of_linalg_have_a_row_for_each_function,
         times_are_brought_to_one_unit_and_failures_left_out,
         compare_exits_with_1_only_when_told_to_and_something_is_slower,
         a_target_is_slower_when_its_fastest_round_is_slower_than_that_of_a_narrower_one,
         a_slower_target_is_accepted_by_name_target_and_ratio, every_entry_of_the_list_of_slower_targets_has_a_reason,
         a_regular_expression_has_the_kernels_that_it_is_made_of_and_no_others,
         options_that_make_no_sense_are_refused_with_2, a_report_is_made_of_an_earlier_run]
PROGRAMS = [unknown_targets_filters_and_sizes_say_what_there_is,
            one_file_holds_the_results_of_all_programs_and_their_roofs, targets_are_compared_in_alternating_rounds,
            every_entry_of_the_list_of_slower_targets_names_a_kernel,
            scans_are_measured_along_the_last_the_only_and_the_first_axis,
            every_kernel_of_the_ops_page_and_every_optimizer_step_is_measured]

for check in PROGRAMS if BUILD else TOOLS:
    print(check.__name__.replace('_', ' '), flush=True)
    with contextlib.redirect_stderr(io.StringIO()):
        check()
