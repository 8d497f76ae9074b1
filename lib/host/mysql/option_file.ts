/**
 * Option files of MySQL's programs, such as `/etc/mysql/debian.cnf`: where a client connects, and as whom.
 * Source: mariadb.com/kb, "Configuring MariaDB with Option Files".
 * @module
 */

import { splitLines } from "#lib/text/split_lines.ts";

/**
 * The options of groups, by name with underscores; the last one of several counts. What `!include` names is not read.
 * @param groups The groups' names: `client`.
 */
export function readOptionFile(text: string, groups: readonly string[]): Map<string, string> {
  const options = new Map<string, string>();
  let isWanted = false;
  for (const line of splitLines(text).map((one) => one.trim())) {
    if (line === "" || line.startsWith("#") || line.startsWith(";") || line.startsWith("!")) continue;
    if (line.startsWith("[")) {
      isWanted = groups.includes(line.slice(1, line.indexOf("]")));
      continue;
    }
    if (!isWanted) continue;
    const at = line.indexOf("=");
    const name = (at < 0 ? line : line.slice(0, at)).trim().replaceAll("-", "_");
    options.set(name, at < 0 ? "" : optionValue(line.slice(at + 1).trim()));
  }
  return options;
}

/** A value without its quotes, or without the comment behind it. */
function optionValue(text: string): string {
  const quoted = /^(["'])(.*?)\1\s*(?:#.*)?$/.exec(text);
  return quoted?.[2] ?? text.replace(/(?<!\s)\s+#.*$/, "");
}
