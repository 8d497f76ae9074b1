/** The sockets of a thread with notes, and sockets that cannot be set up: nothing stays open. */

import { SocketError } from "#lib/errors.ts";
import { MAX_SOCKETS, ThreadNotes } from "#lib/runtime/thread_notes.ts";
import { closeSocket, noteSockets, openInherited, openSocket } from "#lib/sockets/context.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { closeWaitOf } from "#lib/sockets/epoll.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { strictTest } from "#tests/support/strict.ts";

strictTest("a socket with a setting that libzmq refuses is closed again", () => {
  for (let i = 0; i < 20; i++) {
    assertThrows(() => Inbox.pull({ highWaterMark: -1 }), SocketError);
  }
  const inbox = Inbox.pull();
  inbox.close();
});

strictTest("a thread that has never waited has no wait to end", async () => {
  assertEquals(await closeWaitOf(new ThreadNotes()), true);
});

// The last test: from then on this thread notes its sockets.
strictTest("a thread with notes has a number of sockets, and hands down none that could not be set up", () => {
  const notes = new ThreadNotes();
  const owner = new ThreadNotes();
  noteSockets(notes.memory);
  const first = openSocket("pull");
  const prepare = () => {
    throw new Error("no room");
  };
  assertThrows(() => openInherited("pull", notes.context, prepare), Error, "no room");
  assertEquals([notes.inherited, owner.inherited], [0n, 0n]);
  const more = Array.from({ length: MAX_SOCKETS - 1 }, () => openSocket("pull"));
  assertThrows(() => openSocket("pull"), RangeError, `A thread that notes its sockets has more than ${MAX_SOCKETS}`);
  closeSocket(more[0]);
  more[0] = openSocket("pull");
  for (const socket of [first, ...more]) closeSocket(socket);
  assertEquals(notes.hasSockets, false);
});
