/** @module */
import { waitForDescriptor } from "#lib/sockets/epoll.ts";
import { epollCalls } from "#lib/libc/epoll.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { LibcError } from "#lib/errors.ts";
import { openDescriptors } from "#tests/support/descriptors.ts";
import { strictTest } from "#tests/support/strict.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

const calls = epollCalls(16, 1);
const linux = calls !== undefined;

if (linux) {
  strictTest("hundreds of descriptors are waited for at once, each with a time-out of its own", async () => {
    const before = openDescriptors();
    const fds = Array.from({ length: 300 }, () => calls.createEvent());
    const waits = fds.map(waitForDescriptor);
    const start = performance.now();
    const took = await Promise.all(waits.map(async (wait, i) => {
      if (i % 3 === 0) setTimeout(() => calls.setEvent(fds[i]), 20);
      await wait.wait(i % 3 === 0 ? -1 : i % 3 === 1 ? 50 : 150);
      return performance.now() - start;
    }));
    for (const [i, ms] of took.entries()) {
      const min = i % 3 === 0 ? 15 : i % 3 === 1 ? 49 : 149;
      assert(ms >= min && ms < min + AT_ONCE_MS, `${ms} ms instead of ${min}`);
    }
    for (const wait of waits) wait.close();
    for (const fd of fds) calls.close(fd);
    assertEquals(openDescriptors(), before, "and nothing stays open");
  });

  strictTest("a descriptor that is ready wakes its wait, each time anew, while others wait on", async () => {
    const [busy, quiet] = [calls.createEvent(), calls.createEvent()];
    const waits = [busy, quiet].map(waitForDescriptor);
    let quietWoke = false;
    const other = waits[1].wait(-1).then(() => quietWoke = true);
    for (let n = 0; n < 200; n++) {
      const woken = waits[0].wait(5_000);
      calls.setEvent(busy);
      await woken;
      calls.resetEvent(busy);
    }
    // A descriptor that is already readable needs no new event.
    calls.setEvent(busy);
    await waits[0].wait(-1);
    assert(!quietWoke);
    for (const wait of waits) wait.close();
    await other;
    for (const fd of [busy, quiet]) calls.close(fd);
  });

  strictTest("close() ends a wait, and one that is closed waits for nothing", async () => {
    const fd = calls.createEvent();
    const wait = waitForDescriptor(fd);
    const waiting = wait.wait(-1);
    wait.close();
    wait.close();
    await waiting;
    await wait.wait(-1);
    calls.close(fd);
    assertThrows(() => waitForDescriptor(99_999), LibcError);
  });
}
