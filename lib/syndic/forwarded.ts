/**
 * What a syndic carries up: the events of its own master's bus, and the returns, one entry for each job. Knows neither
 * sockets nor files.
 * Source: Salt 3007.15 `salt/minion.py` SyndicManager (_process_event, _forward_events).
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { CHAIN, REFUSED_JOB } from "#lib/protocol/operator_field.ts";
import { CANCELLED_JOB } from "#lib/protocol/outcome.ts";
import { jobNew, jobSign } from "#lib/protocol/tags.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** Events that wait for the next turn; more of them are dropped. */
const MAX_EVENTS = 20_000;
/** Bytes of events that wait, while a top is slow; more of them are dropped. */
const MAX_BYTES = 64 << 20;
/** Fields of a return that a top needs of each minion. */
const RETURN_FIELDS = [
  "return",
  "retcode",
  "success",
  "fun_args",
  "interrupted",
  "error_details",
  REFUSED_JOB,
  CANCELLED_JOB,
  CHAIN,
];

/** What a syndic collects between two turns. */
export class Forwarded {
  readonly #id: string;
  readonly #loadOf: (jid: string) => Promise<ValueMap | undefined>;
  /** Jobs whose load was sent up, the oldest first. */
  readonly #sent = new Set<string>();
  readonly #hwm: number;
  /** Jobs whose load goes with their next returns. */
  readonly #unread = new Set<string>();
  #events: ValueMap[] = [];
  #bytes = 0;
  #returns = new Map<string, ValueMap>();
  #returnBytes = 0;
  #dropped = 0;

  /**
   * @param id The syndic's own id.
   * @param options.loadOf The load of a job in the job cache.
   * @param options.hwm Of how many jobs it remembers that their loads were sent.
   */
  constructor(
    id: string,
    options: { readonly loadOf: (jid: string) => Promise<ValueMap | undefined>; readonly hwm: number },
  ) {
    this.#id = id;
    this.#loadOf = options.loadOf;
    this.#hwm = options.hwm;
  }

  /** Takes an event of the bus. */
  add({ tag, data }: BusEvent): void {
    const sign = jobSign(tag);
    if (sign?.kind === "ret") return this.#addReturn(sign.jid, sign.id, data);
    if (data.has("retcode")) return;
    const bytes = encode(data, "wire").length;
    if (this.#events.length >= MAX_EVENTS || this.#bytes + bytes > MAX_BYTES) return void this.#dropped++;
    this.#bytes += bytes;
    this.#events.push(map({ tag, data }));
    // Masters of Salt 3006 and 3007 read from this event alone which minions a job is for.
    const jid = data.get("jid");
    if (typeof jid === "string" && tag === jobNew(jid) && data.has("minions")) {
      const minions = data.get("minions") ?? [];
      this.#events.push(map({ tag: jid, data: map({ minions, jid, _stamp: data.get("_stamp") ?? "" }) }));
    }
  }

  #addReturn(jid: string, id: string, data: ValueMap): void {
    if (data.get("id") !== id || !data.has("return")) return;
    let job = this.#returns.get(jid);
    if (job === undefined) {
      if (!this.#sent.has(jid)) this.#unread.add(jid);
      this.#remember(jid);
      job = map({
        id: this.#id,
        jid,
        fun: data.get("fun") ?? null,
        arg: null,
        tgt: null,
        tgt_type: null,
        load: new Map(),
        return: new Map(),
      });
      for (const key of ["out", "master_id"]) if (data.has(key)) job.set(key, data.get(key) ?? null);
      this.#returns.set(jid, job);
    }
    const returned: ValueMap = new Map();
    this.#returnBytes += encode(data, "wire").length;
    for (const key of RETURN_FIELDS) if (data.has(key)) returned.set(key, data.get(key) ?? null);
    (job.get("return") as ValueMap).set(id, returned);
  }

  /** Whether the returns are to be taken at once, before more of them come. */
  get hasManyReturns(): boolean {
    return this.#returnBytes > MAX_BYTES;
  }

  #remember(jid: string): void {
    this.#sent.add(jid);
    const [oldest] = this.#sent;
    if (this.#sent.size > this.#hwm) this.#sent.delete(oldest);
  }

  /** The events since the last call, and how many were dropped. */
  takeEvents(): { readonly events: Value[]; readonly dropped: number } {
    const taken = { events: this.#events, dropped: this.#dropped };
    this.#events = [];
    this.#bytes = 0;
    this.#dropped = 0;
    return taken;
  }

  /** The returns since the last call, one entry for each job. */
  async takeReturns(): Promise<Map<string, ValueMap>> {
    const taken = this.#returns;
    this.#returns = new Map();
    this.#returnBytes = 0;
    const unread = [...this.#unread];
    this.#unread.clear();
    for (const jid of unread) taken.get(jid)?.set("load", await this.#loadOf(jid) ?? new Map());
    return taken;
  }
}
