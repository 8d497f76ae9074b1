/**
 * Self-extracting executables: launcher.sh in front of a gzipped tar archive. Executables with the same archive use the
 * same directory of unpacked files.
 * @module
 */

import { COMMAND_V8_FLAGS, V8_FLAGS } from "#lib/runtime/self_command.ts";
import { scriptOf } from "./bundle.ts";
import { COMMAND_ENTRIES, PLACE_SOURCE, VERSION_SOURCE } from "./production.ts";
import { type TarFile, tarStream } from "./tar.ts";

/** Number of bytes before the archive. The shell does not read beyond the launcher's `exec`. */
const HEAD_BYTES = 8192;

/** An archive that follows a launcher. */
export interface Payload {
  /** The gzipped archive. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256, in hexadecimal. */
  readonly sum: string;
}

/** The names and the version of a launcher, and the file that it runs with Deno. */
export interface PackedProgram {
  readonly name: string;
  /** Other names that it can be called by: `salt-call`. */
  readonly links: readonly string[];
  /** Its script: `minion.mjs`. */
  readonly entry: string;
  readonly version: string;
  readonly target: string;
}

/** Makes the archive of `files`. One of them must be `deno`. */
export async function packPayload(files: readonly TarFile[]): Promise<Payload> {
  const bytes = await new Response(tarStream(files).pipeThrough(new CompressionStream("gzip"))).bytes();
  return { bytes, sum: new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex() };
}

/** The name of the directory that `payload` is unpacked into. */
export function releaseName(version: string, { sum }: Payload): string {
  return `${version}-${sum.slice(0, 16)}`;
}

/** The bytes of an executable. */
export function packedExecutable({ name, links, entry, version, target }: PackedProgram, payload: Payload): Blob {
  const [[command, script] = ["-", ""]] = Object.entries(COMMAND_ENTRIES)
    .filter(([command, source]) => links.includes(command) && scriptOf(source) !== entry);
  const values: Readonly<Record<string, string>> = {
    NAME: name,
    NAMES: [name, ...links].join(" | "),
    ENTRY: entry,
    FLAGS: Object.hasOwn(COMMAND_ENTRIES, name) ? COMMAND_V8_FLAGS : V8_FLAGS,
    // If there is none: a name that matches nothing.
    COMMAND: command,
    COMMAND_SCRIPT: script && scriptOf(script),
    VERSION_SCRIPT: scriptOf(VERSION_SOURCE),
    PLACE_SCRIPT: scriptOf(PLACE_SOURCE),
    VERSION: version,
    TARGET: target,
    RELEASE: releaseName(version, payload),
    SUM: payload.sum,
    COMMAND_V8_FLAGS,
    OFFSET: String(HEAD_BYTES + 1),
  };
  const template = Deno.readTextFileSync(new URL("launcher.sh", import.meta.url));
  const head = new TextEncoder().encode(template.replace(/@([A-Z0-9_]+)@/g, (_, key: string) => values[key]));
  if (head.length >= HEAD_BYTES) throw new RangeError(`the launcher is longer than ${HEAD_BYTES} bytes`);
  return new Blob([head, " ".repeat(HEAD_BYTES - head.length - 1) + "\n", payload.bytes]);
}
