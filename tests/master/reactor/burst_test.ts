/**
 * Bursts of events, and large ones: no reaction is lost, and a client that is cut again and again has each event once.
 * EVENTS=100000 CUTS=100 makes it the full size.
 * @module
 */

import { stamp } from "#lib/bus/event.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const EVENTS = Number(Deno.env.get("EVENTS") ?? 5_000);
const CUTS = Number(Deno.env.get("CUTS") ?? 10);
/** Of so many events one has a reaction. */
const EACH = 50;

async function fireMany(fleet: Fleet, tagOf: (n: number) => string): Promise<void> {
  using sender = new EventSender(masterBus(fleet.masterOpts.sock_dir).pull);
  for (let n = 0; n < EVENTS; n++) assert(await sender.fire(tagOf(n), stamp(map({ n }))));
}

/** The first arguments of the published jobs of `test.arg`, sorted. */
async function published(fleet: Fleet): Promise<number[]> {
  const jobs = parseJson((await fleet.saltRun("jobs.list_jobs", "search_function=test.arg", "--out=json")).out);
  assert(isMap(jobs));
  return [...jobs.values()].map((job) => {
    const args = isMap(job) ? job.get("Arguments") : undefined;
    return Number(Array.isArray(args) ? args[0] : NaN);
  }).sort((a, b) => a - b);
}

async function withReaction(text: string, run: (fleet: Fleet) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    const file = `${root}/say.sls`;
    Deno.writeTextFileSync(file, `a:\n  local.test.arg:\n    - tgt: g1\n    - arg: [${text}]\n`);
    await using fleet = await startFleet({
      master: { timeout: 1, gather_job_timeout: 1, reactor: [{ "t/say": file }] },
    });
    Deno.mkdirSync(`${fleet.masterOpts.pki_dir}/minions`, { recursive: true });
    Deno.copyFileSync(`${fleet.masterOpts.pki_dir}/master.pub`, `${fleet.masterOpts.pki_dir}/minions/g1`);
    await run(fleet);
  });
}

Deno.test(`a burst of ${EVENTS} events loses no reaction`, () =>
  withReaction("{{ data.n }}", async (fleet) => {
    await fireMany(fleet, (n) => n % EACH === 0 ? "t/say" : "t/other");
    const wanted = Array.from({ length: EVENTS / EACH }, (_, n) => n * EACH);
    const started = async () => {
      const { out } = await fleet.saltRun("reactor.status", "--out=json");
      const reactions = (parseJson(out) as Map<Value, Value>).get("reactions");
      return isMap(reactions) ? reactions.get("local") ?? 0 : 0;
    };
    await eventually(async () => await started() === wanted.length, {
      what: "all reactions",
      withinMs: 600_000,
      everyMs: 500,
    });
    assertEquals(await published(fleet), wanted);
  }));

Deno.test("an event of 10 MB starts its reaction, and holds up no other", () =>
  withReaction("{{ data.n }}, {{ data.get('text', '') | length }}", async (fleet) => {
    await fleet.fire("t/say", map({ n: 1 }));
    await fleet.fire("t/say", map({ n: 2, text: "x".repeat(10 * 2 ** 20) }));
    await fleet.fire("t/say", map({ n: 3 }));
    await eventually(async () => (await published(fleet)).length === 3, { what: "the three jobs" });
    assertEquals(await published(fleet), [1, 2, 3]);
  }));

Deno.test(`a client that is cut ${CUTS} times while ${EVENTS} events pass has each once, in order`, async () => {
  await using fleet = await startFleet();
  const got: number[] = [];
  let since = "now", cuts = 0;
  /** Reads until it is cut after about so many events, and takes up what was read whole. */
  const read = async (most: number) => {
    const cut = new AbortController();
    let text = "", count = 0;
    const { code } = await fleet.saltRunWith(
      {
        signal: cut.signal,
        onOutput: (piece) => {
          text += piece;
          const lines = text.split("\n");
          text = lines.pop() ?? "";
          for (const line of lines) {
            const [, json] = line.split("\t");
            if (cut.signal.aborted || json === undefined) continue;
            const data = parseJson(json);
            assert(isMap(data));
            since = String(data.get("_offset"));
            got.push(Number(data.get("n")));
            if (++count >= most || got.length >= EVENTS) cut.abort();
          }
        },
      },
      "state.event",
      "t/*",
      `since=${since}`,
      "offsets=True",
    );
    return code;
  };
  // The offset of the first event is what a client keeps that has read nothing.
  await fleet.fire("begin", map({}));
  const first = await fleet.saltRun("state.event", "begin", "since=start", "offsets=True", "count=1");
  since = /"_offset": ?"([^"]+)"/.exec(first.out)?.[1] ?? "";
  assert(since !== "", first.out);
  const firing = fireMany(fleet, () => "t/n");
  while (got.length < EVENTS) {
    await read(Math.ceil(EVENTS / (CUTS + 1)));
    cuts++;
  }
  await firing;
  assertEquals(got, Array.from({ length: EVENTS }, (_, n) => n));
  assert(cuts > CUTS / 2);
});
