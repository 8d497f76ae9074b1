/*
 * Notes what a disk is asked to keep, so that a power failure can be made up (power_disk.ts). Preloaded: `LD_PRELOAD`. Below the
 * directory $POWER_ROOT it notes, in $POWER_SHADOW/ops, one line each: which files and directories are made, renamed, linked and
 * removed, and what is synced. Each file is kept by a link in $POWER_SHADOW/files, named by its inode, also when it has no other name any
 * more; what it held when it was last synced is in $POWER_SHADOW/synced. Syncs are made up: they take a millisecond and leave the disk alone.
 *
 * A number and `before` or `after` in $POWER_SHADOW/cut, which is removed when it is seen, has the process killed before or after the last of so many
 * operations more.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void *(*lookup)(void *, const char *);

static void *real_dlsym(void *handle, const char *name) {
  static lookup real;
  if (!real) real = (lookup)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return real(handle, name);
}

#define REAL(name, type) ((type)real_dlsym(RTLD_NEXT, name))

static const char *root, *shadow;
static size_t root_length;
static int ops = -1;
static dev_t device;
static long cut, count;
static int late;
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static int real_open(const char *path, int flags, mode_t mode) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

__attribute__((constructor)) static void begin(void) {
  char path[PATH_MAX];
  struct stat of_root;
  root = getenv("POWER_ROOT");
  shadow = getenv("POWER_SHADOW");
  if (!root || !shadow || stat(root, &of_root)) return;
  root_length = strlen(root);
  device = of_root.st_dev;
  snprintf(path, sizeof path, "%s/ops", shadow);
  ops = real_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static void lock(void) {
  pthread_mutex_lock(&mutex);
  if (ops >= 0) flock(ops, LOCK_EX);
}

static void unlock(void) {
  if (ops >= 0) flock(ops, LOCK_UN);
  pthread_mutex_unlock(&mutex);
}

/* The absolute form of a path below the root; NULL for others. */
static const char *below(int at, const char *path, char *full) {
  if (ops < 0 || !path) return NULL;
  if (path[0] != '/') {
    char link[64], directory[PATH_MAX];
    ssize_t length;
    if (at == AT_FDCWD) length = getcwd(directory, sizeof directory) ? (ssize_t)strlen(directory) : -1;
    else {
      snprintf(link, sizeof link, "/proc/self/fd/%d", at);
      length = readlink(link, directory, sizeof directory - 1);
    }
    if (length < 0) return NULL;
    directory[length] = 0;
    if (snprintf(full, PATH_MAX, "%s/%s", directory, path) >= PATH_MAX) return NULL;
    path = full;
  }
  if (strncmp(path, root, root_length) || path[root_length] != '/') return NULL;
  return path + root_length + 1;
}

static void note(const char *format, ...) {
  char line[3 * PATH_MAX];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (syscall(SYS_write, ops, line, (size_t)length) != length) abort();
}

static void now(void) {
  if (cut && count >= cut) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
}

/* Around an operation below the root. */
static void before(void) {
  char path[PATH_MAX], number[32];
  count++;
  snprintf(path, sizeof path, "%s/cut", shadow);
  int fd = real_open(path, O_RDONLY | O_CLOEXEC, 0);
  if (fd >= 0) {
    ssize_t length = read(fd, number, sizeof number - 1);
    close(fd);
    if (length > 0 && !syscall(SYS_unlink, path)) {
      number[length] = 0;
      late = strstr(number, "after") != NULL;
      cut = count + atol(number);
    }
  }
  if (!late) now();
}

static void after(void) {
  if (late) now();
}

static void copy(int from, const char *to) {
  char temporary[PATH_MAX], buffer[65536];
  ssize_t length;
  off_t at = 0;
  snprintf(temporary, sizeof temporary, "%s.tmp", to);
  int out = real_open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) abort();
  for (; (length = pread(from, buffer, sizeof buffer, at)) > 0; at += length) {
    if (syscall(SYS_write, out, buffer, (size_t)length) != length) abort();
  }
  close(out);
  if (syscall(SYS_rename, temporary, to)) abort();
}

/* Keeps a file that was opened to be written, and says so if it is a new one. */
static void keep(int fd, const char *relative) {
  char link[64], kept[PATH_MAX];
  struct stat about;
  if (fstat(fd, &about) || !S_ISREG(about.st_mode)) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  snprintf(kept, sizeof kept, "%s/files/%lu", shadow, (unsigned long)about.st_ino);
  if (!syscall(SYS_linkat, AT_FDCWD, link, AT_FDCWD, kept, AT_SYMLINK_FOLLOW)) note("create\t%lu\t%s\n", (unsigned long)about.st_ino, relative);
}

static int open_at(int at, const char *path, int flags, mode_t mode) {
  char full[PATH_MAX];
  const char *relative = (flags & O_CREAT) ? below(at, path, full) : NULL;
  if (!relative) return (int)syscall(SYS_openat, at, path, flags, mode);
  lock();
  before();
  int fd = (int)syscall(SYS_openat, at, path, flags, mode), error = errno;
  if (fd >= 0) keep(fd, relative);
  after();
  unlock();
  errno = error;
  return fd;
}

