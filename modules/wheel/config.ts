/**
 * Wheel module `config`: the master's configuration files.
 * Source: Salt 3008.3 `salt/wheel/config.py`.
 * @module
 */

import { applyOption, updateConfig } from "#lib/config/write.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { runner, type RunnerFunction, wheelDoc } from "#lib/client/runner_context.ts";
import { p } from "#lib/plugins/module.ts";

export const values: RunnerFunction = runner({
  doc: wheelDoc("Return the master's options, as its configuration files set them now.", "config.values"),
  params: {},
  run: (_, { opts }) => optsValues(loadMasterConfig({ configDir: opts.config_dir }).opts),
});

export const apply: RunnerFunction = runner({
  doc: wheelDoc(
    `Set one option in the master's main configuration file; the others in it stay, comments do not. The master reads it
when it starts.`,
    "config.apply worker_threads 8",
  ),
  params: { key: p.str(), value: p.any() },
  run({ key, value }, { opts }) {
    applyOption(opts, { key, value });
    return null;
  },
});

export const update_config: RunnerFunction = runner({
  doc: wheelDoc(
    `Write options to a file of their own, NAME.conf, in the directory of \`default_include\` (master.d).

file_name
    The name, without .conf.

yaml_contents
    The options, a dictionary.`,
    `config.update_config gui '{"timeout": 10}'`,
  ),
  params: { file_name: p.str(), yaml_contents: p.any() },
  run: ({ file_name, yaml_contents }, { opts }) =>
    updateConfig(opts, { name: `${file_name}.conf`, contents: yaml_contents }),
});
