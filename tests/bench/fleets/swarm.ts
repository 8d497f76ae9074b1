/**
 * `deno task swarm`: simulated minions, thousands in one process, for measuring a master.
 *
 * Each has an id, session, SUB and REQ sockets of its own and speaks the whole protocol; they share a few RSA keys. A
 * publish is the same message to all, and is decrypted once. `test.ping` returns True, `saltutil.find_job` returns
 * whether the job still runs, and every other function returns text.
 * @module
 */

import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { type Backoff, backoff } from "#lib/minion/masters/backoff.ts";
import { Crypticle } from "#lib/crypto/crypticle.ts";
import { WireError } from "#lib/errors.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { raiseOpenFileLimit } from "#lib/libc/libc.ts";
import { parsePublished } from "#lib/protocol/payload.ts";
import type { SignInCredentials } from "#lib/minion/masters/sign_in.ts";
import { sleep } from "#lib/os/sleep.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { keyOf, keyPool } from "./key_pool.ts";
import { prepareManySockets } from "./many_sockets.ts";
import { SimulatedMinion } from "./simulated_minion.ts";
import { BUSY_LIMIT, type SwarmJob, SwarmJobs } from "./swarm_jobs.ts";
import { OptionError, parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

const USAGE = `Usage: deno task swarm [options]

  --minions N        How many. Default: 100.
  --master H:P       The master's host and ret_port. Default: 127.0.0.1:4506.
  --prefix TEXT      Ids are TEXT and a number. Default: sim-.
  --from N           The first number. Default: 1. For more swarms on one master.
  --payload BYTES    Length of the text that functions return, but for test.ping. Default: 100.
  --delay MS         How long a job takes. Default: 0.
  --keys N           How many RSA keys they share. Default: 16.
  --bits N           The size of those keys. Default: 2048.
  --accept-in DIR    Put their keys among the accepted ones of the master whose pki_dir is DIR.
  --json             One JSON object a line instead of text.
  --help             Show this.
`;

/**
 * Sockets of one minion: SUB, the two sockets of its monitor, REQ, and one for a sign-in; some exist twice for a while,
 * since libzmq closes sockets later, and after the loss of a master all minions sign in again.
 */
const SOCKETS = 8;
/** Open files of one minion: each socket has a descriptor of libzmq, and network sockets also have a connection. */
const FILES = 10;
/** Number of minions that sign in at the same time. */
const SIGN_INS = 32;

/** Decrypts each publish once for all minions. */
class Publishes {
  #frame: Uint8Array = new Uint8Array();
  #sharedKey = "";
  #crypticle: Crypticle | undefined;
  #load: ValueMap = new Map();

  /**
   * The load in `frame`.
   * @throws {AuthenticationError} If it was not encrypted for these credentials.
   */
  open(frame: Uint8Array, { sharedKey }: SignInCredentials): ValueMap {
    const same = sharedKey === this.#sharedKey;
    if (same && sameBytes(frame, this.#frame)) return this.#load;
    if (!same) {
      this.#crypticle = new Crypticle(sharedKey);
      this.#sharedKey = sharedKey;
      // A load that another key has decrypted is not valid for a minion with this key: that minion must sign in, and
      // count serials from the start.
      this.#frame = new Uint8Array();
    }
    const load = this.#crypticle?.loads(parsePublished(frame).load);
    if (!isMap(load)) throw new WireError("a publish whose load is no map");
    this.#frame = frame;
    this.#load = load;
    return load;
  }
}

/** The returns of the invented jobs. */
class Answers {
  readonly #text: string;
  readonly #delayMs: number;
  readonly #running = new Map<string, { readonly load: ValueMap; minions: number }>();

  constructor(payloadBytes: number, delayMs: number) {
    this.#text = "x".repeat(payloadBytes);
    this.#delayMs = delayMs;
  }

  async answer(load: ValueMap): Promise<Value> {
    const fun = load.get("fun");
    if (fun === "saltutil.find_job") {
      const arg = load.get("arg");
      const jid = Array.isArray(arg) ? str(arg[0] ?? "") : "";
      const job = this.#running.get(jid);
      return job === undefined ? new Map() : new Map([...job.load, ["pid", Deno.pid]]);
    }
    if (this.#delayMs > 0) await this.#take(load);
    return fun === "test.ping" ? true : this.#text;
  }

  async #take(load: ValueMap): Promise<void> {
    const jid = str(load.get("jid") ?? "");
    const running = this.#running.get(jid) ?? { load, minions: 0 };
    this.#running.set(jid, running);
    running.minions++;
    await sleep(this.#delayMs);
    if (--running.minions === 0) this.#running.delete(jid);
  }
}

/** The waits of a minion with default options. The first wait after each lost connection is recorded. */
class RecordedWaits implements Backoff {
  readonly first: number[] = [];
  readonly #backoff = backoff({ leastMs: 1_000, mostMs: 10_000, randomize: true });

  pause(attempt: number): number {
    const ms = this.#backoff.pause(attempt);
    if (attempt === 0) this.first.push(ms);
    return ms;
  }

  reconnect(attempt: number): number {
    return this.#backoff.reconnect(attempt);
  }
}

async function main(args: string[]): Promise<void> {
  const { values } = parseOptions({
    args,
    options: {
      minions: { type: "string", default: "100" },
      master: { type: "string", default: "127.0.0.1:4506" },
      prefix: { type: "string", default: "sim-" },
      from: { type: "string", default: "1" },
      payload: { type: "string", default: "100" },
      delay: { type: "string", default: "0" },
      keys: { type: "string", default: "16" },
      bits: { type: "string", default: "2048" },
      "accept-in": { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  const count = number("minions", values.minions);
  const first = number("from", values.from);
  const [host, port] = values.master.split(":");
  const limit = raiseOpenFileLimit(count * FILES + 100);
  if (limit.soft < count * FILES) {
    complain(`${count} minions need ${count * FILES} open files, the limit is ${limit.soft}\n`);
    Deno.exit(1);
  }
  prepareManySockets(count * SOCKETS + 10);

  const keys = await keyPool(Math.min(first + count - 1, number("keys", values.keys)), number("bits", values.bits));
  const ids = Array.from({ length: count }, (_, i) => `${values.prefix}${first + i}`);
  if (values["accept-in"] !== undefined) {
    const store = new KeyStore(values["accept-in"]);
    for (const [i, id] of ids.entries()) store.put(id, "accepted", keyOf(first + i, keys).publicKey.pem);
  }

  const pkiDir = Deno.makeTempDirSync({ prefix: "swarm_" });
  const publishes = new Publishes();
  const answers = new Answers(number("payload", values.payload), number("delay", values.delay));
  const waits = new RecordedWaits();
  const jobs = new SwarmJobs((job) => say(values.json ? line({ event: "job", ...job }) : jobText(job)));
  const settings = {
    host,
    port: number("master", port ?? "4506"),
    pkiDir,
    backoff: waits,
    open: (frame: Uint8Array, credentials: SignInCredentials) => publishes.open(frame, credentials),
    answer: (load: ValueMap) => answers.answer(load),
    note: (load: ValueMap, what: "received" | "acknowledged" | "failed") => jobs.note(load, what),
  };
  const minions = ids.map((id, i) => new SimulatedMinion(id, keyOf(first + i, keys), settings));
  const end = () => {
    for (const minion of minions) minion.close();
    if (values.json) say(line({ event: "end", firstWaits: waits.first }));
    Deno.removeSync(pkiDir, { recursive: true });
    Deno.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, end);

  const started = performance.now();
  const waiting = minions.values();
  await Promise.all(Array.from({ length: SIGN_INS }, async () => {
    for (const minion of waiting) await minion.start();
  }));
  const ms = performance.now() - started;
  say(
    values.json
      ? line({ event: "ready", minions: count, ms })
      : `${count} minions signed in to ${values.master} in ${(ms / 1000).toFixed(1)} s. Ctrl-C ends them.\n`,
  );
}

function jobText({ jid, fun, received, acknowledged, failed, ms, busy }: SwarmJob): string {
  const rate = ms > 0 ? `, ${Math.round(acknowledged / ms * 1000)} a second` : "";
  const failures = failed > 0 ? `; ${failed} could not be delivered` : "";
  const own = `; the swarm itself was busy ${Math.round(busy * 100)}% of that time`;
  const warning = busy > BUSY_LIMIT ? ": it is the bottleneck" : "";
  const counts = `${acknowledged} of ${received} returns acknowledged in ${ms.toFixed(0)} ms${rate}`;
  return `${fun} ${jid}: ${counts}${failures}${own}${warning}\n`;
}

function line(event: Record<string, unknown>): string {
  return `${JSON.stringify(event)}\n`;
}

function number(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new OptionError(`--${name}: ${text} is no number`);
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

function complain(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}

if (import.meta.main) await runScript(main, { name: "swarm" });
