# SPDX-License-Identifier: Apache-2.0
"""Results of the benchmarks: files in Google Benchmark's format, read, merged and taken apart."""
import json
import re
import statistics

NAME = re.compile(r'(?P<op>[^</]+)(?:<(?P<dtype>\w+)>)?(?:/(?P<variant>.+?))?/target:(?P<target>[^/]+)/n:(?P<n>\d+)$')
# A value whose repetitions lie further apart than this part of it is marked wherever it is shown.
SCATTERS = 0.1
NANOSECONDS = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}


class Unusable(Exception):
    """A file that holds no results; the text says why and what is wanted."""


class Row:
    """One benchmark with all its repetitions; times in nanoseconds of the processor."""

    def __init__(self, name, records):
        self.name = name
        self.times = [r['cpu_time'] * NANOSECONDS[r.get('time_unit', 'ns')] for r in records]
        self.time = statistics.median(self.times)
        self.spread = (max(self.times) - min(self.times)) / self.time if len(self.times) > 1 else None
        first = records[0]
        family, _, self.limit = first.get('label', '').partition(' ')
        self.family = family or name.split('/')[0]
        at = NAME.match(name)
        self.op = at.group('op') if at else name
        self.dtype = at.group('dtype') or '' if at else ''
        self.variant = at.group('variant') or '' if at else ''
        self.target = at.group('target') if at else ''
        self.n = int(at.group('n')) if at else 0
        self.floor = first.get('floor_ns')
        self.operations = median_of(records, 'flops')
        self.bytes = median_of(records, 'bytes_per_second')
        self.items = median_of(records, 'items_per_second')

    @property
    def kernel(self):
        """The op with its dtype and variant, as the name of the benchmark has them."""
        return self.op + (f'<{self.dtype}>' if self.dtype else '') + (f'/{self.variant}' if self.variant else '')

    @property
    def scatters(self):
        """True if the repetitions contradict each other; one alone says nothing."""
        return self.spread is not None and self.spread > SCATTERS

    @property
    def roof(self):
        """The part of the roof that was reached; None for what has no roof."""
        return self.floor / self.time if self.floor else None


def median_of(records, key):
    values = [r[key] for r in records if key in r]
    return statistics.median(values) if values else None


def load(path):
    """The file as it is; raises Unusable."""
    try:
        with open(path, encoding='utf-8') as file:
            found = json.load(file)
    except OSError as error:
        raise Unusable(f'{path}: {error.strerror}') from error
    except ValueError as error:
        raise Unusable(f'{path} is no JSON ({error}); a file of ./dev bench --json is wanted') from error
    if not isinstance(found, dict) or not isinstance(found.get('benchmarks'), list):
        raise Unusable(f'{path} has no list "benchmarks"; a file of ./dev bench --json is wanted')
    return found


def rows_of(found):
    """A Row for each benchmark that ran, in the order of the file."""
    records = {}
    for record in found['benchmarks']:
        if record.get('run_type', 'iteration') == 'iteration' and not record.get('error_occurred'):
            records.setdefault(record.get('run_name', record['name']), []).append(record)
    return [Row(name, of_name) for name, of_name in records.items()]


def repetitions_text(rows):
    """Notes on noise: how often things ran, and what the mark ~ says."""
    least = min((len(row.times) for row in rows), default=0)
    if least < 2:
        return ('Some values stand on one repetition, so how far they scatter is not known: '
                '--benchmark_repetitions=5 measures it.')
    marked = sum(row.scatters for row in rows)
    return (f'Times are medians of at least {least} repetitions; ~ marks the {marked} of {len(rows)} whose repetitions '
            f'lie further apart than {SCATTERS:.0%}.')


def failed_in(found):
    """Name and message of each benchmark that did not run."""
    return [(r['name'], r.get('error_message', '')) for r in found['benchmarks'] if r.get('error_occurred')]


def merged(files):
    """The results of several programs as those of one; the first one's word on the machine, what others add besides."""
    context, benchmarks = {}, []
    for found in files:
        for key, value in found.get('context', {}).items():
            context.setdefault(key, value)
        benchmarks += found['benchmarks']
    return {'context': context, 'benchmarks': benchmarks}


def roofs_of(context):
    """{target: {'fma/f32': 2.4e11, 'read/L1': ...}} of a run's context."""
    roofs = {}
    for key, value in context.items():
        if key.startswith('roof/'):
            _, target, what = key.split('/', 2)
            roofs.setdefault(target, {})[what] = float(value)
    return roofs


def machine_of(context):
    """(label, value) of the facts that a reader of figures wants to know."""
    facts = [('CPU', 'cpu_model'), ('clock as the system says, GHz', 'cpu_clock_ghz'), ('cores', 'cpu_cores'),
             ('caches', 'cpu_caches'), ('last cache that one core fills', 'cache_l3_usable'),
             ('SIMD targets', 'simd_targets'), ('compiler', 'compiler'),
             ('kerngrad', 'version_kerngrad'), ('Highway', 'version_highway'),
             ('Google Benchmark', 'version_google_benchmark'), ('date', 'date')]
    return [(label, str(context[key])) for label, key in facts if context.get(key)]
