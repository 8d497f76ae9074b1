/**
 * What follows the faults of a run: one fault at a time, among processes that live and links that work, so that it is
 * known exactly what must come of it, and when. Each run has one of them. Then all that was published is sent again, by
 * somebody who has recorded it: nothing may begin.
 * @module
 */

import { Crypticle } from "#lib/crypto/crypticle.ts";
import { sameBytes } from "#lib/crypto/same_bytes.ts";
import type { PrivateKey } from "#lib/crypto/rsa.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { undeliveredKey } from "#lib/keys/undelivered_key.ts";
import { PublishSealer } from "#lib/master/publisher/publish_sealer.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import type { ModelDatabase } from "./database.ts";
import type { Ledger, StoredReturns } from "./ledger.ts";
import type { SimulatedMaster } from "./master.ts";
import type { SimulatedMinion } from "./minion.ts";
import type { PublishCheck, Published } from "./publish_check.ts";
import type { SimulatedJob } from "./operator.ts";
import type { Network } from "#tests/simulation/world/network.ts";
import { world } from "#tests/simulation/world/world.ts";

/** The part of a fleet that a trial uses. */
export interface CalmParts {
  readonly ledger: Ledger;
  readonly store: StoredReturns;
  readonly network: Network;
  readonly publishes: PublishCheck;
  /** The options of the masters. */
  readonly opts: readonly MasterOpts[];
  /** The key of the masters, and one that is none. */
  readonly keys: { readonly master: PrivateKey; readonly other: PrivateKey };
  readonly ids: readonly string[];
  /** Whether minions wait for an answer for a few seconds only. */
  readonly isQuick: boolean;
  readonly database: ModelDatabase | undefined;
  /** A running master. */
  master(i: number): SimulatedMaster;
  /** Has something done in the process of a master. */
  inMaster(i: number, run: (master: SimulatedMaster) => void): void;
  minion(id: string): SimulatedMinion;
  /** Whether minions keep few returns, and none for long. */
  readonly keepsFew: boolean;
  /** The clock of a minion is set forward by so many milliseconds. */
  forward(id: string, ms: number): void;
  /** The clocks of all minions are set to more than a day later. */
  passDay(): void;
  /** Kills a process, which is away for a time in milliseconds. */
  away(name: string, ms: number): void;
  /** Publishes a job at a master; its id. */
  publish(job: SimulatedJob, how: { readonly master: number; readonly isPromised: boolean }): Promise<string>;
  /** Seals a row of the publishes, as a master does. */
  sealRow(bytes: Uint8Array): Uint8Array;
  breaks(text: string): void;
}

/** How long a job runs at most, in milliseconds. */
const RUN_MS = 3_000;
/** How long a return that is not acknowledged is held back, in milliseconds. */
const HELD_MS = 20_000;
/** How long a return waits behind one that the master refuses, and behind one that it does not answer, in ms. */
const BEHIND_MS = { refused: 1_000, silent: 13_000 };
/** When a refused return is sent again at the latest, in milliseconds. */
const AGAIN_MS = 5_500;
/** The most tries of a refused return in {@linkcode HELD_MS}. */
const MOST_TRIES = 4;
/** How far a clock is set forward, so that a minion with few returns may not keep one any more, in milliseconds. */
const AGED_MS = 7 * 3_600_000;
/** How long a minion is cut off at most before it is stopped, in milliseconds. */
const STOPPED_MS = 30_000;
/** How long a minion reaches no master, and how soon after it its returns are there, in milliseconds. */
const CUT_OFF_MS: readonly [number, number] = [105_000, 130_000], BACK_MS = 30_000;
/** How long a minion takes to end, in milliseconds. */
const END_MS = 1_000;
/** Milliseconds after which a minion that is connected has begun a job. */
const PROMPT_MS = 1_000;
/** When another master of a cluster has published a job at the latest, in milliseconds. */
const SHARED_MS = 10_000;
/** When rows of jobs that ended after five seconds are removed at the latest, in milliseconds. */
const CLEANED_MS = 140_000;
/** When the records of brief jobs are removed at the latest, in milliseconds. */
const SWEPT_MS = 330_000;
/** How long everything may take in which nothing goes wrong, in milliseconds. */
const DONE_MS = 150_000;
/** How long a return waits for the answer to a request before it, in milliseconds. */
const SPOOLED_MS = 600_000;
/** The most publishes that are sent again. */
const MOST_AGAIN = 20;

