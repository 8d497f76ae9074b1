/**
 * Execution module `kmod`: the kernel's modules.
 * Source: the functions of Salt 3008.3 `salt/modules/kmod.py`.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import {
  availableModules,
  forgetModule,
  loadedModules,
  persistentModules,
  persistModule,
  runForModule,
} from "#lib/host/kernel/kernel_modules.ts";

export const virtual: Virtual = {
  serves: [{ grains: { kernel: ["Linux"] }, otherwise: "The kmod module is for Linux." }],
};

/** The file of modules that are loaded at each start. */
function startFile({ grains }: JobContext): string {
  return grains.has("systemd") ? "/etc/modules-load.d/salt_managed.conf" : "/etc/modules";
}

function available_(): string[] {
  return availableModules(`/lib/modules/${Deno.osRelease()}`);
}

async function names(context: JobContext): Promise<string[]> {
  return [...new Set((await loadedModules(context)).map(({ module }) => module))].sort();
}

/** The names in `after` that are not in `before`, and more, sorted. */
function addedModules(before: readonly string[], after: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...after.filter((name) => !before.includes(name)), ...more])].sort();
}

export const available: ModuleFunction<JobContext> = fn({
  doc: describe("Return the available modules of this kernel.", "kmod.available"),
  permissions: "all",
  params: {},
  run: () => available_(),
});

export const check_available: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a module is available.", "kmod.check_available kvm"),
  permissions: "all",
  params: { mod: p.str() },
  run: ({ mod }) => available_().includes(mod),
});

export const lsmod: ModuleFunction<JobContext> = fn({
  doc: describe("Return the loaded modules, each with what uses it.", "kmod.lsmod"),
  permissions: "all",
  params: {},
  run: (_bound, context) => loadedModules(context),
});

export const mod_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the names of the loaded modules; with only_persist=True those that are loaded at each start.",
    "kmod.mod_list",
  ),
  permissions: "all",
  params: { only_persist: p.bool(false) },
  run: ({ only_persist }, context) => only_persist ? persistentModules(startFile(context)) : names(context),
});

export const is_loaded: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a module is loaded.", "kmod.is_loaded kvm"),
  permissions: "all",
  params: { mod: p.str() },
  run: async ({ mod }, context) => (await names(context)).includes(mod),
});

export const load: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Load a module, with persist=True at each start too. Return the names of the loaded ones.",
    "kmod.load kvm",
  ),
  permissions: "all",
  params: { mod: p.str(), persist: p.bool(false) },
  async run({ mod, persist }, context) {
    const before = await names(context);
    const { retcode, stderr } = await runForModule("modprobe", mod, context);
    if (retcode !== 0) return `Error loading module ${mod}: ${stderr}`;
    const [name] = mod.trim().split(/\s+/);
    const file = startFile(context);
    const isNew = persist && !persistentModules(file).includes(name) && available_().includes(name);
    if (isNew) persistModule(mod, file);
    return addedModules(before, await names(context), isNew ? [name] : []);
  },
});

export const remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a module. With persist=True it is not loaded at the next start either: its line is commented out, or, with\n" +
      "comment=False, removed. Return the names of the removed ones.",
    "kmod.remove kvm",
  ),
  permissions: "all",
  params: { mod: p.str(), persist: p.bool(false), comment: p.bool(true) },
  async run({ mod, persist, comment }, context) {
    const before = await names(context);
    const { retcode, stderr } = await runForModule("rmmod", mod, context);
    if (retcode !== 0) return `Error removing module ${mod}: ${stderr}`;
    const [name] = mod.trim().split(/\s+/);
    const file = startFile(context);
    const wasThere = persist && persistentModules(file).includes(name);
    if (wasThere) forgetModule(mod, file, comment);
    return addedModules(await names(context), before, wasThere ? [name] : []);
  },
});
