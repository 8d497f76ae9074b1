/**
 * `salt-key`: lists, accepts, rejects, deletes and prints minions' keys, and makes new ones.
 *
 * Loads the master's configuration, puts the parts together, and turns what goes wrong into a line and an exit code:
 * 0 done; 1 a pattern that matches nothing, or a key that could not be handled; 64 usage; 77 no permission. What it says
 * and asks is in key_cli.ts, what it takes in salt_key_options.ts. Works on the files, with or without a master.
 * @module
 */

import { EX_USAGE, openCommandLine, usageErrorText } from "./command_face.ts";
import type { Parsed } from "./command_line.ts";
import { loadClientConfig } from "./config.ts";
import { DataCache } from "./data_cache.ts";
import { writeDropfile } from "./dropfile.ts";
import { KeyError, UsageError } from "./errors.ts";
import { type CommandIo, KeyCli } from "./key_cli.ts";
import { KeyManager } from "./key_manager.ts";
import { loadOrCreateKeyPair } from "./key_pair.ts";
import { KeyStore } from "./key_store.ts";
import type { Logger } from "./log.ts";
import { openLog } from "./log_sinks.ts";
import { signMasterKey } from "./master_signature.ts";
import type { MasterOpts } from "./options.ts";
import { chooseOutputter, formatOutput, outputWriter } from "./output.ts";
import { fingerprint } from "./rsa.ts";
import {
  booleanOption,
  checkUsage,
  chooseAction,
  SALT_KEY,
  type SaltKeyAction,
  type SaltKeyTable,
  type SaltKeyValues,
} from "./salt_key_options.ts";
import { becomeRunUser, userToBecome } from "./run_user.ts";
import { startUp } from "./start_up.ts";
import { sanitize, useColours } from "./terminal.ts";
import type { Value, ValueMap } from "./value.ts";

/** Exit code for files that may not be read or written (sysexits EX_NOPERM). */
const EX_NOPERM = 77;

/** The world of `salt-key`. */
export interface SaltKeyIo extends CommandIo {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** What the environment variable `NO_COLOR` holds. Default: the process's own. */
  readonly noColor?: string;
  /** Fires an event on the bus of the master with these options; resolves also when no master is running. */
  fire(tag: string, data: ValueMap, opts: MasterOpts): Promise<void>;
}

/** Runs `salt-key` with the words of its command line. @returns The exit code. */
export async function runSaltKey(argv: readonly string[], io: SaltKeyIo): Promise<number> {
  const terminal = { out: (text: string) => io.write(text), err: (text: string) => io.writeError(text) };
  const opening = await openCommandLine(SALT_KEY, argv, terminal);
  if ("exitCode" in opening) return opening.exitCode;
  try {
    return await runParsed(opening.parsed, io);
  } catch (error) {
    if (error instanceof UsageError) {
      io.writeError(sanitize(usageErrorText(SALT_KEY, error)));
      return EX_USAGE;
    }
    const denied = error instanceof Deno.errors.PermissionDenied;
    if (opening.parsed.options.hard_crash && !denied) throw error;
    const hint = denied ? ". Run salt-key as root or as the master's user" : "";
    io.writeError(sanitize(`salt-key: ${error instanceof Error ? error.message : error}${hint}\n`));
    return denied ? EX_NOPERM : 1;
  }
}

async function runParsed(parsed: Parsed<SaltKeyTable>, io: SaltKeyIo): Promise<number> {
  checkUsage(parsed);
  const { opts, warnings } = startUp(SALT_KEY, parsed, { role: "master", load: loadClientConfig });
  const { options } = parsed; // the Saltfile has had its say
  const action = chooseAction(options);
  const logOpts = { ...opts, log_file: options.log_file === null ? opts.key_logfile : opts.log_file };
  const { log, close } = openLog(logOpts, { terminal: (text) => io.writeError(text) });
  try {
    for (const warning of warnings) log.warning(warning);
    // As Salt: what is written is to be the master's, whoever asks for it.
    const user = Deno.uid() === 0 ? userToBecome(opts.user) : undefined;
    if (user !== undefined) becomeRunUser(user);
    return await perform(action, options, { opts, log, io });
  } finally {
    close();
  }
}

