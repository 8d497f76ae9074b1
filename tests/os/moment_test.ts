/** @module */
import { deadlineFields, type Moment, momentAfter, msBetween, readDeadline, readMoment } from "#lib/os/moment.ts";
import { isMap, map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const NOW: Moment = { wallMs: 1_000_000, boot: { id: "one", ms: 5_000 } };

Deno.test("within a boot the wall clock does not count, across boots it does", () => {
  assertEquals(msBetween(NOW, { wallMs: 9_000_000, boot: { id: "one", ms: 6_000 } }), 1_000);
  assertEquals(msBetween(NOW, { wallMs: 1_007_000, boot: { id: "two", ms: 100 } }), 7_000);
  assertEquals(msBetween(NOW, { wallMs: 999_000 }), -1_000);
  assertEquals(msBetween(NOW, momentAfter(NOW, 300)), 300);
  assertEquals(msBetween({ wallMs: 1 }, momentAfter({ wallMs: 1 }, 300)), 300);
});

Deno.test("a deadline is the same after it was stored, also without a clock of the boot", () => {
  for (const deadline of [NOW, { wallMs: 7 }]) {
    const stored = map({ ...deadlineFields(deadline) });
    assert(isMap(stored));
    assertEquals(readDeadline(stored), deadline);
  }
  assertEquals(readDeadline(map({ boot: "one", boot_until: "soon" })), { wallMs: 0 });
});

Deno.test("the present moment has the clock of the boot, which does not go back", () => {
  const before = readMoment();
  const after = readMoment();
  assert(Math.abs(before.wallMs - Date.now()) < 60_000);
  if (Deno.build.os !== "linux") return assertEquals(before.boot, undefined);
  assert(before.boot !== undefined && after.boot !== undefined);
  assertEquals(before.boot.id, after.boot.id);
  assert(after.boot.ms >= before.boot.ms);
  const uptimeMs = Number(Deno.readTextFileSync("/proc/uptime").split(" ", 1)[0]) * 1000;
  assert(Math.abs(uptimeMs - after.boot.ms) < 5_000, `${uptimeMs} ms, ${after.boot.ms} ms`);
});
