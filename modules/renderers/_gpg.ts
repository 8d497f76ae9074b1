/**
 * The program gpg.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";

/** How long gpg may take for one message, in milliseconds: it may wait for its agent. */
const LONGEST_MS = 60_000;

/** What gpg said. */
export interface Decrypted {
  /** Empty if it could not decrypt. */
  readonly output: Uint8Array;
  readonly errors: string;
}

/**
 * Decrypts one message.
 * @throws {RenderError} If gpg cannot be started, or takes longer than a minute.
 */
export async function decrypt(
  message: string,
  { program, keyDirectory, signal }: {
    readonly program: string;
    readonly keyDirectory: string;
    readonly signal: AbortSignal | undefined;
  },
): Promise<Decrypted> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), LONGEST_MS);
  try {
    const child = new Deno.Command(program, {
      args: ["--homedir", keyDirectory, "--status-fd", "2", "--no-tty", "-d"],
      ...{ stdin: "piped", stdout: "piped", stderr: "piped" } as const,
      signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    }).spawn();
    const [{ stdout, stderr }] = await Promise.all([child.output(), write(child.stdin, message)]);
    if (late.signal.aborted) throw new RenderError(`gpg took longer than ${LONGEST_MS / 1000} s`);
    return { output: stdout, errors: new TextDecoder().decode(stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new RenderError("GPG unavailable", {}, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Writes the message. gpg may end before it has read all of it. */
async function write(stdin: WritableStream<Uint8Array>, message: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(message));
    await writer.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}
