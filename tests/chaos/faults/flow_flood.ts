/**
 * One user who publishes without end, one minion that fires without end, and a whole fleet that returns, while another
 * operator works: with rules of `flow`, and without.
 * @module
 */

import { LocalClient } from "#lib/client/local.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { ThrottledError } from "#lib/errors.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { sleep } from "#lib/os/sleep.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import type { Fault, FaultRun, Figure } from "#tests/chaos/harness/fault.ts";
import { answers } from "#tests/chaos/harness/pings.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { startSwarm } from "#tests/chaos/harness/swarm.ts";
import { eventually } from "#tests/support/eventually.ts";
import { applicantOf, linkOf } from "#tests/support/fleet/applicant.ts";
import { TEST_KEY_BITS } from "#tests/support/fleet/scripted_master.ts";

const LONG = { minions: 300, seconds: 30, mostMs: 1_000 };
const SHORT = { minions: 30, seconds: 4, mostMs: 3_000 };

/** A user of every host who may publish, and floods. */
const FLOODING_USER = "daemon";
/** A minion that floods. */
const FLOODER = "flooder";
const RULES = [
  { user: FLOODING_USER, jobs: "10/s", burst: 50 },
  { minion: "*", returns: "50/s", events: "20/s", bytes: "1M/s", burst: 500 },
];
/** What the two offer in a second. */
const JOBS_PER_S = 1_000, EVENTS_PER_S = 5_000;
/** Parts of a second in which they offer it, and events of one request. */
const TURNS = 10, EVENTS = 100;
/** Clients of the flooding user: each has one request at a time. */
const CLIENTS = 8;
const PAUSE_MS = 100;

/** What happened in one flood. */
interface Flooded {
  /** Answers to publishes of the flooding user. */
  readonly published: number;
  readonly throttled: number;
  readonly eventsSent: number;
  /** How long each ping of the other operator took, in milliseconds, in order. */
  readonly pingsMs: readonly number[];
  readonly jobsOfAll: number;
  /** Returns to these jobs that did not come. */
  readonly lost: number;
}

/** Runs the flood on a fleet with a swarm. */
class Flood {
  readonly #fleet: ProcessFleet;
  readonly #minions: number;
  readonly #ending = new AbortController();
  #published = 0;
  #throttled = 0;
  #eventsSent = 0;
  #jobsOfAll = 0;
  #lost = 0;

  constructor(fleet: ProcessFleet, minions: number) {
    this.#fleet = fleet;
    this.#minions = minions;
  }

  async run(seconds: number): Promise<Flooded> {
    const { signal } = this.#ending, endMs = performance.now() + seconds * 1000;
    const floods = [
      ...Array.from({ length: CLIENTS }, () => this.#publish(signal)),
      this.#fire(signal),
      this.#all(() => performance.now() < endMs),
    ];
    const pingsMs = await this.#ping(endMs);
    this.#ending.abort();
    await Promise.all(floods);
    return {
      published: this.#published,
      throttled: this.#throttled,
      eventsSent: this.#eventsSent,
      pingsMs: pingsMs.toSorted((a, b) => a - b),
      jobsOfAll: this.#jobsOfAll,
      lost: this.#lost,
    };
  }

  /** The flooding user. */
  async #publish(signal: AbortSignal): Promise<void> {
    using client = await LocalClient.connect(this.#fleet.masterOpts, { user: FLOODING_USER, log: SILENT_LOGGER });
    while (!signal.aborted) {
      const nextMs = performance.now() + 1_000 / TURNS;
      for (let i = 0; i < JOBS_PER_S / TURNS / CLIENTS && !signal.aborted; i++) {
        try {
          await client.publish({ tgt: "m00", tgtType: "glob", fun: "test.ping", arg: [] });
          this.#published++;
        } catch (error) {
          if (!(error instanceof ThrottledError)) throw error;
          this.#throttled++;
        }
      }
      await sleep(Math.max(0, nextMs - performance.now()));
    }
  }

  /** The flooding minion. */
  async #fire(signal: AbortSignal): Promise<void> {
    const key = await PrivateKey.generate(TEST_KEY_BITS), pkiDir = Deno.makeTempDirSync({ prefix: "flooder_" });
    const { pki_dir, ret_port } = this.#fleet.masterOpts;
    new KeyStore(pki_dir).put(FLOODER, "accepted", key.publicKey.pem);
    const link = linkOf(applicantOf(FLOODER, key, pkiDir), { port: ret_port, timeoutMs: 60_000 });
    try {
      await link.signIn(signal);
      const events = Array.from({ length: EVENTS }, () => map({ tag: "flood/of/events", data: { a: 1 } }));
      while (!signal.aborted) {
        const nextMs = performance.now() + 1_000 * EVENTS / EVENTS_PER_S;
        await link.request(map({ cmd: "_minion_event", id: FLOODER, events }), signal);
        this.#eventsSent += EVENTS;
        await sleep(Math.max(0, nextMs - performance.now()));
      }
    } catch (error) {
      // The last request is given up.
      if (!signal.aborted) throw error;
    } finally {
      link.close();
      Deno.removeSync(pkiDir, { recursive: true });
    }
  }

