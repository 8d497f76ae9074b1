/*
 * Moves the wall clock of a process by the seconds that the first eight bytes of the file $CHAOS_CLOCK say, whenever they
 * change. The monotonic clocks stay, as they do when an operator or NTP sets the time. Preloaded: `LD_PRELOAD`. The
 * times of files are the kernel's, and true.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;

__attribute__((constructor)) static void open_clock(void) {
  const char *path = getenv("CHAOS_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *memory = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) offset = memory;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (!failed && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset;
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact)) return (time_t)-1;
  if (now) *now = exact.tv_sec;
  return exact.tv_sec;
}
