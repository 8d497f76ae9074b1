/** A reactor that cannot be started, or stops by itself; changes that cannot be read. */

import { BusPump } from "#lib/bus/pump.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { eventLogDirectory, reactorDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { FunctionRequests } from "#lib/master/functions/requests.ts";
import { Performer } from "#lib/master/reactor/performer.ts";
import type { ReactorParts } from "#lib/master/reactor/reactor.ts";
import { ReactorRuns } from "#lib/master/reactor/reactor_runs.ts";
import type { Reaction } from "#lib/reactor/reaction.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { testServices } from "#tests/support/fleet/services.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { localReaction } from "./local_reaction.ts";

const REACTION: Reaction = localReaction("bad", { fun: "test.arg" });

interface Site {
  readonly directory: string;
  readonly logged: readonly string[];
  /** The tags of events whose files were asked for, in order. */
  readonly rendered: readonly string[];
  readonly runs: ReactorRuns;
  fire(tag: string): Promise<void>;
}

/** The reactor of a bus; each event of `t/*` has a reaction that cannot be published. */
async function withRuns(run: (site: Site) => Promise<void>): Promise<void> {
  using services = await testServices();
  const opts: MasterOpts = { ...services.opts, reactor: [map({ "t/*": "/a.sls" })] };
  const paths = masterBus(opts.sock_dir), { log, lines } = memoryLog(), rendered: string[] = [];
  const eventLog = { directory: eventLogDirectory(opts.cachedir), keepS: 3600, maxBytes: 1 << 30 };
  Deno.mkdirSync(opts.sock_dir, { recursive: true });
  const pump = await BusPump.open(paths, { log: SILENT_LOGGER, eventLog });
  const rendering: ReactorParts["rendering"] = {
    render: ({ tag }) => {
      rendered.push(tag);
      return Promise.resolve({ reactions: [REACTION], mistakes: [] });
    },
  };
  const functions = new FunctionRequests(() => {}, () => {});
  const runs = new ReactorRuns({
    opts,
    log,
    reactor: () => ({
      opts,
      log,
      rendering,
      startedMs: 0,
      progressOf: () => Promise.resolve("none"),
      performer: (on) =>
        new Performer({
          ...on,
          user: "root",
          functions,
          running: 1,
          waiting: 1,
          publish: () => Promise.reject(new Error("no such target")),
        }),
    }),
  });
  try {
    using sender = new EventSender(paths.pull);
    const directory = reactorDirectory(opts.cachedir);
    await run({
      directory,
      logged: lines,
      rendered,
      runs,
      fire: async (tag) => assert(await sender.fire(tag, map({}))),
    });
  } finally {
    await runs.close();
    await pump.close();
  }
}

Deno.test("a reactor that stops by itself is named and started again, and goes on where it was", () =>
  withRuns(async ({ directory, logged, rendered, runs, fire }) => {
    using time = new SkippedTime();
    await fire("t/1");
    await eventually(() => logged.some((line) => line.includes("'a' failed to execute local")), { what: "a reaction" });
    assertStringIncludes(runs.describe(), "1 events read, 1 with reactions, 0 jobs published; 0 events in work");
    // It cannot read what operators have changed.
    Deno.mkdirSync(`${directory}/changes.json`);
    await fire("t/2");
    await eventually(() => logged.some((line) => line.startsWith("CRITICAL The reactor has stopped")), {
      what: "its end",
    });
    await time.to(6_000);
    await eventually(() => logged.some((line) => line.includes("The reactor cannot be started, and is tried again")), {
      what: "the first try",
    });
    assertEquals(runs.describe(), "starting");
    Deno.removeSync(`${directory}/changes.json`);
    await time.to(20_000);
    await eventually(() => rendered.length === 2, { what: "the event that it did not come to" });
    assertEquals(rendered, ["t/1", "t/2"]);
  }));

Deno.test("changes of operators that are no list of changes are named, and those before them stay", () =>
  withRuns(async ({ directory, logged, rendered, fire }) => {
    const write = (text: string) => Deno.writeTextFileSync(`${directory}/changes.json`, text);
    await fire("t/1");
    await eventually(() => rendered.length === 1, { what: "the first event" });
    write('{"added": [{"tag": "u/*", "files": ["/b.sls"]}], "deleted": ["t/*"], "leader": true}');
    await fire("t/2");
    await fire("u/1");
    await eventually(() => rendered.length === 2, { what: "the event of the entry that was added" });
    write("[]");
    await fire("u/2");
    await eventually(() => rendered.length === 3, { what: "the next one" });
    assertEquals(rendered, ["t/1", "u/1", "u/2"]);
    const [named] = logged.filter((line) => line.includes("changes.json"));
    assertStringIncludes(named, `ERROR The reactor: ${directory}/changes.json: it is no list of changes`);
  }));

Deno.test("a reactor that cannot be started is named in the log, and holds up no end of the master", async () => {
  using services = await testServices();
  const errors: string[] = [];
  let tries = 0;
  const runs = new ReactorRuns({
    opts: services.opts,
    log: { error: (text) => void errors.push(String(text)) },
    reactor: () => {
      tries++;
      throw new Error("the event log cannot be read");
    },
  });
  await eventually(() => errors.length === 1, { what: "the first try" });
  assertEquals(runs.describe(), "starting");
  await runs.close();
  assertEquals(errors, ["The reactor cannot be started, and is tried again: the event log cannot be read"]);
  assertEquals(tries, 1);
});
