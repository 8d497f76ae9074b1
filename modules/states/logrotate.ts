/**
 * State module `logrotate`: the configuration of logrotate.
 * Source: Salt 3008.3 `salt/states/logrotate.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { equals, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["logrotate.show_conf"], otherwise: "logrotate module could not be loaded" }],
};

/** Converts a text that is an int to the int. */
function asInt(value: Value): Value {
  const text = str(value).trim();
  return /^[+-]?\d+$/.test(text) ? Number(text) : value;
}

export const set_: ModuleFunction<StateContext> = stateFn({
  doc:
    "Set a directive of the configuration, or one of a block.\n\nname\n    A text, unique in the run.\n\nkey\n    The directive, or the " +
    "files of the block.\n\nvalue\n    Its value, or the directive in the block.\n\nsetting\n    The value of the directive in the block.\n\n" +
    "conf_file\n    Default: /etc/logrotate.conf.",
  params: {
    name: p.str(),
    key: p.str(),
    value: p.any(),
    setting: p.any(null),
    conf_file: p.str("/etc/logrotate.conf"),
  },
  async run({ name, key, value, setting, conf_file }, context) {
    const inBlock = setting !== null;
    const wanted = asInt(inBlock ? setting : value);
    const kwargs: ValueMap = map({ key, ...inBlock && { value }, conf_file });
    const current = await context.call("logrotate.get", [], kwargs);
    const what = inBlock ? `lock '${key}' command '${str(value)}'` : `ommand '${key}'`;
    const [upper, lower] = inBlock ? [`B${what}`, `b${what}`] : [`C${what}`, `c${what}`];
    if (equals(current, wanted)) {
      return { ...startResult(name), comment: `${upper} already has value: ${str(wanted)}` };
    }
    const changes = map({ old: current, new: wanted });
    if (context.test) {
      return { name, result: null, comment: `${upper} will be set to value: ${str(wanted)}`, changes };
    }
    const given = inBlock ? { key, value, setting: wanted, conf_file } : { key, value: wanted, conf_file };
    const result = truthy(await context.call("logrotate.set", [], map(given)));
    const comment = `${result ? "Set" : "Unable to set"} ${lower} value: ${str(wanted)}`;
    return { name, result, comment, changes };
  },
});
