/** The thread of returners on the master: what does not load, a log that cannot be read, calls that do not end. */

import { BusPump } from "#lib/bus/pump.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { eventLogDirectory, returnersDirectory } from "#lib/config/master_paths.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { EventReturnInit } from "#lib/master/event_return/event_return_thread.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { SupervisedThread } from "#lib/sockets/supervised_thread.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { testServices } from "#tests/support/fleet/services.ts";

const RETURNER = `
import { appendFileSync } from "node:fs";
const note = (context, text) => appendFileSync(context.opts.cachedir + "/notes", text + "\\n");
export const event_return = { params: { events: { type: "list" } }, run: async (_bound, context) => {
  note(context, "called");
  await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
  note(context, "told to end");
  throw new Error("it ends");
} };
export const returner = { run: () => null };
export const clean_old_jobs = { run: (_bound, context) => {
  context.log("warning", "cleaning");
  note(context, "cleaned");
} };
`;

interface Site {
  readonly opts: MasterOpts;
  readonly thread: SupervisedThread<EventReturnInit>;
  readonly logged: readonly string[];
  /** What the returner has written. */
  notes(): string[];
}

async function withThread(
  { options, before }: { readonly options: Record<string, Value>; readonly before?: (opts: MasterOpts) => void },
  run: (site: Site) => Promise<void>,
): Promise<void> {
  using services = await testServices(options);
  const { opts } = services, { log, lines } = memoryLog();
  const ext = `${services.root}/ext`;
  Deno.mkdirSync(`${ext}/returners`, { recursive: true });
  Deno.writeTextFileSync(`${ext}/returners/own.js`, RETURNER);
  Deno.writeTextFileSync(`${ext}/returners/broken.js`, "no module");
  opts.extension_modules = ext;
  before?.(opts);
  const paths = masterBus(opts.sock_dir);
  Deno.mkdirSync(opts.sock_dir, { recursive: true });
  const eventLog = { directory: eventLogDirectory(opts.cachedir), keepS: 3600, maxBytes: 1 << 30 };
  const pump = await BusPump.open(paths, { log: SILENT_LOGGER, eventLog });
  const thread = new SupervisedThread<EventReturnInit>({
    name: "EventReturn",
    url: new URL("../../../lib/master/event_return/event_return_thread.ts", import.meta.url),
    log,
    init: () => ({ opts: packOpts("master", opts), startedMs: 0 }),
    unwanted: () => false,
    canOverlap: false,
  });
  try {
    await thread.ready;
    const notes = () => {
      try {
        return Deno.readTextFileSync(`${opts.cachedir}/notes`).trim().split("\n");
      } catch {
        return [];
      }
    };
    await run({ opts, thread, logged: lines, notes });
  } finally {
    await thread.stop(new TimeBudget(1_000));
    await pump.close();
  }
}

Deno.test("a log that cannot be read is named, and does not hold up the end; returners remove old jobs meanwhile", () =>
  withThread({
    options: { master_job_cache: "own", event_return: "no/name", loop_interval: 1 },
    before: ({ cachedir }) => Deno.writeTextFileSync(returnersDirectory(cachedir), "no directory"),
  }, async ({ thread, logged, notes }) => {
    await eventually(() => notes().includes("cleaned"), { what: "the first round" });
    await eventually(() => logged.length >= 3, { what: "three lines" });
    const started = performance.now();
    await thread.stop(new TimeBudget(30_000));
    assert(performance.now() - started < 5_000, "it waited for the next try");
    assertEquals(logged.filter((line) => line.includes("cleaning")).length, notes().length, logged.join("\n"));
    assert(logged.includes("WARNING cleaning"));
    assert(logged.includes("ERROR event_return: there is no returner of the name no/name"), logged.join("\n"));
    const [unread, ...others] = logged.filter((line) => line.startsWith("ERROR Returners get no events yet: "));
    assertStringIncludes(unread, "File exists");
    assertEquals(others, []);
  }));

Deno.test("a call that does not end in the time of the master's end is told to end", () =>
  withThread({ options: { event_return: ["own", "broken"] } }, async ({ opts, thread, notes, logged }) => {
    using sender = new EventSender(masterBus(opts.sock_dir).pull);
    assert(await sender.fire("own/1", map({})));
    await eventually(() => notes().includes("called"), { what: "the call" });
    await eventually(() => logged.length >= 2, { what: "the words about the other" });
    assertStringIncludes(logged[0], "WARNING Cannot load the module 'broken' of ");
    await thread.stop(new TimeBudget(800));
    assertEquals(notes(), ["called", "told to end"]);
  }));
