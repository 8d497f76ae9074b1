/** @module */
import { closeWaitOf } from "#lib/sockets/epoll.ts";
import { ThreadReplacedError } from "#lib/errors.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { Thread } from "#lib/runtime/thread.ts";
import { holdLease, revokeLease, withLease } from "#lib/runtime/thread_lease.ts";
import { ThreadNotes } from "#lib/runtime/thread_notes.ts";
import { closeSocketsOf } from "#lib/sockets/context.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Uses } from "#tests/support/threads/replaced_thread.ts";

const word = () => new Int32Array(new SharedArrayBuffer(4));

Deno.test("a revoked lease refuses every turn, and is free when the last turn has ended", () => {
  const lease = word();
  assertEquals(withLease(() => "without a lease"), "without a lease");
  try {
    holdLease(lease);
    assertEquals(withLease(() => withLease(() => 1) + withLease(() => 2)), 3, "a turn within a turn");
    assertThrows(() => withLease(() => JSON.parse("{")), SyntaxError);
    assertEquals(withLease(() => "given back"), "given back", "after an error");
    const during = withLease(() => [revokeLease(lease), revokeLease(lease)]);
    assertEquals(during, [false, false], "the turn under way");
    let touched = false;
    assertThrows(() => withLease(() => touched = true), ThreadReplacedError);
    assertEquals([touched, revokeLease(lease)], [false, true]);
    assertThrows(() => withLease(() => touched = true), ThreadReplacedError);
    assertEquals(touched, false);
  } finally {
    holdLease(word());
  }
});

Deno.test("a thread whose lease is revoked uses no libzmq objects and no descriptors", async () => {
  const notes = new ThreadNotes();
  const messages: unknown[] = [];
  const url = new URL("../support/threads/replaced_thread.ts", import.meta.url);
  const onMessage = (message: unknown) => messages.push(message);
  const thread = new Thread({ name: "Replaced", url, init: notes.memory, log: SILENT_LOGGER, onMessage });
  await eventually(() => messages.length > 0, { what: "what came of it" });
  const uses = messages[0] as Uses;
  assert(Object.keys(uses).length > 20, JSON.stringify(uses));
  assertEquals(Object.entries(uses).filter(([, outcome]) => outcome !== "refused"), []);
  assertEquals(revokeLease(notes.lease), true);
  // Its wait ends, and it neither starts another wait nor resets the descriptor that ended this one.
  assertEquals(await closeWaitOf(notes), true);
  closeSocketsOf(notes);
  thread.kill();
});
