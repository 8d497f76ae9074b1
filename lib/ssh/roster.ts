/**
 * The hosts of rosters: what an entry may say, checked once, and the defaults of the master's options.
 * Source: docs.saltproject.io, "Salt Rosters"; Salt 3008.3 `salt/client/ssh/__init__.py` Single.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf, RosterError } from "#lib/errors.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { isMap, map, str, toNumber, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** One host, and how to get to it. Texts that become words of ssh's command line do not begin with `-`. */
export interface RosterHost {
  readonly id: string;
  /** Its name or address. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** The password for ssh and sudo; empty: none. */
  readonly passwd: string;
  /** The path of the private key; `null`: none is named. */
  readonly priv: string | null;
  readonly privPasswd: string;
  /** Seconds that the connection may take. */
  readonly timeoutS: number;
  readonly sudo: boolean;
  /** Whom sudo becomes; empty: root. */
  readonly sudoUser: string;
  /** Whether the host is to give a terminal, for a sudo that wants one. */
  readonly tty: boolean;
  /** The directory for the executable; `null`: the usual one. */
  readonly thinDir: string | null;
  /** The umask of commands there. */
  readonly cmdUmask: number | null;
  /** The search path there; empty: the host's own. */
  readonly setPath: string;
  /** Words for ssh's `-o`. */
  readonly sshOptions: readonly string[];
  /** Words for ssh's `-R`. */
  readonly remotePortForwards: readonly string[];
  readonly identitiesOnly: boolean;
  /** Seconds of silence after which ssh asks; `null`: it never does. */
  readonly keepaliveS: number | null;
  readonly keepaliveCount: number;
  /** Functions that other hosts may read as its mine. */
  readonly mineFunctions: ValueMap;
  /** The script of this control host that runs there first; `null`: none. */
  readonly preFlight: string | null;
  readonly preFlightArgs: readonly string[];
  /** Options of the minion that runs there. */
  readonly minionOpts: ValueMap;
  /** Grains that replace those of the host. */
  readonly grains: ValueMap;
}

/** Entries of rosters by id, as they were written. */
export type RosterEntries = ReadonlyMap<string, Value>;

/** Keys of Salt that are read and have no effect. */
const WITHOUT_EFFECT: readonly string[] = [
  ...["ssh_pre_hook", "winrm", "relenv"],
];

/**
 * Reads the entry of a host.
 * @throws {RosterError} If it is none, or a value is of the wrong kind.
 */
export function readRosterHost(
  id: string,
  written: Value,
  { opts, warn }: { readonly opts: MasterOpts; readonly warn: (text: string) => void },
): RosterHost {
  if (!isValidId(id)) throw new RosterError(`${JSON.stringify(id)} cannot name a host`);
  const entry = new EntryReader(id, merged(id, written, opts));
  const idle = WITHOUT_EFFECT.filter((key) => truthy(entry.value(key)));
  if (idle.length > 0) warn(`${id}: without effect in the roster: ${idle.join(", ")}`);
  const keepalive = entry.bool("keepalive", opts.ssh_keepalive);
  return {
    id,
    host: entry.plain("host", id),
    port: entry.number("port", opts.ssh_port, { min: 1, max: 65_535 }),
    user: entry.plain("user", opts.ssh_user),
    passwd: entry.text("passwd", opts.ssh_passwd),
    priv: keyOf(entry, opts),
    privPasswd: entry.text("priv_passwd", opts.ssh_priv_passwd),
    timeoutS: entry.number("timeout", opts.ssh_timeout + opts.timeout, { min: 0.1, max: 86_400 }),
    sudo: entry.bool("sudo", opts.ssh_sudo),
    sudoUser: entry.word("sudo_user", opts.ssh_sudo_user),
    tty: entry.bool("tty", false),
    thinDir: entry.directory("thin_dir"),
    cmdUmask: entry.umask("cmd_umask"),
    setPath: entry.text("set_path", ""),
    sshOptions: entry.words("ssh_options", opts.ssh_options),
    remotePortForwards: splitWords(entry.text("remote_port_forwards", opts.ssh_remote_port_forwards ?? "")),
    identitiesOnly: entry.bool("identities_only", opts.ssh_identities_only),
    keepaliveS: keepalive ? entry.number("keepalive_interval", opts.ssh_keepalive_interval, { min: 1 }) : null,
    mineFunctions: entry.map("mine_functions"),
    preFlight: entry.text("ssh_pre_flight", "") || null,
    preFlightArgs: preFlightArgs(id, entry.value("ssh_pre_flight_args") ?? opts.ssh_pre_flight_args),
    keepaliveCount: entry.number("keepalive_count_max", opts.ssh_keepalive_count_max, { min: 1 }),
    minionOpts: new Map([...opts.ssh_minion_opts, ...entry.map("minion_opts")]),
    grains: entry.map("grains"),
  };
}

