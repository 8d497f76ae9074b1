/**
 * The command line of `salt-key` as data, and the action that it asks for.
 * Source: `salt-key --help` of Salt 3006 and 3008.
 * @module
 */

import {
  type CliValues,
  type CommandLine,
  flag,
  intFlag,
  type Parsed,
  textFlag,
} from "#lib/commands/cli/command_line.ts";
import {
  AUTH_CLI_OPTIONS_WITHOUT_A,
  CONFIG_CLI_OPTIONS,
  CRASH_CLI_OPTIONS,
  LOG_CLI_OPTIONS_WITHOUT_L,
  OUTPUT_CLI_OPTIONS,
} from "#lib/commands/cli/common_options.ts";
import { UsageError } from "#lib/errors.ts";
import { type KeyAct, listedStates } from "./salt_key_actions.ts";
import { KEY_STATES } from "#lib/keys/manager.ts";
import type { KeyState } from "#lib/keys/store.ts";
import { MAX_KEY_BITS, MIN_NEW_KEY_BITS } from "#lib/crypto/key_bits.ts";

const ACTIONS = { group: "Actions" } as const;
const GENERATION = { group: "Key Generation Options" } as const;

/** The options that `salt-key` takes, by name. */
export const SALT_KEY_OPTIONS = {
  ...CONFIG_CLI_OPTIONS,
  ...CRASH_CLI_OPTIONS,
  user: textFlag(["-u", "--user"], "The master's user; root changes to it. Default: as configured."),
  quiet: flag(["-q", "--quiet"], "Do not report what was done."),
  yes: flag(["-y", "--yes"], "Answer yes to every question."),
  rotate_aes_key: textFlag(
    ["--rotate-aes-key"],
    "False: minions whose keys are deleted or rejected can read publishes until the next key rotation. " +
      "Default: as configured, which is True.",
  ),
  preserve_minions: textFlag(
    ["--preserve-minions"],
    "True: keep the master's data about the minions whose keys are deleted. Default: False.",
  ),
  list: textFlag(
    ["-l", "--list"],
    "List keys: pre, un or unaccepted; acc or accepted; rej or rejected; den or denied; all.",
    { ...ACTIONS, metavar: "ARG" },
  ),
  list_all: flag(["-L", "--list-all"], "List all keys; the same as --list all, and what happens by default.", ACTIONS),
  accept: textFlag(
    ["-a", "--accept"],
    "Accept the pending keys that match a glob, or one of several separated by commas; see --include-rejected and " +
      "--include-denied for more.",
    ACTIONS,
  ),
  accept_all: flag(["-A", "--accept-all"], "Accept all pending keys.", ACTIONS),
  reject: textFlag(
    ["-r", "--reject"],
    "Reject the pending keys that match; see --include-accepted and --include-denied for more.",
    ACTIONS,
  ),
  reject_all: flag(["-R", "--reject-all"], "Reject all pending keys.", ACTIONS),
  include_all: flag(
    ["--include-all"],
    "With -a the same as --include-rejected, with -r the same as --include-accepted.",
    ACTIONS,
  ),
  include_accepted: flag(["--include-accepted"], "Reject accepted keys too.", ACTIONS),
  include_rejected: flag(["--include-rejected"], "Accept rejected keys too.", ACTIONS),
  include_denied: flag(["--include-denied"], "Accept or reject denied keys too.", ACTIONS),
  print: textFlag(["-p", "--print"], "Print the keys that match.", ACTIONS),
  print_all: flag(["-P", "--print-all"], "Print all keys.", ACTIONS),
  delete: textFlag(["-d", "--delete"], "Delete the keys that match, in whatever state.", ACTIONS),
  delete_all: flag(["-D", "--delete-all"], "Delete all keys.", ACTIONS),
  finger: textFlag(
    ["-f", "--finger"],
    "Print the fingerprints of the keys that match; master: of the master's own.",
    ACTIONS,
  ),
  finger_all: flag(["-F", "--finger-all"], "Print all fingerprints, the master's own too.", ACTIONS),
  gen_keys: textFlag(["--gen-keys"], "Make a key pair of this name.", GENERATION),
  gen_keys_dir: textFlag(["--gen-keys-dir"], "Where --gen-keys writes. Default: %default", {
    ...GENERATION,
    default: ".",
  }),
  keysize: intFlag(
    ["--keysize"],
    "Bits of a new key, 2048 to 32768; more than 4096 need OpenSSL on the host. Default: as configured, which is 2048.",
    GENERATION,
  ),
  gen_signature: flag(
    ["--gen-signature"],
    "Sign the master's public key beforehand, for minions that verify it (verify_master_pubkey_sign).",
    GENERATION,
  ),
  priv: textFlag(
    ["--priv"],
    "The private key to sign with. Default: the signing key in the pki directory.",
    GENERATION,
  ),
  signature_path: textFlag(
    ["--signature-path"],
    "The directory that the signature is written to. Default: the pki directory.",
    GENERATION,
  ),
  pub: textFlag(["--pub"], "The public key to sign. Default: the master's.", GENERATION),
  auto_create: flag(["--auto-create"], "Make the signing key if there is none.", GENERATION),
  ...LOG_CLI_OPTIONS_WITHOUT_L,
  ...OUTPUT_CLI_OPTIONS,
  ...AUTH_CLI_OPTIONS_WITHOUT_A,
} as const;

