/**
 * State module `nfs_export`: what a server of NFS exports.
 * Source: Salt 3006.28 `salt/states/nfs_export.py`, which Salt 3008 has no longer.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { asListIfTruthy, listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { equals, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["exportfs"],
    otherwise: "The nfs_exports state module failed to load: the exportfs binary is not in the path",
  }],
};

/** Hosts with their options, as `nfs3.list_exports` has them. */
function clientOf(given: Value): ValueMap {
  const client = mapOrEmpty(given);
  const options = asListIfTruthy(client.get("options") ?? null).flatMap((one) => str(one).split(","));
  return map({ hosts: client.get("hosts") ?? null, options });
}

async function reloaded(done: StateResult, comment: string | undefined, context: StateContext): Promise<StateResult> {
  const answer = mapOrEmpty(await context.call("nfs3.reload_exports"));
  const said = str(answer.get("stderr") ?? "");
  const result = answer.get("result") === true;
  return { ...done, result, comment: result ? comment ?? said : said };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A path is exported to these hosts with these options, and to no others.

name
    The path.

clients
    A list of maps with hosts and options. In their place:

hosts
    A host, a network, or a pattern.

options
    A list of options: rw, subtree_check.

exports
    The file. Default: /etc/exports.`,
  params: {
    name: p.str(),
    clients: p.any(null),
    hosts: p.any(null),
    options: p.any(null),
    exports: p.str("/etc/exports"),
  },
  async run({ name, clients, hosts, options, exports }, context) {
    if (!truthy(clients) && !truthy(hosts)) return failState(name, "Either 'clients' or 'hosts' must be defined");
    const wanted = truthy(clients) ? listOrEmpty(clients).map(clientOf) : [clientOf(map({ hosts, options }))];
    const nameless = wanted.find((client) => !truthy(client.get("hosts")));
    if (nameless !== undefined || wanted.length === 0) return failState(name, "Each of 'clients' must have 'hosts'");
    const old = mapOrEmpty(await context.call("nfs3.list_exports", [exports])).get(name) ?? null;
    if (old !== null && equals(old, wanted)) {
      return { ...startResult(name), comment: `Export ${name} already configured` };
    }
    const done = { ...startResult(name), changes: map({ old, new: wanted }) };
    if (context.test) {
      return { ...done, result: null, comment: `Export ${name} would be ${old === null ? "added" : "changed"}` };
    }
    if (old !== null) await context.call("nfs3.del_export", [exports, name]);
    for (const client of wanted) {
      const { hosts = null, options = null } = Object.fromEntries(client);
      await context.call("nfs3.add_export", [exports, name, hosts, options]);
    }
    return await reloaded(done, undefined, context);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A path is not exported.

name
    The path.

exports
    The file. Default: /etc/exports.`,
  params: { name: p.str(), exports: p.str("/etc/exports") },
  async run({ name, exports }, context) {
    const old = mapOrEmpty(await context.call("nfs3.list_exports", [exports])).get(name);
    if (old === undefined) return { ...startResult(name), comment: `Export ${name} already absent` };
    const done = { ...startResult(name), changes: map({ [name]: old }) };
    if (context.test) return { ...done, result: null, comment: `Export ${name} would be removed` };
    await context.call("nfs3.del_export", [exports, name]);
    return await reloaded(done, `Export ${name} removed`, context);
  },
});