/** A trial, and its name. */
type Trial = readonly [string, () => Promise<void>];

/** The time after the faults of one run. */
export class Calm {
  readonly #parts: CalmParts;

  constructor(parts: CalmParts) {
    this.#parts = parts;
  }

  /** One trial. */
  async run(): Promise<void> {
    const { random } = world();
    const { database, breaks } = this.#parts;
    const common: readonly Trial[] = [
      ["missed", () => this.#missed()],
      ["refused", () => this.#held("refused")],
      ["silent", () => this.#held("silent")],
      ["stopped", () => this.#stopped()],
      ...this.#parts.isQuick ? [["cut off", () => this.#cutOff()] as const] : [],
      ...this.#parts.keepsFew ? [["aged", () => this.#aged()] as const] : [],
    ];
    const own: readonly Trial[] = database === undefined
      ? [["expired", () => this.#expired()], ["hidden", () => this.#hidden()], ["rotated", () => this.#rotated()]]
      : [["brief", () => this.#brief()], ["rows", () => this.#rows(database)]];
    const [name, trial] = random.chance(SWEPT_SHARE)
      ? ["swept", () => this.#swept()] as const
      : random.pick(random.chance(OWN_SHARE) ? own : common);
    world().note(`trial: ${name}`);
    await trial();
    if (!await this.#done(DONE_MS)) breaks(`not all is done after the trial ${name}`);
  }

  async #pass(ms: number, isOver?: () => boolean): Promise<boolean> {
    return await world().pass(world().nowMs + ms, isOver);
  }

  #done(ms: number): Promise<boolean> {
    const { ledger, store } = this.#parts;
    return this.#pass(ms, () => ledger.isComplete(store));
  }

  /** Publishes a job, and waits until its id is known. */
  async #publish(job: SimulatedJob, { master = 0, isPromised = true } = {}): Promise<string> {
    let jid = "";
    void this.#parts.publish(job, { master, isPromised }).then((made) => jid = made);
    await this.#pass(DONE_MS, () => jid !== "");
    return jid;
  }

  #anyone(): string {
    return world().random.pick(this.#parts.ids);
  }

  /** A minion comes back to a job that it has missed. */
  async #missed(): Promise<void> {
    const id = this.#anyone(), { opts } = this.#parts;
    this.#parts.away(id, 5_000);
    await this.#pass(100);
    for (const i of opts.keys()) await this.#publish({ tgt: world().random.pick([id, "m*"]) }, { master: i });
    await this.#pass(1_000);
    if (world().random.chance(0.5)) {
      for (const i of opts.keys()) {
        this.#parts.inMaster(i, (running) => running.renewPublisher());
      }
    }
  }

  /** One return is refused, or gets no answer: those behind it go on. */
  async #held(kind: "refused" | "silent"): Promise<void> {
    const { minion, breaks } = this.#parts, id = this.#anyone(), of = minion(id);
    const held = of.hold(kind);
    for (let i = 0; i < 4; i++) await this.#publish({ tgt: id }), await this.#pass(world().random.between(0, RUN_MS));
    await this.#pass(HELD_MS);
    const waiting = of.unacknowledged.filter(([jid, endedMs]) =>
      jid !== held.jid && !held.failed.has(jid) && endedMs >= held.sinceMs
    ).map(([jid, endedMs]) => ({ jid, waitedMs: world().nowMs - endedMs }));
    of.release();
    for (const { jid, tries } of held.behind) {
      if (kind === "silent" && tries === 1) breaks(`the return of ${jid} overtakes one that was sent once`);
    }
    for (const { jid, waitedMs } of [...held.behind, ...waiting]) {
      if (waitedMs > BEHIND_MS[kind]) breaks(`the return of ${jid} waits ${Math.round(waitedMs)} ms behind another`);
    }
    const [first, second] = held.triesMs;
    if (kind === "silent" || first === undefined) return;
    if (held.triesMs.length > MOST_TRIES) breaks(`a refused return is sent ${held.triesMs.length} times`);
    if (second === undefined || second - first > AGAIN_MS) breaks("a refused return is not sent again soon");
  }

  /** A minion reaches no master for a while, which a return outlasts. */
  async #cutOff(): Promise<void> {
    const { network, ledger, breaks } = this.#parts, id = this.#anyone();
    const jid = await this.#publish({ tgt: id });
    await this.#pass(DONE_MS, () => ledger.hasBegun(jid, id));
    network.isolate(id);
    await this.#pass(world().random.between(...CUT_OFF_MS));
    network.join(id);
    if (!await this.#done(BACK_MS)) breaks(`the return of ${jid} is not there soon after ${id} is`);
  }

  /** A return waits for longer than it may be kept. */
  async #aged(): Promise<void> {
    const { minion, forward, ledger, breaks } = this.#parts, id = this.#anyone(), of = minion(id);
    of.hold("refused");
    const jid = await this.#publish({ tgt: id }, { isPromised: false });
    await this.#pass(DONE_MS, () => ledger.hasBegun(jid, id));
    await this.#pass(RUN_MS);
    forward(id, AGED_MS);
    await this.#pass(2 * AGAIN_MS);
    if (of.unacknowledged.some(([kept]) => kept === jid)) breaks(`${id} keeps the return of ${jid} for hours`);
    of.release();
  }

  /** A minion is stopped while a return waits. */
  async #stopped(): Promise<void> {
    const { network, minion, away, breaks, ledger } = this.#parts, id = this.#anyone();
    const jid = await this.#publish({ tgt: id });
    await this.#pass(DONE_MS, () => ledger.hasBegun(jid, id));
    if (world().random.chance(0.5)) network.isolate(id);
    else minion(id).hold("refused");
    await this.#pass(world().random.between(RUN_MS, STOPPED_MS));
    let ended = false;
    const stopped = minion(id), before = stopped.tries;
    void stopped.stop().then(() => ended = true);
    await this.#pass(END_MS, () => ended);
    if (!ended) breaks(`${id} does not end`);
    await this.#pass(2 * AGAIN_MS);
    if (stopped.tries > before) breaks(`${id} sends returns after its end`);
    network.join(id);
    away(id, 100);
  }

  /** A job ends before a minion is back: it gets that neither from its master nor from somebody who recorded it. */
  async #expired(): Promise<void> {
    const { away, ledger, ids } = this.#parts, id = this.#anyone(), ttlS = 5;
    away(id, 1000 * ttlS + world().random.between(-100, 500));
    const jid = await this.#publish({ tgt: "m*", ttlS }, { isPromised: false });
    await this.#pass(DONE_MS, () => ids.every((each) => each === id || ledger.hasBegun(jid, each)));
    await this.#pass(3 * 1000 * ttlS);
  }

  /** The arguments of a hidden job are in no log, and its file goes with it. */
  async #hidden(): Promise<void> {
    const { away, opts: [{ cachedir }], breaks } = this.#parts, id = this.#anyone(), ttlS = 10;
    away(id, 1000 * ttlS + 5_000);
    const jid = await this.#publish({ tgt: id, ttlS, hiddenBy: "00".repeat(32) }, { isPromised: false });
    await this.#pass(1_000);
    const text = new TextEncoder().encode(jid);
    for (const name of undeliveredNames(cachedir)) {
      if (name.endsWith(".log") && contains(Deno.readFileSync(`${cachedir}/undelivered/${name}`), text)) {
        breaks(`the hidden job ${jid} is in a log`);
      }
    }
    await this.#pass(1000 * ttlS + 2_000);
    if (undeliveredNames(cachedir).includes(jid)) breaks(`the hidden job ${jid} is over, and its file is there`);
  }

  /** A key is announced, and another one is used: minions ask for that one. */
  async #rotated(): Promise<void> {
    const { inMaster, ids, ledger, breaks } = this.#parts;
    await this.#pass(5_000);
    let rotated = false;
    inMaster(0, (master) => void master.announceAndRotate().then(() => rotated = true));
    await this.#pass(DONE_MS, () => rotated);
    const again = world().random.chance(0.5);
    if (again) inMaster(0, (master) => master.rotate());
    const jid = await this.#publish({ tgt: "m*" });
    await this.#pass(PROMPT_MS);
    for (const id of ids) if (!ledger.hasBegun(jid, id)) breaks(`${id} does not begin ${jid} under the new key`);
  }

