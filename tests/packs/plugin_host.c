// SPDX-License-Identifier: Apache-2.0
// host PLUGIN: a program in C that is not linked with kerngrad opens a plugin that is, calls it from two threads and
// closes it, again and again. Static thread-local storage is what there is little of at run time: the library's part of
// it is held to a bound here.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { rounds = 20, most_static_tls = 256 };

typedef double (*slope_function)(double);

static int wrong = 0;

static void check(slope_function slope, double x) {
  const double wanted = (1 + x) * exp(x), got = slope(x);
  if (!(fabs(got - wanted) < 1e-5 * wanted)) {
    printf("the slope at %g is %g, not %g\n", x, got, wanted);
    wrong = 1;
  }
}

static void* on_thread(void* slope) {
  check(*(slope_function*)slope, 2);
  return NULL;
}

// The largest block of thread-local storage of a library whose name says that it is the plugin or kerngrad.
static int look_at_tls(struct dl_phdr_info* info, size_t size, void* most) {
  (void)size;
  if (!strstr(info->dlpi_name, "kerngrad.so") && !strstr(info->dlpi_name, "plugin.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_phdr[i].p_memsz > *(size_t*)most)
      *(size_t*)most = info->dlpi_phdr[i].p_memsz;
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  size_t tls = 0;
  for (int i = 0; i < rounds; ++i) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
      printf("%s\n", dlerror());
      return 1;
    }
    slope_function slope;
    *(void**)&slope = dlsym(plugin, "plugin_slope");
    check(slope, 0.5);
    pthread_t thread;
    if (pthread_create(&thread, NULL, on_thread, &slope) != 0 || pthread_join(thread, NULL) != 0) return 2;
    dl_iterate_phdr(look_at_tls, &tls);
    dlclose(plugin);
  }
  printf("%d times opened and closed; %zu bytes of thread-local storage, at most %d\n", rounds, tls, most_static_tls);
  if (tls == 0 || tls > most_static_tls) {
    printf("no block, or one that takes too much of what glibc keeps for libraries that are loaded at run time\n");
    wrong = 1;
  }
  return wrong;
}