/** The keys of an entry above those of `roster_defaults`; a text is the host's name. */
function merged(id: string, written: Value, opts: MasterOpts): ValueMap {
  if (typeof written === "string") return new Map([...opts.roster_defaults, ...map({ host: written })]);
  if (isMap(written)) return new Map([...opts.roster_defaults, ...written]);
  throw new RosterError(`${id}: the entry is ${typeName(written)}, not a map`);
}

function keyOf(entry: EntryReader, opts: MasterOpts): string | null {
  const priv = entry.word("priv", opts.ssh_priv ?? "");
  if (priv === "agent-forwarding") return null;
  return priv === "" ? defaultKey(opts) : priv;
}

/** A text is split as a shell does; Salt takes anything for a text. */
function preFlightArgs(id: string, written: Value): string[] {
  if (written === null) return [];
  if (Array.isArray(written)) return written.map(str);
  try {
    return shlexSplit(str(written));
  } catch (error) {
    throw new RosterError(`${id}: ssh_pre_flight_args: ${messageOf(error)}`);
  }
}

/** The key of hosts that name none. */
export function defaultKey(opts: Pick<MasterOpts, "pki_dir">): string {
  return `${opts.pki_dir}/ssh/salt-ssh.rsa`;
}

function splitWords(text: string): string[] {
  return text.split(",").map((word) => word.trim()).filter((word) => word !== "");
}

/** Control characters would end a line of what is written for ssh, or move a terminal's cursor. */
const CONTROLS = /[\p{Cc}]/u;

/**
 * What a shell reads: ssh puts names of hosts and users into commands of its configuration (`ProxyCommand`, `Match
 * exec`), and the roster `cache` has them from minions.
 */
const OF_SHELLS = /['"`$\\;&<>|(){}\s]/;

/** Reads the values of one entry. */
class EntryReader {
  readonly #id: string;
  readonly #entry: ValueMap;

  constructor(id: string, entry: ValueMap) {
    this.#id = id;
    this.#entry = entry;
  }

  value(key: string): Value | undefined {
    return this.#entry.get(key) ?? undefined;
  }

  text(key: string, fallback: string): string {
    const value = this.value(key);
    if (value === undefined) return fallback;
    if (isMap(value) || Array.isArray(value) || value instanceof Uint8Array) throw this.#wrong(key, "a text", value);
    return str(value);
  }

  /** A text that becomes a word of a command line, and must not be an option. */
  word(key: string, fallback: string): string {
    const text = this.text(key, fallback);
    if (text.startsWith("-") || CONTROLS.test(text)) {
      throw new RosterError(
        `${this.#id}: ${key}: ${JSON.stringify(text)} may not begin with - or hold control characters`,
      );
    }
    return text;
  }

  /** As {@linkcode word}, of a name that a shell reads as it is. */
  plain(key: string, fallback: string): string {
    const text = this.word(key, fallback);
    if (!OF_SHELLS.test(text)) return text;
    throw new RosterError(`${this.#id}: ${key}: ${JSON.stringify(text)} has characters that a shell reads`);
  }

  words(key: string, fallback: readonly string[]): string[] {
    const value = this.value(key);
    const words = value === undefined ? fallback : Array.isArray(value) ? value : [value];
    return words.map((word) => {
      if (typeof word !== "string" || CONTROLS.test(word)) throw this.#wrong(key, "a list of texts", value ?? null);
      return word;
    });
  }

  number(
    key: string,
    fallback: number,
    { min, max = 2 ** 31 }: { readonly min: number; readonly max?: number },
  ): number {
    const value = this.value(key);
    const number = value === undefined ? fallback : toNumber(typeof value === "string" ? Number(value) : value);
    if (number === undefined || !(number >= min && number <= max)) {
      throw this.#wrong(key, `a number from ${min} to ${max}`, value ?? null);
    }
    return number;
  }

  bool(key: string, fallback: boolean): boolean {
    const value = this.value(key);
    return value === undefined ? fallback : truthy(value);
  }

  map(key: string): ValueMap {
    const value = this.value(key);
    if (value === undefined) return new Map();
    if (!isMap(value)) throw this.#wrong(key, "a map", value);
    return value;
  }

  /** A directory that may be removed with all that is in it: not one of the first level. */
  directory(key: string): string | null {
    const text = this.word(key, "");
    if (text === "") return null;
    const parts = text.split("/");
    if (!text.startsWith("/") || parts.filter((part) => part !== "").length < 2 || parts.includes("..")) {
      throw new RosterError(`${this.#id}: ${key}: ${JSON.stringify(text)} is no absolute path of at least two names`);
    }
    return rstripChars(text, "/");
  }

  /** An umask in octal digits, as a text or an int. */
  umask(key: string): number | null {
    const value = this.value(key);
    if (value === undefined) return null;
    const digits = /^(?:0o?)?([0-7]{1,3})$/.exec(str(value))?.[1];
    if (digits === undefined) throw this.#wrong(key, "an umask in octal digits", value);
    return parseInt(digits, 8);
  }

  #wrong(key: string, wanted: string, value: Value): RosterError {
    return new RosterError(`${this.#id}: ${key} must be ${wanted}, not ${typeName(value)}`);
  }
}
