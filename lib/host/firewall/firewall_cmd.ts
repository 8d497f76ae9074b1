/**
 * Runs firewall-cmd, and parses its zones.
 * Source: Salt 3008.3, `salt/modules/firewalld.py`; firewall-cmd(1).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";

/**
 * Runs it.
 * @returns Its output.
 * @param words Each begins with `--`.
 * @throws {CommandError} If it fails.
 */
export async function firewallCmd(words: readonly string[], context: JobContext): Promise<string> {
  const { retcode, stdout, stderr } = await runProgram(["firewall-cmd", ...words], context, { setsRetcode: true });
  if (retcode === 0) return stdout;
  throw new CommandError(`firewall-cmd failed: ${stderr || stdout}`);
}

/** The words of an answer. */
export async function firewallWords(words: readonly string[], context: JobContext): Promise<string[]> {
  return splitWhitespace(await firewallCmd(words, context));
}

/** Zones with their settings, each a list: of `--list-all` and `--list-all-zones`. */
export function parseZones(text: string): Map<string, Map<string, string[]>> {
  const zones = new Map<string, Map<string, string[]>>();
  let zone = new Map<string, string[]>();
  let values: string[] = [];
  for (const line of splitLines(text).filter((one) => one.trim() !== "")) {
    if (/^[a-z0-9]/i.test(line)) {
      zone = new Map();
      zones.set(line.trimEnd(), zone);
    } else if (line.startsWith("\t")) values.push(line.trim());
    else {
      const colon = line.indexOf(":");
      values = [line.slice(colon + 1).trim()];
      zone.set(line.slice(0, colon).trim(), values);
    }
  }
  return zones;
}

/** The forwarded ports of `--list-forward-ports`: `port=80:proto=tcp:toport=8080:toaddr=`. */
export function parseForwards(text: string): Map<string, string>[] {
  const names = ["Source port", "Protocol", "Destination port", "Destination address"];
  return splitLines(text).map((line) => {
    const values = line.split(":").map((part) => part.slice(part.indexOf("=") + 1));
    return new Map(names.map((name, i) => [name, values[i] ?? ""]));
  });
}