  /** A job that is not to be repeated reaches another master of the cluster within seconds, or not at all. */
  async #brief(): Promise<void> {
    const { database, publishes, breaks } = this.#parts;
    database?.cut("master2", 20_000);
    const jid = await this.#publish({ tgt: "m*", ttlS: 1 }, { isPromised: false });
    await this.#pass(30_000);
    if (publishes.mastersOf(jid).has("master2")) breaks(`${jid} is published long after its end`);
  }

  /** Somebody who may write to the database writes old rows again, with more time, and rows that are no jobs. */
  async #rows(database: ModelDatabase): Promise<void> {
    const { breaks, publishes } = this.#parts;
    const before = new Set(database.tables.publishes);
    await this.#publish({ tgt: "m*", ttlS: 5 }, { isPromised: false });
    const jid = await this.#publish({ tgt: "m*" });
    const rows = database.tables.publishes.filter((row) => !before.has(row));
    const brief = rows.filter((row) => row.jid !== jid), long = rows.find((row) => row.jid === jid);
    database.forge([
      { ...brief[0], jid: makeJid(), sealed: new Uint8Array(100) },
      { ...brief[0], jid: makeJid(), sealed: this.#parts.sealRow(new Uint8Array([0xc1])) },
      ...long === undefined ? [] : [{ ...long, jid: makeJid() }],
    ]);
    const next = await this.#publish({ tgt: "m*" });
    await this.#pass(SHARED_MS);
    if (!publishes.mastersOf(next).has("master2")) breaks(`${next} waits behind rows that are no jobs`);
    await this.#pass(CLEANED_MS);
    if (database.tables.publishes.some((row) => brief.includes(row))) breaks("rows of jobs that are over stay");
    // A master that has begun anew does not know these jobs.
    if (world().random.chance(0.5)) {
      for (const name of ["master", "master2"]) this.#parts.away(name, 1_000);
      await this.#pass(10_000);
    }
    database.forge(brief);
    await this.#pass(5_000);
  }

  /** A minion is away for long, the master is a new one; and what is over leaves nothing. */
  async #swept(): Promise<void> {
    const { away, opts: [{ cachedir }], database, breaks } = this.#parts, id = this.#anyone();
    await this.#publish({ tgt: "m*", ttlS: 60 });
    await this.#done(DONE_MS);
    away(id, 300_000);
    await this.#publish({ tgt: id });
    await this.#pass(270_000);
    away("master", 1_000);
    await this.#pass(SWEPT_MS);
    const names = undeliveredNames(cachedir);
    if (database === undefined && names.length > 0) breaks(`jobs that are over have left ${names.join(", ")}`);
  }

  /** Sends all that was published again: everybody has done it, and nothing may begin. */
  async sendAgain(): Promise<void> {
    const { ledger, publishes, opts, master, minion, ids, breaks, database } = this.#parts;
    // Minions begin a new generation of the ids that they know: a day has passed, as their clocks say.
    if (world().random.chance(0.5)) this.#parts.passDay();
    await this.#publish({ tgt: "m*" });
    if (!await this.#done(DONE_MS)) breaks("the last job is not done");
    // A job whose return waits is published again.
    await this.#pass(SPOOLED_MS, () => ids.every((id) => minion(id).waiting === 0));
    ledger.finish();
    const published = publishes.all.length;
    for (const i of opts.keys()) this.#sendAgain(master(i));
    await this.#pass(4_000);
    if (ledger.hasDropped) return;
    if (publishes.all.length > published) breaks("jobs are published when all is done");
    // A master of a cluster may wait for minions of another one until their job ends.
    if (database !== undefined) return;
    if (master(0).pending > 0) breaks("the master waits for minions when all is done");
    const files = undeliveredNames(opts[0].cachedir).filter((name) => !name.includes("."));
    if (files.length > 0) breaks(`jobs that are over are kept: ${files.join(", ")}`);
  }

  #sendAgain(master: SimulatedMaster): void {
    const { publishes, ids, ledger, keys, opts, database } = this.#parts;
    const { random } = world();
    const known = publishes.all.filter(({ sharedKey, load }) =>
      sharedKey === master.sharedKey.text && (database === undefined || this.#haveAll(load))
    );
    for (const { frame } of sample(known)) master.send(frame);
    const seal = (key: PrivateKey, load: ValueMap, isNumbered = true) =>
      new PublishSealer(opts[0], { sharedKey: master.sharedKey, masterKeys: { current: key }, isNumbered }).seal(load);
    const good = { fun: "test.ping", arg: [], tgt: "*", tgt_type: "glob", ret: "", user: "root" };
    // Of somebody who has the shared key, as every minion has.
    master.send(seal(keys.other, map({ ...good, jid: makeJid() })));
    const { fun: _fun, ...nothing } = good, { tgt: _tgt, ...nobody } = good;
    const noJobs = [
      ...[nothing, nobody, { ...good, arg: "" }, { ...good, jid: "../../jid" }].map((load) =>
        seal(keys.master, map({ jid: makeJid(), ...load }))
      ),
      ...["9", 1.5].map((serial) => seal(keys.master, map({ jid: makeJid(), ...good, serial }), false)),
    ];
    for (const frame of noJobs) {
      master.send(frame);
      publishes.refuses(frame, master.sharedKey.text);
    }
    for (const id of ids) {
      const again = publishes.all.filter(({ load }) => ledger.hasBegun(String(load.get("jid")), id));
      if (again.length === 0) continue;
      for (let i = 0; i < 4; i++) {
        master.send(seal(keys.master, new Map([...random.pick(again).load, ["tgt", [id]], ["tgt_type", "list"]])));
      }
    }
  }

  /** Whether every minion has begun a job. */
  #haveAll(load: ValueMap): boolean {
    return this.#parts.ids.every((id) => this.#parts.ledger.hasBegun(String(load.get("jid")), id));
  }
}

