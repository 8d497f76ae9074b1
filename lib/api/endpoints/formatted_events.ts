/**
 * The events of `/ws?format_events`: not the events themselves, but how the jobs and minions are after each.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/event_processor.py`.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { jobSign } from "#lib/protocol/tags.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Jobs that are shown, the newest; Salt shows all since the beginning of the stream. */
const MAX_JOBS = 100;

/** What one reader has seen so far. */
export class FormattedEvents {
  readonly #jobs = new BoundedMap<Value, ValueMap>(MAX_JOBS);
  readonly #minions = new Map<string, ValueMap>();
  readonly #grainsOf: (id: string) => ValueMap | undefined;

  /** @param grainsOf The grains of a minion that has connected, if the reader may see them. Salt asks the minion. */
  constructor(grainsOf: (id: string) => ValueMap | undefined) {
    this.#grainsOf = grainsOf;
  }

  /** The text to send after an event; `undefined`: nothing has changed. */
  take({ tag, data }: BusEvent): string | undefined {
    const [, kind, , what] = tag.split("/");
    if (kind === "job" && what === "new") return this.#begun(data);
    if (kind === "job" && what === "ret") return this.#returned(tag, data);
    if (kind === "key") return this.#key(data);
    if (kind === "presence") return this.#presence(data.get("present"));
    return undefined;
  }

  #begun(data: ValueMap): string {
    const jid = data.get("jid") ?? null;
    const field = (name: string) => data.get(name) ?? null;
    const ids = data.get("minions");
    const minions = new Map(
      (Array.isArray(ids) ? ids : []).map((id): [Value, ValueMap] => [id, map({ success: false })]),
    );
    this.#jobs.set(
      jid,
      new Map<Value, Value>([
        ["jid", jid],
        ["start_time", field("_stamp")],
        ["minions", minions],
        ...["fun", "tgt", "tgt_type"].map((name): [Value, Value] => [name, field(name)]),
        ["state", "running"],
      ]),
    );
    return this.#shownJobs();
  }

  #returned(tag: string, data: ValueMap): string | undefined {
    const sign = jobSign(tag);
    if (sign === undefined) return undefined;
    const job: ValueMap = this.#jobs.get(sign.jid) ?? new Map();
    this.#jobs.set(sign.jid, job);
    const known = job.get("minions");
    const minions: ValueMap = isMap(known) ? known : new Map();
    const fields = ["return", "retcode", "success"].map((name): [Value, Value] => [name, data.get(name) ?? null]);
    job.set("minions", minions.set(sign.id, new Map(fields)));
    if ([...minions.values()].every((one) => isMap(one) && one.get("success") === true)) job.set("state", "complete");
    const grains = data.get("return");
    if (data.get("fun") !== "grains.items" || !isMap(grains)) return this.#shownJobs();
    this.#minions.set(sign.id, map({ grains }));
    return this.#shownMinions();
  }

  #key(data: ValueMap): string {
    const id = str(data.get("id") ?? "");
    if (data.get("act") === "delete") this.#minions.delete(id);
    else if (data.get("act") === "accept" && !this.#minions.has(id)) this.#minions.set(id, new Map());
    return this.#shownMinions();
  }

  #presence(present: Value | undefined): string | undefined {
    if (!Array.isArray(present)) return undefined;
    const here = new Set(present.map(str));
    const gone = [...this.#minions.keys()].filter((id) => !here.has(id));
    const come = [...here].filter((id) => !this.#minions.has(id));
    for (const id of gone) this.#minions.delete(id);
    for (const id of come) {
      const grains = this.#grainsOf(id);
      this.#minions.set(id, grains === undefined ? new Map() : map({ grains }));
    }
    return gone.length + come.length === 0 ? undefined : this.#shownMinions();
  }

  #shownJobs(): string {
    return dumpJson(map({ jobs: new Map(this.#jobs) }));
  }

  #shownMinions(): string {
    return dumpJson(map({ minions: [...this.#minions].map(([id, fields]) => new Map([...fields, ["id", id]])) }));
  }
}
