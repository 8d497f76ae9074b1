/**
 * The audit log of salt-api: who did what, from where, one JSON line each. Every line has the hash of the line before
 * it, and its own: a line that is changed, added or left out in the middle is found. Passwords, tokens, arguments and
 * results are in none.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { JsonError } from "#lib/errors.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

/** Something that a user did, or was refused. */
export interface AuditEntry {
  /** The name that was given, for a log-in that was refused. */
  readonly user: string;
  /** The address of the client. */
  readonly from: string;
  /** The API token, or a short hash of the session; empty: neither. */
  readonly token: string;
  /** `log in`, `log in by oidc`, `local test.ping`, `wheel key.accept`, `make token`. */
  readonly what: string;
  /** The target of a job, the id of a token, why a log-in by a provider is refused; empty: none. */
  readonly target: string;
  /** How many minions it was for; `null`: not known. */
  readonly count: number | null;
  /** `done`, `refused`, or `failed`. */
  readonly outcome: "done" | "refused" | "failed";
}

/** The result of {@linkcode verifyAudit}. */
export interface AuditCheck {
  readonly lines: number;
  /** The hash of the last line that is right: kept elsewhere, it shows later whether lines are missing at the end. */
  readonly last: string;
  /** The number of the first line that is wrong, from 1; `undefined`: all are right. */
  readonly broken?: number;
}

/** What the first line has as the hash of the line before. */
const NONE = "0".repeat(64);
/** Longest name or target that is written, in UTF-16 units. */
const MAX_TEXT = 200;
/** Bytes at the end in which the last line is: no line is as long. */
const TAIL_BYTES = 8192;
const NEWLINE = 10;

/** The path of the log in the master's cache directory. */
export function auditPath(cachedir: string): string {
  return `${cachedir}/api_audit.jsonl`;
}

/** Adds entries. Several processes may do so at a time. */
export class AuditLog {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Adds an entry.
   * @throws What writing throws: an action that cannot be recorded must not look as if it were.
   */
  add({ user, from, token, what, target, count, outcome }: AuditEntry): void {
    using file = Deno.openSync(this.#path, { read: true, append: true, create: true, mode: 0o600 });
    file.lockSync(true);
    try {
      const { number, hash, isEnded } = lastOf(file);
      const fields = {
        n: number + 1,
        at: new Date().toISOString(),
        user: user.slice(0, MAX_TEXT),
        from,
        token,
        what: what.slice(0, MAX_TEXT),
        target: target.slice(0, MAX_TEXT),
        count,
        outcome,
        before: hash,
      };
      const body = JSON.stringify(fields);
      const line = `${body.slice(0, -1)},"hash":"${hashHex(body, "sha256")}"}\n`;
      // After a line that a power failure cut off, the next one is a line of its own.
      file.writeSync(new TextEncoder().encode(isEnded ? line : `\n${line}`));
    } finally {
      file.unlockSync();
    }
  }
}

interface LastLine {
  readonly number: number;
  readonly hash: string;
  readonly isEnded: boolean;
}

function lastOf(file: Deno.FsFile): LastLine {
  const { size } = file.statSync();
  if (size === 0) return { number: 0, hash: NONE, isEnded: true };
  let text = "", lines: (ParsedLine | undefined)[] = [], whole = -1;
  // A power failure may leave a long hole behind the last line.
  for (let from = size, length = TAIL_BYTES; whole < 0 && from > 0; length *= 16) {
    from = Math.max(0, size - length);
    text = tailOf(file, from, size);
    lines = text.trimEnd().split("\n").map(parseLine);
    whole = lines.findLastIndex((line) => line !== undefined);
  }
  const { number, hash } = lines[whole] ?? { number: 0, hash: NONE };
  // A line that was broken is left as it is, and the check names it. It counts: pages are found by numbers that grow.
  const broken = lines.length - 1 - whole;
  return { number: number + broken, hash: broken === 0 ? hash : NONE, isEnded: text.endsWith("\n") };
}

function tailOf(file: Deno.FsFile, from: number, size: number): string {
  file.seekSync(from, Deno.SeekMode.Start);
  const bytes = new Uint8Array(size - from);
  let read = 0;
  for (let n: number | null = 0; n !== null && read < bytes.length; read += n ?? 0) {
    n = file.readSync(bytes.subarray(read));
  }
  return new TextDecoder().decode(bytes.subarray(0, read));
}

interface ParsedLine {
  readonly number: number;
  readonly before: string;
  readonly hash: string;
  /** Whether the hash is that of the line. */
  readonly isWhole: boolean;
}

function parseLine(line: string): ParsedLine | undefined {
  const match = /^(.*),"hash":"([0-9a-f]{64})"\}$/.exec(line);
  if (match === null) return undefined;
  const body = `${match[1]}}`;
  let value: Value;
  try {
    value = parseJson(body);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return undefined;
  }
  const [number, before] = isMap(value) ? [value.get("n"), value.get("before")] : [];
  if (typeof number !== "number" || typeof before !== "string") return undefined;
  return { number, before, hash: match[2], isWhole: hashHex(body, "sha256") === match[2] };
}

