/**
 * Self-extracting executables: launcher.sh in front of a gzipped tar archive. All that share an archive also share the
 * directory that it is unpacked into.
 * @module
 */

import { COMMAND_V8_FLAGS, V8_FLAGS } from "../../lib/process/self_command.ts";
import { scriptOf } from "./bundle.ts";
import { COMMAND_ENTRIES, PLACE_SOURCE, VERSION_SOURCE } from "./production.ts";
import { type TarFile, tarStream } from "./tar.ts";

/** Bytes in front of the archive. The shell reads no further than the launcher's `exec`. */
const HEAD_BYTES = 8192;

/** An archive to put behind launchers. */
export interface Payload {
  /** The gzipped archive. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256, in hexadecimal. */
  readonly sum: string;
}

/** What a launcher says of itself, and which file it has Deno run. */
export interface PackedProgram {
  readonly name: string;
  /** The other names that it answers to: `salt-call`. */
  readonly links: readonly string[];
  /** Its script: `minion.mjs`. */
  readonly entry: string;
  readonly version: string;
  /** The platform. */
  readonly target: string;
}

/** The archive of `files`. One of them is `deno`. */
export async function packPayload(files: readonly TarFile[]): Promise<Payload> {
  const bytes = await new Response(tarStream(files).pipeThrough(new CompressionStream("gzip"))).bytes();
  return { bytes, sum: new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex() };
}

/** The name of the directory that `payload` is unpacked into. */
export function releaseName(version: string, { sum }: Payload): string {
  return `${version}-${sum.slice(0, 16)}`;
}

/** The content of an executable. */
export function packedExecutable({ name, links, entry, version, target }: PackedProgram, payload: Payload): Blob {
  const [[command, script] = ["-", ""]] = Object.entries(COMMAND_ENTRIES)
    .filter(([command, source]) => links.includes(command) && scriptOf(source) !== entry);
  const values: Readonly<Record<string, string>> = {
    NAME: name,
    NAMES: [name, ...links].join(" | "),
    ENTRY: entry,
    FLAGS: Object.hasOwn(COMMAND_ENTRIES, name) ? COMMAND_V8_FLAGS : V8_FLAGS,
    // Where there is none, a name that nothing has.
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
