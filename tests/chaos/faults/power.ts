/**
 * The power of the master's machine, of a minion's or of all machines fails at random points, while jobs run and an
 * operator accepts keys. Data that was not synced may be missing completely or in part.
 * @module
 */

import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { jobSign } from "#lib/protocol/tags.ts";
import { loadPrivateKeyFile } from "#lib/keys/pair.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { samePem } from "#lib/crypto/pem.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Random } from "#tests/fuzz/mutate.ts";
import { eventually } from "#tests/support/eventually.ts";
import { missingCompiler } from "#tests/chaos/harness/compiler.ts";
import type { Fault, FaultRun, Figure } from "#tests/chaos/harness/fault.ts";
import { NumberedJobs } from "#tests/chaos/harness/numbered_jobs.ts";
import { PowerFleet } from "#tests/chaos/harness/power_fleet.ts";
import type { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

const LONG = { cuts: 100, perCut: 12, minions: 4 };
const SHORT = { cuts: 3, perCut: 6, minions: 2 };
/**
 * Maximum number of disk operations before a machine's power is cut; a job needs about ten operations of the master and
 * ten of its minion.
 */
const OPERATIONS = 150;
/** An idle machine's power is cut after this time, in milliseconds. */
const IDLE_MS = 5_000;
const SETTLE_MS = 90_000;
/** Under `process`, missing returns count as lost when none has come for this time, in milliseconds. */
const QUIET_MS = 10_000;
/** One of this number of cuts happens right after a new minion was accepted. */
const STRANGER_EACH = 10;

/** Run time of short jobs, in seconds. */
const SHORT_JOB_S = 60;

type Durability = "process" | "machine";

/** See {@linkcode Fault}. */
export const power: Fault = {
  name: "power",
  what: "the power of the master's machine, of a minion's or of all fails while jobs run and keys are accepted",
  promise: "no key is lost; under `durability: machine` no job, no acknowledged return, and nothing runs twice",
  missing: missingCompiler,
  async run(run): Promise<Figure[]> {
    const figures: Figure[] = [];
    for (const durability of ["machine", "process"] as const) {
      const cuts = new Cuts(run, durability);
      for (const figure of await cuts.make()) figures.push({ ...figure, name: `${durability}: ${figure.name}` });
    }
    return figures;
  },
};

/** Records the first event of each return, by tag. */
class ReturnEvents implements Disposable {
  readonly #first = new Map<string, string>();
  readonly #events: EventSubscriber;

  private constructor(events: EventSubscriber) {
    this.#events = events;
    void this.#listen();
  }

  static async of(fleet: ProcessFleet): Promise<ReturnEvents> {
    return new ReturnEvents(await EventSubscriber.connect(masterBus(fleet.masterOpts.sock_dir).pub, ["salt/job/"]));
  }

  async #listen(): Promise<void> {
    for (let event = await this.#events.next(); event !== undefined; event = await this.#events.next()) {
      if (jobSign(event.tag)?.kind !== "ret" || this.#first.has(event.tag)) continue;
      this.#first.set(event.tag, JSON.stringify(event.data.get("return")));
    }
  }

  /** Number of returns that are stored differently from their events. */
  otherwise({ jobs }: ProcessFleet): number {
    return [...this.#first].filter(([tag, fired]) => {
      const sign = jobSign(tag);
      const stored = sign === undefined ? undefined : jobs.getReturn(sign.jid, sign.id);
      return stored !== undefined && JSON.stringify(stored.return) !== fired;
    }).length;
  }

  [Symbol.dispose](): void {
    this.#events.close();
  }
}

class Cuts {
  readonly #random: Random;
  readonly #long: boolean;
  readonly #say: (text: string) => void;
  readonly #durability: Durability;
  #keysLost = 0;
  #keysKept = 0;

  constructor({ random, long, say }: FaultRun, durability: Durability) {
    this.#random = random;
    this.#long = long;
    this.#say = (text) => say(`${durability}: ${text}`);
    this.#durability = durability;
  }

