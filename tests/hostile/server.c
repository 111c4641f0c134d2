/* Preloaded, makes a program one that runs its `main` again and again, each time in a process of its own: what a start costs (linking, the schemas of ONNX) is paid once.
 *
 * The arguments of the program are those of a first run, which warms it up. Then each line of standard input is one run:
 *
 *   ERRORS \t CPU_SECONDS \t MEGABYTES \t ARGUMENT \t ARGUMENT ...
 *
 * ERRORS is the file that gets what it writes; limits of 0 are none. Standard output answers with the wait status, the microseconds of processor time and the kilobytes of
 * memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*program)(int, char**, char**);

static void limit(int what, rlim_t soft, rlim_t hard) {
  const struct rlimit value = {soft, hard};
  setrlimit(what, &value);
}

static int serve(int argc, char** argv, char** environment) {
  unsetenv("LD_PRELOAD");
  FILE* const lines = fdopen(fcntl(0, F_DUPFD_CLOEXEC, 10), "r");
  const int answers = fcntl(1, F_DUPFD_CLOEXEC, 10);
  const int nothing = open("/dev/null", O_RDWR);
  if (lines == NULL || answers < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0) return 99;
  program(argc, argv, environment);
  char* line = NULL;
  size_t room = 0;
  ssize_t size;
  while ((size = getline(&line, &room, lines)) > 0) {
    char* words[64] = {0};
    int count = 0;
    if (line[size - 1] == '\n') line[size - 1] = '\0';
    for (char* word = strtok(line, "\t"); word != NULL && count < 63; word = strtok(NULL, "\t")) words[count++] = word;
    if (count < 4) return 99;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      const int errors = open(words[0], O_WRONLY | O_CREAT | O_TRUNC, 0666);
      const rlim_t seconds = (rlim_t)atoi(words[1]), bytes = (rlim_t)atoi(words[2]) << 20;
      dup2(errors, 1);
      dup2(errors, 2);
      limit(RLIMIT_CORE, 0, 0);
      limit(RLIMIT_CPU, seconds + 1, seconds + 2);
      if (bytes != 0) limit(RLIMIT_AS, bytes, bytes);
      alarm(15 * ((unsigned)seconds + 1));
      words[2] = argv[0];
      exit(program(count - 2, words + 2, environment));
    }
    int status = 0;
    struct rusage used;
    wait4(child, &status, 0, &used);
    const long microseconds = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    dprintf(answers, "%d %ld %ld\n", status, microseconds, used.ru_maxrss);
  }
  _exit(0);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, int (*init)(int, char**, char**), void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  int (*const start)(int (*)(int, char**, char**), int, char**, int (*)(int, char**, char**), void (*)(void), void (*)(void), void*) = dlsym(RTLD_NEXT, "__libc_start_main");
  program = main;
  return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
