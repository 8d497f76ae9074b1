/**
 * Files by their names, and what has a descriptor: closed once, it touches no descriptor of that number again.
 * @module
 */

import { mayAccess, mayExecute, readFileInto } from "#lib/libc/files.ts";
import { Inotify, INOTIFY_MASKS } from "#lib/libc/inotify.ts";
import { NETLINK_GROUPS, NETLINK_TYPES, NetlinkSocket } from "#lib/libc/netlink.ts";
import { WallTimer } from "#lib/libc/timerfd.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const LINUX = { ignore: Deno.build.os !== "linux" };

Deno.test("a name that no path can have names no file, also if its beginning does", () =>
  withTemporaryDirectory((root) => {
    const path = `${root}/file`, memory = new Uint8Array(8);
    Deno.writeTextFileSync(path, "text", { mode: 0o755 });
    assertEquals([mayExecute(path), mayAccess(path, 0), readFileInto(path, memory)], [true, true, 4]);
    // The memory for a path has 4096 bytes: the last character of the third does not fit, and a piece of it would name
    // the directory.
    const long = (length: number) => `${root}${"/".repeat(length - root.length)}`;
    for (const name of [`${path}\0.old`, long(4096), `${long(4094)}€`, long(5000)]) {
      assertEquals([mayExecute(name), mayAccess(name, 0), readFileInto(name, memory)], [false, false, -1]);
    }
    assert(mayAccess(long(4095), 0));
  }));

/** The file that this process has open by this number. */
function fileOf(fd: number): string | undefined {
  try {
    return Deno.readLinkSync(`/proc/self/fd/${fd}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Closes what has `fd`, opens a file that gets the same number, and runs `again`: the file is to stay open. */
function afterClose(closed: { readonly fd: number; close(): void }, again: () => void): void {
  closed.close();
  const others: Deno.FsFile[] = [];
  try {
    do others.push(Deno.openSync("/dev/zero")); while (fileOf(closed.fd) !== "/dev/zero");
    again();
    closed.close();
    assertEquals(fileOf(closed.fd), "/dev/zero");
  } finally {
    for (const file of others) file.close();
  }
}

Deno.test("a closed inotify instance reports nothing", LINUX, () =>
  withTemporaryDirectory((root) => {
    const inotify = new Inotify();
    assert(inotify.watch(root, INOTIFY_MASKS.create) > 0);
    Deno.writeTextFileSync(`${root}/new`, "");
    assertEquals(inotify.read().map(({ name, mask }) => [name, mask]), [["new", INOTIFY_MASKS.create]]);
    assertEquals(inotify.read(), []);
    afterClose(inotify, () => assertEquals(inotify.read(), []));
  }));

Deno.test("a closed socket of the kernel's network messages has none", LINUX, () => {
  const socket = new NetlinkSocket(NETLINK_GROUPS);
  socket.requestAll(NETLINK_TYPES.getLink);
  assert(socket.read().some(({ type }) => type === NETLINK_TYPES.newLink));
  afterClose(socket, () => assertEquals(socket.read(), []));
});

Deno.test("a closed timer is not set", LINUX, () => {
  const timer = new WallTimer();
  timer.set(Date.now() + 60_000);
  afterClose(timer, () => {
    timer.set(Date.now());
    timer.clear();
  });
});