  async make(): Promise<Figure[]> {
    const { cuts, perCut, minions } = this.#long ? LONG : SHORT;
    const random = this.#random;
    const options = { durability: this.#durability };
    await using machines = await PowerFleet.start({
      minions,
      master: { ...options, auto_accept: true },
      minion: options,
    });
    const { fleet } = machines;
    using returnEvents = await ReturnEvents.of(fleet);
    using jobs = await NumberedJobs.make(fleet);
    for (let cut = 1; cut <= cuts; cut++) {
      const stranger = cut % STRANGER_EACH === 1 ? `new${cut}` : undefined;
      const keys = random.chance(0.3) ? await this.#decideKeys(machines, cut) : [];
      const publishing = (async () => {
        for (let i = 0; i < perCut; i++) {
          // A job with a short job_ttl is a record in a log, and expires if its minion is away for longer.
          const brief = random.chance(0.5);
          const ids = brief ? [random.pick(fleet.ids)] : [...new Set([random.pick(fleet.ids), random.pick(fleet.ids)])];
          await jobs.publish(ids, random.int(300) / 1_000, brief ? SHORT_JOB_S : undefined);
          await sleep(random.int(60));
        }
      })();
      if (stranger !== undefined) {
        fleet.startStranger(stranger);
        await fleet.allPresent([stranger]);
      }
      const victims = stranger !== undefined || random.chance(0.4)
        ? ["master", ...fleet.ids, ...stranger === undefined ? [] : [stranger]]
        : [random.chance(0.6) ? "master" : random.pick(fleet.ids)];
      const first = await this.#cut(machines, victims);
      if (victims.includes("master")) jobs.hangUp();
      this.#checkKeys(fleet, keys);
      if (stranger !== undefined) this.#checkStranger(fleet, stranger);
      this.#say(
        `cut ${cut} of ${cuts}: ${
          victims.length > 1 ? `all, ${first} first` : first
        }; ${jobs.published.length} jobs so far`,
      );
      await sleep(random.int(200));
      if (victims.includes("master")) await fleet.startMaster();
      await Promise.all(fleet.ids.filter((id) => victims.includes(id)).map((id) => fleet.startMinion(id)));
      if (stranger !== undefined) {
        fleet.startStranger(stranger);
        await fleet.allPresent([stranger]);
        await fleet.stopMinion(stranger);
      }
      await fleet.allPresent();
      await publishing;
    }
    const machine = this.#durability === "machine";
    const waited = await allReturned(jobs, machine ? SETTLE_MS : QUIET_MS);
    this.#say(`the longest wait for a return was ${Math.round(waited)} ms`);
    const lost = jobs.published.flatMap((job) => jobs.missing(job).map((id) => `${job.jid} on ${id}`));
    if (lost.length > 0) this.#say(`lost: ${lost.join(", ")}`);
    const again = jobs.published.filter((job) => jobs.runs(job) > job.ids.length);
    if (again.length > 0) this.#say(`ran too often: ${again.map(({ jid, ids }) => `${jid} on ${ids}`).join(", ")}`);
    const bound = machine ? { atMost: 0 } : {};
    const names = ["returns lost", "runs too many"];
    return [
      { name: "cuts", value: cuts },
      ...jobs.figures().map(({ name, value }) => ({ name, value, ...names.includes(name) ? bound : {} })),
      {
        name: "jobs lost",
        value:
          jobs.published.filter(({ jid }) => !fleet.jobs.exists(jid) || fleet.jobs.getLoad(jid) === undefined).length,
        ...bound,
      },
      { name: "returns stored differently from their events", value: returnEvents.otherwise(fleet), ...bound },
      { name: "keys decided or made", value: this.#keysKept + this.#keysLost, atLeast: 1 },
      { name: "keys lost", value: this.#keysLost, atMost: 0 },
    ];
  }

  /**
   * Cuts the power of the machines: one at an operation on its disk, the others at the same moment.
   * @returns The machine that was cut first.
   */
  async #cut(machines: PowerFleet, victims: readonly string[]): Promise<string> {
    const random = this.#random;
    const first = random.pick(victims);
    const { fleet } = machines;
    const service = (node: string) => node === "master" ? fleet.master : fleet.minion(node);
    machines.disk(first).cutAt(1 + random.int(OPERATIONS), random.chance(0.5) ? "before" : "after");
    await eventually(() => service(first).exitCode !== undefined, { withinMs: IDLE_MS, what: "the cut", everyMs: 2 })
      .catch(() => {}); // the machine does nothing any more
    await machines.cut(victims, random);
    return first;
  }

  /**
   * Lets an operator accept, reject and delete one key each.
   * @returns The decisions that must hold afterwards.
   */
  async #decideKeys(machines: PowerFleet, cut: number): Promise<KeyDecision[]> {
    const acts = [["accept", "accepted"], ["reject", "rejected"], ["delete", undefined]] as const;
    const [act, state] = this.#random.pick(acts);
    const id = `key${cut}`;
    // It arrived while the master's machine had power, so it is on the disk.
    const { fleet } = machines;
    await fleet.stopMaster();
    machines.disk("master").fail(this.#random);
    const { publicKey: { pem } } = await PrivateKey.generate(2048);
    new KeyStore(`${fleet.configDir}/pki/master`).put(id, "pending", pem);
    await fleet.startMaster();
    const { code, err } = await fleet.salt("salt-key", "-y", `--${act}`, id);
    if (code !== 0) throw new Error(`salt-key --${act}: ${err}`);
    return [{ id, state, pem }];
  }

  #checkKeys(fleet: ProcessFleet, keys: readonly KeyDecision[]): void {
    const store = new KeyStore(`${fleet.configDir}/pki/master`);
    for (const { id, state, pem } of keys) {
      this.#count(
        store.state(id) === state && (state === undefined || store.get(id, state) === pem),
        `the key of ${id}`,
      );
    }
  }

  /** An accepted minion has its key and its master's, and the master has the minion's. */
  #checkStranger(fleet: ProcessFleet, id: string): void {
    const own = `${fleet.root}/${id}/etc/salt/pki/minion`;
    const accepted = new KeyStore(`${fleet.configDir}/pki/master`).get(id, "accepted");
    const pem = keyOf(`${own}/minion.pem`);
    this.#count(pem !== undefined && accepted !== undefined && samePem(accepted, pem), `the key pair of ${id}`);
    const master = keyOf(`${fleet.configDir}/pki/master/master.pem`);
    const known = Deno.readTextFileSync(`${own}/minion_master.pub`);
    this.#count(master !== undefined && samePem(known, master), `the master's key at ${id}`);
  }

  #count(held: boolean, what: string): void {
    if (held) this.#keysKept++;
    else {
      this.#keysLost++;
      this.#say(`lost: ${what}`);
    }
  }
}

/** An operator's decision about a key. */
interface KeyDecision {
  readonly id: string;
  readonly state: "accepted" | "rejected" | undefined;
  readonly pem: string;
}

function keyOf(path: string): string | undefined {
  try {
    return loadPrivateKeyFile(path)?.publicKey.pem;
  } catch {
    return undefined; // cut
  }
}

/**
 * Waits until all returns are there, or no further one has come for `quietMs`.
 * @returns The longest time between two of them, in milliseconds.
 */
async function allReturned(jobs: NumberedJobs, quietMs: number): Promise<number> {
  const end = performance.now() + SETTLE_MS;
  let missing = jobs.outstanding, since = performance.now(), longest = 0;
  while (missing > 0 && performance.now() < end && performance.now() - since < quietMs) {
    await sleep(200);
    const now = jobs.outstanding;
    longest = Math.max(longest, performance.now() - since);
    if (now < missing) since = performance.now();
    missing = now;
  }
  return longest;
}
