/**
 * The beacons of a minion, as its main thread has them: the configuration, the questions about it, the threads that
 * run them, and the way of their events.
 * Source: Salt 3008.3 `salt/beacons/__init__.py`, `salt/minion.py` `manage_beacons`, `setup_beacons`.
 * @module
 */

import type { Answering, QuestionAnswer } from "#lib/bus/ask.ts";
import { type ConfigFiles, placeOfEntry } from "#lib/config/entry_places.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import { BeaconOutbox, type Sent } from "./beacon_outbox.ts";
import { BeaconThreads, type ThreadParts } from "./beacon_threads.ts";
import { mergeBeacons, withEnabled, withoutEnabled } from "./settings.ts";

/** The tag of the questions. */
const MANAGE_BEACONS = "manage_beacons";

/** Time after a state run in which beacons with `disable_during_state_run` still send nothing, in milliseconds. */
const AFTER_STATES_MS = 1_000;

/** What the answers are called. */
const ANSWERS: Readonly<Record<string, string>> = {
  add: "beacon_add",
  modify: "beacon_modify",
  delete: "beacon_delete",
  enable: "beacons_enabled",
  disable: "beacons_disabled",
  enable_beacon: "beacon_enabled",
  disable_beacon: "beacon_disabled",
  list: "beacons_list",
  list_available: "beacons_list_available",
  validate_beacon: "beacon_validation",
  reset: "beacon_reset",
};

function answerTag(func: string): string {
  return `/salt/minion/minion_${ANSWERS[func] ?? func}_complete`;
}

function packCall(args: readonly Value[], kwargs: Readonly<Record<string, Value>>): Uint8Array {
  return pack(map({ args: [...args], kwargs: map(kwargs) }));
}

/** What {@linkcode MinionBeacons} need. */
export interface BeaconParts extends Omit<ThreadParts, "take" | "once" | "placeOf"> {
  /** The configured beacons. */
  readonly beacons: Value;
  /** Where their configuration is, for messages about it. */
  readonly files: ConfigFiles;
  /** Fires an event on the minion's own bus. */
  fireLocal(tag: string, data: ValueMap): Promise<boolean>;
  /** Sends a list of events to the master; absent: there is none. */
  readonly send?: (events: readonly ValueMap[]) => Promise<Sent>;
}

/** Configuration, threads and outbox together, for the main thread. */
export class MinionBeacons {
  readonly #parts: BeaconParts;
  readonly #threads: BeaconThreads;
  readonly #outbox: BeaconOutbox | undefined;
  #own: ValueMap;
  #pillar: ValueMap = new Map();
  #started = false;
  #stateRunTimer: Timer | undefined;

