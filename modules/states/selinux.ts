/**
 * State module `selinux`: the mode of SELinux, booleans, policy modules, contexts of files and ports.
 * Source: Salt 3008.3 `salt/states/selinux.py`.
 * @module
 */

import { changesBetween } from "#lib/host/packages/changes.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { declare, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { chunkTag } from "#lib/states/compiler/chunks.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["selinux.getenforce"], otherwise: "selinux module could not be loaded" }],
};

/** The mode that a word stands for. */
function modeOf(given: string): string | undefined {
  const word = given.toLowerCase();
  if (word.startsWith("e") || word === "1" || word === "on") return "Enforcing";
  if (word.startsWith("p") || word === "0" || word === "off") return "Permissive";
  return word.startsWith("d") ? "Disabled" : undefined;
}

/** Parses the word for a boolean or a policy module. */
function switchOf(given: Value, [on, off]: readonly [string, string] = ["on", "off"]): string | undefined {
  const word = str(given).toLowerCase();
  if (["1", "on", "yes", "true"].includes(word)) return on;
  if (["0", "off", "no", "false"].includes(word)) return off;
  return word === on || word === off ? word : undefined;
}

const moduleSwitch = (given: Value) => switchOf(given, ["enabled", "disabled"]);

export const mode: ModuleFunction<StateContext> = stateFn({
  doc:
    "Set the mode of SELinux, now and in its configuration.\n\nname\n    enforcing, permissive or disabled; disabled needs a reboot.",
  params: { name: p.str() },
  async run({ name }, context) {
    const wanted = modeOf(name);
    if (wanted === undefined) return failState(name, `${name} is not an accepted mode`);
    const now = str(await context.call("selinux.getenforce"));
    const configured = await context.call("selinux.getconfig");
    const old: Value = now === wanted && configured !== wanted ? configured : now;
    if (old === wanted) return { ...startResult(name), comment: `SELinux is already in ${wanted} mode` };
    if (context.test) {
      const comment = `SELinux mode is set to be changed to ${wanted}`;
      return { ...startResult(name, null), comment, changes: map({ old, new: wanted }) };
    }
    const current = await context.call("selinux.setenforce", [wanted]);
    const isSet = current === wanted ||
      (wanted === "Disabled" && await context.call("selinux.getconfig") === wanted);
    if (!isSet) return failState(name, `Failed to set SELinux to ${wanted} mode`);
    const comment = `SELinux has been set to ${wanted} mode`;
    return { ...startResult(name), comment, changes: map({ old, new: current }) };
  },
});

/** Booleans by name: of a map, or a list of names and maps, names with the common value. */
function wantedBooleans(given: Value, value: Value): ValueMap {
  if (isMap(given)) return new Map(given);
  const items = listOrEmpty(given);
  return new Map(items.flatMap((item): [Value, Value][] => isMap(item) ? [...item] : [[item, value]]));
}

export const boolean: ModuleFunction<StateContext> = stateFn({
  doc:
    "Set booleans of the policy.\n\nname\n    The boolean, unless `booleans` names them.\n\nvalue\n    on or off.\n\nbooleans\n    A map, or a " +
    "list of names and maps.\n\npersist\n    Whether they also apply after the next boot. Default: False.",
  params: { name: p.str(), value: p.any(null), booleans: p.any(null), persist: p.bool(false) },
  async run({ name, value, booleans, persist }, context) {
    const wanted = truthy(booleans) ? wantedBooleans(booleans, value) : new Map<Value, Value>([[name, value]]);
    const existing = await context.call("selinux.list_sebool");
    const correct: string[] = [];
    const [old, now, change]: [ValueMap, ValueMap, ValueMap] = [new Map(), new Map(), new Map()];
    for (const [key, given] of wanted) {
      const current = isMap(existing) ? existing.get(key) : undefined;
      if (!isMap(current)) return failState(name, `Boolean ${str(key)} is not available`);
      const requested = switchOf(given);
      if (requested === undefined) {
        return failState(name, `${str(given)} is not a valid value for the boolean ${str(key)}`);
      }
      const [state, usual] = [current.get("State") ?? null, current.get("Default") ?? null];
      if (state === requested && (usual === requested || !persist)) {
        correct.push(str(key));
        continue;
      }
      old.set(key, persist ? [state, usual] : state);
      now.set(key, persist ? [requested, requested] : requested);
      change.set(key, requested);
    }
    const names = [...change.keys()].map(str).sort(compareStrings).join(", ");
    const comments = correct.length === 0
      ? []
      : [`The following booleans were in the correct state: ${correct.sort(compareStrings).join(", ")}`];
    if (change.size === 0) return { ...startResult(name), comment: comments.join("\n") };
    const changes = changesBetween(old, now);
    if (context.test) {
      const comment = [...comments, `The following booleans would be changed: ${names}`].join("\n");
      return { ...startResult(name, null), comment, changes };
    }
    if (!truthy(await context.call("selinux.setsebools", [change, persist]))) {
      return failState(name, `Failed to set the following booleans: ${str(wanted)}`);
    }
    const comment = [...comments, `The following booleans have been changed: ${names}`].join("\n");
    return { ...startResult(name), comment, changes };
  },
});

