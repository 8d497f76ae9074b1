/**
 * `salt-key`: lists, accepts, rejects, deletes and prints minions' keys, and makes new ones. Loads the master's
 * configuration and reports errors. Exit codes: 0 success; 1 a pattern without a match, or a key that could not be
 * handled; 64 usage; 69 no master that could be asked (--auth); 77 refused, or no permission. Output and questions are
 * in salt_key_actions.ts, options in salt_key_options.ts. Works on the files, with or without a running master; with
 * --auth by the wheel functions of a running one.
 * @module
 */

import { type CommandIo, type JobIo, runCli } from "#lib/commands/cli/run_command.ts";
import type { Parsed } from "#lib/commands/cli/command_line.ts";
import { becomeServiceUser } from "#lib/commands/cli/command_user.ts";
import { lateKeyBank } from "#lib/cluster_banks/late_key_bank.ts";
import { loadClientConfig } from "#lib/config/load.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { requestRotation } from "#lib/keys/dropfile.ts";
import { KeyError } from "#lib/errors.ts";
import { fileKeys, type KeyOperations, wheelKeys } from "./key_operations.ts";
import { type AskingIo, KeyCli } from "./salt_key_actions.ts";
import { KeyManager } from "#lib/keys/manager.ts";
import { loadOrCreateKeyPair } from "#lib/keys/pair.ts";
import { localKeys } from "#lib/keys/local_keys.ts";
import { KeyStore } from "#lib/keys/store.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { signMasterKey } from "#lib/keys/master_signature.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { openSharedParents } from "#lib/os/shared_parents.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import {
  booleanOption,
  checkUsage,
  chooseAction,
  SALT_KEY,
  type SaltKeyAction,
  type SaltKeyTable,
  type SaltKeyValues,
} from "./salt_key_options.ts";
import { masterFailure } from "./master_failure.ts";
import { startUp } from "#lib/commands/cli/start_up.ts";
import { withCommand } from "#lib/commands/cli/with_command.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** Input and output of `salt-key`. */
export interface SaltKeyIo extends CommandIo, AskingIo, Pick<JobIo, "ask"> {
  /** Fires an event on the bus of the master with these options; also resolves if no master is running. */
  fire(tag: string, data: ValueMap, opts: MasterOpts): Promise<void>;
}

/**
 * Runs `salt-key` with the words of its command line.
 * @returns The exit code.
 */
export function runSaltKey(argv: readonly string[], io: SaltKeyIo): Promise<number> {
  const run = (parsed: Parsed<SaltKeyTable>) => runParsed(parsed, io);
  const failure = (error: Error, { options }: Parsed<SaltKeyTable>) => {
    return masterFailure(error) ?? (options.hard_crash ? undefined : { exitCode: 1 });
  };
  return runCli({ command: SALT_KEY, owner: "the master's user", run, failure }, argv, io);
}

async function runParsed(parsed: Parsed<SaltKeyTable>, io: SaltKeyIo): Promise<number> {
  checkUsage(parsed);
  const { opts, ...rest } = startUp(SALT_KEY, parsed, { role: "master", load: loadClientConfig });
  const { options } = parsed; // after the Saltfile has been applied
  const action = chooseAction(options);
  if (options.eauth || options.mktoken) await (await import("./eauth.ts")).checkEauthOptions(options, opts);
  const log_file = options.log_file === null ? opts.key_logfile : opts.log_file;
  const loaded = { opts: { ...opts, log_file }, ...rest };
  return await withCommand({ io, options, loaded, takeRights: becomeServiceUser }, ({ opts, log, print }) => {
    return perform(action, options, { opts, log, io, show: (value) => print(value, { out: "key" }) });
  });
}

/** The parts that an action needs. */
interface Setting {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly io: SaltKeyIo;
  /** Prints values according to `--out` and related options. */
  readonly show: (value: Value) => void;
}

async function perform(action: SaltKeyAction, options: SaltKeyValues, setting: Setting): Promise<number> {
  switch (action.kind) {
    case "genKeys":
      return await genKeys(action.name, options, setting);
    case "genSignature":
      return await genSignature(options, setting);
  }
  const operations = options.eauth
    ? await wheelOperations(options.eauth, options, setting)
    : fileOperations(options, setting);
  const cli = keyCli(operations, options, setting);
  switch (action.kind) {
    case "list":
      return await cli.list(action.states);
    case "print":
      return await cli.print(action.globs);
    case "finger":
      return await cli.finger(action.globs);
    case "act":
      openSharedParents(setting.opts);
      return await cli.act(action.act, action.globs, action.all);
  }
}

function fileOperations(options: SaltKeyValues, { opts, io, log }: Setting): KeyOperations {
  const cache = new DataCache(opts.cachedir, { log: (text) => log.warning(text) });
  const store = new KeyStore(opts.pki_dir);
  const manager = new KeyManager(store, {
    fire: (tag, data) => io.fire(tag, data, opts),
    forget: (id) => {
      if (!opts.preserve_minion_cache) cache.remove(id);
    },
    bank: lateKeyBank(opts, { store, by: opts.user, warn: (text) => log.warning(text) }),
  });
  return fileKeys(manager, {
    preserveMinions: booleanOption("--preserve-minions", options.preserve_minions) ?? false,
    hashType: opts.hash_type,
    localKeys: () => localKeys(opts.pki_dir),
    rotate: () => requestRotation(opts),
  });
}

/** The keys as a user of external authentication may handle them. Loads what most runs do not need. */
async function wheelOperations(
  eauth: string,
  options: SaltKeyValues,
  { opts, io, log }: Setting,
): Promise<KeyOperations> {
  const [{ credentialsBy }, { requestWheel }] = await Promise.all([
    import("./eauth.ts"),
    import("#lib/client/wheel_request.ts"),
  ]);
  const proof = await credentialsBy(eauth, options, { opts, io, log });
  return wheelKeys((fun, args, kwargs) => requestWheel(opts, { fun, args, kwargs }, proof));
}

function keyCli(operations: KeyOperations, options: SaltKeyValues, { opts, io, show }: Setting): KeyCli {
  return new KeyCli(operations, {
    io,
    show,
    yes: options.yes,
    quiet: options.quiet,
    includeAccepted: options.include_accepted,
    includeRejected: options.include_rejected,
    includeDenied: options.include_denied,
    includeAll: options.include_all,
    publicKeys: ["master.pub", `${opts.id}.pub`],
    explain: io.isErrorTerminal && !options.quiet,
  });
}

async function genKeys(name: string, options: SaltKeyValues, { opts, show }: Setting): Promise<number> {
  Deno.mkdirSync(options.gen_keys_dir, { recursive: true });
  const key = await loadOrCreateKeyPair(options.gen_keys_dir, name, opts.keysize);
  show(new Map([["return", fingerprint(key.publicKey.pem, opts.hash_type)]]));
  return 0;
}

async function genSignature(options: SaltKeyValues, { opts, show }: Setting): Promise<number> {
  let result: boolean | string;
  try {
    result = await signMasterKey({
      pkiDir: opts.pki_dir,
      id: opts.id,
      signKeyName: opts.master_sign_key_name,
      signatureName: opts.master_pubkey_signature,
      algorithm: opts.publish_signing_algorithm,
      keysize: opts.keysize,
      priv: options.priv ?? undefined,
      pub: options.pub ?? undefined,
      signaturePath: options.signature_path ?? undefined,
      autoCreate: options.auto_create,
    });
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    result = error.message;
  }
  show(new Map([["return", result]]));
  return result === true ? 0 : 1;
}
