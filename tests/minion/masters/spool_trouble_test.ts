/**
 * The return spool with obstructing files and with limits.
 * @module
 */

import { RequestTimeoutError, RequestTooLargeError, WireError } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import { ReturnSpool, type SpoolLimits } from "#lib/minion/masters/return_spool.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

const ret = (jid: string, value: unknown = true) => map({ cmd: "_return", jid, return: value });

interface SpoolParts {
  send(load: ValueMap): Promise<void>;
  replace?(load: ValueMap): ValueMap | undefined;
  answers?(): Promise<boolean>;
  readonly limits?: SpoolLimits;
  readonly retryMs?: readonly [number, number];
}

/** Runs `act` with a spool's directory, the log lines, and a function that opens a spool there. */
async function inDirectory(
  act: (directory: string, lines: string[], open: (parts: SpoolParts) => ReturnSpool) => Promise<void>,
): Promise<void> {
  const directory = Deno.makeTempDirSync({ prefix: "spool_" });
  const { log, lines } = memoryLog();
  try {
    await act(
      directory,
      lines,
      (parts) => new ReturnSpool({ directory, retryMs: [1, 1], limits: { maxBytes: 0, maxAgeMs: 0 }, log, ...parts }),
    );
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

const SMALL: SpoolLimits = { maxBytes: 100, maxAgeMs: 0 };

for (const ending of ["accepts", "refuses"] as const) {
  Deno.test(`a return that is dropped while it is sent is gone, also if the master ${ending} it then`, () =>
    inDirectory(async (directory, lines, open) => {
      const gate = Promise.withResolvers<void>();
      const sent: unknown[] = [];
      const spool = open({
        limits: SMALL,
        async send(load) {
          sent.push(load.get("jid"));
          if (load.get("jid") !== "1") return;
          await gate.promise;
          if (ending === "refuses") throw new WireError("no");
        },
      });
      spool.add(ret("1"));
      spool.add(ret("2", "x".repeat(200)));
      assertMatch(lines.at(-1) ?? "", /Dropped the return of job 1, .*\(return_spool_max_size\)/);
      gate.resolve();
      await eventually(() => spool.size === 0, { what: "an empty spool" });
      assertEquals([sent, [...Deno.readDirSync(directory)]], [["1", "2"], []]);
      await spool.close();
    }));
}

Deno.test("a return whose replacement fails is retried later, and does not delay others", () =>
  inDirectory(async (_directory, lines, open) => {
    let faults = 0;
    const sent: unknown[] = [];
    const spool = open({
      send(load) {
        if (load.get("jid") === "1") return Promise.reject(new RequestTooLargeError(9, 1));
        sent.push(load.get("jid"));
        return Promise.resolve();
      },
      replace() {
        if (faults++ === 0) throw new TypeError("a fault");
        return undefined;
      },
    });
    spool.add(ret("1"));
    spool.add(ret("2"));
    await eventually(() => spool.size === 0, { what: "an empty spool" });
    assertEquals(sent, ["2"]);
    assertEquals(lines[0], "WARNING The return of job 1 waits; 2 in all: a fault");
    assertMatch(lines[1], /^ERROR Dropped the return of job 1: /);
    assertEquals(lines.length, 2);
    await spool.close();
  }));

Deno.test("a fault that always comes again is logged once for each try, not in a loop without a pause", () =>
  inDirectory(async (_directory, lines, open) => {
    const spool = open({
      send: () => Promise.reject(new RequestTimeoutError("tcp://master:4506", 1)),
      answers: () => Promise.reject(new TypeError("a fault")),
      retryMs: [1, 600_000],
    });
    const stops = () => lines.filter((line) => line === "ERROR The return spool stopped: a fault").length;
    spool.add(ret("1"));
    await eventually(() => stops() === 1, { what: "the fault in the log" });
    for (let turn = 0; turn < 100; turn++) await sleep(0);
    assertEquals([stops(), spool.size], [1, 1]);
    spool.flush();
    await eventually(() => stops() === 2, { what: "the second try" });
    await spool.close();
    assertEquals(spool.size, 1);
  }));

Deno.test("a file that can be neither read, nor set aside, nor removed is named in the log", () =>
  inDirectory(async (directory, lines, open) => {
    const names = ["00000000000000000001.p", "00000000000000000002.p"];
    Deno.writeTextFileSync(`${directory}/${names[0]}`, "\xc1");
    Deno.mkdirSync(`${directory}/${names[0]}.broken/in_the_way`, { recursive: true });
    Deno.symlinkSync("nowhere", `${directory}/${names[1]}`);
    const spool = open({
      async send() {
        // The file is written in the same turn of the event loop. Later there is a directory at its path.
        await new Promise((resolve) => setTimeout(resolve, 5));
        for (const { name } of Deno.readDirSync(directory)) {
          if (name.endsWith(".p") && !names.includes(name)) {
            Deno.removeSync(`${directory}/${name}`);
            Deno.mkdirSync(`${directory}/${name}/in_the_way`, { recursive: true });
          }
        }
      },
    });
    assertEquals(spool.size, 2);
    spool.add(ret("3"));
    spool.flush();
    await eventually(() => spool.size === 0, { what: "an empty spool" });
    const text = lines.join("\n");
    assertMatch(text, /Cannot set aside 00000000000000000001\.p of the return spool, which is broken \(.*\): /);
    assertMatch(text, /Cannot read 00000000000000000002\.p of the return spool: /);
    assertMatch(text, /Could not remove \d+\.p from the return spool: /);
    await spool.close();
  }));

Deno.test("a return that comes after the end is on disk for the next start, and not sent", () =>
  inDirectory(async (directory, lines, open) => {
    const sent: unknown[] = [];
    const send = (load: ValueMap) => Promise.resolve(void sent.push(load.get("jid")));
    const spool = open({ send });
    await spool.close();
    spool.add(ret("1"));
    await sleep(20);
    assertEquals([sent, [...Deno.readDirSync(directory)].length, lines], [[], 1, []]);
    const next = open({ send });
    next.flush();
    await eventually(() => sent.length === 1, { what: "the return" });
    assertEquals(sent, ["1"]);
    await next.close();
  }));
