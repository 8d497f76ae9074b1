/**
 * Parses the output of iptables-save. A pure function over text.
 * Source: Salt 3008.3, `salt/modules/iptables.py` _parse_conf; iptables-save(8).
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The long names of options. */
const LONG_NAMES: Readonly<Record<string, string>> = {
  "-A": "append",
  "-D": "delete",
  "-I": "insert",
  "-R": "replace",
  "-L": "list",
  "-F": "flush",
  "-Z": "zero",
  "-N": "new-chain",
  "-X": "delete-chain",
  "-P": "policy",
  "-E": "rename-chain",
  "-p": "protocol",
  "-s": "source",
  "-d": "destination",
  "-j": "jump",
  "-g": "goto",
  "-i": "in-interface",
  "-o": "out-interface",
  "-f": "fragment",
  "-c": "set-counters",
  "-m": "match",
  "--sport": "source_port",
  "--source-port": "source_port",
  "--dport": "destination_port",
  "--destination-port": "destination_port",
  "--sports": "source-ports",
  "--dports": "destination-ports",
  "--src-cc": "source-country",
  "--dst-cc": "destination-country",
};

/** One chain. */
interface Chain {
  readonly fields: ValueMap;
  readonly rules: Value[];
  readonly comments: ValueMap;
}

/** The chains of each table: policy, counters, and the rules as maps of options to their values. */
export function parseSaved(text: string): ValueMap {
  const tables: ValueMap = new Map();
  let table: ValueMap = new Map();
  let chains = new Map<string, Chain>();
  for (const line of splitLines(text)) {
    if (line.startsWith("*")) {
      table = new Map();
      chains = new Map();
      tables.set(line.slice(1), table);
    } else if (line.startsWith(":")) {
      const [name, policy, counters = ""] = line.slice(1).split(/\s+/);
      const [packets = "", bytes = ""] = counters.replace(/[[\]]/g, "").split(":");
      const chain: Chain = { fields: new Map(), rules: [], comments: new Map() };
      chain.fields.set("policy", policy).set("packet count", packets).set("byte count", bytes);
      chain.fields.set("rules", chain.rules).set("rules_comment", chain.comments);
      chains.set(name, chain);
      table.set(name, chain.fields);
    } else if (line.startsWith("-A")) {
      const options = parseRule(line);
      const chain = chains.get(options.get("append")?.[0] ?? "");
      options.delete("append");
      const rule = map(Object.fromEntries(options));
      const comment = options.get("comment")?.[0];
      if (comment !== undefined) chain?.comments.set(stripChars(comment, '"'), rule);
      chain?.rules.push(rule);
    }
  }
  return tables;
}

/** The options of a rule with their values; `!` before an option is in front of its value. */
function parseRule(line: string): Map<string, string[]> {
  const options = new Map<string, string[]>();
  const words = shlexSplit(line);
  const isOption = (at: number) => words[at]?.startsWith("-") ?? false;
  for (let at = 0; at < words.length;) {
    const isNegated = words[at] === "!" && isOption(at + 1);
    const option = words[isNegated ? at + 1 : at];
    at += isNegated ? 2 : 1;
    if (!option.startsWith("-")) continue;
    const values = isNegated ? ["!"] : [];
    while (at < words.length && words[at] !== "!" && !isOption(at)) values.push(words[at++]);
    const name = Object.hasOwn(LONG_NAMES, option) ? LONG_NAMES[option] : option.replace(/^-+/, "");
    options.set(name, [...options.get(name) ?? [], values.join(" ")]);
  }
  return options;
}
