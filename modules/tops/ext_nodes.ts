/**
 * `ext_nodes`: a command that prints what a minion has, as an external node classifier of Puppet does.
 * Source: Salt 3008.3 `salt/tops/ext_nodes.py`.
 * @module
 */

import { type MasterTopsSource, topSource } from "#lib/plugins/top_source.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";

/** Longest time of the command, in milliseconds. */
const LIMIT_MS = 60_000;

export const top: MasterTopsSource = topSource({
  doc:
    "Run the command in `master_tops:ext_nodes`, with the minion's id as its last argument. It prints YAML: `classes`, a list or a map of SLS\n" +
    "files, and `environment`, `base` by default.",
  params: {},
  async run(_bound, { minionId, setting, signal, log }) {
    // As Salt, by the shell; the id is an argument, which no shell reads.
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", `${str(setting)} "$1"`, "sh", checkedWord(minionId, "minion id")],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
      signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
    }).output();
    const answer = loadYaml(new TextDecoder().decode(stdout));
    if (!isMap(answer)) {
      log("info", "master_tops ext_nodes call did not return any data");
      return new Map();
    }
    const classes = answer.get("classes") ?? null;
    const names = isMap(classes) ? [...classes.keys()] : Array.isArray(classes) ? classes : undefined;
    if (names === undefined) return new Map();
    return new Map<Value, Value>([[answer.get("environment") ?? "base", names]]);
  },
});
