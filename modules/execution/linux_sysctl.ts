/**
 * Execution module `sysctl` for Linux.
 * Source: the functions of Salt 3008.3 `salt/modules/linux_sysctl.py`.
 * @module
 */

import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import {
  allParameters,
  getParameter,
  parseParameterFile,
  persistParameter,
  setParameter,
} from "#lib/host/kernel/sysctl.ts";
import { isMap, str, truthy } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "sysctl",
  serves: [{
    grains: { kernel: ["Linux"] },
    otherwise: "The linux_sysctl execution module cannot be loaded: only available on Linux systems.",
  }],
};

/** From here on systemd reads directories of such files. */
const DIRECTORY_VERSION = 207;

function configFile({ grains }: JobContext): string {
  const systemd = grains.get("systemd");
  const version = isMap(systemd) ? Number(systemd.get("version") ?? 0) : 0;
  const hasDirectory = grains.get("init") === "systemd" && version >= DIRECTORY_VERSION;
  return hasDirectory ? "/etc/sysctl.d/99-salt.conf" : "/etc/sysctl.conf";
}

export const default_config: ModuleFunction<JobContext> = fn({
  doc: describe("Return the file that sysctl.persist writes.", "sysctl.default_config"),
  permissions: "all",
  params: {},
  run: (_bound, context) => configFile(context),
});

export const show: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the kernel's parameters, or those in a file.",
    "sysctl.show",
    "sysctl.show config_file=/etc/sysctl.conf",
  ),
  permissions: "all",
  params: { config_file: p.any(false) },
  run({ config_file }, context) {
    if (!truthy(config_file)) return allParameters(context);
    const contents = readTextFileIfExists(str(config_file));
    return contents === undefined ? [] : parseParameterFile(contents);
  },
});

export const get: ModuleFunction<JobContext> = fn({
  doc: describe("Return a parameter's value.", "sysctl.get net.ipv4.ip_forward"),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }, context) => getParameter(name, context),
});

export const assign: ModuleFunction<JobContext> = fn({
  doc: describe("Set a parameter until the next boot.", "sysctl.assign net.ipv4.ip_forward 1"),
  permissions: "all",
  params: { name: p.str(), value: p.str() },
  run: ({ name, value }, context) => setParameter(name, value, context),
});

export const persist: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a parameter now and at each boot, in config or in the file of sysctl.default_config. Return Updated or Already set.",
    "sysctl.persist net.ipv4.ip_forward 1",
  ),
  permissions: "all",
  params: { name: p.str(), value: p.str(), config: p.str(null) },
  run: ({ name, value, config }, context) => persistParameter(name, value, config ?? configFile(context), context),
});
