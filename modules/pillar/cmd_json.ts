/**
 * External pillar `cmd_json`: what a command of the master writes, as JSON.
 * Source: Salt 3008.3 `salt/pillar/cmd_json.py`.
 * @module
 */

import { type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";
import { fillWord } from "#lib/text/shell_words.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { p } from "#lib/plugins/module.ts";
import { map, repr, str } from "#lib/values/value.ts";

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Run a command without a shell, `%s` in its words being the minion's id, and parse its output as JSON. Errors are logged,\n" +
    "and the result is then empty. The result is never cached: the command runs each time.",
  params: { command: p.any() },
  async run({ command }, { minionId, notes, call, render, log }) {
    if (typeof command !== "string") {
      log("error", `cmd_json: the command must be a text, not ${repr(command)}`);
      return new Map();
    }
    notes.changing(`cmd_json: ${command}`);
    try {
      const words = shlexSplit(command).map((word) => fillWord(word, minionId));
      const output = str(await call("cmd.run", [words], map({ python_shell: false })));
      return await render({ text: output, path: command, renderer: "json" });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      log("error", `JSON data from ${command} failed to parse: ${error.message}`);
      return new Map();
    }
  },
});
