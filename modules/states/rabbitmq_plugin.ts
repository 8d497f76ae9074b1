/**
 * State module `rabbitmq_plugin`: plugins of RabbitMQ.
 * Source: Salt 3008.3 `salt/states/rabbitmq_plugin.py`.
 * @module
 */

import { NEEDS_RABBITMQ, orError, rabbitmq, reach } from "./_rabbitmq.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { truthy } from "#lib/values/value.ts";

export const virtual: Virtual = NEEDS_RABBITMQ;

function switching(isOn: boolean): ModuleFunction<StateContext> {
  const word = isOn ? "enabled" : "disabled";
  return stateFn({
    doc:
      `Make sure that a plugin is ${word}.\n\nname\n    The plugin.\n\nrunas\n    The user who runs rabbitmq-plugins.`,
    params: { name: p.str(), runas: p.str(null) },
    run: ({ name, runas }, context) =>
      orError(name, async () =>
        await reach({
          name,
          isDone: truthy(await rabbitmq("plugin_is_enabled", [name], runas, context)) === isOn,
          done: `Plugin '${name}' is already ${word}.`,
          planned: `Plugin '${name}' is set to be ${word}.`,
          changes: isOn ? { old: "", new: name } : { old: name, new: "" },
          act: async () => {
            await rabbitmq(isOn ? "enable_plugin" : "disable_plugin", [name], runas, context);
            return `Plugin '${name}' was ${word}.`;
          },
        }, context)),
  });
}

export const enabled: ModuleFunction<StateContext> = switching(true);
export const disabled: ModuleFunction<StateContext> = switching(false);
