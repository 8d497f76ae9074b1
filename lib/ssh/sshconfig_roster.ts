/**
 * The roster `sshconfig`: the hosts of ssh's own configuration.
 * Source: Salt 3008.3 `salt/roster/sshconfig.py`; ssh_config(5).
 * @module
 */

import type { RosterEntries } from "./roster.ts";
import { compileGlob, isGlob } from "#lib/text/glob.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** The keys of entries, by ssh's keywords in lower case. */
const KEYS: Readonly<Record<string, string>> = { user: "user", port: "port", identityfile: "priv" };

/** A line: keyword, blanks or `=`, and its value, which may be in quotes. */
const LINE = /^\s*([A-Za-z]+)\s*(?:=|\s)\s*"?(.*?)"?\s*$/;

/**
 * The entries for the hosts that a configuration of ssh names. Those without patterns are hosts; patterns add their
 * keys to hosts that they match. ssh itself reads the rest of the configuration by the host's name.
 */
export function readSshConfig(text: string): RosterEntries {
  const hosts = new Map<string, ValueMap>();
  const patterns: (readonly [pattern: string, keys: ValueMap])[] = [];
  let keys: ValueMap = new Map();
  for (const line of text.split("\n")) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, keyword = "", value = ""] = LINE.exec(line) ?? [];
    const name = keyword.toLowerCase();
    if (name === "host") {
      keys = new Map();
      for (const host of value.split(/\s+/).map((word) => word.replaceAll('"', ""))) {
        if (isGlob(host) || host.startsWith("!")) patterns.push([host, keys]);
        else hosts.set(host, keys);
      }
    } else if (name === "match") keys = new Map();
    else if (Object.hasOwn(KEYS, name) && !keys.has(KEYS[name])) keys.set(KEYS[name], value);
  }
  return new Map([...hosts].map(([host, own]) => {
    const added = patterns.filter(([pattern]) => !pattern.startsWith("!") && compileGlob(pattern)(host));
    return [host, new Map([...added.flatMap(([, more]) => [...more]), ...own, ...map({ host })])];
  }));
}
