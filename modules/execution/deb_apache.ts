/**
 * Functions of the execution module `apache` for Debian's family: sites, modules and configurations that are switched
 * on by links.
 * Source: Salt 3006.28 `salt/modules/deb_apache.py`, which Salt 3008 has no longer.
 * @module
 */

import { CommandError, CommandNotFoundError } from "#lib/errors.ts";
import { isLinkOrThrow } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { checkedWord, needPrograms, runProgram } from "#lib/programs/run_program.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "apache",
  serves: [{
    programs: ["apache2ctl"],
    grains: { os_family: ["Debian"] },
    otherwise: "apache execution module not loaded: apache not installed.",
  }],
};

/** The directory of the server's configuration. */
const ROOT = "/etc/apache2";

/** A name that is one file of a directory; nothing else is switched on there. */
function isName(name: string): boolean {
  return name !== "" && !name.includes("/") && !name.includes("\0");
}

/** Whether a link in a directory of enabled things has one of these names. */
function hasLink(directory: string, ...names: readonly string[]): boolean {
  return names.some((name) => isName(name) && isLinkOrThrow(`${ROOT}/${directory}/${name}`));
}

function withConf(name: string): string {
  return name.endsWith(".conf") ? name : `${name}.conf`;
}

export const check_site_enabled: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a site is enabled.",
    "apache.check_site_enabled example.com",
    "apache.check_site_enabled example.com.conf",
  ),
  permissions: "all",
  params: { site: p.str() },
  run: ({ site }) => hasLink("sites-enabled", withConf(site), ...site === "default" ? [`000-${withConf(site)}`] : []),
});

export const check_mod_enabled: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a module is enabled.",
    "apache.check_mod_enabled status",
    "apache.check_mod_enabled status.load",
    "apache.check_mod_enabled status.conf",
  ),
  permissions: "all",
  params: { mod: p.str() },
  run: ({ mod }) => hasLink("mods-enabled", /\.(load|conf)$/.test(mod) ? mod : `${mod}.load`),
});

export const check_conf_enabled: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a configuration is enabled.",
    "apache.check_conf_enabled security",
    "apache.check_conf_enabled security.conf",
  ),
  permissions: "all",
  params: { conf: p.str() },
  run: ({ conf }) => hasLink("conf-enabled", withConf(conf)),
});

/** A program that switches something. */
interface Switching {
  readonly program: string;
  readonly name: string;
  readonly context: JobContext;
  /** Salt's words for the thing: `Site`. */
  readonly what: string;
  readonly isOn: boolean;
}

/** Runs the program; a failure to start it is the answer, as in Salt. */
async function switched({ program, name, context, what, isOn }: Switching): Promise<ValueMap | string> {
  let retcode: number;
  try {
    ({ retcode } = await runProgram([program, checkedWord(name, what.toLowerCase())], context, { setsRetcode: true }));
  } catch (error) {
    if (error instanceof CommandError || error instanceof CommandNotFoundError) return error.message;
    throw error;
  }
  const missing = isOn ? 1 : 256;
  const status = retcode === 0
    ? `${what} ${name} ${isOn ? "enabled" : "disabled"}`
    : retcode === missing
    ? `${what} ${name} Not found`
    : retcode;
  return map({ Name: `Apache2 ${isOn ? "Enable" : "Disable"} ${what}`, [what]: name, Status: status });
}

export const a2ensite: ModuleFunction<JobContext> = fn({
  doc: describe("Enable a site.", "apache.a2ensite example.com"),
  permissions: "all",
  params: { site: p.str() },
  run: ({ site }, context) => switched({ program: "a2ensite", name: site, what: "Site", isOn: true, context }),
});

export const a2dissite: ModuleFunction<JobContext> = fn({
  doc: describe("Disable a site.", "apache.a2dissite example.com"),
  permissions: "all",
  params: { site: p.str() },
  run: ({ site }, context) => switched({ program: "a2dissite", name: site, what: "Site", isOn: false, context }),
});

export const a2enmod: ModuleFunction<JobContext> = fn({
  doc: describe("Enable a module.", "apache.a2enmod vhost_alias"),
  permissions: "all",
  params: { mod: p.str() },
  run: ({ mod }, context) => switched({ program: "a2enmod", name: mod, what: "Mod", isOn: true, context }),
});

export const a2dismod: ModuleFunction<JobContext> = fn({
  doc: describe("Disable a module.", "apache.a2dismod vhost_alias"),
  permissions: "all",
  params: { mod: p.str() },
  run: ({ mod }, context) => switched({ program: "a2dismod", name: mod, what: "Mod", isOn: false, context }),
});

export const a2enconf: ModuleFunction<JobContext> = fn({
  doc: describe("Enable a configuration.", "apache.a2enconf security"),
  permissions: "all",
  params: { conf: p.str() },
  run({ conf }, context) {
    needPrograms("a2enconf");
    return switched({ program: "a2enconf", name: conf, what: "Conf", isOn: true, context });
  },
});

export const a2disconf: ModuleFunction<JobContext> = fn({
  doc: describe("Disable a configuration.", "apache.a2disconf security"),
  permissions: "all",
  params: { conf: p.str() },
  run({ conf }, context) {
    needPrograms("a2disconf");
    return switched({ program: "a2disconf", name: conf, what: "Conf", isOn: false, context });
  },
});
