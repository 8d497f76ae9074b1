/**
 * The services for the handlers of an MWorker, by subject. Each handler names the subjects that it needs; its test
 * passes only these.
 * @module
 */

import type { RequestTrace } from "./trace.ts";
import type { Meter } from "#lib/tracing/meter.ts";
import type { Callers } from "#lib/auth/callers.ts";
import type { Autosign } from "#lib/keys/autosign.ts";
import type { DataCache } from "#lib/fleet/data_cache.ts";
import type { Mine } from "#lib/fleet/mine.ts";
import type { Throttled } from "#lib/flow/job_flow.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import type { JobRows } from "#lib/stores/rows.ts";
import type { FunctionServices } from "#lib/master/functions/messages.ts";
import type { KeyBank } from "#lib/keys/key_bank.ts";
import type { MasterPairs } from "#lib/keys/master_pairs.ts";
import type { KeyStore } from "#lib/keys/store.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { FiredReturns } from "#lib/jobs/fired_returns.ts";
import type { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import type { PillarServices } from "#lib/pillar/requests.ts";
import type { RateLimit } from "./rate_limit.ts";
import type { MinionSessions } from "#lib/keys/sessions.ts";
import type { SharedKey } from "#lib/keys/shared_key.ts";
import type { SignInTurns } from "./sign_in_turns.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/**
 * Authentication and authorization: the keys of the master and of its minions, the users of this host, and the limits
 * on sign-ins.
 */
export interface AuthServices {
  /** The master's key pair, and the next one. */
  readonly masterKeys: Pick<MasterPairs, "current" | "newest" | "next" | "statements" | "withFingerprint">;
  /** The key of publishes. */
  readonly sharedKey: SharedKey;
  /** The key of each minion's requests. */
  readonly sessions: MinionSessions;
  readonly keys: KeyStore;
  /** Changes them. */
  readonly keyBank: KeyBank;
  readonly verified: VerifiedTokens;
  /** What users may publish and run. */
  readonly callers: Callers;
  /** Which keys are accepted without an operator. */
  readonly autosign: Autosign;
  /** Limits the sign-ins of minions without an accepted key: a sign-in costs more than any other request of theirs. */
  readonly signInLimit: RateLimit;
  /** Limits the sign-ins of each minion whose key is accepted, and of any peer that shows that key. */
  readonly signInTurns: SignInTurns;
}

/** The job store, and the publishing of jobs. */
export interface JobServices {
  /** What is kept of them. */
  readonly store: JobStore;
  /** The rows that they are in; absent if they are in files. */
  readonly rows?: JobRows;
  /** Returns that were published but could not be stored: their minions send them again. */
  readonly fired: FiredReturns;
  /**
   * Resolves when everything stored is as durable as `durability` demands; then the client may be answered.
   * @throws {StoreError} If that fails.
   */
  durable(): Promise<void>;
  /** Whether a user may publish a job of these functions now, by the rules of `flow`; `undefined`: yes. */
  admit(user: string, funs: readonly string[]): Throttled | undefined;
  /** Sends a load to the publisher. */
  publish(load: ValueMap, how: DeliveryOptions): Promise<void>;
  /**
   * Gives a load to the other masters of the cluster, if there is one; resolves when they have it for certain, or when
   * the database is away: then they get it later.
   */
  share(load: ValueMap, how: DeliveryOptions): Promise<void>;
}

/** `undefined` if a command is to be done, else the answer in its place. */
export type FlowAnswer = { readonly answer: Value } | undefined;

/** What is known of the minions. */
export interface MinionServices {
  /** Their grains, and the pillar that they got. */
  readonly data: DataCache;
  /** What they say for other minions. */
  readonly mine: Mine;
  /** How much each may send (minion_flow.ts). */
  readonly flow: {
    /** Counts a command of a minion, and waits if it sends too much. Without a bound it answers at once. */
    admit(
      load: ValueMap,
      id: string,
      services: Needs<"opts" | "jobs" | "warn" | "park">,
      size?: { readonly bytes: number },
    ): FlowAnswer | Promise<FlowAnswer>;
    /** The request that was received last has kept the thread busy for so long, in milliseconds. */
    spent(ms: number): void;
  };
  /** The port that they subscribe to. */
  readonly publishPort: number;
}

/** The files that minions ask for. */
export interface FileServices {
  /** Salt's answer to a command for files. */
  answer(load: ValueMap): Promise<Value>;
  /** The environments, sorted. */
  envs(): Promise<readonly string[]>;
}

/** All services of a thread. A new subject gets an object here, and its own table of commands. */
export interface MasterServices {
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** Logs a warning about a peer's message; limited, since a peer may send many. */
  warn(text: string): void;
  /** Stamps an event and fires it on the master's bus. */
  fire(tag: string, data: ValueMap): Promise<void>;
  /** Keys, users and limits. */
  readonly auth: AuthServices;
  readonly jobs: JobServices;
  /** What is known of the minions. */
  readonly minions: MinionServices;
  readonly files: FileServices;
  /** What compiles minions' pillars. */
  readonly pillars: PillarServices;
  /** Functions that run on the master itself. */
  readonly functions: FunctionServices;
  /** Called when the current request begins to wait: the thread takes other requests meanwhile. */
  park(): void;
  /** Where the spans of the current request belong, if it is traced. */
  readonly trace?: RequestTrace;
  /** Counts for a collector, if the option `metrics` asks for them. */
  readonly metrics?: Meter;
}

/** The services that a handler asks for, by their names: `Needs<"jobs" | "log">`. */
export type Needs<Names extends keyof MasterServices> = Pick<MasterServices, Names>;

/**
 * Commands of minions, by name. Each gets the load and the id of the minion, which has proved that it is that minion.
 */
export type MinionCommands<Names extends keyof MasterServices> = Readonly<
  Record<string, (load: ValueMap, id: string, services: Needs<Names>) => Promise<Value> | Value>
>;

/** How a load is to be delivered. */
export interface DeliveryOptions {
  /** The minions that it is for. */
  readonly minions: readonly string[];
  /** How long it may be delivered, in milliseconds. */
  readonly ttlMs: number;
  /** Whether minions that support it are asked for live output. */
  readonly live: boolean;
}
