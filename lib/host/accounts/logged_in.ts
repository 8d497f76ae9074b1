/**
 * The users who are logged in, from the system's file of logins. Source: psutil 7.2 (documentation and results);
 * utmp(5).
 * @module
 */

import { readFileIfExists } from "#lib/os/atomic_file.ts";
import { float, type Value } from "#lib/values/value.ts";

const UTMP = "/var/run/utmp";
const USER_PROCESS = 7;
/** Bytes of a record: where words have 32 bits, or programs of that kind must be able to read it; and elsewhere. */
const SIZES = { x86_64: 384, aarch64: 400 } as const;

/** The logins in the file's bytes. */
export function parseLogins(bytes: Uint8Array, size: number = SIZES[Deno.build.arch]): Record<string, Value>[] {
  const logins: Record<string, Value>[] = [];
  for (let at = 0; at + size <= bytes.length; at += size) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, size);
    if (view.getInt16(0, true) !== USER_PROCESS) continue;
    const text = (from: number, length: number) => {
      const field = bytes.subarray(at + from, at + from + length);
      const end = field.indexOf(0);
      return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
    };
    const host = text(76, 256);
    const seconds = size === SIZES.x86_64 ? view.getInt32(340, true) : Number(view.getBigInt64(344, true));
    logins.push({
      name: text(44, 32),
      terminal: text(8, 32) || null,
      host: host === ":0" || host === ":0.0" ? "localhost" : host,
      started: float(seconds),
      pid: view.getInt32(4, true),
    });
  }
  return logins;
}

/** The current logins. */
export function logins(): Record<string, Value>[] {
  return parseLogins(readFileIfExists(UTMP) ?? new Uint8Array());
}
