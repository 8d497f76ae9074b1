/**
 * Execution module `selinux`: the mode of SELinux, its booleans, policy modules, contexts of files and ports.
 * Source: the functions of Salt 3008.3 `salt/modules/selinux.py`.
 * @module
 */

import { callRunAll, runTool } from "./_file_host.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { readUtf8File, replaceFile } from "#lib/host/filesystem/contents.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import {
  configuredMode,
  fileTypeWords,
  findFileContext,
  findPort,
  hasFileContext,
  parseBooleans,
  parsePolicyModules,
  parseRelabelling,
  protocolAndPort,
  withMode,
} from "#lib/host/kernel/selinux_output.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

const needs = (program: string) => ({ programs: [program], otherwise: `${program} is not in the path` });

export const virtual: Virtual = {
  serves: [
    needs("semanage"),
    needs("setsebool"),
    needs("semodule"),
    { grains: { kernel: ["Linux"] }, otherwise: "Module only works on Linux with selinux installed" },
  ],
};

const CONFIG = "/etc/selinux/config";

/** Where the kernel shows SELinux; systems with systemd have it in the first place. */
function fsPath(): string | null {
  return ["/sys/fs/selinux", "/selinux"].find((directory) => isFile(`${directory}/enforce`)) ?? null;
}

function modeNow(): string {
  const directory = fsPath();
  const enforce = directory === null ? undefined : readTextFileIfExists(`${directory}/enforce`);
  if (enforce === undefined) return "Disabled";
  return enforce.split("\n")[0].trim() === "0" ? "Permissive" : "Enforcing";
}

export const selinux_fs_path: ModuleFunction<JobContext> = fn({
  doc: describe("Return the directory in which the kernel shows SELinux, or None.", "selinux.selinux_fs_path"),
  permissions: "all",
  params: {},
  run: fsPath,
});

export const getenforce: ModuleFunction<JobContext> = fn({
  doc: describe("Return the mode that SELinux is in: Enforcing, Permissive or Disabled.", "selinux.getenforce"),
  permissions: "all",
  params: {},
  run: modeNow,
});

export const getconfig: ModuleFunction<JobContext> = fn({
  doc: describe("Return the mode in the configuration, or None.", "selinux.getconfig"),
  permissions: "all",
  params: {},
  run: () => configuredMode(readTextFileIfExists(CONFIG) ?? "") ?? null,
});

/** Runs one change of a file, of which an error says what was to be done. */
function changing(what: string, path: string, change: () => void): void {
  try {
    change();
  } catch (error) {
    throw new CommandError(`Could not ${what}: ${pythonOsError(error, path)}`);
  }
}

export const setenforce: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the mode, now and in the configuration: enforcing, permissive, or disabled, which needs a reboot. Return the mode.",
    "selinux.setenforce enforcing",
  ),
  permissions: "all",
  params: { mode: p.any() },
  run({ mode }) {
    const wanted = typeof mode === "string" ? mode.toLowerCase() : "";
    if (!["enforcing", "permissive", "disabled"].includes(wanted)) {
      throw new InvocationError(`Invalid mode ${str(mode)}`);
    }
    const directory = fsPath();
    if (directory !== null && modeNow() !== "Disabled") {
      const path = `${directory}/enforce`;
      // A file of the kernel: it is written in its place.
      const number = wanted === "enforcing" ? "1" : "0";
      changing("write SELinux enforce file", path, () => Deno.writeTextFileSync(path, number));
    }
    let config = "";
    changing("read SELinux config file", CONFIG, () => config = readUtf8File(CONFIG));
    const bytes = new TextEncoder().encode(withMode(config, wanted));
    changing("write SELinux config file", CONFIG, () => replaceFile(CONFIG, bytes, { mode: 0o644 }));
    return modeNow();
  },
});

async function booleans(context: JobContext): Promise<ReturnType<typeof parseBooleans>> {
  return parseBooleans((await runTool(context, ["semanage", "boolean", "--list"], { joined: true })).stdout);
}

export const list_sebool: ModuleFunction<JobContext> = fn({
  doc: describe("Return the booleans, each with its State, Default and Description.", "selinux.list_sebool"),
  permissions: "all",
  params: {},
  run: (_bound, context) => booleans(context),
});

export const getsebool: ModuleFunction<JobContext> = fn({
  doc: describe("Return the State, Default and Description of a boolean.", "selinux.getsebool virt_use_usb"),
  permissions: "all",
  params: { boolean: p.str() },
  run: async ({ boolean }, context) => (await booleans(context)).get(boolean) ?? {},
});

async function succeeds(words: readonly string[], context: JobContext): Promise<boolean> {
  return (await runTool(context, words)).retcode === 0;
}

