/** Events that a reactor takes: after a predecessor, after events that are gone, while it ends; its map in a file. */

import { stamp } from "#lib/bus/event.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { eventLogDirectory, reactorDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { LeaseLostError } from "#lib/errors.ts";
import { listSegments, readLogId, segmentPath } from "#lib/event_log/segment.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { FunctionRequests } from "#lib/master/functions/requests.ts";
import { Performer } from "#lib/master/reactor/performer.ts";
import { Reactor, type ReactorParts } from "#lib/master/reactor/reactor.ts";
import { ReactorJournal } from "#lib/reactor/journal.ts";
import type { RenderedEvent } from "#lib/reactor/rendering.ts";
import { packEvent } from "#lib/bus/event.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { testServices } from "#tests/support/fleet/services.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { localReaction } from "./local_reaction.ts";

interface Site {
  readonly opts: MasterOpts;
  readonly log: readonly string[];
  /** The tags of events whose files were asked for, with the files. */
  readonly rendered: string[];
  /** The targets of the published jobs, and whether each was announced before. */
  readonly published: Value[][];
  fire(tag: string): Promise<void>;
  /** Starts the reactor, whose events each have one reaction: a job for the minion of the event's tag. */
  start(parts?: Partial<ReactorParts>): Promise<Reactor>;
}

interface Setting {
  /** Called before the bus begins. */
  readonly before?: (opts: MasterOpts) => void;
  readonly reactor?: (opts: MasterOpts) => Value;
}

async function withBus({ before, reactor }: Setting, run: (site: Site) => Promise<void>): Promise<void> {
  using services = await testServices();
  const opts: MasterOpts = { ...services.opts, reactor: [map({ "t/*": "/a.sls" })] };
  opts.reactor = reactor?.(opts) ?? opts.reactor;
  const paths = masterBus(opts.sock_dir), { log, lines } = memoryLog();
  const rendered: string[] = [], published: Value[][] = [];
  Deno.mkdirSync(opts.sock_dir, { recursive: true });
  before?.(opts);
  const eventLog = { directory: eventLogDirectory(opts.cachedir), keepS: 3600, maxBytes: 1 << 30 };
  const pump = await BusPump.open(paths, { log: SILENT_LOGGER, eventLog });
  const started: Reactor[] = [];
  const start: Site["start"] = async (parts) => {
    const reactor = await Reactor.start({
      opts,
      log,
      startedMs: 0,
      rendering: {
        render: ({ tag, files }) => {
          rendered.push([tag, ...files].join(" "));
          return Promise.resolve({ reactions: [localReaction(tag)], mistakes: [] });
        },
      },
      progressOf: () => Promise.resolve("none"),
      performer: (on) =>
        new Performer({
          ...on,
          user: "root",
          functions: new FunctionRequests(() => {}, () => {}),
          running: 1,
          waiting: 1,
          publish: (load, how) => {
            published.push([load.get("tgt") ?? null, how?.isAnnounced === true]);
            return Promise.resolve();
          },
        }),
      ...parts,
    });
    started.push(reactor);
    return reactor;
  };
  try {
    using sender = new EventSender(paths.pull);
    const fire = async (tag: string) => assert(await sender.fire(tag, stamp(map({}))));
    await run({ opts, log: lines, rendered, published, fire, start });
  } finally {
    for (const reactor of started) await reactor.close();
    await pump.close();
  }
}

/** What its directory's report says. */
function reportOf({ cachedir }: MasterOpts): Record<string, unknown> {
  return JSON.parse(Deno.readTextFileSync(`${reactorDirectory(cachedir)}/status.json`));
}

Deno.test("what a killed predecessor took over is started in its order, and not what it had started itself", () =>
  withBus({
    before: ({ cachedir }) => {
      const journal = new ReactorJournal(reactorDirectory(cachedir), (text) => assert(false, text));
      const taken = ["new", "announced", "started"].map((tgt, index) => ({
        jid: `2026120104000000000${index}`,
        tag: "t/old",
        reaction: localReaction(tgt),
      }));
      journal.take({ log: "", number: -1 }, taken);
      journal.close();
    },
  }, async ({ opts, published, rendered, fire, start }) => {
    const reactor = await start({
      progressOf: ({ reaction: { tgt } }) => Promise.resolve(tgt === "announced" || tgt === "started" ? tgt : "none"),
    });
    await fire("t/1");
    await eventually(() => published.length === 3, { what: "the three jobs" });
    assertEquals(published, [["new", false], ["announced", true], ["t/1", false]]);
    assertEquals(rendered, ["t/1 /a.sls"]);
    await reactor.close();
    assertEquals(new ReactorJournal(reactorDirectory(opts.cachedir), () => {}).open, []);
  }));

