/** `state.event`: the events of a bus of this test, printed to an output of this test. */

import { masterBus, minionBus } from "#lib/bus/paths.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { eventually } from "#tests/support/eventually.ts";

const opts = (sock_dir: string) => testOpts({ sock_dir, id: "m1" });

/**
 * Calls `use` with what is printed to the standard output.
 * @param write Whether the output takes the bytes.
 */
async function withOutput(use: (printed: () => string) => Promise<void>, write = true): Promise<void> {
  const { stdout } = Deno;
  const real = stdout.writeSync;
  let text = "";
  // A pipe takes a part of a long line.
  stdout.writeSync = (bytes) => {
    if (!write) throw new Deno.errors.BrokenPipe("nobody reads");
    const part = bytes.subarray(0, 20);
    text += new TextDecoder().decode(part);
    return part.length;
  };
  try {
    await use(() => text);
  } finally {
    stdout.writeSync = real;
  }
}

/** The return of `state.event`, with these events on the bus after it has subscribed; without any, its job is ended. */
async function watch(
  kwargs: Record<string, unknown>,
  node: "master" | "minion",
  tags: string[],
  job = new AbortController(),
): Promise<unknown> {
  const sock_dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = node === "master" ? masterBus(sock_dir) : minionBus(opts(sock_dir));
  const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
  try {
    using sender = new EventSender(paths.pull);
    const given = kwargs.sock_dir === undefined ? kwargs : { ...kwargs, sock_dir };
    // With `sock_dir`, the options name another directory.
    const context = testContext({
      opts: opts(kwargs.sock_dir === undefined ? sock_dir : "/nowhere"),
      signal: job.signal,
    });
    const ended = context.call("state.event", ["my/*"], map({ node, ...given }));
    await eventually(() => bus.describe().includes(" 1 subscribers"), { what: "a subscriber" });
    for (const tag of tags) assert(await sender.fire(tag, map({ n: 1 })));
    if (tags.length === 0) job.abort();
    return await ended;
  } finally {
    await bus.close();
    Deno.removeSync(sock_dir, { recursive: true });
  }
}

for (
  const [where, kwargs, node] of [
    ["this minion", {}, "minion"],
    ["the minion of a directory", { sock_dir: true }, "minion"],
    ["the master", {}, "master"],
    ["the master of a directory", { sock_dir: true }, "master"],
  ] as const
) {
  Deno.test(`state.event prints the events of ${where} whose tags match, until it has printed count`, () =>
    withOutput(async (printed) => {
      assertEquals(await watch({ ...kwargs, count: 2 }, node, ["my/a", "other", "my/b", "my/c"]), null);
      assertEquals(printed().split("\n").map((line) => line.split("\t")[0]), ["my/a", "my/b", ""]);
    }));
}

Deno.test("state.event with quiet only counts; it ends with its job, and when nobody reads its output", async () => {
  await withOutput(async (printed) => {
    assertEquals(await watch({ quiet: true, count: 1 }, "minion", ["my/a"]), null);
    assertEquals(printed(), "");
  });
  assertEquals(await watch({}, "minion", []), null);
  await withOutput(async () => assertEquals(await watch({ pretty: true }, "minion", ["my/a"]), null), false);
});

Deno.test("state.event reports that the output fails, and a directory without a bus", async () => {
  const { stdout } = Deno;
  const real = stdout.writeSync;
  stdout.writeSync = () => {
    throw new Error("no space left");
  };
  try {
    await assertRejects(() => watch({}, "minion", ["my/a"]), Error, "no space left");
  } finally {
    stdout.writeSync = real;
  }
  const context = testContext({ opts: opts("/nowhere") });
  const none = () => context.call("state.event", ["*"], map({ sock_dir: "/nowhere" }));
  await assertRejects(none, Error, "No minion has an event bus in /nowhere");
});