/** How often a run has the trial that takes long. */
const SWEPT_SHARE = 0.04;
/** How often, of the others, it is one that only a cluster has, or only a master that stands alone. */
const OWN_SHARE = 0.5;

function sample(all: readonly Published[]): readonly Published[] {
  return all.length <= MOST_AGAIN ? all : Array.from({ length: MOST_AGAIN }, () => world().random.pick([...all]));
}

/** What is in the directory of undelivered jobs, without files that were not complete when their process died. */
function undeliveredNames(cachedir: string): string[] {
  return [...Deno.readDirSync(`${cachedir}/undelivered`)].map(({ name }) => name).filter((name) =>
    !name.startsWith(".")
  );
}

function contains(bytes: Uint8Array, part: Uint8Array): boolean {
  return bytes.toHex().includes(part.toHex());
}

/** What is in a file of a minion's spool that is no return. */
const STRANGE_RETURN = encode(1, "disk");

/** What a minion could find among its returns. */
export function writeStrangeReturn(cachedir: string): void {
  const directory = `${cachedir}/returns`, name = `${String(Date.now() * 1000).padStart(20, "0")}.p`;
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  Deno.writeFileSync(`${directory}/${name}`, STRANGE_RETURN, { mode: 0o600 });
}

/** Whether that is still there. */
export function keepsStrangeReturn(cachedir: string): boolean {
  const directory = `${cachedir}/returns`;
  return [...Deno.readDirSync(directory)].some(({ name }) =>
    name.endsWith(".p") && sameBytes(Deno.readFileSync(`${directory}/${name}`), STRANGE_RETURN)
  );
}

/** What a master could find among its undelivered jobs: files that are cut, or of another version. */
export function writeStrangeJobs({ cachedir }: MasterOpts, key: PrivateKey): void {
  const directory = `${cachedir}/undelivered`;
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const sealed = new Crypticle(undeliveredKey(key.pem)).encrypt(new Uint8Array([0xc1]));
  for (const bytes of [world().random.chance(0.5) ? sealed : new Uint8Array(40), encode(null, "disk")]) {
    Deno.writeFileSync(`${directory}/${makeJid()}`, bytes, { mode: 0o600 });
  }
}
