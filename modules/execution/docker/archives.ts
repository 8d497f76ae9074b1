/**
 * What goes into an engine as an archive, written by the program tar.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { requireProgram } from "#lib/programs/run_program.ts";

/** Everything belongs to root there. */
const OWNED_BY_ROOT = ["--numeric-owner", "--owner=0", "--group=0"] as const;

/** What is archived. */
export interface Archived {
  /** The directory that the paths are of. */
  readonly directory: string;
  /** Files and directories; what is in a directory has a path of its own. */
  readonly paths: readonly string[];
  /** Whether a link is archived as the file that it leads to. */
  readonly followsLinks?: boolean;
}

/**
 * The archive, piece by piece.
 * @throws {CommandError} If tar fails.
 */
export function archiveOf(
  { directory, paths, followsLinks = false }: Archived,
  context: Pick<JobContext, "signal" | "child">,
): AsyncGenerator<Uint8Array> {
  const links = followsLinks ? ["-h"] : [];
  const args = ["-c", ...links, "-C", directory, ...OWNED_BY_ROOT, "--no-recursion", "--null", "-T", "-"];
  return throughProgram("tar", args, [new TextEncoder().encode(paths.map((path) => `./${path}\0`).join(""))], context);
}

/**
 * What a program makes of its input, piece by piece; it is ended with the job.
 * @throws {CommandError} If the program fails.
 */
export async function* throughProgram(
  program: string,
  args: readonly string[],
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { signal, child: onChild }: Pick<JobContext, "signal" | "child">,
): AsyncGenerator<Uint8Array> {
  const child = new Deno.Command(requireProgram(program), {
    args: [...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
    signal,
  }).spawn();
  onChild(child.pid, "started");
  // It may fail while the output is still read, when nobody waits for it.
  const giving = ReadableStream.from(input).pipeTo(child.stdin).then(() => undefined, (error: unknown) => ({ error }));
  try {
    for await (const piece of child.stdout) yield piece;
    const failure = await giving;
    const { code } = await child.status;
    // Of both, the program's failure says more than that it reads no more.
    if (code !== 0) throw new CommandError(`${program} ended with ${code}`);
    if (failure !== undefined) throw failure.error;
  } finally {
    onChild(child.pid, "ended");
  }
}
