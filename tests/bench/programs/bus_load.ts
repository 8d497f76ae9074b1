/**
 * Sends events through a master's bus to several subscribers, each a process that reads all events that it gets. The
 * counterpart of bus_load.py.
 *
 * Arguments: the bus's pull socket, its publishing socket, how many subscribers, how many events. Writes `{"events": …,
 * "seconds": …}`: the time from the first fired event until the last subscriber has read the last one.
 * @module
 */

import { stamp } from "#lib/bus/event.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { map } from "#lib/values/value.ts";
import { benchCommand } from "#tests/bench/harness/sides.ts";

const TAG = "bench/event";
/** Time without an event after which the missing events count as lost, in milliseconds. */
const SILENCE_MS = 30_000;
/**
 * Maximum number of events that the slowest subscriber may be behind: the bus drops events that do not fit into its
 * queue of 20,000.
 */
const AHEAD = 10_000;
/** A subscriber reports its count each time it has read this number of events. */
const REPORT_EVERY = 1_000;

/**
 * Reads `count` events.
 * @returns When the last one was read, in milliseconds since the epoch.
 */
async function listen(pub: string, count: number): Promise<number> {
  using events = await EventSubscriber.connect(pub, [TAG]);
  say("ready\n");
  for (let i = 0; i < count; i++) {
    const event = await events.next(SILENCE_MS);
    if (event === undefined) throw new Error(`only ${i} of ${count} events came`);
    if (event.data.get("n") !== i) throw new Error(`event ${i} is ${event.data.get("n")}`);
    if ((i + 1) % REPORT_EVERY === 0) say(`${i + 1}\n`);
  }
  return Date.now();
}

/** A subscriber process, for the process that fires events. */
class Reader {
  readonly #lines: AsyncIterator<string, void>;
  readonly #child: Deno.ChildProcess;
  #read = 0;

  constructor(pub: string, count: number) {
    const [command, ...args] = benchCommand("programs/bus_load.ts");
    const words = [...args, "--listen", pub, String(count)];
    this.#child = new Deno.Command(command, { args: words, stdout: "piped" }).spawn();
    this.#lines = lines(this.#child.stdout);
  }

  /**
   * The next line.
   * @throws {Error} If there is none, because the subscriber has failed.
   */
  async line(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done) throw new Error("a subscriber did not get all events");
    return next.value;
  }

  /** Waits until the subscriber has read `count` events. */
  async reach(count: number): Promise<void> {
    while (this.#read < count) this.#read = Number(await this.line());
  }

  /** The time when it had read all `count` events, in milliseconds since the epoch. */
  async end(count: number): Promise<number> {
    await this.reach(Math.floor(count / REPORT_EVERY) * REPORT_EVERY);
    const end = Number(await this.line());
    await this.#child.status;
    return end;
  }
}

async function* lines(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, void> {
  let rest = "";
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

async function load(paths: { pull: string; pub: string }, subscribers: number, count: number) {
  const readers = Array.from({ length: subscribers }, () => new Reader(paths.pub, count));
  for (const reader of readers) if (await reader.line() !== "ready") throw new Error("no subscription");
  const from = Date.now();
  using sender = new EventSender(paths.pull);
  const data = { jid: "20261121120000000000", id: "web1", return: "x".repeat(100), retcode: 0, success: true };
  for (let n = 0; n < count; n++) {
    if (n % REPORT_EVERY === 0 && n > AHEAD) { for (const reader of readers) await reader.reach(n - AHEAD); }
    await sender.fire(TAG, stamp(map({ ...data, n })));
  }
  const ends = await Promise.all(readers.map((reader) => reader.end(count)));
  return { events: count, seconds: (Math.max(...ends) - from) / 1000 };
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

if (import.meta.main) {
  const done = Deno.args[0] === "--listen"
    ? await listen(Deno.args[1], Number(Deno.args[2]))
    : await load({ pull: Deno.args[0], pub: Deno.args[1] }, Number(Deno.args[2]), Number(Deno.args[3]));
  say(`${JSON.stringify(done)}\n`);
  Deno.exit(0);
}
