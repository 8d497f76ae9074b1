/**
 * The messages between a minion's main thread and the workers and processes that run its jobs; a process runs a custom
 * module. Values travel as msgpack, which keeps their types.
 * @module
 */

import type { MasterEntry } from "#lib/config/master_entries.ts";
import type { Refresh } from "#lib/plugins/job_context.ts";
import type { WrittenOutput } from "./live_output.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import type { PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import { toValue, type Value } from "#lib/values/value.ts";

/** The data that a job worker starts with. */
export interface JobWorkerInit {
  /** The minion's packed options. */
  readonly opts: Uint8Array;
  /** Grains and pillar. */
  readonly hostData: HostData;
  /** Its permissions: exactly those that the functions of its jobs declare. */
  readonly permissions: Permissions;
  /** Memory of a `ChildPids`. */
  readonly children: SharedArrayBuffer;
  /** Memory of the `StopWord` that ends what computes in it. */
  readonly stop: SharedArrayBuffer;
  /** The names of the modules that are not built in, which no worker loads. */
  readonly customModules: readonly string[];
  /** Files of custom modules that do not serve this host, with the reason. */
  readonly refusedModules: Readonly<Record<string, string>>;
  /** The plugins in Python. */
  readonly python: PythonPlugins;
}

/** The data that a process of a custom module starts with. */
export interface ModuleProcessInit {
  /** The minion's packed options. */
  readonly opts: Uint8Array;
  /** Grains and pillar. */
  readonly hostData: HostData;
  /** The custom modules that it is for. */
  readonly modules: readonly string[];
  /** The names of those whose files are called otherwise, by the file's name. */
  readonly renamed: Readonly<Record<string, string>>;
  /** The number of the minimum level of the minion's log. */
  readonly logLevel: number;
  /** Whether errors of functions are logged too; `salt-call` shows them instead. */
  readonly logFailures: boolean;
}

/** The grains and pillar, packed. */
export interface HostData {
  /** Packed grains. */
  readonly grains: Uint8Array;
  /** Packed pillar. */
  readonly pillar: Uint8Array;
  /** The master of the jobs that follow, if it is not the one of the options. */
  readonly master?: MasterEntry;
}

/** A request of a job to its minion: a name and its arguments. */
export type MinionRequest =
  | { readonly what: "request"; readonly load: Uint8Array }
  | { readonly what: "fire"; readonly data: Uint8Array; readonly tag: string }
  /** Asks the main thread by an event on the minion's bus. The packed data of the event; a wait in seconds. */
  | {
    readonly what: "ask";
    readonly data: Uint8Array;
    readonly tag: string;
    readonly answerTag: string;
    readonly waitS: number;
  }
  | { readonly what: "refresh"; readonly refresh: Refresh }
  /** Compiles this minion's pillar now. The packed {@linkcode PillarQuery}. */
  | { readonly what: "pillar"; readonly query: Uint8Array }
  /** Collects this minion's grains now. */
  | { readonly what: "grains" }
  | { readonly what: "running" }
  /** The path of the keeper's socket; the keeper is started if necessary. None if there is no keeper. */
  | { readonly what: "keeper" }
  /** The path of the socket of the process that starts Python for jobs. */
  | { readonly what: "python" }
  /** Descriptions of the custom functions, for a worker, which does not load them. */
  | { readonly what: "describe" }
  /** Calls a function of a custom module, for a worker. The packed arguments: `args`, `kwargs`. */
  | { readonly what: "call"; readonly fun: string; readonly call: Uint8Array }
  | { readonly what: "signal"; readonly jid: string; readonly signal: number };

/** Messages to a worker or process that runs a job. */
export type ToJob =
  | {
    readonly kind: "run";
    readonly load: Uint8Array;
    /** What the files of custom modules declare for the functions of the job, by name: a `permissionKey`. */
    readonly declared?: Readonly<Record<string, string>>;
    /** The packed arguments (`args`, `kwargs`) of a call by another function, in place of the load's `arg`. */
    readonly call?: Uint8Array;
    /** Whether an earlier minion began the job, and commands of it continued. */
    readonly resumed?: boolean;
  }
  | { readonly kind: "abort"; readonly signal: number }
  | { readonly kind: "host_data"; readonly hostData: HostData }
  | { readonly kind: "answer"; readonly id: number; readonly value: Uint8Array }
  | {
    readonly kind: "refused";
    readonly id: number;
    readonly reason: string;
    /** The fields of a {@linkcode RequestTimeoutError}, which jobs distinguish from other refusals. */
    readonly timeout: { readonly address: string; readonly waitedMs: number } | undefined;
  };

/** Messages to a process of a custom module. */
export type ToModule =
  | ToJob
  | { readonly kind: "start"; readonly init: ModuleProcessInit }
  /** Asks for descriptions of the custom functions. Answered by `done`. */
  | { readonly kind: "describe" }
  /** Runs those functions of a grains file that declare `permissions`. Answered by `done`. */
  | {
    readonly kind: "grains";
    readonly path: string;
    readonly permissions: string;
    readonly declared: Readonly<Record<string, string>>;
  };

/** An error of a function, for `salt-call`, whose texts differ from a job's. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  /** The documentation of the function, of an `InvocationError`. */
  readonly usage?: string;
}

/** Messages from a worker or process that runs a job. */
export type FromJob =
  | { readonly kind: "done"; readonly outcome: Uint8Array }
  /** The modules of the job are loaded, and its first function is called. */
  | { readonly kind: "begun" }
  /** An empty message that follows a large outcome. */
  | { readonly kind: "after_large_outcome" }
  | { readonly kind: "output"; readonly written: WrittenOutput }
  /** The job was not begun: its functions declare other permissions than this worker has. */
  | { readonly kind: "not_permitted"; readonly permissions: Permissions }
  | { readonly kind: "ask"; readonly id: number; readonly request: MinionRequest };

/** Messages from a process of a custom module. */
export type FromModule =
  | Exclude<FromJob, { readonly kind: "not_permitted" | "after_large_outcome" }>
  /** The process has loaded our own code, but not the module. */
  | { readonly kind: "ready" }
  | { readonly kind: "log"; readonly level: number; readonly message: string }
  /** A command of the job was started, or has ended. */
  | { readonly kind: "child"; readonly pid: number; readonly state: "started" | "ended" };

/** A key of a load: nobody published the call, so its function gets no `__pub_` fields. */
export const UNPUBLISHED = "unpublished";

/** Packs a value, or anything that can be one. */
export function pack(value: unknown): Uint8Array {
  return encode(toValue(value), "disk");
}

/** The value that {@linkcode pack} packed. */
export function unpackValue(bytes: Uint8Array): Value {
  return decode(bytes, "disk");
}
