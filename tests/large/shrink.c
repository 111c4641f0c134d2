// For LD_PRELOAD: the file $SHRINK becomes $SHRINK_TO bytes long as soon as a file of weights is made.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int open(const char* path, int flags, ...) {
  static int (*own)(const char*, int, ...);
  if (own == 0) *(void**)&own = dlsym(RTLD_NEXT, "open");
  va_list more;
  va_start(more, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
  va_end(more);
  if (flags & O_CREAT && strstr(path, ".weights.bin") != 0 && truncate(getenv("SHRINK"), atol(getenv("SHRINK_TO"))) != 0) perror("truncate");
  return own(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
  va_end(more);
  return open(path, flags, mode);
}
