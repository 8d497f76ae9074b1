/**
 * Replaces what is not deterministic in the runtime: clocks, chance, and calls of the disk, which are answered from
 * memory, count, and end in a process that is dead. Outside of a world, and of the disk's directory, they work as
 * always.
 * @module
 */

import { disk, diskCalls, MOUNT, OpenFile } from "#tests/simulation/world/disk.ts";
import { network } from "#tests/simulation/world/network.ts";
import { hasWorld, ProcessDied, world } from "#tests/simulation/world/world.ts";

/** Puts the replacements in place, for the rest of this program. */
export function replaceGlobals(): void {
  replaceClocks();
  replaceChance();
  replaceDisk();
  replaceUnixSockets();
}

function replaceClocks(): void {
  const RealDate = Date;
  const realNow = Date.now;
  const realPerformance = performance.now.bind(performance);
  const realOrigin = performance.timeOrigin;
  const now = () => hasWorld() ? world().wallMs : realNow();
  class SimulatedDate extends RealDate {
    constructor(...args: [] | [string | number | Date]) {
      super(args.length === 0 ? now() : args[0]);
    }
    static override now(): number {
      return now();
    }
  }
  replace(globalThis, "Date", SimulatedDate);
  replace(performance, "now", () => hasWorld() ? world().nowMs : realPerformance());
  Object.defineProperty(performance, "timeOrigin", {
    get: () => hasWorld() ? world().wallMs - world().nowMs : realOrigin,
    configurable: true,
  });
}

function replaceChance(): void {
  const fill: (array: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> = crypto.getRandomValues.bind(crypto);
  const uuid = crypto.randomUUID.bind(crypto);
  const realRandom = Math.random;
  replace(Math, "random", () => hasWorld() ? world().random.next() : realRandom());
  replace(crypto, "getRandomValues", (array: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
    if (!hasWorld()) return fill(array);
    world().random.fill(array);
    return array;
  });
  replace(crypto, "randomUUID", () => {
    if (!hasWorld()) return uuid();
    const hex = crypto.getRandomValues(new Uint8Array(16)).toHex();
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  });
}

/** Whether somebody listens on a socket of the simulated disk is all that is asked there. */
function replaceUnixSockets(): void {
  const real: (options: Deno.ConnectOptions) => Promise<Deno.TcpConn> = Deno.connect;
  replace(Deno, "connect", async (options: Deno.ConnectOptions | Deno.UnixConnectOptions) => {
    if (!("path" in options)) return await real(options);
    if (!network().listens(`ipc://${options.path}`)) throw new Deno.errors.ConnectionRefused("Connection refused");
    return { close: () => {} };
  });
}

/**
 * Has calls below {@linkcode MOUNT} answered by the simulated disk; one that it does not know fails, as the real disk
 * would only say that nothing is there.
 */
function replaceDisk(): void {
  const { looks, changes } = diskCalls(disk);
  const answers = new Map([...Object.entries(looks), ...Object.entries(changes)]);
  for (const name of Object.keys(Deno)) {
    if (!name.endsWith("Sync")) continue;
    const answer = answers.get(name);
    divert(name, (args) => {
      if (answer === undefined) throw new Error(`The simulated disk has no ${name}`);
      beforeCall(Object.hasOwn(changes, name) ? "change" : "look");
      return Reflect.apply(answer, undefined, args);
    });
    const later = name.slice(0, -"Sync".length);
    if (!(later in Deno)) continue;
    divert(later, () => {
      throw new Error(`The simulated disk has no ${later}`);
    });
  }
  for (const name of ["syncData", "syncSync", "syncDataSync", "truncateSync", "writeSync"]) {
    wrap(OpenFile.prototype, name, () => beforeCall("change"));
  }
}

/** Has a function of the runtime answered otherwise if its first argument is a path of the simulated disk. */
function divert(name: string, answer: (args: unknown[]) => unknown): void {
  const real: unknown = Reflect.get(Deno, name);
  if (typeof real !== "function") return;
  replace(Deno, name, (...args: unknown[]): unknown => {
    const [path] = args;
    if (typeof path === "string" && path.startsWith(MOUNT)) return answer(args);
    return Reflect.apply(real, Deno, args);
  });
}

/** What a process does before it calls the disk. */
function beforeCall(kind: "look" | "change"): void {
  const process = hasWorld() ? world().process : undefined;
  if (process === undefined) return;
  if (kind === "change" && process.alive && process.diesAfter !== undefined && process.diesAfter-- <= 0) {
    process.diesAfter = undefined;
    process.kill();
  }
  if (!process.alive) throw new ProcessDied(`${process.name} is dead`);
}

function replace(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, writable: true, configurable: true });
}

/** Has `first` called before each call of a method. */
function wrap(holder: object, name: string, first: () => void): void {
  const real: unknown = Reflect.get(holder, name);
  if (typeof real !== "function") throw new TypeError(`There is no ${name}`);
  replace(holder, name, function (this: unknown, ...args: unknown[]): unknown {
    first();
    return Reflect.apply(real, this, args);
  });
}
