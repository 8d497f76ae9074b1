/**
 * What must be true of what masters publish: no job goes to its minions after its time, and a syndic, which takes every
 * job, reads each of them once. Keeps the publishes, so that somebody who has recorded them can send them again.
 * @module
 */

import type { PublicKey } from "#lib/crypto/rsa.ts";
import { WireError } from "#lib/errors.ts";
import { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { PublishReader } from "#lib/minion/masters/publish_reader.ts";
import { OP } from "#lib/protocol/operator_field.ts";
import { REKEY_COMMAND } from "#lib/protocol/rekey.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { isMap, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { type SimulatedProcess, world } from "#tests/simulation/world/world.ts";

/** A publish, as it was on the wire. */
export interface Published {
  readonly load: ValueMap;
  readonly frame: Uint8Array;
  /** The shared key that it is encrypted with. */
  readonly sharedKey: string;
  readonly process: SimulatedProcess;
}

/** The field of a job's metadata with the seconds that it may be delivered; other jobs have a week. */
export const TTL_FIELD = "job_ttl";
/** How long the other masters of a cluster have for a job at least, in milliseconds. */
const LEAST_MS = 5_000;
/** How long after its end a job may be published: it is stored a moment after it was sent first, in milliseconds. */
const LATE_MS = 100;

/** A minion that every target of all minions is for. */
const STRICT = "m0";

interface Job {
  readonly endMs: number;
  readonly masters: Set<string>;
}

/** The publishes of a run. */
export class PublishCheck {
  readonly all: Published[] = [];
  readonly #breaks: (text: string) => void;
  /** How late a job may be: masters of a cluster may be stopped between two looks at the clock. */
  readonly #lateMs: number;
  readonly #masterKey: PublicKey;
  readonly #jobs = new Map<string, Job>();
  /** Takes every job, as a syndic does. */
  readonly #syndic: PublishReader;
  /** A minion that refuses jobs with a signature, which is never right here. */
  readonly #strict: PublishReader;
  #sharedKey = "";
  /** The announcements of keys that the syndic has heard. */
  #announcements = 0;

  /** @param options.pausesMs How long a master may be stopped. */
  constructor(
    breaks: (text: string) => void,
    { log, masterKey, pausesMs }: {
      readonly log: Logger;
      readonly masterKey: PublicKey;
      readonly pausesMs: number;
    },
  ) {
    this.#masterKey = masterKey;
    this.#breaks = breaks;
    this.#lateMs = LATE_MS + pausesMs;
    const rules = () => ({
      requireSignature: false,
      jids: new JidMemory({ min: 1_000, log }),
      log,
    });
    this.#syndic = new PublishReader({
      ...rules(),
      id: "syndic",
      data: undefined,
      onAnnouncement: () => void this.#announcements++,
    });
    const check = (_load: ValueMap, op: Value | undefined) => ({
      body: new Uint8Array(),
      key: "",
      ...op !== undefined && { refused: "it is not right" },
    });
    this.#strict = new PublishReader({
      ...rules(),
      id: STRICT,
      data: () => ({ grains: new Map(), pillar: new Map() }),
      operators: { check },
    });
  }

  /** A master publishes. */
  note(published: Published): void {
    const { load, process } = published;
    // A dead process goes on until it waits; what it does has not happened.
    if (!process.alive) return;
    this.all.push(published);
    const jid = str(load.get("jid") ?? "");
    this.#trust(published.sharedKey);
    if (load.get("cmd") === REKEY_COMMAND) return this.#checkAnnouncement(published);
    this.#askReaders(published, jid);
    const job = this.#jobOf(jid, load);
    job.masters.add(process.name);
    const lateMs = world().nowMs - job.endMs;
    if (lateMs > this.#lateMs) this.#breaks(`${jid} is published ${Math.round(lateMs)} ms after its end`);
  }

  #jobOf(jid: string, load: ValueMap): Job {
    const known = this.#jobs.get(jid);
    if (known !== undefined) return known;
    const metadata = load.get("metadata");
    const ttlS = isMap(metadata) ? toNumber(metadata.get(TTL_FIELD) ?? null) : undefined;
    const endMs = ttlS === undefined ? Infinity : world().nowMs + Math.max(ttlS * 1000, LEAST_MS);
    const job: Job = { endMs, masters: new Set() };
    this.#jobs.set(jid, job);
    return job;
  }

  /** The masters that have published a job. */
  mastersOf(jid: string): ReadonlySet<string> {
    return this.#jobs.get(jid)?.masters ?? new Set();
  }

  /** What is no job is none for a syndic either, which takes all. */
  refuses(frame: Uint8Array, sharedKey: string): void {
    this.#trust(sharedKey);
    try {
      if (this.#syndic.read(frame) !== undefined) this.#breaks("a syndic takes what is no job");
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
    }
  }

  #trust(sharedKey: string): void {
    if (sharedKey === this.#sharedKey) return;
    this.#sharedKey = sharedKey;
    const credentials = { sharedKey, sessionKey: "", publishPort: 0, masterKey: this.#masterKey };
    for (const reader of [this.#syndic, this.#strict]) reader.trust(credentials);
  }

  /** The announcement of a key is no job, and counts once. */
  #checkAnnouncement({ frame }: Published): void {
    const before = this.#announcements;
    for (const _time of [1, 2]) if (this.#syndic.read(frame) !== undefined) this.#breaks("an announcement is a job");
    if (this.#announcements !== before + 1) this.#breaks("an announcement counts twice");
  }

  /** A syndic hands each job on, with the signature of its operator; a strict minion takes none that has one. */
  #askReaders({ frame, load }: Published, jid: string): void {
    const isNew = !this.#jobs.has(jid), isSigned = load.has(OP);
    const read = this.#syndic.read(frame);
    if (isNew !== (read !== undefined)) this.#breaks(`a syndic ${isNew ? "does not take" : "takes"} ${jid}`);
    if (read !== undefined && read.has(OP) !== isSigned) this.#breaks(`a syndic loses the signature of ${jid}`);
    if (this.#strict.read(frame) !== undefined && isSigned) this.#breaks(`a strict minion takes ${jid}`);
  }
}
