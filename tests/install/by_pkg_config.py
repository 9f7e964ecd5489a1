# SPDX-License-Identifier: Apache-2.0
"""Programs that are compiled by hand with what pkg-config says of an installed library."""
import shlex

from prefixes import fresh, needs_of, run, started_alone


class PkgConfig:
    def __init__(self, at, prefix, kind, folder, compiled):
        """`at` says where the sources and the compiler are: check.py. `compiled` maps a compilation to its object, for
        both kinds of the library: their flags to compile with are the same but for the prefix."""
        self.at, self.kind, self.folder, self.prefix, self.compiled = at, kind, fresh(folder), prefix, compiled
        self.env = {'PKG_CONFIG_PATH': str(prefix / at.libdir / 'pkgconfig')}
        self.needs = needs_of(prefix / at.includedir / 'kerngrad', at.compiler)
        self.bmis = prefix / at.libdir / 'kerngrad'

    def flags(self, packages, *what):
        static = ['--static'] if self.kind == 'static' else []
        return shlex.split(run(['pkg-config', *static, *what, *packages], env=self.env))

    def own_modules(self, variant, flags):
        """Compiles the interfaces of a program's own; returns by which flags it finds them."""
        own = fresh(self.folder / f'{variant.name}.bmis')
        suffix, root = self.needs['suffix'][0], self.at.root
        lookup = [word.replace('@DIR@', str(own)) for word in self.needs['lookup']]
        if self.needs['map']:  # one for all modules: those that are installed, and then these
            lines = [f'{name} {own / name}.{suffix}\n' for name, _ in variant.modules]
            (own / 'modules.map').write_text((self.bmis / 'modules.map').read_text() + ''.join(lines))
        for name, source in variant.modules:
            run([*self.at.cxx, *flags, *lookup, *self.needs['only_bmi'], root / source, '-o', own / f'{name}.{suffix}'])
        return lookup

    def pack(self, source):
        made = self.folder / 'pack.so'
        run([*self.at.cxx, '-xc', '-std=c99', '-shared', '-fPIC', '-fvisibility=hidden', self.at.root / source,
             *self.flags(['kerngrad-pack'], '--cflags'), '-o', made])
        return made

    def object(self, variant, source, flags):
        """The object of a source. The other kind of the library has compiled most of them."""
        key = (source, *(word.replace(str(self.prefix), '') for word in map(str, flags)))
        if key not in self.compiled:
            self.compiled[key] = self.folder / f'{variant.name}.{source.stem}.o'
            run([*self.at.cxx, '-Wall', '-Wextra', '-Werror', *flags, '-c', source, '-o', self.compiled[key]])
        return self.compiled[key]

    def program(self, variant):
        """Compiles, links and runs one."""
        root, flags = self.at.root, self.flags(variant.packages, '--cflags')
        if variant.include:
            flags.append(f'-I{root / variant.include}')
        if variant.pack:
            flags.append(f'-DSOFTSHRINK_PACK="{self.pack(variant.pack)}"')
        if variant.modules:
            flags += self.own_modules(variant, flags)
        options = variant.options_for(self.at.compiler)
        # Clang warns of a linker that it does not call.
        compiles = [*flags, *(word for word in options if not word.startswith('-fuse-ld='))]
        sources = [*variant.sources, *(source for _, source in variant.modules)]
        objects = [self.object(variant, root / source, compiles) for source in sources]
        made = self.folder / variant.name
        run([*self.at.cxx, *options, *objects, *self.flags(variant.packages, '--libs'), '-o', made])
        started_alone(made)
        return made
