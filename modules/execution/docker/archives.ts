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
 * The archive, piece by piece; tar is ended with the job.
 * @throws {CommandError} If tar fails.
 */
export async function* archiveOf(
  { directory, paths, followsLinks = false }: Archived,
  { signal, child: onChild }: JobContext,
): AsyncGenerator<Uint8Array> {
  const links = followsLinks ? ["-h"] : [];
  const child = new Deno.Command(requireProgram("tar"), {
    args: ["-c", ...links, "-C", directory, ...OWNED_BY_ROOT, "--no-recursion", "--null", "-T", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
    signal,
  }).spawn();
  onChild(child.pid, "started");
  const list = new TextEncoder().encode(paths.map((path) => `./${path}\0`).join(""));
  const giving = ReadableStream.from([list]).pipeTo(child.stdin);
  for await (const piece of child.stdout) yield piece;
  await giving;
  const { code } = await child.status;
  onChild(child.pid, "ended");
  if (code !== 0) throw new CommandError(`tar ended with ${code}`);
}
