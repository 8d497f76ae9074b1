/**
 * Runs beacons in their thread: one timer for all looks, each beacon at its own interval. A beacon that fails or hangs
 * holds up no other: an error is an event, and no second look of a beacon begins before its first has ended.
 * @module
 */

import { ownBeacon } from "#lib/plugins/own_beacon.ts";
import { messageOf } from "#lib/errors.ts";
import {
  type BeaconHost,
  type BeaconModule,
  type BeaconTable,
  eventOf,
  joinConfig,
  ownConfig,
  type RunningBeacon,
} from "#lib/plugins/beacon.ts";
import { permissionKey, type Permissions } from "#lib/plugins/permissions.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { equals, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { type BeaconSettings, intervalWarning, readBeacons } from "./settings.ts";

/** A look that takes longer is named in the log, in milliseconds. */
const SLOW_MS = 60_000;
/** Looks that are due within this time are made at once, in milliseconds: one wake-up for all. */
const TOGETHER_MS = 20;
/** Maximum number of events that a beacon with an interval collects; the oldest are dropped. */
const MAX_COLLECTED = 10_000;

/** What a {@linkcode BeaconRunner} needs. */
export interface BeaconRunnerParts {
  /** The minion's id. */
  readonly id: string;
  readonly loopMs: number;
  /** It runs the beacons that declare exactly these. */
  readonly permissions: Permissions;
  readonly table: BeaconTable;
  readonly log: Logger;
  /** Calls an execution function. */
  call(fun: string, args: readonly Value[], kwargs: ValueMap): Promise<Value>;
  /** Sends events: Salt's maps of `tag`, `data`, `beacon_name`, maybe `error`. */
  send(events: readonly ValueMap[]): void;
  /** A beacon declares other permissions. */
  elsewhere(name: string, permissions: Permissions): void;
  /** A beacon with `run_once` has run. */
  once(name: string): void;
  /** The configuration of a beacon is wrong; `runs`: it runs all the same. */
  mistake(name: string, text: string, runs: boolean): void;
  /** A beacon's code is called now. */
  begin(name: string): void;
}

/** A beacon of this thread. */
class Beacon {
  running: RunningBeacon | undefined;
  /** When it looks next, as `performance.now()`. */
  dueMs = Infinity;
  looking = false;
  /** Whether its own code was called to begin. */
  isOpened = false;
  closed = false;
  lastError = "";
  collected: ValueMap[] = [];
  timer: Timer | undefined;

  constructor(readonly settings: BeaconSettings) {}

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.running?.close?.();
    this.running = undefined;
  }
}

/** Runs the beacons of one thread. */
export class BeaconRunner {
  readonly #parts: BeaconRunnerParts;
  readonly #beacons = new Map<string, Beacon>();
  readonly #named = new Map<string, string>();
  readonly #warned = new Set<string>();
  #own: readonly string[] = [];
  readonly #startMs = performance.now();
  #timer: Timer | undefined;
  #stateRun = false;

  constructor(parts: BeaconRunnerParts) {
    this.#parts = parts;
  }

  /** One line: what it does. */
  describe(): string {
    return `watching ${[...this.#beacons.keys()].join(", ") || "nothing"}`;
  }

  /** While a job runs states, beacons with `disable_during_state_run` send nothing. */
  set stateRun(running: boolean) {
    this.#stateRun = running;
  }

