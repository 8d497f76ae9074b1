/**
 * Replaces what is not deterministic in the runtime: clocks, chance, and calls of the disk, which count, and end in a
 * process that is dead. Outside of a world they work as always.
 * @module
 */

import { hasWorld, ProcessDied, world } from "./world.ts";

/** Calls of the disk that change something: a process dies between two of these. */
const CHANGES = [
  "chmodSync",
  "copyFileSync",
  "linkSync",
  "mkdirSync",
  "openSync",
  "removeSync",
  "renameSync",
  "symlinkSync",
  "truncateSync",
  "utimeSync",
  "writeFileSync",
  "writeTextFileSync",
] as const;
const LOOKS = ["lstatSync", "readDirSync", "readFileSync", "readTextFileSync", "statSync"] as const;

/** The boot that the world runs in. */
const BOOT_ID = "5d1f5a2e-0000-4000-8000-000000000001";

/** Puts the replacements in place, for the rest of this program. */
export function replaceGlobals(): void {
  replaceClocks();
  replaceChance();
  for (const name of LOOKS) wrap(Deno, name, before("look"));
  for (const name of CHANGES) wrap(Deno, name, before("change"));
  wrap(Deno.FsFile.prototype, "writeSync", before("change"));
  const read = Deno.readTextFileSync;
  replace(Deno, "readTextFileSync", (path: string | URL) => {
    if (hasWorld() && path === "/proc/uptime") return `${(world().nowMs / 1000).toFixed(2)} 0.00\n`;
    if (hasWorld() && path === "/proc/sys/kernel/random/boot_id") return `${BOOT_ID}\n`;
    return read(path);
  });
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

/** What a process does before it calls the disk. */
function before(kind: "look" | "change"): () => void {
  return () => {
    const process = hasWorld() ? world().process : undefined;
    if (process === undefined) return;
    if (kind === "change" && process.alive && process.diesAfter !== undefined && process.diesAfter-- <= 0) {
      process.diesAfter = undefined;
      process.kill();
    }
    if (!process.alive) throw new ProcessDied(`${process.name} is dead`);
  };
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