/** What an action works with. */
interface Setting {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly io: SaltKeyIo;
}

async function perform(action: SaltKeyAction, options: SaltKeyValues, setting: Setting): Promise<number> {
  const show = shower(options, setting);
  switch (action.kind) {
    case "genKeys":
      return await genKeys(action.name, options, { ...setting, show });
    case "genSignature":
      return await genSignature(options, { ...setting, show });
  }
  const cli = keyCli(options, { ...setting, show });
  switch (action.kind) {
    case "list":
      return cli.list(action.states);
    case "print":
      return cli.print(action.globs);
    case "finger":
      return cli.finger(action.globs);
    case "act":
      return await cli.act(action.act, action.globs, action.all);
  }
}

/** Prints values as `--out` and the options beside it say. */
function shower(options: SaltKeyValues, { opts, log, io }: Setting): (value: Value) => void {
  // `highstate` in the configuration is about states, not about lists of keys.
  const out = chooseOutputter(opts.output === "highstate" ? undefined : opts.output ?? undefined, "key");
  const file = options.output_file ?? undefined;
  const color = useColours({
    isTerminal: io.isTerminal && file === undefined,
    forceColor: options.force_color,
    noColor: options.no_color,
    noColorVariable: io.noColor ?? Deno.env.get("NO_COLOR"),
    configured: opts.color,
  });
  const put = outputWriter({ file, append: options.output_file_append, write: (text) => io.write(text) });
  const indent = options.output_indent ?? undefined;
  return (value) => put(formatOutput(value, { out, color, indent, warn: (text) => log.error(text) }));
}

interface Showing extends Setting {
  readonly show: (value: Value) => void;
}

function keyCli(options: SaltKeyValues, { opts, io, log, show }: Showing): KeyCli {
  const cache = new DataCache(opts.cachedir, { log: (text) => log.warning(text) });
  const manager = new KeyManager(new KeyStore(opts.pki_dir), {
    fire: (tag, data) => io.fire(tag, data, opts),
    forget: (id) => {
      if (!opts.preserve_minion_cache) cache.remove(id);
    },
  });
  return new KeyCli(manager, {
    io,
    show,
    yes: options.yes,
    quiet: options.quiet,
    includeAccepted: options.include_accepted,
    includeRejected: options.include_rejected,
    includeDenied: options.include_denied,
    includeAll: options.include_all,
    preserveMinions: booleanOption("--preserve-minions", options.preserve_minions) ?? false,
    hashType: opts.hash_type,
    localKeys: () => localKeys(opts.pki_dir),
    rotate: () => {
      if (opts.rotate_aes_key) writeDropfile(opts.cachedir, opts.id);
    },
  });
}

/** The master's own keys: file names and contents. Links, such as Salt 3008 makes, name a key that is there anyway. */
function localKeys(pkiDir: string): Map<string, string> {
  const keys = new Map<string, string>();
  try {
    for (const { name, isFile } of Deno.readDirSync(pkiDir)) {
      if (isFile && /\.(pem|pub)$/.test(name)) keys.set(name, Deno.readTextFileSync(`${pkiDir}/${name}`));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return keys;
}

async function genKeys(name: string, options: SaltKeyValues, { opts, show }: Showing): Promise<number> {
  Deno.mkdirSync(options.gen_keys_dir, { recursive: true });
  const key = await loadOrCreateKeyPair(options.gen_keys_dir, name, opts.keysize);
  show(new Map([["return", fingerprint(key.publicKey.pem, opts.hash_type)]]));
  return 0;
}

async function genSignature(options: SaltKeyValues, { opts, show }: Showing): Promise<number> {
  let result: boolean | string;
  try {
    result = await signMasterKey({
      pkiDir: opts.pki_dir,
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
