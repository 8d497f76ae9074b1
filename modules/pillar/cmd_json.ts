/**
 * External pillar `cmd_json`: what a command of the master writes, as JSON.
 * Source: Salt 3008.3 `salt/pillar/cmd_json.py`.
 * @module
 */

import { type PillarSource, pillarSource } from "../../lib/plugins/pillar_source.ts";
import { str } from "../../lib/plugins/module.ts";
import { map, str as text } from "../../lib/values/value.ts";

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Run a command, `%s` in it being the minion's id, and parse its output as JSON. Errors are logged, and the result is\n" +
    "then empty. The result is never cached: the command runs each time.",
  params: { command: str() },
  async run({ command }, { minionId, notes, call, render, log }) {
    const line = command.replaceAll("%s", minionId);
    notes.changing(`cmd_json: ${line}`);
    try {
      const output = text(await call("cmd.run", [line], map({ python_shell: true })));
      return await render({ text: output, path: line, renderer: "json" });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      log("error", `JSON data from ${line} failed to parse: ${error.message}`);
      return new Map();
    }
  },
});