/** The type of that table. */
export type SaltKeyTable = typeof SALT_KEY_OPTIONS;
/** The values of those options. */
export type SaltKeyValues = CliValues<SaltKeyTable>;

/** The command line of `salt-key`. */
export const SALT_KEY: CommandLine<SaltKeyTable> = {
  prog: "salt-key",
  usage: "[options]",
  description: "Manage the keys that minions sign in with: list them, accept, reject or delete them, make new ones.",
  examples: [
    ["salt-key", "list the keys"],
    ["salt-key -f web1", "show a key's fingerprint"],
    ["salt-key -a web1", "accept it"],
    ["salt-key -f master", "show the value for master_finger of minions"],
    ["salt-key -d 'old*'", "delete keys"],
  ],
  options: SALT_KEY_OPTIONS,
};

export type SaltKeyAction =
  | { readonly kind: "list"; readonly states: readonly KeyState[] }
  | { readonly kind: "print" | "finger"; readonly globs: string }
  | { readonly kind: "act"; readonly act: KeyAct; readonly globs: string; readonly all: boolean }
  | { readonly kind: "genKeys"; readonly name: string }
  | { readonly kind: "genSignature" };

/**
 * The requested action; if there are several, the one that Salt would choose. Without any, all keys are listed.
 * @throws {UsageError} For an unknown argument of `--list`.
 */
export function chooseAction(options: SaltKeyValues): SaltKeyAction {
  if (options.gen_keys) return { kind: "genKeys", name: options.gen_keys };
  if (options.gen_signature) return { kind: "genSignature" };
  if (options.list) {
    const states = listedStates(options.list);
    if (states === undefined) throw new UsageError(`'${options.list}' is not a valid argument to '--list'`);
    return { kind: "list", states };
  }
  if (options.list_all) return { kind: "list", states: KEY_STATES };
  if (options.print) return { kind: "print", globs: options.print };
  if (options.print_all) return { kind: "print", globs: "*" };
  for (const act of ["accept", "reject", "delete"] as const) {
    const globs = options[act];
    if (globs) return { kind: "act", act, globs, all: false };
    if (options[`${act}_all`]) return { kind: "act", act, globs: "*", all: true };
  }
  if (options.finger) return { kind: "finger", globs: options.finger };
  if (options.finger_all) return { kind: "finger", globs: "*" };
  return { kind: "list", states: KEY_STATES };
}

/**
 * Rejects invalid combinations before any file is read.
 * @throws {UsageError} With the reason.
 */
export function checkUsage({ options, args }: Parsed<SaltKeyTable>): void {
  const { keysize } = options;
  if (keysize !== null && keysize < MIN_NEW_KEY_BITS) {
    throw new UsageError(`The minimum value for keysize is ${MIN_NEW_KEY_BITS}`);
  }
  if (keysize !== null && keysize > MAX_KEY_BITS) {
    throw new UsageError(`The maximum value for keysize is ${MAX_KEY_BITS}`);
  }
  if (options.gen_keys && /[/\\\0]/.test(options.gen_keys)) {
    throw new UsageError(`'${options.gen_keys}' is not a name; --gen-keys-dir says where the keys are written`);
  }
  // The configuration takes any word; an invalid one is reported here.
  booleanOption("--rotate-aes-key", options.rotate_aes_key);
  if (options.eauth) refuseWithAuth(options);
  // Salt's own documents have `salt-key -F master`, which shows all fingerprints as `-F` does.
  if (args.length === 0 || options.finger_all) return;
  if (options.delete_all) throw new UsageError("Delete all takes no arguments. Use -d to delete specified keys");
  // Salt ignores them, and with them the rest of `-a web1 web2`.
  throw new UsageError(`Unexpected argument '${args[0]}'. Separate several keys by commas, and quote globs`);
}

/**
 * Refuses options that only the master's configuration and files decide.
 * @throws {UsageError}
 */
function refuseWithAuth(options: SaltKeyValues): void {
  for (const name of ["gen_keys", "gen_signature", "preserve_minions", "rotate_aes_key"] as const) {
    if (options[name]) throw new UsageError(`--${name.replaceAll("_", "-")} cannot go with --auth`);
  }
}

/**
 * The boolean value of an option; `undefined` if it was not given.
 * @throws {UsageError} If it is neither True nor False.
 */
export function booleanOption(name: string, value: string | null): boolean | undefined {
  if (value === null) return undefined;
  const word = value.toLowerCase();
  if (word !== "true" && word !== "false") throw new UsageError(`option ${name}: '${value}' is neither True nor False`);
  return word === "true";
}