  /**
   * Runs what is configured; a beacon whose configuration is the same goes on, with its interval.
   * @param names.stopped Those that must not run.
   * @param names.own The operator's own beacons, which count more than built-in ones.
   */
  async configure(
    beacons: ValueMap,
    { stopped = [], own = [] }: { readonly stopped?: readonly string[]; readonly own?: readonly string[] } = {},
  ): Promise<void> {
    this.#own = own;
    const { running, invalid } = readBeacons(beacons, this.#parts.loopMs);
    for (const [name, reason] of invalid) this.#nameInvalid(name, reason);
    for (const { name, maps } of running) this.#warnOfInterval(name, maps);
    const wanted = new Map(running.filter(({ name }) => !stopped.includes(name)).map((one) => [one.name, one]));
    for (const [name, beacon] of this.#beacons) {
      const now = wanted.get(name);
      if (now !== undefined && isSame(now, beacon.settings)) wanted.delete(name);
      else this.#remove(name, beacon);
    }
    for (const name of this.#named.keys()) if (!invalid.has(name) && !wanted.has(name)) this.#named.delete(name);
    await Promise.all([...wanted.values()].map((settings) => this.#start(settings)));
  }

  #remove(name: string, beacon: Beacon): void {
    this.#beacons.delete(name);
    this.#end(name, () => beacon.close());
  }

  #end(name: string, end: () => void): void {
    try {
      end();
    } catch (error) {
      this.#parts.log.warning(`Beacon ${name} could not be ended: ${messageOf(error)}`);
    }
  }

  /** Named once, not at every look. */
  #nameInvalid(name: string, reason: string): void {
    if (this.#named.get(name) === reason) return;
    this.#named.set(name, reason);
    // Only one of the threads reads the whole configuration for the log.
    if (this.#parts.permissions !== "none") return;
    this.#parts.mistake(name, reason, false);
  }

  #warnOfInterval(name: string, maps: readonly ValueMap[]): void {
    const text = intervalWarning(joinConfig(maps).get("interval"));
    if (text === undefined || this.#warned.has(name)) return;
    this.#warned.add(name);
    if (this.#parts.permissions === "none") this.#parts.mistake(name, text, true);
  }

  async #start(settings: BeaconSettings): Promise<void> {
    const { name } = settings;
    const beacon = new Beacon(settings);
    // Known from now on: a configuration that comes while it is loaded neither begins it again nor forgets to end it.
    this.#beacons.set(name, beacon);
    try {
      if (!await this.#open(beacon)) this.#drop(name, beacon);
    } catch (error) {
      if (!beacon.isOpened) this.#drop(name, beacon);
      this.#reportFailure(beacon, messageOf(error));
    }
  }

  /** Forgets a beacon that cannot run here, unless another one has taken its place. */
  #drop(name: string, beacon: Beacon): void {
    if (this.#beacons.get(name) === beacon) this.#beacons.delete(name);
  }

  /**
   * Opens a beacon, unless it has been closed meanwhile.
   * @returns Whether this thread can run it.
   */
  async #open(beacon: Beacon): Promise<boolean> {
    const { name, maps } = beacon.settings;
    const module = await this.#load(beacon.settings);
    if (module === undefined) return false;
    const config = ownConfig(maps);
    const reason = await module.validate(config);
    if (beacon.closed) return false;
    if (reason !== undefined) {
      this.#nameInvalid(name, reason);
      return false;
    }
    const own = module.permissions ?? "none";
    if (permissionKey(own) !== permissionKey(this.#parts.permissions)) {
      if (this.#parts.permissions === "none") this.#parts.elsewhere(name, own);
      return false;
    }
    beacon.isOpened = true;
    this.#parts.begin(name);
    const running = await module.open(config, this.#hostOf(beacon));
    if (beacon.closed) {
      this.#end(name, () => running.close?.());
      return false;
    }
    beacon.running = running;
    if (running.look !== undefined) this.#schedule(beacon);
    return true;
  }

  async #load({ name, module }: BeaconSettings): Promise<BeaconModule | undefined> {
    if (this.#own.includes(module)) return ownBeacon(module, (fun, args) => this.#parts.call(fun, args, new Map()));
    const load = Object.hasOwn(this.#parts.table, module) ? this.#parts.table[module] : undefined;
    if (load === undefined) {
      this.#nameInvalid(name, `Beacon "${module}" is not available.`);
      return undefined;
    }
    return (await load()).beacon;
  }

  #hostOf(beacon: Beacon): BeaconHost {
    const { name } = beacon.settings;
    return {
      name,
      log: this.#parts.log,
      call: (fun, args = [], kwargs = new Map()) => this.#parts.call(fun, args, kwargs),
      fire: (found) => this.#takeFired(beacon, found),
      fail: (reason) => this.#reportFailure(beacon, reason),
    };
  }

  #isPaused({ settings }: Beacon): boolean {
    return settings.disableDuringStateRun && this.#stateRun;
  }

  /** What a beacon was told; with an interval it is sent together. */
  #takeFired(beacon: Beacon, found: readonly ValueMap[]): void {
    if (beacon.closed || this.#isPaused(beacon)) return;
    const { everyMs } = beacon.settings;
    if (everyMs === undefined) return this.#send(beacon, found);
    beacon.collected.push(...found);
    const over = beacon.collected.length - MAX_COLLECTED;
    if (over > 0) {
      beacon.collected.splice(0, over);
      this.#reportFailure(beacon, `more than ${MAX_COLLECTED} events came within its interval; the oldest are dropped`);
    }
    beacon.timer ??= setTimeout(() => {
      beacon.timer = undefined;
      this.#send(beacon, beacon.collected.splice(0));
    }, everyMs);
  }

  #send(beacon: Beacon, found: readonly ValueMap[]): void {
    const { name, module, runOnce } = beacon.settings;
    if (found.length > 0) {
      this.#parts.send(found.map((data) => eventOf({ id: this.#parts.id, name, module }, data)));
    }
    if (!runOnce || (found.length === 0 && beacon.running?.look === undefined)) return;
    this.#remove(name, beacon);
    this.#parts.once(name);
  }

  /** The same error again is not sent again. */
  #reportFailure(beacon: Beacon, reason: string): void {
    if (beacon.closed || beacon.lastError === reason) return;
    beacon.lastError = reason;
    const { name, module } = beacon.settings;
    this.#parts.log.error(`Beacon ${name} failed: ${reason}`);
    const event = eventOf({ id: this.#parts.id, name, module }, map({ error: reason }));
    this.#parts.send([event.set("error", reason)]);
  }

  /** As Salt's loop: the looks of all beacons are multiples of the loop's interval. */
  #schedule(beacon: Beacon): void {
    const { loopMs } = this.#parts, now = performance.now();
    const tick = this.#startMs + Math.ceil((now - this.#startMs) / loopMs) * loopMs;
    beacon.dueMs = tick + (beacon.settings.everyMs ?? 0);
    this.#arm();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const due = Math.min(...[...this.#beacons.values()].map(({ dueMs }) => dueMs));
    if (due === Infinity) return;
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, Math.ceil(due - performance.now())));
  }

  #tick(): void {
    const now = performance.now();
    for (const beacon of [...this.#beacons.values()]) {
      if (beacon.dueMs > now + TOGETHER_MS) continue;
      const everyMs = beacon.settings.everyMs ?? this.#parts.loopMs;
      // Looks that were missed, while the host slept, are not made up for.
      beacon.dueMs += Math.max(1, Math.ceil((now + TOGETHER_MS - beacon.dueMs) / everyMs)) * everyMs;
      if (!beacon.looking && !this.#isPaused(beacon)) void this.#look(beacon);
    }
    this.#arm();
  }

  async #look(beacon: Beacon): Promise<void> {
    const { name } = beacon.settings;
    beacon.looking = true;
    const slow = setTimeout(
      () =>
        this.#reportFailure(
          beacon,
          `a look has not ended in ${SLOW_MS / 1000} seconds; no other begins before it ends`,
        ),
      SLOW_MS,
    );
    try {
      this.#parts.begin(name);
      const events = await beacon.running?.look?.() ?? [];
      if (beacon.closed) return;
      beacon.lastError = "";
      this.#send(beacon, events);
    } catch (error) {
      this.#reportFailure(beacon, messageOf(error));
    } finally {
      clearTimeout(slow);
      beacon.looking = false;
    }
  }

  /** Ends all beacons. */
  close(): void {
    clearTimeout(this.#timer);
    for (const [name, beacon] of [...this.#beacons]) this.#remove(name, beacon);
  }
}

function isSame(a: BeaconSettings, b: BeaconSettings): boolean {
  return equals([...a.maps], [...b.maps]);
}