async function installModule(name: string, context: StateContext): Promise<StateResult> {
  if (context.test) return { ...startResult(name, null), comment: `Module ${name} is set to be installed` };
  if (truthy(await context.call("selinux.install_semod", [name]))) {
    return { ...startResult(name), comment: `Module ${name} has been installed` };
  }
  return failState(name, `Failed to install module ${name}`);
}

async function policyModules(context: StateContext): Promise<ValueMap> {
  return mapOrEmpty(await context.call("selinux.list_semod"));
}

async function removeModule(name: string, context: StateContext): Promise<StateResult> {
  if (!(await policyModules(context)).has(name)) return failState(name, `Module ${name} is not available`);
  if (context.test) return { ...startResult(name, null), comment: `Module ${name} is set to be removed` };
  if (truthy(await context.call("selinux.remove_semod", [name]))) {
    return { ...startResult(name), comment: `Module ${name} has been removed` };
  }
  return failState(name, `Failed to remove module ${name}`);
}

export const module: ModuleFunction<StateContext> = stateFn({
  doc:
    "Enable or disable a policy module.\n\nname\n    The module.\n\nmodule_state\n    Enabled or Disabled.\n\nversion\n    Accepted without effect: " +
    "newer versions of semodule have no module versions.\n\ninstall\n    Whether it is installed first, from the file `source`.\n\nremove\n    Whether it " +
    "is removed.",
  params: { name: p.str(), module_state: p.any("Enabled"), version: p.any("any") },
  varKwargs: "opts",
  keywords: ["install", "remove", "source"],
  async run({ name, module_state, version }, context, { kwargs }) {
    const [installs, removes] = [truthy(kwargs.get("install")), truthy(kwargs.get("remove"))];
    if (installs && removes) return failState(name, "Cannot install and remove at the same time");
    if (removes) return await removeModule(name, context);
    let result = startResult(name);
    if (installs) {
      result = await installModule(str(kwargs.get("source") ?? name), context);
      if (result.result !== true) return result;
    }
    const module = (await policyModules(context)).get(name);
    if (!isMap(module)) return { ...result, result: false, comment: `Module ${name} is not available` };
    const wanted = moduleSwitch(module_state);
    if (wanted === undefined) {
      return {
        ...result,
        result: false,
        comment: `${str(module_state)} is not a valid state for the ${name} module.`,
      };
    }
    const installed = module.get("Version") ?? null;
    if (version !== "any" && !equals(installed, version)) {
      const comment =
        `Module version is ${str(installed)} and does not match the desired version of ${str(version)} or you are ` +
        "using semodule >= 2.4";
      return { ...result, result: false, comment };
    }
    if (moduleSwitch(module.get("Enabled") ?? null) === wanted) {
      return { ...result, comment: `Module ${name} is in the desired state` };
    }
    const stateText = str(module_state);
    if (context.test) {
      return { ...result, result: null, comment: `Module ${name} is set to be toggled to ${stateText}` };
    }
    if (truthy(await context.call("selinux.setsemod", [name, wanted]))) {
      return { ...result, comment: `Module ${name} has been set to ${stateText}` };
    }
    return { ...result, result: false, comment: `Failed to set the Module ${name} to ${stateText}` };
  },
});

