/**
 * The messages between a minion's main thread and what its jobs run in: a worker, or a process of a custom module. Values
 * travel as msgpack, which keeps their types.
 * @module
 */

import type { Refresh } from "../plugins/job_context.ts";
import type { WrittenOutput } from "./live_output.ts";
import { decode, encode } from "../values/msgpack.ts";
import type { Permissions } from "../plugins/permissions.ts";
import { toValue, type Value } from "../values/value.ts";

/** What a job worker starts with. */
export interface JobWorkerInit {
  /** The minion's packed options. */
  readonly opts: Uint8Array;
  /** Grains and pillar. */
  readonly hostData: HostData;
  /** What it may do: the functions of its jobs declare this, and no less. */
  readonly permissions: Permissions;
  /** Memory of a `ChildPids`. */
  readonly children: SharedArrayBuffer;
  /** The names of the modules that are not built in, which no worker loads. */
  readonly customModules: readonly string[];
  /** Files of custom modules that do not serve this host, with the reason. */
  readonly refusedModules: Readonly<Record<string, string>>;
}

/** What a process of a custom module starts with. */
export interface ModuleProcessInit {
  /** The minion's packed options. */
  readonly opts: Uint8Array;
  /** Grains and pillar. */
  readonly hostData: HostData;
  /** The custom modules that it is for. */
  readonly modules: readonly string[];
  /** The names of those whose files are called otherwise, by the file's name. */
  readonly renamed: Readonly<Record<string, string>>;
  /** The number of the least level of the minion's log. */
  readonly logLevel: number;
  /** Whether what a function throws goes to the log as well; `salt-call` shows it. */
  readonly logFailures: boolean;
}

/** What the minion knows of its host, packed. */
export interface HostData {
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
  /** This minion's pillar, made now. The packed {@linkcode PillarAsked}. */
  | { readonly what: "pillar"; readonly asked: Uint8Array }
  /** This minion's grains, made now. */
  | { readonly what: "grains" }
  | { readonly what: "running" }
  /** The path of the socket of the keeper of commands, which is started if need be; none without one. */
  | { readonly what: "keeper" }
  /** What the functions of the custom modules are: for a worker, which does not load them. */
  | { readonly what: "describe" }
  /** To call a function of a custom module: for a worker. The packed arguments: `args`, `kwargs`. */
  | { readonly what: "call"; readonly fun: string; readonly call: Uint8Array }
  | { readonly what: "signal"; readonly jid: string; readonly signal: number };

/** To what runs a job. */
export type ToJob =
  | {
    readonly kind: "run";
    readonly load: Uint8Array;
    /** What the files of custom modules declare for the functions of the job, by name: a `permissionKey`. */
    readonly declared?: Readonly<Record<string, string>>;
    /** The packed arguments (`args`, `kwargs`) of a call by another function, in place of the load's `arg`. */
    readonly call?: Uint8Array;
    /** Whether an earlier minion began the job, and commands of it went on. */
    readonly resumed?: boolean;
  }
  | { readonly kind: "abort"; readonly signal: number }
  | { readonly kind: "host_data"; readonly hostData: HostData }
  | { readonly kind: "answer"; readonly id: number; readonly value: Uint8Array }
  | {
    readonly kind: "refused";
    readonly id: number;
    readonly reason: string;
    /** What a {@linkcode RequestTimeoutError} holds, which jobs tell from other refusals. */
    readonly timeout: { readonly address: string; readonly waitedMs: number } | undefined;
  };

/** To a process of a custom module: what a job gets, and what else its file is asked for. */
export type ToModule =
  | ToJob
  | { readonly kind: "start"; readonly init: ModuleProcessInit }
  /** What functions the custom modules have. Answered by `done`. */
  | { readonly kind: "describe" }
  /** Has the functions of a file of grains run that declare `permissions`. Answered by `done`. */
  | {
    readonly kind: "grains";
    readonly path: string;
    readonly permissions: string;
    readonly declared: Readonly<Record<string, string>>;
  };

/** What was thrown, for those whose texts differ from a job's: `salt-call`. */
export interface ThrownError {
  readonly name: string;
  /** Its text. */
  readonly message: string;
  /** The documentation of the function, of an `InvocationError`. */
  readonly usage?: string;
}

/** From what runs a job. */
export type FromJob =
  | { readonly kind: "done"; readonly outcome: Uint8Array }
  /** The modules of the job are loaded, and its first function is called. */
  | { readonly kind: "begun" }
  /** Nothing, behind an outcome that was large. */
  | { readonly kind: "after_large_outcome" }
  | { readonly kind: "output"; readonly written: WrittenOutput }
  /** The job was not begun: its functions declare something else than this worker may do. */
  | { readonly kind: "not_permitted"; readonly permissions: Permissions }
  | { readonly kind: "ask"; readonly id: number; readonly asked: Asked };

/** From a process of a custom module. */
export type FromModule =
  | Exclude<FromJob, { readonly kind: "not_permitted" | "after_large_outcome" }>
  /** It has loaded what is ours, and nothing of the module. */
  | { readonly kind: "ready" }
  | { readonly kind: "log"; readonly level: number; readonly message: string }
  /** A command of the job was started, or has ended. */
  | { readonly kind: "child"; readonly pid: number; readonly state: "started" | "ended" };

/** A value, or anything that can be one, for the trip. */
export function pack(value: unknown): Uint8Array {
  return encode(toValue(value), "disk");
}

/** The value that {@linkcode pack} packed. */
export function unpack(bytes: Uint8Array): Value {
  return decode(bytes, "disk");
}
