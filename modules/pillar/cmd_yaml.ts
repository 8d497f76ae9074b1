/**
 * External pillar `cmd_yaml`: what a command of the master writes, as YAML.
 * Source: Salt 3008.3 `salt/pillar/cmd_yaml.py`.
 * @module
 */

import { loadYaml } from "#lib/yaml/load.ts";
import { type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";
import { fillShellCommand } from "#lib/text/shell_words.ts";
import { p } from "#lib/plugins/module.ts";
import { map, repr, str } from "#lib/values/value.ts";

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Run a command in a shell, and parse its output as YAML. `%s` in it is the minion's id, always one word or a part of one: write\n" +
    "it outside of quotes, or alone in them. A command that passes it to another shell, as ssh does, must quote it again.\n" +
    "Errors are logged, and the result is then empty. The result is never cached: the command runs each time.",
  params: { command: p.any() },
  async run({ command }, { minionId, notes, call, log }) {
    if (typeof command !== "string") throw new Error(`the command must be a text, not ${repr(command)}`);
    notes.changing(`cmd_yaml: ${command}`);
    let output = "", line = command;
    try {
      line = fillShellCommand(command, minionId);
      output = str(await call("cmd.run_stdout", [line], map({ python_shell: true })));
      return loadYaml(output, line);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      log("error", `YAML data from '${line}' failed to parse: ${error.message}. Command output:\n${output}`);
      return new Map();
    }
  },
});