export const module_install: ModuleFunction<StateContext> = stateFn({
  doc: "Install a policy module.\n\nname\n    The file, of this host or of the master.",
  params: { name: p.str() },
  run: ({ name }, context) => installModule(name, context),
});

export const module_remove: ModuleFunction<StateContext> = stateFn({
  doc: "Remove a policy module.\n\nname\n    The module.",
  params: { name: p.str() },
  run: ({ name }, context) => removeModule(name, context),
});

/**
 * Runs a function that returns a program's result.
 * @returns The result, if it failed.
 */
async function failure(context: StateContext, fun: string, kwargs: ValueMap): Promise<Value | undefined> {
  const answer = await context.call(`selinux.${fun}`, [], kwargs);
  return isMap(answer) && answer.get("retcode") === 0 ? undefined : answer;
}

export const fcontext_policy_present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that the list of file contexts has an entry.\n\nname\n    The expression of paths.\n\nsel_type\n    The type.\n\nfiletype\n    a " +
    "for all files, f, d, c, b, s, l, p.\n\nsel_user, sel_level\n    The other parts of the context.",
  params: { name: p.str(), sel_type: p.str(), filetype: p.str("a"), sel_user: p.str(null), sel_level: p.str(null) },
  async run({ name, sel_type, filetype, sel_user, sel_level }, context) {
    const entry = map({ name, filetype, sel_type, sel_user, sel_level });
    const words = str(await context.call("selinux.filetype_id_to_string", [filetype]));
    const current = await context.call("selinux.fcontext_get_policy", [], entry);
    const type = isMap(current) ? current.get("sel_type") ?? null : undefined;
    if (type === sel_type) {
      const comment =
        `SELinux policy for "${name}" already present with specified filetype "${words}" and sel_type "${sel_type}".`;
      return { ...startResult(name), comment };
    }
    if (context.test) return startResult(name, null);
    const problem = await failure(context, "fcontext_add_policy", entry);
    if (problem !== undefined) return failState(name, `Error adding new rule: ${str(problem)}`);
    const now = type === undefined ? { filetype: words, sel_type } : { sel_type };
    const old = type === undefined ? {} : { [name]: { sel_type: type } };
    return { ...startResult(name), changes: map({ old, new: { [name]: now } }) };
  },
});

export const fcontext_policy_absent: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that the list of file contexts does not have an entry.\n\nname\n    The expression of paths.\n\nfiletype\n    a for all files, f, d, " +
    "c, b, s, l, p.\n\nsel_type, sel_user, sel_level\n    The parts of the context.",
  params: { name: p.str(), filetype: p.str("a"), sel_type: p.str(null), sel_user: p.str(null), sel_level: p.str(null) },
  async run({ name, filetype, sel_type, sel_user, sel_level }, context) {
    const entry = map({ name, filetype, sel_type, sel_user, sel_level });
    const current = await context.call("selinux.fcontext_get_policy", [], entry);
    if (!isMap(current)) {
      const typeText = sel_type ?? "None";
      const comment =
        `SELinux policy for "${name}" already absent with specified filetype "${filetype}" and sel_type "${typeText}".`;
      return { ...startResult(name), comment };
    }
    const changes = map({ old: { [name]: current }, new: {} });
    if (context.test) return { ...startResult(name, null), changes };
    entry.set("sel_type", sel_type || (current.get("sel_type") ?? null));
    const problem = await failure(context, "fcontext_delete_policy", entry);
    if (problem !== undefined) return failState(name, `Error removing policy: ${str(problem)}`, changes);
    return { ...startResult(name), changes };
  },
});

export const fcontext_policy_applied: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that files have the contexts of the list.\n\nname\n    The path.\n\nrecursive\n    Whether everything below it is included.",
  params: { name: p.str(), recursive: p.bool(false) },
  async run({ name, recursive }, context) {
    if (await context.call("selinux.fcontext_policy_is_applied", [name, recursive]) === "") {
      return { ...startResult(name), comment: `SElinux policies are already applied for filespec "${name}"` };
    }
    if (context.test) return startResult(name, null);
    const answer = await context.call("selinux.fcontext_apply_policy", [name, recursive]);
    if (!isMap(answer) || answer.get("retcode") !== 0) return failState(name, str(answer));
    const changes = answer.get("changes");
    return { ...startResult(name), changes: mapOrEmpty(changes) };
  },
});

