/**
 * A minion's link to a scripted master.
 * @module
 */

import { type Backoff, backoff } from "#lib/minion/masters/backoff.ts";
import { type LinkSettings, MasterLink, type SignInTimeouts } from "#lib/minion/masters/link.ts";
import type { RequestTimeouts } from "#lib/sockets/request_channel.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import {
  applicant,
  MasterKeys,
  memoryLog,
  type Script,
  ScriptedMaster,
  type SignInOverrides,
  TEST_KEY_BITS,
} from "./scripted_master.ts";

/** The keys of the minion, of an unknown party, and of the master. */
export const [minion, stranger, masterKey] = await Promise.all(
  Array.from({ length: 3 }, () => PrivateKey.generate(TEST_KEY_BITS)),
);

/** A port without a listener. */
export const NOWHERE = "tcp://127.0.0.1:1";

/** A long limit for answers, for a busy machine; all other waits are as short as possible. */
const TIMEOUTS: SignInTimeouts = {
  authTimeoutMs: 60_000,
  authTries: 2,
  masterTries: -1,
  acceptanceWaitMs: 10,
  acceptanceWaitMaxMs: 0,
  rejectedRetry: false,
  rejectedWaitMs: [10, 20],
  failOnPending: false,
};

/** A link and its scripted master. */
export interface LinkFixture extends AsyncDisposable {
  readonly master: ScriptedMaster;
  readonly link: MasterLink;
  /** The log lines, `LEVEL message`. */
  readonly lines: string[];
  /** A signal that is never aborted. */
  readonly never: AbortSignal;
  /**
   * Sends a request.
   * @returns The outcome as text.
   */
  ask(load?: ValueMap): Promise<Value>;
}

/** Changes to the default setup. */
export interface LinkFixtureOptions {
  /** The master's answers. Default: those of a master that accepts every minion. */
  readonly script?: (honest: Script, master: ScriptedMaster) => Script;
  /** The timeouts of sign-ins. */
  readonly timeouts?: Partial<SignInTimeouts>;
  /** The backoff after a lost connection. */
  readonly backoff?: Backoff;
  /** The timeouts of requests. */
  readonly requestTimeouts?: RequestTimeouts;
  /** The master's address for the link, or the addresses of its name. Default: its actual address. */
  readonly address?: LinkSettings["address"];
  /** `minion_sign_messages`. */
  readonly signMessages?: boolean;
}

/** Starts a scripted master, and opens a link that has not signed in yet. */
export async function start(options: LinkFixtureOptions = {}): Promise<LinkFixture> {
  const master = await ScriptedMaster.start(new MasterKeys(masterKey));
  if (options.script !== undefined) master.script = options.script(master.honest, master);
  const pkiDir = Deno.makeTempDirSync({ prefix: "link_" });
  const { log, lines } = memoryLog();
  const link = new MasterLink({
    address: options.address ?? master.address,
    applicant: applicant(minion, pkiDir),
    timeouts: { ...TIMEOUTS, ...options.timeouts },
    backoff: options.backoff ?? backoff({ leastMs: 10, mostMs: 50, randomize: true }),
    requestTimeouts: options.requestTimeouts ?? { timeoutMs: 60_000, tries: 1 },
    signMessages: options.signMessages ?? false,
    log,
  });
  const never = new AbortController().signal;
  return {
    master,
    link,
    lines,
    never,
    ask: (load = map({ cmd: "_return", jid: "1" })) => link.request(load, never),
    async [Symbol.asyncDispose]() {
      link.close();
      await master[Symbol.asyncDispose]();
      Deno.removeSync(pkiDir, { recursive: true });
    },
  };
}

/** Makes a script from the honest script. */
export type ScriptChange = (honest: Script, master: ScriptedMaster) => Script;

/** Answers sign-ins with these overrides in order, then without any. */
export function signInsWith(...overrides: SignInOverrides[]): ScriptChange {
  return (honest: Script, master: ScriptedMaster): Script => {
    const left = [...overrides];
    return (request) => {
      const lie = request.cmd === "_auth" ? left.shift() : undefined;
      return lie === undefined ? honest(request) : master.keys.signIn(request.load, lie);
    };
  };
}

/** Replaces the answers to all requests except sign-ins. */
export function requestsWith(
  answer: (request: Parameters<Script>[0], honest: Script, master: ScriptedMaster) => Uint8Array | undefined,
): ScriptChange {
  return (honest: Script, master: ScriptedMaster): Script => (request) =>
    request.cmd === "_auth" ? honest(request) : answer(request, honest, master);
}

/** The key waits for an operator. */
export const PENDING: SignInOverrides = { ret: true };
/** The key was rejected. */
export const REJECTED: SignInOverrides = { ret: false };
/** The master has reached its limit of minions. */
export const FULL: SignInOverrides = { ret: "full" };
/** Signed with another key. */
export const WRONG: SignInOverrides = { signer: stranger };