  /** Jobs to all minions, one after the other. */
  async #all(goOn: () => boolean): Promise<void> {
    while (goOn()) {
      const answered = await answers(this.#fleet, "sim-*", this.#minions, 60_000);
      this.#jobsOfAll++;
      this.#lost += this.#minions - answered;
    }
  }

  /** The other operator. */
  async #ping(endMs: number): Promise<number[]> {
    const took: number[] = [];
    using client = await this.#fleet.client();
    while (performance.now() < endMs) {
      const began = performance.now();
      const job = await client.publish({ tgt: "m01", tgtType: "glob", fun: "test.ping", arg: [] });
      let returned = 0;
      for await (const one of client.collect(job, { timeoutMs: 10_000, gatherMs: 10_000 })) {
        if (one.kind === "returned") returned++;
      }
      took.push(returned === 1 ? performance.now() - began : Infinity);
      await sleep(PAUSE_MS);
    }
    return took;
  }
}

/** What `flow.status` shows of a rule. */
interface Counts {
  readonly passed: number;
  readonly throttled: number;
  readonly dropped: number;
}

/** The counts of each rule when they are those of the flood. */
async function countsOf(fleet: ProcessFleet, isSo: (rows: readonly Counts[]) => boolean): Promise<readonly Counts[]> {
  let rows: readonly Counts[] = [];
  await eventually(async () => {
    rows = JSON.parse((await fleet.salt("salt-run", "flow.status", "--out=json")).out);
    return isSo(rows);
  }, { what: "the counts of the flood", withinMs: 10_000 }).catch(() => {});
  return rows;
}

function p99(sorted: readonly number[]): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Infinity);
}

async function flooded(rules: readonly unknown[], { minions, seconds }: typeof LONG) {
  const master = { flow: rules, publisher_acl: { [FLOODING_USER]: [".*"] } };
  await using fleet = await ProcessFleet.start({ minions: 2, master });
  const swarm = await startSwarm(fleet, minions);
  try {
    await answers(fleet, "*", minions + 2, 60_000);
    const flood = await new Flood(fleet, minions).run(seconds);
    const counts = rules.length === 0 ? [] : await countsOf(
      fleet,
      ([jobs]) => jobs?.passed === flood.published && jobs.throttled === flood.throttled,
    );
    return { flood, counts };
  } finally {
    await swarm.stop(5_000);
  }
}

/** See {@linkcode Fault}. */
export const flowFlood: Fault = {
  name: "flow-flood",
  what: "a user who publishes 1,000 jobs a second and a minion that fires 5,000 events a second, while a fleet returns",
  promise: "with rules of flow another operator's jobs are as fast as ever, no return is lost, and the counts add up",
  async run({ long, say }: FaultRun): Promise<Figure[]> {
    const form = long ? LONG : SHORT;
    const { flood, counts: [jobs, events] } = await flooded(RULES, form);
    say("the flood with rules is over");
    const { flood: free } = await flooded([], form);
    const offered = (one: Flooded) => one.published + one.throttled;
    return [
      { name: "p99 of another operator's ping, ms", value: p99(flood.pingsMs), atMost: form.mostMs },
      { name: "these pings", value: flood.pingsMs.length, atLeast: 5 },
      { name: "jobs that the user offered", value: offered(flood) },
      { name: "of these published", value: flood.published, atMost: 50 + 11 * (form.seconds + 2) },
      { name: "of these refused", value: flood.throttled, atLeast: 1 },
      { name: "counted otherwise by flow.status", value: jobs.passed + jobs.throttled - offered(flood), atMost: 0 },
      { name: "events that the minion sent", value: flood.eventsSent },
      { name: "of these dropped", value: events.dropped, atLeast: Math.floor(flood.eventsSent / 2) },
      { name: "jobs to all minions", value: flood.jobsOfAll, atLeast: 1 },
      { name: "their returns lost", value: flood.lost, atMost: 0 },
      // Without the rules the same is a flood, as large as the machine can make it.
      { name: "refused without rules", value: free.throttled, atMost: 0 },
      { name: "published without rules", value: free.published },
      { name: "p99 of the ping without rules, ms", value: p99(free.pingsMs) },
      { name: "returns lost without rules", value: free.lost },
    ];
  },
};
