/**
 * Real services of a master with their own directory and without sockets. Events, publishes and log lines are recorded.
 * @module
 */

import { Access, createAccessKeys } from "#lib/auth/access.ts";
import { Callers } from "#lib/auth/callers.ts";
import { ownConnection } from "./attempts.ts";
import { jobStore, type StoredJobs } from "./job_store.ts";
import { loadEauth } from "#modules/auth/_built_in.ts";
import { ExternalAuth } from "#lib/auth/external_auth.ts";
import { Autosign } from "#lib/keys/autosign.ts";
import { openFileServices } from "#lib/master/requests/master_files.ts";
import { throttledWarnings } from "#lib/master/daemon/throttled_warnings.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { fileKeyBank } from "#lib/keys/key_bank.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { createLogger, levelName, type Logger } from "#lib/runtime/log.ts";
import type { FunctionJob } from "#lib/master/functions/messages.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import type { MasterServices } from "#lib/master/requests/services.ts";
import { asyncJobStore } from "#lib/jobs/async_store.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { FiredReturns } from "#lib/jobs/fired_returns.ts";
import { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import type { PrivateKey } from "#lib/crypto/rsa.ts";
import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { MinionFlow } from "#lib/master/requests/minion_flow.ts";
import { RateLimit } from "#lib/master/requests/rate_limit.ts";
import { SessionKeys } from "#lib/keys/sessions.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { SignInTurns } from "#lib/master/requests/sign_in_turns.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";
import { madeKey } from "./keys.ts";

/** The services, and records of their use. */
export interface TestServices extends MasterServices, Disposable {
  /** The directory of all files. */
  readonly root: string;
  readonly fired: { readonly tag: string; readonly data: ValueMap }[];
  /** The loads for the publisher, in order. */
  readonly published: ValueMap[];
  /** The called functions of runners and wheel modules, in order. */
  readonly functionJobs: readonly FunctionJob[];
  /** `WARNING: text`, in order. */
  readonly logged: string[];
  /** The credentials of each user. */
  readonly accessKeys: ReadonlyMap<string, string>;
  readonly opts: MasterOpts;
  /** The jobs of the store, read without waiting. */
  readonly stored: StoredJobs;
}

let masterKey: Promise<PrivateKey> | undefined;

/** A master's key pair that no other follows. */
export function lonePair(pair: PrivateKey): MasterServices["auth"]["masterKeys"] {
  const withFingerprint = (text: string) => fingerprint(pair.publicKey.pem, "sha256") === text ? pair : undefined;
  return { current: pair, newest: pair, next: undefined, statements: [], withFingerprint };
}

/** Services of a master with these options. The shared key and the master's key are made once in each test file. */
export async function testServices(overrides: Readonly<Record<string, Value>> = {}): Promise<TestServices> {
  masterKey ??= madeKey("services");
  const root = Deno.makeTempDirSync({ prefix: "services_" });
  const { opts } = loadMasterConfig({
    configDir: `${root}/etc/salt`,
    overrides: { root_dir: root, id: "test_master", user: "root", ...overrides },
  });
  for (const directory of [opts.pki_dir, opts.cachedir]) Deno.mkdirSync(directory, { recursive: true });
  const logged: string[] = [];
  const log = recordingLogger(logged);
  const stored = jobStore(opts.cachedir, {
    hashType: opts.hash_type,
    uniqueJid: opts.unique_jid,
    log: log.error,
  });
  const fired: { tag: string; data: ValueMap }[] = [];
  const published: ValueMap[] = [];
  const functions: FunctionJob[] = [];
  const accessKeys = createAccessKeys(opts.cachedir, [
    "root",
    ...[...opts.publisher_acl.keys()].filter((name) => typeof name === "string"),
  ]);
  return {
    root,
    opts,
    fired,
    published,
    logged,
    accessKeys,
    auth: {
      masterKeys: lonePair(await masterKey),
      sharedKey: new SharedKey(),
      sessions: new SessionKeys(opts.cachedir, opts.publish_session * 1000),
      keys: new KeyStore(opts.pki_dir),
      keyBank: fileKeyBank(new KeyStore(opts.pki_dir)),
      verified: new VerifiedTokens(),
      callers: new Callers({
        access: new Access(accessKeys, {
          owner: "root",
          acl: opts.publisher_acl,
          blacklist: opts.publisher_acl_blacklist,
          sudoAcl: opts.sudo_acl,
        }),
        external: new ExternalAuth({ opts, log, load: loadEauth, warn: log.warning, onWait: ownConnection }),
      }),
      autosign: new Autosign(opts, { warn: log.warning }),
      signInLimit: new RateLimit(opts.max_sign_ins),
      signInTurns: new SignInTurns(new RateLimit(opts.max_sign_ins)),
    },
    stored,
    jobs: {
      store: asyncJobStore(stored),
      fired: new FiredReturns(),
      durable: () => Promise.resolve(),
      admit: () => undefined,
      publish: (load) => {
        published.push(load);
        return Promise.resolve();
      },
      share: () => Promise.resolve(),
    },
    minions: {
      data: new DataCache(opts.cachedir, { log: log.error }),
      mine: new Mine(opts.cachedir, { log: log.error, maxBytes: opts.mine_max_bytes }),
      flow: new MinionFlow(1),
      publishPort: 4505,
    },
    files: openFileServices(opts, { log, backends: BACKENDS }),
    functions: {
      start: (job) => Promise.resolve(void functions.push(job)),
      call: (job) => Promise.resolve((functions.push(job), { return: "done", success: true })),
    },
    pillars: { compile: ({ override }) => Promise.resolve(encode(override, "wire")) },
    functionJobs: functions,
    park: () => {},
    warn: throttledWarnings(log),
    log,
    fire: (tag, data) => {
      fired.push({ tag, data });
      return Promise.resolve();
    },
    [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }),
  };
}

/** What the services answer to a command of a minion. */
export async function minionAnswer(
  services: MasterServices,
  load: Readonly<Record<string, unknown>>,
  id = "web1",
): Promise<Value> {
  const { value, sealed } = await minionCommand(map({ id, ...load }), id, services);
  return sealed === undefined ? value : decode(sealed, "wire");
}

/** A logger that appends its lines to `logged`. */
export function recordingLogger(logged: string[]): Logger {
  return createLogger([{
    level: 0,
    write: ({ level, message }) => logged.push(`${levelName(level)}: ${message}`),
    close: () => {},
  }]);
}
