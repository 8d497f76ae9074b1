/**
 * State module `service`: services that run, and those that start with the system.
 * Source: Salt 3008.3 `salt/states/service.py`.
 * @module
 */

import { disableService, enableService, maskService } from "./_service_boot.ts";
import { runDead, runRunning, runWatch } from "./_service_running.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";

export const virtual: Virtual = {
  serves: [{
    functions: ["service.start"],
    otherwise: "No service execution module loaded: check support for service management on this system",
  }],
};

const SYSTEMD = `no_block : False
    Whether the state does not wait for systemd's jobs.`;
const SERVICE = `name
    The service, as the host's service manager names it.

enable
    Whether it starts at boot. Default: unchanged.

sig
    A text to find in the process list, on hosts that cannot report whether a service runs.

init_delay
    Seconds to wait after a start or stop, before the state checks the service.

${SYSTEMD}`;

const ARGUMENTS = { name: p.str(), enable: p.any(null), sig: p.any(null), init_delay: p.float(null) };

export const running: ModuleFunction<StateContext> = stateFn({
  doc: `A service runs. If a watched state has changes, it is restarted.

${SERVICE}

unmask : False
    Whether a masked unit is unmasked first. (systemd)

unmask_runtime : False
    Whether that mask lasts only until the next boot. (systemd)

reload : False
    Whether the service is reloaded, not restarted, if a watched state has changes.

full_restart : False
    Whether it is stopped and started then, on hosts where that differs from a restart.

force : False
    Whether a reload is forced then.`,
  params: ARGUMENTS,
  varKwargs: "kwargs",
  keywords: ["enabled", "no_block", "unmask", "unmask_runtime", "runlevel", "runlevels", "provider", "root", "timeout"],
  run: (bound, context, { kwargs }) => runRunning(bound, kwargs, context),
});

export const dead: ModuleFunction<StateContext> = stateFn({
  doc: `A service does not run.

${SERVICE}`,
  params: ARGUMENTS,
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => runDead(bound, kwargs, context),
});

export const enabled: ModuleFunction<StateContext> = stateFn({
  doc: `A service starts at boot. Whether it runs now is not checked.

name
    The service.

${SYSTEMD}`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  async run({ name }, context, { kwargs }) {
    const result = { ...startResult(name), ...await enableService(name, { started: null }, kwargs, context) };
    if (!context.test || result.comment !== `The named service ${name} is not available`) return result;
    const comment = `Service ${name} not present; if created in this state run, it would have been enabled`;
    return { ...result, result: null, comment };
  },
});

export const disabled: ModuleFunction<StateContext> = stateFn({
  doc: `A service does not start at boot. Whether it runs now is not checked.

name
    The service.

${SYSTEMD}`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  run: async ({ name }, context, { kwargs }) => ({
    ...startResult(name),
    ...await disableService(name, { started: null }, kwargs, context),
  }),
});

function masking(doc: string, wanted: boolean): ModuleFunction<StateContext> {
  return stateFn({
    doc: `${doc}

name
    The unit.

runtime : False
    Whether that lasts only until the next boot.`,
    params: { name: p.str(), runtime: p.bool(false) },
    run: ({ name, runtime }, context) => maskService(name, { wanted, runtime }, context),
  });
}

export const masked: ModuleFunction<StateContext> = masking(
  "A unit of systemd is masked, so that nothing starts it. It is not stopped.",
  true,
);

export const unmasked: ModuleFunction<StateContext> = masking("A unit of systemd is not masked.", false);

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc: `Restart, reload, start or stop a service, because a watched state has changes. Called by the state runtime only.

name
    The service.

sfun
    The function of the watching state: running or dead.

sig, init_delay
    As in service.running.

reload : False
    Whether the service is reloaded, not restarted.

full_restart : False
    Whether it is stopped and started, on hosts where that differs from a restart.

force : False
    Whether a reload is forced.`,
  params: {
    name: p.str(),
    sfun: p.str(null),
    sig: p.any(null),
    reload: p.bool(false),
    full_restart: p.bool(false),
    init_delay: p.float(null),
    force: p.bool(false),
  },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => runWatch(bound, kwargs, context),
});
