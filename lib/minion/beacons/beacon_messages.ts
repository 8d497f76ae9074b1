/**
 * The messages between a minion's main thread and the threads of its beacons. Values travel as msgpack, which keeps
 * their types.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { parsePermissions, type Permissions } from "#lib/plugins/permissions.ts";
import { fieldsOf, readBlob, readBool, readInteger, readText, readTexts } from "#lib/runtime/message_fields.ts";

/** What a thread of beacons starts with. */
export interface BeaconThreadInit {
  /** The minion's id. */
  readonly id: string;
  /** Milliseconds between two looks of the loop (`loop_interval`). */
  readonly loopMs: number;
  /** Its permissions: it runs exactly the beacons that declare these. */
  readonly permissions: Permissions;
  /** Memory of a `LookNote`. */
  readonly note: SharedArrayBuffer;
}

/** Messages to a thread of beacons. */
export type ToBeacons =
  /** The whole configuration, packed, the names that must not run, and the names of the operator's own beacons. */
  | {
    readonly kind: "configure";
    readonly beacons: Uint8Array;
    readonly stopped: readonly string[];
    readonly own: readonly string[];
  }
  /** Whether a job runs states. */
  | { readonly kind: "state_run"; readonly running: boolean }
  | { readonly kind: "result"; readonly id: number; readonly value: Uint8Array }
  | { readonly kind: "refused"; readonly id: number; readonly reason: string };

/** Messages from a thread of beacons. */
export type FromBeacons =
  /** The packed list of events. */
  | { readonly kind: "found"; readonly events: Uint8Array }
  /** A beacon declares other permissions than this thread has. */
  | { readonly kind: "elsewhere"; readonly name: string; readonly permissions: Permissions }
  /** A beacon with `run_once` has run. */
  | { readonly kind: "once"; readonly name: string }
  /** The configuration of a beacon is wrong; `runs`: it runs all the same. */
  | { readonly kind: "mistake"; readonly name: string; readonly text: string; readonly runs: boolean }
  /** Calls an execution function. The packed arguments: `args`, `kwargs`. */
  | { readonly kind: "call"; readonly id: number; readonly fun: string; readonly call: Uint8Array };

/** @throws {WireError} If it is none. */
export function parseToBeacons(message: unknown): ToBeacons {
  const fields = fieldsOf(message), kind = readText(fields, "kind");
  switch (kind) {
    case "configure":
      return {
        kind,
        beacons: readBlob(fields, "beacons"),
        stopped: readTexts(fields, "stopped"),
        own: readTexts(fields, "own"),
      };
    case "state_run":
      return { kind, running: readBool(fields, "running") };
    case "result":
      return { kind, id: readInteger(fields, "id", Number.MAX_SAFE_INTEGER), value: readBlob(fields, "value") };
    case "refused":
      return { kind, id: readInteger(fields, "id", Number.MAX_SAFE_INTEGER), reason: readText(fields, "reason") };
    default:
      throw new WireError(`a message to a thread of beacons of the unknown kind ${kind}`);
  }
}

/** @throws {WireError} If it is none. */
export function parseFromBeacons(message: unknown): FromBeacons {
  const fields = fieldsOf(message), kind = readText(fields, "kind");
  switch (kind) {
    case "found":
      return { kind, events: readBlob(fields, "events") };
    case "elsewhere": {
      const permissions = parsePermissions(fields.get("permissions"), "permissions");
      return { kind, name: readText(fields, "name"), permissions };
    }
    case "once":
      return { kind, name: readText(fields, "name") };
    case "mistake":
      return { kind, name: readText(fields, "name"), text: readText(fields, "text"), runs: readBool(fields, "runs") };
    case "call": {
      const id = readInteger(fields, "id", Number.MAX_SAFE_INTEGER);
      return { kind, id, fun: readText(fields, "fun"), call: readBlob(fields, "call") };
    }
    default:
      throw new WireError(`a message of a thread of beacons of the unknown kind ${kind}`);
  }
}

/** Bytes of the name of a beacon that a note has room for. */
const NAME_BYTES = 256;

/**
 * Which beacon a thread has begun last, in memory that the main thread reads when the thread does not answer any more.
 */
export class LookNote {
  /** The memory, for the thread. */
  readonly memory: SharedArrayBuffer;
  readonly #bytes: Uint8Array;

  /** @param memory Of another thread's note; default: new. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(NAME_BYTES)) {
    this.memory = memory;
    this.#bytes = new Uint8Array(memory);
  }

  /** A beacon is called now. */
  begin(name: string): void {
    const bytes = new TextEncoder().encode(name).subarray(0, NAME_BYTES - 1);
    this.#bytes.fill(0);
    this.#bytes.set(bytes);
  }

  /** The beacon that was called last; empty: none yet. */
  get last(): string {
    const copy = this.#bytes.slice();
    return new TextDecoder().decode(copy.subarray(0, copy.indexOf(0)));
  }
}