#define MODE(flags)                                  \
  mode_t mode = 0;                                   \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {           \
    va_list arguments;                               \
    va_start(arguments, flags);                      \
    mode = va_arg(arguments, mode_t);                \
    va_end(arguments);                               \
  }

int open(const char *path, int flags, ...) {
  MODE(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
  MODE(flags)
  return open_at(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
  MODE(flags)
  return open_at(at, path, flags, mode);
}

static int change(long call, const char *name, int at, const char *path, long extra) {
  char full[PATH_MAX];
  const char *relative = below(at, path, full);
  if (!relative) return (int)syscall(call, at, path, extra);
  lock();
  before();
  int failed = (int)syscall(call, at, path, extra), error = errno;
  if (!failed) {
    note("%s\t%s\n", name, relative);
    after();
  }
  unlock();
  errno = error;
  return failed;
}

int mkdir(const char *path, mode_t mode) { return change(SYS_mkdirat, "mkdir", AT_FDCWD, path, mode); }
int mkdirat(int at, const char *path, mode_t mode) { return change(SYS_mkdirat, "mkdir", at, path, mode); }
int unlink(const char *path) { return change(SYS_unlinkat, "remove", AT_FDCWD, path, 0); }
int rmdir(const char *path) { return change(SYS_unlinkat, "remove", AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int at, const char *path, int flags) { return change(SYS_unlinkat, "remove", at, path, flags); }

static int change_two(const char *name, int from_at, const char *from, int to_at, const char *to, int flags) {
  char from_full[PATH_MAX], to_full[PATH_MAX];
  const char *old = below(from_at, from, from_full), *new = below(to_at, to, to_full);
  int linking = name[0] == 'l';
  if (!old || !new) {
    return linking ? (int)syscall(SYS_linkat, from_at, from, to_at, to, flags)
                   : (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
  }
  lock();
  before();
  int failed = linking ? (int)syscall(SYS_linkat, from_at, from, to_at, to, flags)
                       : (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
  int error = errno;
  if (!failed) {
    note("%s\t%s\t%s\n", name, old, new);
    after();
  }
  unlock();
  errno = error;
  return failed;
}

int rename(const char *from, const char *to) { return change_two("rename", AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { return change_two("rename", a, from, b, to, 0); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { return change_two("rename", a, from, b, to, (int)flags); }
int link(const char *from, const char *to) { return change_two("link", AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int a, const char *from, int b, const char *to, int flags) { return change_two("link", a, from, b, to, flags); }

static int sync_one(int fd, int (*real)(int)) {
  char link[64], path[PATH_MAX], kept[PATH_MAX], synced[PATH_MAX];
  struct stat about;
  if (ops < 0 || fstat(fd, &about) || about.st_dev != device) return real(fd);
  unsigned long inode = (unsigned long)about.st_ino;
  snprintf(kept, sizeof kept, "%s/files/%lu", shadow, inode);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return real(fd);
  path[length] = 0;
  const char *relative = below(AT_FDCWD, path, NULL);
  if (!relative && (!S_ISREG(about.st_mode) || access(kept, F_OK))) {
    if (strcmp(path, root)) return real(fd);
    relative = "";
  }
  lock();
  before();
  if (S_ISDIR(about.st_mode)) note("directory\t%s\n", relative);
  else if (S_ISREG(about.st_mode) && !access(kept, F_OK)) {
    int from = real_open(kept, O_RDONLY | O_CLOEXEC, 0);
    snprintf(synced, sizeof synced, "%s/synced/%lu", shadow, inode);
    copy(from, synced);
    close(from);
  }
  unlock();
  usleep(1000);
  after();
  return 0;
}

int fsync(int fd) { return sync_one(fd, REAL("fsync", int (*)(int))); }
int fdatasync(int fd) { return sync_one(fd, REAL("fdatasync", int (*)(int))); }

int syncfs(int fd) {
  char path[PATH_MAX], synced[PATH_MAX];
  struct stat about, then;
  struct dirent *entry;
  if (ops < 0 || fstat(fd, &about) || about.st_dev != device) return REAL("syncfs", int (*)(int))(fd);
  lock();
  before();
  snprintf(path, sizeof path, "%s/files", shadow);
  DIR *files = opendir(path);
  if (!files) abort();
  while ((entry = readdir(files))) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/files/%s", shadow, entry->d_name);
    snprintf(synced, sizeof synced, "%s/synced/%s", shadow, entry->d_name);
    if (stat(path, &about)) continue;
    /* What was not changed since it was copied. */
    if (!stat(synced, &then) && then.st_size == about.st_size &&
        (then.st_mtim.tv_sec > about.st_mtim.tv_sec + 1)) continue;
    int from = real_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (from < 0) continue;
    copy(from, synced);
    close(from);
  }
  closedir(files);
  note("all\n");
  unlock();
  usleep(5000);
  after();
  return 0;
}

/* Whoever asks the C library itself for a function, as a runtime does for its FFI, passes by what is preloaded. */
void *dlsym(void *handle, const char *name) {
  return strcmp(name, "syncfs") ? real_dlsym(handle, name) : (void *)syncfs;
}
