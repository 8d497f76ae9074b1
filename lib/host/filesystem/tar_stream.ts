/**
 * The bytes of a tar archive as they are when decompressed: gzip here, other compressions by the host's programs.
 * @module
 */

import { CommandNotFoundError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { shlexSplit } from "#lib/text/shlex.ts";

/** The magic bytes of compressed files, and the program that decompresses them to stdout. */
const COMPRESSED: readonly (readonly [magic: readonly number[], words: readonly string[]])[] = [
  [[0x1f, 0x8b], ["gzip", "-dc"]],
  [[0x42, 0x5a, 0x68], ["bzip2", "-dc"]],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], ["xz", "-dc"]],
  [[0x5d, 0x00, 0x00], ["xz", "-dc"]],
  [[0x28, 0xb5, 0x2f, 0xfd], ["zstd", "-dc"]],
];

/** How to read an archive. */
export interface TarReading {
  /** A command that decompresses a file of an unknown compression to stdout. */
  readonly options?: string | null;
  /** Aborted when the job must end. */
  readonly signal: AbortSignal;
  /** Told of programs that start and end. */
  child(pid: number, state: "started" | "ended"): void;
}

/**
 * Opens an archive.
 * @throws {CommandNotFoundError} If the program that decompresses it is not installed.
 */
export async function tarStream(
  path: string,
  { options = null, signal, child: onChild }: TarReading,
): Promise<ReadableStream<Uint8Array>> {
  const file = await Deno.open(path);
  const head = new Uint8Array(8);
  await file.read(head);
  await file.seek(0, Deno.SeekMode.Start);
  const format = COMPRESSED.find(([magic]) => magic.every((byte, i) => head[i] === byte))?.[1];
  if (format?.[0] === "gzip") return file.readable.pipeThrough(new DecompressionStream("gzip"));
  const words = format ?? (options ? shlexSplit(options) : undefined);
  if (words === undefined) return file.readable;
  file.close();
  if (which(words[0]) === undefined) {
    throw new CommandNotFoundError(`[Errno 2] No such file or directory: '${words[0]}'`);
  }
  const child = new Deno.Command(words[0], {
    args: [...words.slice(1), path],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    signal,
  }).spawn();
  onChild(child.pid, "started");
  child.status.then(() => onChild(child.pid, "ended"));
  return child.stdout;
}
