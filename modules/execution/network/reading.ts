/**
 * Shared parts of the module `network`: running programs, and reading the interfaces. Source: the functions of Salt
 * 3008.3 `salt/modules/network.py` for Linux.
 * @module
 */

import { runTool } from "#modules/execution/_file_host.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { type Interfaces, parseIfconfig, parseIpOutput } from "#lib/host/network/interfaces.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";

/** What programs write to both outputs. */
export async function output(words: readonly string[], context: JobContext, timeout?: number): Promise<string> {
  const more = timeout === undefined ? {} : { more: new Map([["timeout", timeout]]) };
  return (await runTool(context, words, { joined: true, ...more })).stdout;
}

/** The interfaces by `ip`, else by `ifconfig`; none without either. */
export async function readInterfaces(context: JobContext): Promise<Interfaces> {
  const of = async (...words: string[]) => (await runProgram(words, context)).stdout;
  const ip = which("ip");
  if (ip !== undefined) return parseIpOutput(`${await of(ip, "link", "show")}\n${await of(ip, "addr", "show")}`);
  const ifconfig = which("ifconfig");
  return ifconfig === undefined ? new Map() : parseIfconfig(await of(ifconfig, "-a"));
}
