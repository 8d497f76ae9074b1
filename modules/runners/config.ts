/**
 * Runner `config`: the master's options.
 * Source: Salt 3008.3 `salt/runners/config.py`.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { p } from "#lib/plugins/module.ts";
import { DEFAULT_TARGET_DELIM, traverseOr } from "#lib/yaml/traverse.ts";

export const get: RunnerFunction = runner({
  doc: runnerDoc(
    `Return an option of the master.

key
    Its name, or a path into it: \`file_roots:base\`.

default
    The result if there is no such option.

delimiter : ":"
    The separator of the path's steps.`,
    "config.get file_roots:base",
    "config.get file_roots,base delimiter=','",
  ),
  params: { key: p.any(), default: p.any(""), delimiter: p.str(DEFAULT_TARGET_DELIM) },
  run: ({ key, default: fallback, delimiter }, { opts }) => traverseOr(optsValues(opts), key, { delimiter, fallback }),
});