Deno.test("events that were removed from the log before the reactor came to them are counted and named", () =>
  withBus({
    before: ({ cachedir }) => {
      const directory = eventLogDirectory(cachedir);
      const writer = new EventLogWriter(directory, { keepS: 3600, maxBytes: 1 << 30 }, {
        log: SILENT_LOGGER,
        onWritten: () => {},
        segmentBytes: 1,
      });
      for (let n = 0; n < 4; n++) {
        writer.append(packEvent(`t/old${n}`, map({})));
        writer.flush();
      }
      writer.close();
      for (const { first } of listSegments(directory).filter((each) => each.first < 3)) {
        Deno.removeSync(segmentPath(directory, first));
      }
      const journal = new ReactorJournal(reactorDirectory(cachedir), () => {});
      journal.take({ log: readLogId(directory) ?? "", number: 0 }, []);
      journal.close();
    },
  }, async ({ opts, log, rendered, start }) => {
    await start();
    await eventually(() => rendered.length === 1, { what: "the event that is left" });
    assertEquals(rendered, ["t/old3 /a.sls"]);
    const text = "2 events were not in the event log any more when the reactor came to them";
    assertEquals(log, [`ERROR The reactor: ${text}`]);
    using time = new SkippedTime();
    await time.to(2_000);
    assertEquals(reportOf(opts).dropped, { missed: 2, limited: 0, loops: 0 });
  }));

Deno.test("no more than 256 events are rendered at once; a reactor that ends amid them takes no other", async () => {
  const ending = Promise.withResolvers<RenderedEvent>();
  ending.promise.catch(() => {});
  let asked = 0;
  await withBus({}, async ({ fire, start, published }) => {
    for (let n = 0; n < 300; n++) await fire(`t/${n}`);
    const reactor = await start({ rendering: { render: () => (asked++, ending.promise) } });
    await eventually(() => asked >= 256, { what: "the events" });
    await new Promise((resolve) => setTimeout(resolve));
    assertEquals(asked, 256);
    assertStringIncludes(reactor.describe(), "0 jobs published; 256 events in work");
    const closing = reactor.close();
    ending.reject(new Error("the reactor ends"));
    await closing;
    // The event that waited for room, and no other.
    assertEquals([asked, published], [257, []]);
  });
});

Deno.test("the next event is rendered when one of 256 is done", async () => {
  const first = Promise.withResolvers<RenderedEvent>();
  await withBus({}, async ({ fire, start, published, rendered }) => {
    await start({
      rendering: {
        render: ({ tag }) => {
          rendered.push(tag);
          return tag === "t/0" ? first.promise : Promise.resolve({ reactions: [localReaction(tag)], mistakes: [] });
        },
      },
    });
    for (let n = 0; n < 258; n++) await fire(`t/${n}`);
    await eventually(() => rendered.length >= 256, { what: "the events" });
    assertEquals(published, []);
    first.resolve({ reactions: [localReaction("t/0")], mistakes: [] });
    await eventually(() => published.length === 258, { what: "all jobs" });
    assertEquals(published, Array.from({ length: 258 }, (_, n) => [`t/${n}`, false]));
  });
});

Deno.test("a reactor whose reactions another master starts by now stops, which is no error", () =>
  withBus({}, async ({ opts, fire, log, start, published }) => {
    const journal = new ReactorJournal(reactorDirectory(opts.cachedir), () => {});
    const reactor = await start({
      journal: Object.assign(journal, {
        take: (_position: unknown, taken: readonly unknown[]) =>
          taken.length > 0 ? Promise.reject(new LeaseLostError()) : undefined,
      }),
    });
    await fire("t/1");
    await reactor.stopped;
    assertEquals(log, ["INFO The reactor stops: another master reacts from now on"]);
    assertEquals(published, []);
  }));

Deno.test("a map in a file is read again when the file changes; one that is gone has no entries and is named", () =>
  withBus({ reactor: ({ cachedir }) => `${cachedir}/map` }, async ({ opts, fire, log, rendered, start }) => {
    const path = `${opts.cachedir}/map`;
    Deno.writeTextFileSync(path, "- t/a: /a.sls\n");
    await start();
    const next = async (...tags: string[]) => {
      for (const tag of tags) await fire(tag);
      const wanted = rendered.length + 1;
      await eventually(() => rendered.length >= wanted, { what: tags.join() });
    };
    await next("t/b", "t/a");
    Deno.writeTextFileSync(path, "- t/b: [/b.sls, /c.sls]\n");
    await next("t/a", "t/b");
    Deno.removeSync(path);
    await fire("t/b");
    await eventually(() => log.length === 1, { what: "the mistake" });
    Deno.writeTextFileSync(path, "- t/a: /d.sls\n");
    await next("t/a");
    assertEquals(rendered, ["t/a /a.sls", "t/b /b.sls /c.sls", "t/a /d.sls"]);
    assertEquals(log, [`ERROR The reactor: ${path}: the file of the reactor map does not exist`]);
  }));

Deno.test("a report that cannot be written is logged, and holds up no reaction", () =>
  withBus({}, async ({ opts, fire, log, published, start }) => {
    Deno.mkdirSync(`${reactorDirectory(opts.cachedir)}/status.json`, { recursive: true });
    await start();
    assertEquals(log.length, 1);
    assertStringIncludes(log[0], "ERROR The report of the reactor cannot be written: ");
    await fire("t/1");
    await eventually(() => published.length === 1, { what: "the job" });
    Deno.removeSync(`${reactorDirectory(opts.cachedir)}/status.json`);
    using time = new SkippedTime();
    await time.to(2_000);
    assertEquals(reportOf(opts).matched, 1);
  }));
