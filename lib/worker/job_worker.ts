/**
 * The thread that runs jobs of built-in modules, one after the other, so that a waiting job can be ended without the
 * minion. It loads no custom module (see custom_modules.ts).
 * @module
 */

import { ChildPids } from "./child_pids.ts";
import { withCustomModules } from "./custom_catalogue.ts";
import { parseToJob } from "./job_messages.ts";
import { type JobWorkerInit, pack } from "./job_protocol.ts";
import { JobRunner } from "./job_runner.ts";
import { moduleOf } from "./custom_modules.ts";
import { loadCatalogue } from "./catalogue.ts";
import { unpackOpts } from "../config/opts_transfer.ts";
import { joinPermissions, permissionKey } from "../plugins/permissions.ts";
import { fieldsOf } from "../process/message_fields.ts";
import { serveThread, type ThreadHost } from "../process/thread.ts";

function openRunner(init: JobWorkerInit, host: ThreadHost): JobRunner {
  const opts = unpackOpts("minion", init.opts);
  const children = new ChildPids(init.children);
  const own = permissionKey(init.permissions);
  const custom = new Set(init.customModules);
  const runner: JobRunner = new JobRunner({
    opts,
    hostData: init.hostData,
    catalogue: withCustomModules(
      loadCatalogue({
        disableModules: [...opts.disable_modules, ...init.customModules, ...Object.keys(init.refusedModules)],
        whitelistModules: opts.whitelist_modules,
        grains: () => runner.grains,
        providers: opts.providers,
        warn: host.log.warning,
      }),
      {
        names: custom,
        refusals: new Map(Object.entries(init.refusedModules)),
        describe: () => runner.ask({ what: "describe" }),
        call: (fun, args, kwargs) => runner.ask({ what: "call", fun, call: pack({ args, kwargs }) }),
      },
    ),
    log: host.log,
    post: (message) => host.post(message),
    begin: () => children.clear(),
    child: (pid, state) => children[state === "started" ? "add" : "delete"](pid),
    admit(functions) {
      // Unknown functions need no permissions.
      const permissions = joinPermissions([...functions.values()].map((fun) => fun?.permissions ?? "none"));
      const here = permissionKey(permissions) === own &&
        ![...functions.keys()].some((name) => custom.has(moduleOf(name)));
      return here ? undefined : { kind: "not_permitted", permissions };
    },
  });
  return runner;
}

serveThread<JobWorkerInit>((init, host) => {
  const runner = openRunner(init, host);
  return Promise.resolve({
    describe: () => runner.describe(),
    onMessage: (message) => runner.hear(parseToJob(fieldsOf(message))),
    close: () => Promise.resolve(),
  });
});
