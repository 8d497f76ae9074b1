/**
 * The messages between a minion's main thread and a job worker. Values travel as msgpack, which keeps their types.
 * @module
 */

import type { Refresh } from "./job_context.ts";
import type { Written } from "./live_output.ts";
import { decode, encode } from "./msgpack.ts";
import type { Permissions } from "./permissions.ts";
import { toValue, type Value } from "./value.ts";

/** What a job worker starts with. */
export interface JobWorkerInit {
  /** The minion's packed options. */
  readonly opts: Uint8Array;
  /** Grains and pillar. */
  readonly knowledge: Knowledge;
  /** What it may do: the functions of its jobs declare this, and no less. */
  readonly permissions: Permissions;
  /** Memory of a `ChildPids`. */
  readonly children: SharedArrayBuffer;
}

/** What the minion knows of its host, packed. */
export interface Knowledge {
  /** Packed grains. */
  readonly grains: Uint8Array;
  /** Packed pillar. */
  readonly pillar: Uint8Array;
}

/** What a job asks its minion for: the name, and the packed arguments' shape. */
export type Asked =
  | { readonly what: "request"; readonly load: Uint8Array }
  | { readonly what: "fire"; readonly data: Uint8Array; readonly tag: string }
  | { readonly what: "refresh"; readonly refresh: Refresh }
  | { readonly what: "running" }
  | { readonly what: "signal"; readonly jid: string; readonly signal: number };

/** To a job worker. */
export type ToJob =
  | { readonly kind: "run"; readonly load: Uint8Array }
  | { readonly kind: "abort" }
  | { readonly kind: "knowledge"; readonly knowledge: Knowledge }
  | { readonly kind: "answer"; readonly id: number; readonly value: Uint8Array }
  | {
    readonly kind: "refused";
    readonly id: number;
    readonly reason: string;
    /** What a {@linkcode RequestTimeoutError} holds, which jobs tell from other refusals. */
    readonly timeout: { readonly address: string; readonly waitedMs: number } | undefined;
  };

/** From a job worker. */
export type FromJob =
  | { readonly kind: "done"; readonly outcome: Uint8Array }
  /** Nothing, behind an outcome that was large. */
  | { readonly kind: "behind" }
  | { readonly kind: "output"; readonly written: Written }
  /** The job was not begun: its functions declare something else than this worker may do. */
  | { readonly kind: "elsewhere"; readonly permissions: Permissions }
  | { readonly kind: "ask"; readonly id: number; readonly asked: Asked };

/** A value, or anything that can be one, for the trip. */
export function pack(value: unknown): Uint8Array {
  return encode(toValue(value), "disk");
}

/** The value that {@linkcode pack} packed. */
export function unpack(bytes: Uint8Array): Value {
  return decode(bytes, "disk");
}
