/* Preloaded into onnxc: the n-th call of a kind fails, is short, or meets a signal. Programs that onnxc starts are left alone.
 *
 *   FAULT_KIND   alloc, open, read, write, close, rename or start
 *   FAULT_AT     n, from 1; without it calls are only counted
 *   FAULT_DOES   fail (with FAULT_ERRNO), from (all from the n-th on), short (half of the bytes), signal (FAULT_SIGNAL), vanish (FAULT_FOLDER goes)
 *   FAULT_COUNT  a file that gets the number of calls at the end
 *   FAULT_LACKS  what the file system cannot do at all: exchange (of names), or links (second names) as well
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

enum kind { NONE, ALLOC, OPEN, READ, WRITE, CLOSE, RENAME, START };
static const char* const kNames[] = {"none", "alloc", "open", "read", "write", "close", "rename", "start"};

static enum kind kind;
static long at;
static int error = EIO, from, shortens, signal_number;
static const char* folder;
static const char* count_file;
static int lacks_exchange, lacks_links;
static _Atomic long calls;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void remove_folder(void) {
  DIR* const files = opendir(folder);
  char path[4096];
  for (struct dirent* file; files != NULL && (file = readdir(files)) != NULL;) {
    snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
    if (file->d_name[0] != '.') unlink(path);
  }
  if (files != NULL) closedir(files);
  rmdir(folder);
}

/* Returns 1 if this call fails, and 2 if it is to be short. */
static int meets(enum kind which) {
  if (kind != which) return 0;
  const long n = ++calls;
  if (at == 0 || (from ? n < at : n != at)) return 0;
  if (folder != NULL) {
    remove_folder();
    return 0;
  }
  if (signal_number != 0) {
    kill(getpid(), signal_number);
    usleep(100000); /* until it has had its effect */
    return 0;
  }
  if (shortens) return 2;
  errno = error;
  return 1;
}

__attribute__((constructor(101))) static void begin(void) {
  const char* const name = getenv("FAULT_KIND");
  const char* const n = getenv("FAULT_AT");
  const char* const does = getenv("FAULT_DOES");
  const char* const number = getenv("FAULT_ERRNO");
  const char* const sent = getenv("FAULT_SIGNAL");
  unsetenv("LD_PRELOAD");
  if (n != NULL) at = atol(n);
  if (number != NULL) error = atoi(number);
  if (does != NULL && strcmp(does, "from") == 0) from = 1;
  if (does != NULL && strcmp(does, "short") == 0) shortens = 1;
  if (does != NULL && strcmp(does, "signal") == 0) signal_number = sent != NULL ? atoi(sent) : SIGTERM;
  if (does != NULL && strcmp(does, "vanish") == 0) folder = getenv("FAULT_FOLDER");
  count_file = getenv("FAULT_COUNT");
  const char* const lacks = getenv("FAULT_LACKS");
  lacks_links = lacks != NULL && strcmp(lacks, "links") == 0;
  lacks_exchange = lacks_links || (lacks != NULL && strcmp(lacks, "exchange") == 0);
  for (int i = 0; name != NULL && i < (int)(sizeof kNames / sizeof *kNames); ++i) {
    if (strcmp(name, kNames[i]) == 0) kind = (enum kind)i;
  }
}

__attribute__((destructor)) static void end(void) {
  if (count_file == NULL) return;
  kind = NONE;
  const int to = open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dprintf(to, "%ld\n", (long)calls);
}

void* malloc(size_t bytes) { return meets(ALLOC) ? NULL : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return meets(ALLOC) ? NULL : __libc_calloc(count, bytes); }
void* realloc(void* memory, size_t bytes) { return meets(ALLOC) ? NULL : __libc_realloc(memory, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return meets(ALLOC) ? NULL : __libc_memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (meets(ALLOC)) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory != NULL ? 0 : ENOMEM;
}

static mode_t mode_of(int flags, va_list more) { return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; }

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return meets(OPEN) ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return meets(OPEN) ? -1 : REAL(open64)(path, flags, mode);
}
int openat(int at_folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return meets(OPEN) ? -1 : REAL(openat)(at_folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) { return meets(OPEN) ? NULL : REAL(fopen)(path, mode); }
FILE* fopen64(const char* path, const char* mode) { return meets(OPEN) ? NULL : REAL(fopen64)(path, mode); }
int mkdir(const char* path, mode_t mode) { return meets(OPEN) ? -1 : REAL(mkdir)(path, mode); }
char* mkdtemp(char* pattern) { return meets(OPEN) ? NULL : REAL(mkdtemp)(pattern); }
DIR* opendir(const char* path) { return meets(OPEN) ? NULL : REAL(opendir)(path); }

static size_t less(int what, size_t bytes) { return what == 2 && bytes > 1 ? bytes / 2 : bytes; }

ssize_t read(int fd, void* to, size_t bytes) {
  const int what = meets(READ);
  return what == 1 ? -1 : REAL(read)(fd, to, less(what, bytes));
}
ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  const int what = meets(READ);
  return what == 1 ? -1 : REAL(pread)(fd, to, less(what, bytes), offset);
}
ssize_t pread64(int fd, void* to, size_t bytes, off64_t offset) {
  const int what = meets(READ);
  return what == 1 ? -1 : REAL(pread64)(fd, to, less(what, bytes), offset);
}
ssize_t write(int fd, const void* bytes, size_t count) {
  const int what = meets(WRITE);
  return what == 1 ? -1 : REAL(write)(fd, bytes, less(what, count));
}
ssize_t writev(int fd, const struct iovec* pieces, int count) {
  const int what = meets(WRITE);
  return what == 1 ? -1 : what == 2 ? REAL(write)(fd, pieces[0].iov_base, pieces[0].iov_len) : REAL(writev)(fd, pieces, count);
}
int close(int fd) {
  const int what = meets(CLOSE);
  const int result = REAL(close)(fd); /* Linux closes it, whatever it says */
  if (what == 1) errno = error;
  return what == 1 ? -1 : result;
}
int fsync(int fd) { return meets(WRITE) ? -1 : REAL(fsync)(fd); }

int rename(const char* old, const char* new) { return meets(RENAME) ? -1 : REAL(rename)(old, new); }
int renameat2(int a, const char* old, int b, const char* new, unsigned flags) {
  if (lacks_exchange && (flags & RENAME_EXCHANGE) != 0) {
    errno = EINVAL; /* as overlayfs, NFS and FAT */
    return -1;
  }
  return meets(RENAME) ? -1 : REAL(renameat2)(a, old, b, new, flags);
}
int link(const char* old, const char* new) {
  if (lacks_links) {
    errno = EPERM; /* as FAT */
    return -1;
  }
  return meets(RENAME) ? -1 : REAL(link)(old, new);
}

int pipe2(int ends[2], int flags) { return meets(START) ? -1 : REAL(pipe2)(ends, flags); }
int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                 char* const argv[], char* const environment[]) {
  return meets(START) ? error : REAL(posix_spawnp)(child, file, actions, attributes, argv, environment);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  return meets(START) ? EAGAIN : REAL(pthread_create)(thread, attributes, run, argument);
}