  constructor(parts: BeaconParts) {
    this.#parts = parts;
    this.#own = this.#readOwn(parts.beacons);
    this.#outbox = parts.send && new BeaconOutbox({ log: parts.log, send: parts.send });
    this.#threads = new BeaconThreads({
      ...parts,
      take: (events) => this.#take(events),
      once: (name) => this.#disableOnce(name),
      placeOf: (name) => this.#placeOf(name),
    });
  }

  #readOwn(given: Value): ValueMap {
    if (isMap(given)) return new Map(given);
    if (given === null) return new Map();
    const place = placeOfEntry(this.#parts.files, "beacons", "");
    const where = place === undefined ? "" : `${place}: `;
    this.#parts.log.error(`${where}The option beacons is no map of names; no beacon of it runs`);
    return new Map();
  }

  #placeOf(name: string): string | undefined {
    if (!this.#own.has(name)) return this.#pillar.has(name) ? "pillar" : undefined;
    return placeOfEntry(this.#parts.files, "beacons", name);
  }

  /** Starts what is configured. */
  start(): void {
    this.#started = true;
    this.#apply();
  }

  /** Takes the beacons of a new pillar. */
  set pillar(pillar: ValueMap) {
    const given = pillar.get("beacons") ?? null;
    if (given !== null && !isMap(given)) {
      this.#parts.log.error("beacons in pillar is no map of names; no beacon of it runs");
    }
    this.#pillar = isMap(given) ? given : new Map();
    this.#apply();
  }

  /** Whether a job runs states. What the kernel told before its end may come a moment later. */
  set stateRun(running: boolean) {
    clearTimeout(this.#stateRunTimer);
    if (running) this.#threads.stateRun = true;
    else this.#stateRunTimer = setTimeout(() => this.#threads.stateRun = false, AFTER_STATES_MS);
  }

  #apply(): void {
    if (this.#started) this.#threads.configure(mergeBeacons(this.#own, this.#pillar));
  }

  /** Loads beacons again (`saltutil.refresh_beacons`). */
  async refresh(): Promise<void> {
    if (this.#started) await this.#threads.restart();
  }

  #take(events: readonly ValueMap[]): void {
    if (events.length === 0) return;
    void this.#parts.fireLocal("__beacons_return", map({ beacons: events }));
    this.#outbox?.add(events);
  }

  #disableOnce(name: string): void {
    if (!this.#own.has(name)) return;
    this.#own.set(name, withEnabled(this.#own.get(name), false));
    this.#apply();
  }

  /** What answers questions on the minion's bus. */
  get answering(): Answering {
    return {
      tag: MANAGE_BEACONS,
      answer: (question) => this.#answer(question),
      failed: (question) => answerTag(str(question.get("func") ?? null)),
      report: (text) => this.#parts.log.error(text),
    };
  }

  async #answer(question: ValueMap): Promise<QuestionAnswer | undefined> {
    const func = str(question.get("func") ?? null);
    if (!Object.hasOwn(ANSWERS, func)) {
      this.#parts.log.error(`Function "${func}" is unavailable in salt.utils.beacons`);
      return undefined;
    }
    const data = Object.hasOwn(this.#looks, func) ? await this.#looks[func](question) : this.#change(func, question);
    return { tag: answerTag(func), data };
  }

  /** The questions that change nothing. */
  readonly #looks: Readonly<Record<string, (question: ValueMap) => ValueMap | Promise<ValueMap>>> = {
    list: (question) => this.#list(question),
    list_available: async () => {
      const names = await this.#parts.call("beacons.list_available", packCall([], { return_yaml: false }));
      return map({ complete: true, beacons: names });
    },
    validate_beacon: async (question) => {
      const args = [question.get("name") ?? null, question.get("beacon_data") ?? null];
      const checked = await this.#parts.call("beacons.test", packCall(args, { look: false }));
      const field = (key: string) => isMap(checked) ? checked.get(key) ?? null : null;
      return map({ complete: true, vcomment: field("comment"), valid: field("valid") });
    },
  };

  #list(question: ValueMap): ValueMap {
    const wants = (key: string) => !question.has(key) || truthy(question.get(key));
    const own = [...this.#own].map(([name, given]): [Value, Value] => [name, withoutEnabled(given)]);
    const beacons = mergeBeacons(
      new Map(wants("include_opts") ? own : []),
      wants("include_pillar") ? this.#pillar : null,
    );
    return map({ complete: true, beacons });
  }

  #change(func: string, question: ValueMap): ValueMap {
    const name = str(question.get("name") ?? null), data = question.get("beacon_data") ?? null;
    const isOfPillar = !["enable", "disable", "reset"].includes(func) && this.#pillar.has(name);
    if (isOfPillar) {
      return map({ complete: false, comment: pillarComment(func, name), beacons: this.#own });
    }
    const comment = this.#changes[func]?.(name, data) ?? "";
    const answer = map({ complete: true, ...comment !== "" && { comment }, beacons: new Map(this.#own) });
    this.#apply();
    return answer;
  }

  readonly #changes: Readonly<Record<string, (name: string, data: Value) => string>> = {
    add: (name, data) => {
      const comment = this.#own.has(name) ? "Updating settings for beacon item" : "Added new beacon item";
      this.#own.set(name, data);
      return `${comment}: ${name}`;
    },
    modify: (name, data) => {
      this.#own.set(name, data);
      return `Updating settings for beacon item: ${name}`;
    },
    delete: (name) => this.#own.delete(name) ? `Deleting beacon item: ${name}` : `Beacon item ${name} not found.`,
    enable: () => this.#setAll(true),
    disable: () => this.#setAll(false),
    enable_beacon: (name) => this.#setOne(name, true),
    disable_beacon: (name) => this.#setOne(name, false),
    reset: () => {
      this.#own = new Map();
      return "Beacons have been reset";
    },
  };

  #setAll(enabled: boolean): string {
    this.#own.set("enabled", enabled);
    return "";
  }

  #setOne(name: string, enabled: boolean): string {
    if (!this.#own.has(name)) return `Beacon item ${name} not found.`;
    this.#own.set(name, withEnabled(this.#own.get(name), enabled));
    return `${enabled ? "Enabling" : "Disabling"} beacon item ${name}`;
  }

  /** The current activity of the threads, one line each. */
  async describe(): Promise<string[]> {
    const waiting = this.#outbox?.size ?? 0;
    return [
      ...await this.#threads.describe(),
      ...waiting > 0 ? [`Beacons: ${waiting} events wait for the master`] : [],
    ];
  }

  /** Ends all beacons. */
  async close(budget?: TimeBudget): Promise<void> {
    clearTimeout(this.#stateRunTimer);
    this.#outbox?.close();
    await this.#threads.close(budget);
  }
}

function pillarComment(func: string, name: string): string {
  if (func === "add") return `Cannot update beacon item ${name}, because it is configured in pillar.`;
  return `Cannot ${func.replace("_beacon", "")} beacon item ${name}, it is configured in pillar.`;
}
