/**
 * The process that calls PAM or LDAP for a master: one request on standard input, one line of reply on standard output.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { AuthReply, AuthRequest } from "./auth_messages.ts";

/**
 * Answers the request on standard input.
 * @returns The exit code.
 */
export async function runAuthProcess(): Promise<number> {
  const request: AuthRequest = JSON.parse(await new Response(Deno.stdin.readable).text());
  let answer: AuthReply;
  try {
    answer = await answerOf(request);
  } catch (error) {
    answer = { known: false, groups: [], problem: messageOf(error) };
  }
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(answer)}\n`));
  return 0;
}

async function answerOf(request: AuthRequest): Promise<AuthReply> {
  if (request.kind === "pam") {
    const { authenticateByPam } = await import("./libpam.ts");
    return { groups: [], ...authenticateByPam(request) };
  }
  // Its library loads Node's compatibility layer, which nothing else needs.
  const { authenticateByLdap } = await import("./ldap_directory.ts");
  return await authenticateByLdap(request.settings, request.credentials);
}
