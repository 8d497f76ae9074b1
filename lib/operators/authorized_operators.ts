/**
 * The keys that may sign jobs for a minion: all files of `operators_dir`, in the form of `authorized_keys`, with the
 * options `functions`, `targets` and `expires` before a key. A line that is not understood as a whole is no key, and is
 * logged: an option that is left out would give rights that nobody meant to give.
 * Source: sshd(8), "AUTHORIZED_KEYS FILE FORMAT".
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { readTextFileIfExists, statIfExists } from "#lib/os/atomic_file.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { compareStrings } from "#lib/values/value.ts";
import { KEY_TYPE, type OperatorKey, operatorKey } from "./job_signature.ts";

/** A key and what it may sign. */
export interface AuthorizedOperator extends OperatorKey {
  /** The comment behind the key. */
  readonly comment: string;
  /** Whether it may have this function run. */
  mayRun(fun: string): boolean;
  /** Whether it may have jobs run on the minion with this id. */
  mayReach(id: string): boolean;
  /** After this it signs nothing, in milliseconds since the epoch; `undefined`: it has no end. */
  readonly expiresMs: number | undefined;
}

/** Quotes may hold blanks, commas and escaped quotes. */
const OPTION = /^([a-z]+)="((?:[^"\\]|\\.)*)"(?:,|\s+)/;
const KEY = new RegExp(`^${KEY_TYPE}\\s+([A-Za-z0-9+/]+={0,2})(?:\\s+(.*))?$`);
const OPTIONS: ReadonlySet<string> = new Set(["functions", "targets", "expires"]);
/** `20270131`, `202701311200`, `20270131120000`, as OpenSSH writes times, or ISO 8601. All are in UTC. */
const COMPACT = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?Z?$/;
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d))?Z)?$/;

/**
 * Reads a line.
 * @returns `undefined` for an empty line or a comment; a text: why it is no key.
 */
export function readOperatorLine(line: string): AuthorizedOperator | string | undefined {
  let rest = line.trim();
  if (rest === "" || rest.startsWith("#")) return undefined;
  const options = new Map<string, string>();
  for (let found = OPTION.exec(rest); found !== null; found = OPTION.exec(rest)) {
    const [whole, name, value] = found;
    if (!OPTIONS.has(name)) return `the option ${name} is not known`;
    if (options.has(name)) return `the option ${name} is there twice`;
    options.set(name, value.replace(/\\(.)/g, "$1"));
    rest = rest.slice(whole.length);
  }
  const [, base64, comment = ""] = KEY.exec(rest) ?? [];
  if (base64 === undefined) return `it is not options, ${KEY_TYPE}, a key and a comment`;
  const expires = options.get("expires"), expiresMs = expires === undefined ? undefined : timeOf(expires);
  if (expires !== undefined && expiresMs === undefined) return `the time ${expires} cannot be read`;
  try {
    const key = operatorKey(Uint8Array.fromBase64(base64));
    if (key === undefined) return `the key is of another kind than ${KEY_TYPE}`;
    const mayRun = anyOf(options.get("functions")), mayReach = anyOf(options.get("targets"));
    return { ...key, comment, mayRun, mayReach, expiresMs };
  } catch (error) {
    return `the key cannot be read: ${messageOf(error)}`;
  }
}

function anyOf(globs: string | undefined): (text: string) => boolean {
  if (globs === undefined) return () => true;
  const tests = globs.split(",").map((glob) => compileGlob(glob.trim()));
  return (text) => tests.some((test) => test(text));
}

function timeOf(text: string): number | undefined {
  const [, year, month, day, hours = "00", minutes = "00", seconds = "00"] = COMPACT.exec(text) ?? ISO.exec(text) ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  // JavaScript takes the 31st of February for a day in March.
  return Number.isNaN(ms) || new Date(ms).getUTCDate() !== Number(day) ? undefined : ms;
}

/** The keys of a directory; read again when a file in it has changed. */
export class AuthorizedOperators {
  readonly #directory: string;
  readonly #warn: (text: string) => void;
  #stamp: string | undefined;
  #byKey = new Map<string, AuthorizedOperator>();

  /** @param warn Called with what is wrong in a file. */
  constructor(directory: string, warn: (text: string) => void) {
    this.#directory = directory;
    this.#warn = warn;
  }

  /**
   * The operator with a key, given as base64; `undefined`: nobody has it.
   * @throws What reading the files throws, except that they are missing.
   */
  get(base64: string): AuthorizedOperator | undefined {
    this.#refresh();
    return this.#byKey.get(base64);
  }

  #refresh(): void {
    const paths = this.#paths();
    const stamp = paths.map((path) => `${path} ${stampOf(path)}`).join("\n");
    if (stamp === this.#stamp) return;
    const byKey = new Map<string, AuthorizedOperator>();
    for (const path of paths) {
      for (const [at, line] of (readTextFileIfExists(path) ?? "").split("\n").entries()) {
        const operator = readOperatorLine(line);
        if (typeof operator === "string") this.#warn(`${path}, line ${at + 1}: no operator is read: ${operator}`);
        else if (operator !== undefined) this.#add(byKey, operator, `${path}, line ${at + 1}`);
      }
    }
    this.#byKey = byKey;
    this.#stamp = stamp;
  }

  #add(byKey: Map<string, AuthorizedOperator>, operator: AuthorizedOperator, where: string): void {
    const base64 = operator.blob.toBase64();
    if (byKey.has(base64)) this.#warn(`${where}: the key is there already, with the rights of its first line`);
    else byKey.set(base64, operator);
  }

  /** The files, in the order of their names; those of editors and backups, which begin with a dot, are left out. */
  #paths(): string[] {
    try {
      return [...Deno.readDirSync(this.#directory)].filter(({ name }) => !name.startsWith("."))
        .map(({ name }) => `${this.#directory}/${name}`).sort(compareStrings);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
  }
}

function stampOf(path: string): string {
  const info = statIfExists(path);
  return `${info?.ino} ${info?.size} ${info?.mtime?.getTime()} ${info?.ctime?.getTime()}`;
}
