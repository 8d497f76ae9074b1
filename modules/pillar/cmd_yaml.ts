/**
 * External pillar `cmd_yaml`: what a command of the master writes, as YAML.
 * Source: Salt 3008.3 `salt/pillar/cmd_yaml.py`.
 * @module
 */

import { loadYaml } from "../../lib/yaml/load.ts";
import { type PillarSource, pillarSource } from "../../lib/plugins/pillar_source.ts";
import { any } from "../../lib/plugins/module.ts";
import { map, repr, str } from "../../lib/values/value.ts";

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Run a command in a shell, `%s` in it being the minion's id, and parse its output as YAML. Errors are logged, and the\n" +
    "result is then empty. The result is never cached: the command runs each time.",
  params: { command: any() },
  async run({ command }, { minionId, notes, call, log }) {
    if (typeof command !== "string") throw new Error(`the command must be a text, not ${repr(command)}`);
    const line = command.replaceAll("%s", minionId);
    notes.changing(`cmd_yaml: ${line}`);
    let output = "";
    try {
      output = str(await call("cmd.run_stdout", [line], map({ python_shell: true })));
      return loadYaml(output, line);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      log("error", `YAML data from '${line}' failed to parse: ${error.message}. Command output:\n${output}`);
      return new Map();
    }
  },
});
