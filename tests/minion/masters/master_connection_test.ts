/** A connection that chooses one of two masters: what happens when the one in use refuses the minion. */

import type { MinionOpts } from "#lib/config/options.ts";
import { MasterLeftError } from "#lib/errors.ts";
import { KeptReturns } from "#lib/jobs/kept_returns.ts";
import { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { MasterConnection } from "#lib/minion/masters/master_connection.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { eventually } from "#tests/support/eventually.ts";
import { masterKey, minion, REJECTED, WRONG } from "#tests/support/fleet/minion_link.ts";
import { applicant, MasterKeys, memoryLog, ScriptedMaster } from "#tests/support/fleet/scripted_master.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const REQUEST = map({ cmd: "_serve_file" });

/** A master that takes every minion, until it refuses all. */
async function startMaster() {
  const master = await ScriptedMaster.start(new MasterKeys(masterKey));
  const port = Number(master.address.split(":").at(-1));
  return {
    master,
    entry: { host: "127.0.0.1", port },
    /** @param first The answer to the first sign-in. */
    refuse(first = REJECTED): void {
      const answers = [first];
      master.script = ({ cmd, load }) =>
        cmd === "_auth"
          ? master.keys.signIn(load, answers.shift() ?? REJECTED)
          : new TextEncoder().encode("a key that changed");
    },
    /** Takes it again; a clear request asks whether it answers. */
    accept(): void {
      master.script = (request) => request.cmd === "ping" ? request.frame : master.honest(request);
    },
    [Symbol.asyncDispose]: () => master[Symbol.asyncDispose](),
  };
}

/** Two masters and a connected minion that chooses one of them; what happens is a line each. */
async function connecting(
  act: (parts: {
    readonly a: Awaited<ReturnType<typeof startMaster>>;
    readonly b: Awaited<ReturnType<typeof startMaster>>;
    readonly connection: MasterConnection;
    readonly told: string[];
    readonly failures: unknown[];
    readonly lines: string[];
    readonly closing: AbortController;
  }) => Promise<void>,
  options: Partial<MinionOpts> = {},
  serves: () => void = () => {},
): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    await using a = await startMaster();
    await using b = await startMaster();
    const usual = testOpts({ root_dir: root, cachedir: `${root}/cache`, master_type: "failover" });
    const opts = { ...usual, ...options };
    Deno.mkdirSync(opts.cachedir);
    const { log, lines } = memoryLog(), closing = new AbortController();
    const told: string[] = [], failures: unknown[] = [];
    const connection = new MasterConnection(
      {
        opts,
        log,
        applicant: applicant(minion, root),
        jids: new JidMemory({ min: 10, path: `${root}/jids`, log }),
        journal: undefined,
        kept: new KeptReturns(opts.cachedir, log),
        closing: closing.signal,
        grains: () => new Map(),
        admit: () => {},
        take: () => {},
        onServing: (_connection, why) => {
          told.push(why);
          serves();
        },
        fireLocal: (tag) => Promise.resolve(void told.push(tag)).then(() => true),
        fail: (error) => void failures.push(error),
      },
      [a.entry, b.entry],
      { isOneOfSeveral: false },
    );
    try {
      await connection.connect();
      assertEquals(connection.master, a.entry);
      await act({ a, b, connection, told, failures, lines, closing });
    } finally {
      closing.abort(new Error("The minion ends"));
      connection.close();
      await connection.spool.close();
    }
  });
}

Deno.test("a master that refuses two requests at once is left once, and the next one answers", () =>
  connecting(async ({ a, b, connection, told, failures, lines }) => {
    using time = new SkippedTime();
    a.refuse(WRONG);
    const logged = (text: string, count: number) =>
      eventually(() => lines.filter((line) => line.includes(text)).length === count, {
        what: `${count} times ${text}`,
      });
    const refused = [assertRejects(() => connection.request(REQUEST), MasterLeftError)];
    await logged("Refused the answer of", 1);
    // It waits for the same sign-in, which is tried again after the time of one try.
    refused.push(assertRejects(() => connection.request(REQUEST), MasterLeftError));
    await logged("; signing in again", 2);
    await time.to(61_000);
    for (const { message } of await Promise.all(refused)) {
      assertStringIncludes(message, `The master 127.0.0.1:${a.entry.port} refuses this minion: `);
    }
    assertEquals(await connection.request(REQUEST), null);
    assertEquals(connection.master, b.entry);
    assertEquals([told, failures], [["__master_disconnected", "changed"], []]);
  }));

Deno.test("a minion that ends while all masters refuse it does not fail", () =>
  connecting(async ({ a, b, connection, told, failures, lines, closing }) => {
    a.refuse();
    b.refuse();
    await assertRejects(() => connection.request(REQUEST), MasterLeftError);
    const waits = connection.request(REQUEST);
    await eventually(() => lines.some((line) => line.includes("No master could be reached or all masters denied")), {
      what: "the end of the round",
    });
    closing.abort(new Error("The minion ends"));
    await assertRejects(() => waits);
    assertEquals([told, failures], [["__master_disconnected"], []]);
  }));

Deno.test("a fault while the next master, or the first one again, begins to serve is told", () =>
  connecting(
    async ({ a, b, connection, told, failures }) => {
      a.refuse();
      await assertRejects(() => connection.request(REQUEST), MasterLeftError);
      await eventually(() => failures.length === 1, { what: "the first fault" });
      assertEquals(connection.master, b.entry);
      a.accept();
      await eventually(() => failures.length === 2, { what: "the second fault" });
      assertEquals(connection.master, a.entry);
      assertEquals(told, ["__master_disconnected", "changed", "__master_failback", "changed"]);
      assertEquals(failures.map(String), ["TypeError: a fault", "TypeError: a fault"]);
    },
    { master_failback: true, master_failback_interval: 0.05 },
    () => {
      throw new TypeError("a fault");
    },
  ));