const PORT = { protocol: p.any(null), port: p.any(null) };

const PORT_DOC =
  "\n\nname\n    The port: tcp/80, udp/1024-1050, unless protocol and port say it.\n\nsel_type\n    The type.\n\nprotocol, port\n    " +
  "tcp or udp, and a port or a range.";

export const port_policy_present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a port has a type.${PORT_DOC}\n\nsel_range\n    The range of levels.`,
  params: { name: p.str(), sel_type: p.str(), ...PORT, sel_range: p.str(null) },
  async run({ name, sel_type, protocol, port, sel_range }, context) {
    const query = map({ name, sel_type, protocol, port });
    if (truthy(await context.call("selinux.port_get_policy", [], query))) {
      return { ...startResult(name), comment: portComment("present", { name, sel_type, protocol, port }) };
    }
    if (context.test) return startResult(name, null);
    const old = await context.call("selinux.port_get_policy", [], map({ name, protocol, port }));
    const fun = truthy(old) ? "port_modify_policy" : "port_add_policy";
    const problem = await failure(context, fun, new Map([...query, ["sel_range", sel_range]]));
    if (problem !== undefined) return failState(name, `Error adding new policy: ${str(problem)}`);
    const now = await context.call("selinux.port_get_policy", [], query);
    return { ...startResult(name), changes: map({ old, new: now }) };
  },
});

function portComment(word: string, { name, sel_type, protocol, port }: Readonly<Record<string, Value>>): string {
  return `SELinux policy for "${str(name)}" already ${word} with specified sel_type "${str(sel_type)}", protocol "${
    str(protocol)
  }" and port "${str(port)}".`;
}

export const port_policy_absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that the list of ports does not have an entry.${PORT_DOC}`,
  params: { name: p.str(), sel_type: p.str(null), ...PORT },
  async run({ name, sel_type, protocol, port }, context) {
    const query = map({ name, sel_type, protocol, port });
    const old = await context.call("selinux.port_get_policy", [], query);
    if (!truthy(old)) {
      return { ...startResult(name), comment: portComment("absent", { name, sel_type, protocol, port }) };
    }
    if (context.test) return startResult(name, null);
    const problem = await failure(context, "port_delete_policy", map({ name, protocol, port }));
    if (problem !== undefined) return failState(name, `Error deleting policy: ${str(problem)}`);
    const now = await context.call("selinux.port_get_policy", [], query);
    return { ...startResult(name), changes: map({ old, new: now }) };
  },
});

/** Puts the booleans of a chunk into a map. */
function addBooleans(chunk: ValueMap, into: ValueMap): void {
  const given = chunk.get("booleans");
  const value = chunk.get("value") ?? null;
  if (given === undefined) into.set(chunk.get("name") ?? "", value);
  for (const [key, one] of given === undefined ? [] : wantedBooleans(given, value)) {
    if (one !== null) into.set(key, one);
  }
}

export const mod_aggregate: ModuleFunction<StateContext> = declare({
  doc: "Aggregates the booleans of all pending states with the same `persist` into the state that runs first.",
  params: { low: p.dict(), chunks: p.list(), running: p.any() },
  run({ low, chunks, running }) {
    if (low.get("fun") !== "boolean") return low;
    const own: ValueMap = new Map();
    addBooleans(low, own);
    const others: ValueMap = new Map();
    for (const other of chunks) {
      if (!isMap(other) || other.get("state") !== "selinux" || other.get("fun") !== "boolean") continue;
      if ((isMap(running) && running.has(chunkTag(other))) || other.has("__agg__")) continue;
      if (!equals(other.get("persist") ?? null, low.get("persist") ?? null)) continue;
      addBooleans(other, others);
      other.set("__agg__", true);
    }
    if (others.size > 0) low.set("booleans", new Map([...own, ...others]));
    return low;
  },
});