export const setsebool: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a boolean: persist=True, also for the next boot. Return whether it succeeded.",
    "selinux.setsebool virt_use_usb off",
  ),
  permissions: "all",
  params: { boolean: p.str(), value: p.any(), persist: p.any(false) },
  run: ({ boolean, value, persist }, context) =>
    succeeds(["setsebool", ...persist ? ["-P"] : [], checkedWord(boolean, "boolean"), str(value)], context),
});

export const setsebools: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set several booleans, a map. persist=True, also for the next boot. Return whether it succeeded.",
    "selinux.setsebools '{virt_use_usb: on, squid_use_tproxy: off}'",
  ),
  permissions: "all",
  params: { pairs: p.dict(), persist: p.any(false) },
  run: ({ pairs, persist }, context) => {
    const words = [...pairs].map(([name, value]) => checkedWord(`${str(name)}=${str(value)}`, "boolean"));
    return succeeds(["setsebool", ...persist ? ["-P"] : [], ...words], context);
  },
});

async function policyModules(context: JobContext): Promise<ReturnType<typeof parsePolicyModules>> {
  return parsePolicyModules((await runTool(context, ["semodule", "--list-modules=full"], { joined: true })).stdout);
}

export const list_semod: ModuleFunction<JobContext> = fn({
  doc: describe("Return the policy modules, and whether each is Enabled; Version is None.", "selinux.list_semod"),
  permissions: "all",
  params: {},
  run: (_bound, context) => policyModules(context),
});

export const getsemod: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a policy module is Enabled; an empty map if it is not there.",
    "selinux.getsemod mysql",
  ),
  permissions: "all",
  params: { module: p.str() },
  run: async ({ module }, context) => (await policyModules(context)).get(module) ?? {},
});

export const setsemod: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a policy module Enabled or Disabled. Return whether it succeeded.",
    "selinux.setsemod nagios Enabled",
  ),
  permissions: "all",
  params: { module: p.str(), state: p.str() },
  run({ module, state }, context) {
    const word = new Map([["enabled", "--enable"], ["disabled", "--disable"]]).get(state.toLowerCase());
    if (word === undefined) throw new InvocationError(`Invalid state ${state}`);
    return succeeds(["semodule", word, checkedWord(module, "module")], context);
  },
});

export const install_semod: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install a policy module from a file of this host or of the master. Return whether it succeeded.",
    "selinux.install_semod salt://Zabbix.pp",
  ),
  permissions: "all",
  params: { module_path: p.str() },
  async run({ module_path }, context) {
    const path = module_path.startsWith("salt://")
      ? str(await context.call("cp.cache_file", [module_path]))
      : module_path;
    return await succeeds(["semodule", "--install", checkedWord(path, "path")], context);
  },
});

export const remove_semod: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a policy module. Return whether it succeeded.", "selinux.remove_semod zabbix"),
  permissions: "all",
  params: { module: p.str() },
  run: ({ module }, context) => succeeds(["semodule", "--remove", checkedWord(module, "module")], context),
});

export const filetype_id_to_string: ModuleFunction<JobContext> = fn({
  doc: describe("Return semanage's name of a file type letter.", "selinux.filetype_id_to_string f"),
  permissions: "all",
  params: { filetype: p.str("a") },
  run: ({ filetype }) => fileTypeWords(filetype),
});

async function listSemanage(what: "fcontext" | "port", context: JobContext): Promise<string> {
  return (await runTool(context, ["semanage", what, "--list"], { ignoreRetcode: true })).stdout;
}

const FILE_CONTEXT = {
  name: p.str(),
  filetype: p.str(null),
  sel_type: p.str(null),
  sel_user: p.str(null),
  sel_level: p.str(null),
};

export const fcontext_get_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the entry for an expression of paths in the list of file contexts, or None: filespec, filetype, and the parts of the\n" +
      "context. Parts that are given must match as regular expressions.",
    "selinux.fcontext_get_policy my-policy",
  ),
  permissions: "all",
  params: FILE_CONTEXT,
  async run(query, context) {
    if (query.filetype) fileTypeWords(query.filetype);
    return findFileContext(await listSemanage("fcontext", context), query) ?? null;
  },
});

/** Adds, changes or removes an entry of the list of file contexts. */
function changeFileContext(
  action: string,
  { name, filetype, sel_type, sel_user, sel_level }: Readonly<Record<keyof typeof FILE_CONTEXT, string | null>>,
  context: JobContext,
): Promise<ValueMap> {
  const option = (word: string, value: string | null) =>
    value === null ? [] : [word, checkedWord(value, word.slice(2))];
  // The kind "a" is the usual one, which old versions do not take as a word.
  if (filetype !== null && filetype !== "a") fileTypeWords(filetype);
  return callRunAll(context, [
    "semanage",
    "fcontext",
    `--${action}`,
    ...option("--ftype", filetype === "a" ? null : filetype),
    ...option("--type", sel_type),
    ...option("--seuser", sel_user),
    ...option("--range", sel_level),
    checkedWord(name ?? "", "name"),
  ]);
}

