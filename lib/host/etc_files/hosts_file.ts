/**
 * The file of host names (`/etc/hosts`): reading and editing its text. Knows no paths.
 * Source: Salt 3008.3, `salt/modules/hosts.py`; hosts(5).
 * @module
 */

import { linesWithEnds, splitLines } from "#lib/text/split_lines.ts";

/** The names of an address, and the comment after them. */
export interface HostEntry {
  readonly aliases: string[];
  comment?: string;
}

/** The entries by address, in the order of the file; lines that are comments by `comment-0` and so on, a line each. */
export type Hosts = Map<string, HostEntry | readonly string[]>;

/** Reads the text of a hosts file. Several lines of an address become one entry. */
export function parseHosts(text: string): Hosts {
  const hosts: Hosts = new Map();
  let comments = 0;
  for (const raw of splitLines(text)) {
    const line = raw.trim();
    if (line === "") continue;
    if (line.startsWith("#")) {
      hosts.set(`comment-${comments++}`, [line]);
      continue;
    }
    const mark = line.indexOf("#");
    const comment = mark < 0 ? "" : line.slice(mark + 1).trimStart();
    const [address, ...names] = (mark < 0 ? line : line.slice(0, mark)).trim().split(/\s+/);
    const host = hosts.get(address);
    const entry: HostEntry = host !== undefined && "aliases" in host ? host : { aliases: [] };
    entry.aliases.push(...names);
    if (comment !== "") entry.comment = comment;
    hosts.set(address, entry);
  }
  return hosts;
}

/** The text of a hosts file with these entries. */
export function formatHosts(hosts: Hosts): string {
  const lines = [...hosts].map(([address, entry]) => {
    if (!("aliases" in entry)) return entry.join("");
    const names = `${address}\t\t${entry.aliases.join(" ")}`;
    return entry.comment === undefined ? names : `${names}\t\t# ${entry.comment}`;
  });
  return lines.map((line) => line.trim()).filter((line) => line !== "").map((line) => `${line}\n`).join("");
}

/** Whether an address has a name, or all of several names. */
export function hasPair(hosts: Hosts, address: string, names: readonly string[]): boolean {
  const entry = hosts.get(address);
  return entry !== undefined && "aliases" in entry && names.every((name) => entry.aliases.includes(name));
}

/** The address of a line; `undefined` for an empty one and a comment. */
function addressOf(line: string): string | undefined {
  const trimmed = line.trim();
  return trimmed === "" || trimmed.startsWith("#") ? undefined : trimmed.split(/\s+/)[0];
}

/** The text with one line for an address in place of those that it has; empty `names` take them away. */
export function setHost(
  text: string,
  { address, names, comment }: { readonly address: string; readonly names: string; readonly comment: string | null },
): string {
  const line = names.trim() === "" ? "" : `${address}\t\t${names}${comment ? `\t\t# ${comment}` : ""}\n`;
  let placed = false;
  const lines = linesWithEnds(text).map((old) => {
    if (addressOf(old) !== address) return old;
    const replacement = placed ? "" : line;
    placed = true;
    return replacement;
  });
  if (placed) return lines.join("");
  const rest = lines.join("");
  return rest + (rest === "" || rest.endsWith("\n") ? "" : "\n") + line;
}

/** The text without a name of an address; a line without names is left out. */
export function removeHost(text: string, address: string, name: string): string {
  return linesWithEnds(text).map((line) => {
    if (addressOf(line) !== address) return line;
    const [words, ...rest] = line.trim().split("#");
    const comment = rest.join("#").trimStart();
    const names = words.trim().split(/\s+/).slice(1).filter((word) => word !== name);
    if (names.length === 0) return "";
    const entry = `${address}\t\t${names.map((word) => `${word} `).join("")}`;
    return comment === "" ? `${entry}\n` : `${entry}# ${comment}\n`;
  }).join("");
}
