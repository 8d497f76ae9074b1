/**
 * `ext_nodes`: a command that prints what a minion has, as an external node classifier of Puppet does.
 * Source: Salt 3008.3 `salt/tops/ext_nodes.py`.
 * @module
 */

import { type MasterTopsSource, topSource } from "#lib/plugins/top_source.ts";
import { runBounded } from "#lib/programs/bounded_run.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";

/** Longest time of the command, in milliseconds. */
const LIMIT_MS = 60_000;
/** Maximum bytes that it prints: what never ends would take the host's memory. */
const MAX_OUTPUT = 16 * 2 ** 20;

export const top: MasterTopsSource = topSource({
  doc:
    "Run the command in `master_tops:ext_nodes`, with the minion's id as its last argument. It prints YAML: `classes`, a list or a map of SLS\n" +
    "files, and `environment`, `base` by default.",
  params: {},
  async run(_bound, { minionId, setting, signal, log }) {
    // As Salt, by the shell; the id is an argument, which no shell reads.
    const command = str(setting);
    const words = ["sh", "-c", `${command} "$1"`, "sh", checkedWord(minionId, "minion id")];
    const { stdout, excess } = await runBounded(words, { signal, timeoutMs: LIMIT_MS, outputMax: MAX_OUTPUT });
    if (excess !== undefined) throw new Error(`ext_nodes: ${command} ${excess}`);
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