export const fcontext_add_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add an entry to the list of file contexts, or change the one that is there. Return the result of semanage.",
    "selinux.fcontext_add_policy '/var/www(/.*)?' sel_type=httpd_sys_content_t",
  ),
  permissions: "all",
  params: FILE_CONTEXT,
  async run(entry, context) {
    const isThere = hasFileContext(await listSemanage("fcontext", context), entry.name);
    return await changeFileContext(isThere ? "modify" : "add", entry, context);
  },
});

export const fcontext_delete_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove an entry from the list of file contexts. Return the result of semanage.",
    "selinux.fcontext_delete_policy '/var/www(/.*)?'",
  ),
  permissions: "all",
  params: FILE_CONTEXT,
  run: (entry, context) => changeFileContext("delete", entry, context),
});

/** What restorecon would change. */
async function relabelling(name: string, recursive: Value, context: JobContext): Promise<string> {
  const words = ["restorecon", "-n", "-v", ...recursive ? ["-R"] : [], checkedWord(name, "name")];
  return (await runTool(context, words)).stdout;
}

export const fcontext_policy_is_applied: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what restorecon would change below a path; an empty string if nothing.",
    "selinux.fcontext_policy_is_applied my-policy",
  ),
  permissions: "all",
  params: { name: p.str(), recursive: p.any(false) },
  run: ({ name, recursive }, context) => relabelling(name, recursive, context),
});

export const fcontext_apply_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Restore the contexts of files according to the list. Return the result of restorecon, with `changes` by path: the old and the new parts\n" +
      "of contexts that differ.",
    "selinux.fcontext_apply_policy my-policy",
  ),
  permissions: "all",
  params: { name: p.str(), recursive: p.any(false) },
  async run({ name, recursive }, context) {
    const would = await relabelling(name, recursive, context);
    const result = await callRunAll(context, [
      "restorecon",
      "-v",
      "-F",
      ...recursive ? ["-R"] : [],
      checkedWord(name, "name"),
    ]);
    if (result.get("retcode") !== 0) return result;
    const changes = parseRelabelling(would);
    if (changes === undefined) {
      return result.set("retcode", 1).set("error", "Unrecognized response from restorecon command.");
    }
    return changes.size === 0 ? result : { ...Object.fromEntries(result), changes };
  },
});

const PORT = { protocol: p.any(null), port: p.any(null) };

export const port_get_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the entry for a port in the list of ports, or None: sel_type, protocol, port. The name is like tcp/80, unless protocol and\n" +
      "port are given.",
    "selinux.port_get_policy tcp/80",
    "selinux.port_get_policy foobar protocol=tcp port=80",
  ),
  permissions: "all",
  params: { name: p.str(), sel_type: p.str(null), ...PORT },
  async run({ name, sel_type, protocol, port }, context) {
    const wanted = protocolAndPort(name, protocol, port);
    return findPort(await listSemanage("port", context), { ...wanted, sel_type }) ?? null;
  },
});

/** What is changed of the list of ports. */
interface PortEntry {
  readonly name: string;
  readonly protocol: Value;
  readonly port: Value;
  readonly sel_type?: string | null;
  readonly sel_range?: string | null;
}

function changePort(action: string, entry: PortEntry, context: JobContext): Promise<ValueMap> {
  const { name, sel_type, sel_range } = entry;
  if (action === "add" && !sel_type) throw new InvocationError("SELinux Type is required to add a policy");
  const { protocol, port } = protocolAndPort(name, entry.protocol, entry.port);
  return callRunAll(context, [
    "semanage",
    "port",
    `--${action}`,
    "--proto",
    protocol,
    ...sel_type ? ["--type", checkedWord(sel_type, "type")] : [],
    ...sel_range ? ["--range", checkedWord(sel_range, "range")] : [],
    port,
  ]);
}

const PORT_ENTRY = { name: p.str(), sel_type: p.str(null), ...PORT, sel_range: p.str(null) };

export const port_add_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a port or a range of ports. Return the result of semanage.",
    "selinux.port_add_policy tcp/8080 http_port_t",
    "selinux.port_add_policy foobar http_port_t protocol=tcp port=8091",
  ),
  permissions: "all",
  params: PORT_ENTRY,
  run: (entry, context) => changePort("add", entry, context),
});

export const port_modify_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change the type of a port or a range of ports. Return the result of semanage.",
    "selinux.port_modify_policy tcp/8080 http_port_t",
  ),
  permissions: "all",
  params: PORT_ENTRY,
  run: (entry, context) => changePort("modify", entry, context),
});

export const port_delete_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a port or a range of ports. Return the result of semanage.",
    "selinux.port_delete_policy tcp/8080",
  ),
  permissions: "all",
  params: { name: p.str(), ...PORT },
  run: (entry, context) => changePort("delete", entry, context),
});