/** Checks the chain of a log; a file that is not there has no lines. */
export async function verifyAudit(path: string): Promise<AuditCheck> {
  let hash = NONE, lines = 0;
  for await (const line of linesOf(path)) {
    const parsed = parseLine(line);
    if (parsed === undefined || !parsed.isWhole || parsed.before !== hash || parsed.number !== lines + 1) {
      return { lines, last: hash, broken: lines + 1 };
    }
    lines++;
    hash = parsed.hash;
  }
  return { lines, last: hash };
}

/** Which entries are read. */
export interface AuditQuery {
  /** Only entries with a smaller number; `undefined`: from the newest on. */
  readonly before: number | undefined;
  readonly limit: number;
  wants(entry: ValueMap): boolean;
}

/** Bytes that are read at a time, from the end of the log on. */
const PIECE_BYTES = 65_536;

/**
 * Entries, the newest first. A line that is no entry is left out: {@linkcode verifyAudit} names it. The log is read
 * from its end, as far as the page needs it.
 * @returns Besides, the number before which the next ones are; `undefined`: there are no more.
 */
export async function readAudit(
  path: string,
  { before = Infinity, limit, wants }: AuditQuery,
): Promise<{ readonly entries: ValueMap[]; readonly next: number | undefined }> {
  const wanted: { readonly number: number; readonly entry: ValueMap }[] = [];
  for await (const line of linesFromEnd(path, before)) {
    const number = parseLine(line)?.number;
    if (number === undefined || number >= before) continue;
    const entry = parseJson(line);
    if (!isMap(entry) || !wants(entry)) continue;
    wanted.push({ number, entry });
    if (wanted.length > limit) break;
  }
  const page = wanted.slice(0, limit);
  return { entries: page.map(({ entry }) => entry), next: wanted.length > limit ? page.at(-1)?.number : undefined };
}

async function openIfThere(path: string): Promise<Deno.FsFile | undefined> {
  try {
    return await Deno.open(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The lines of the log, the last one first, from about those before the number `before` on. */
async function* linesFromEnd(path: string, before: number): AsyncGenerator<string> {
  using open = await openIfThere(path);
  if (open === undefined) return;
  const { size } = await open.stat();
  // Numbers grow line by line: the place of one is found by halves.
  let end = Number.isFinite(before) ? await placeBefore(open, { size, before }) : size;
  let rest = new Uint8Array();
  while (end > 0) {
    const start = Math.max(0, end - PIECE_BYTES);
    const bytes = joinBytes([await readAt(open, start, end - start), rest]);
    // The first line of the piece may begin before it; if it has no end of a line, all of it is of one that does.
    const cut = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1 || bytes.length;
    rest = bytes.subarray(0, cut);
    const lines = new TextDecoder().decode(bytes.subarray(cut)).split("\n").filter((line) => line !== "");
    yield* lines.reverse();
    end = start;
  }
}

/** A place behind the line with the largest number below `before`, and not far behind it. */
async function placeBefore(
  file: Deno.FsFile,
  { size, before }: { readonly size: number; readonly before: number },
): Promise<number> {
  let low = 0, high = size;
  while (high - low > PIECE_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const number = await firstNumber(file, middle, high);
    if (number === undefined || number >= before) high = middle;
    else low = middle;
  }
  return Math.min(size, high + PIECE_BYTES);
}

/** The number of the first line that begins between two places; `undefined`: none does. */
async function firstNumber(file: Deno.FsFile, from: number, to: number): Promise<number | undefined> {
  // The pieces overlap: a line that is cut off in one is whole in the next.
  for (let at = from; at < to; at += PIECE_BYTES - TAIL_BYTES) {
    const text = new TextDecoder().decode(await readAt(file, at, PIECE_BYTES));
    const lines = text.split("\n").slice(1).map(parseLine);
    const first = lines.find((line) => line !== undefined);
    if (first !== undefined) return first.number;
  }
  return undefined;
}

/** Bytes from a place on, fewer at the end. */
async function readAt(file: Deno.FsFile, start: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  await file.seek(start, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  let read = 0;
  while (read < length) {
    const got = await file.read(bytes.subarray(read));
    if (got === null) break;
    read += got;
  }
  return bytes.subarray(0, read);
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await openIfThere(path);
  if (file === undefined) return;
  let rest = "";
  for await (const text of file.readable.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  if (rest !== "") yield rest;
}
