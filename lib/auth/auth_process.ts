/**
 * A process for one request to PAM or LDAP: both may wait for a minute and load foreign code, and PAM may need a
 * process that can be killed. The request is sent on standard input, so that no password is in an argument or in the
 * environment. What runs in it: run_auth_process.ts.
 * @module
 */

import { AUTH_PROCESS, type AuthReply, type AuthRequest } from "./auth_messages.ts";
import { masterProcess } from "#lib/runtime/self_command.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";

/** Time for an answer, in milliseconds: PAM delays a failure by seconds. */
const ANSWER_MS = 30_000;

/**
 * Starts a process, and returns its answer.
 * @throws {Error} If it gives none.
 */
export async function askAuthProcess(request: AuthRequest): Promise<AuthReply> {
  const [command, ...args] = masterProcess(AUTH_PROCESS);
  const child = new Deno.Command(command, { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const timer = setTimeout(() => child.kill("SIGKILL"), ANSWER_MS);
  try {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify(request)));
    await writer.close();
    const { code, signal, stdout, stderr } = await child.output();
    const [line] = new TextDecoder().decode(stdout).split("\n");
    if (code === 0 && line !== "") return JSON.parse(line);
    const message = new TextDecoder().decode(stderr).trim().slice(-500);
    throw new Error(`the process ended with ${signal ?? code}${message === "" ? "" : `: ${message}`}`);
  } finally {
    clearTimeout(timer);
  }
}
