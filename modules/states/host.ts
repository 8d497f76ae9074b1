/**
 * State module `host`: names of addresses in the file of host names.
 * Source: Salt 3008.3 `salt/states/host.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";
import { isIpv4, isIpv6 } from "#lib/text/ip_address.ts";
import { asList, listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type ValueMap } from "#lib/values/value.ts";

/** What is to be done with the addresses of a name, and what is said of the others. */
interface Plan {
  readonly add: string[];
  readonly remove: string[];
  readonly comment: string[];
  readonly comments: string[];
  readonly warnings: string[];
  invalid: boolean;
}

function planFor(
  name: string,
  { addresses, comment, clean }: {
    readonly addresses: readonly string[];
    readonly comment: string;
    readonly clean: boolean;
  },
  hosts: ValueMap,
): Plan {
  const missing = addresses.filter((address, i) => !hosts.has(address) && addresses.indexOf(address) === i);
  const plan: Plan = {
    add: [...missing],
    remove: [],
    comment: comment === "" ? [] : [...missing],
    comments: [],
    warnings: [],
    invalid: false,
  };
  for (const [key, entry] of hosts) {
    const address = str(key);
    const aliases = isMap(entry) ? entry.get("aliases") : undefined;
    const isListed = Array.isArray(aliases) && aliases.includes(name);
    if (!addresses.includes(address)) {
      if (isListed && clean) plan.remove.push(address);
      else if (isListed) {
        plan.warnings.push(
          `Host ${name} present for IP address ${address}. To get rid of this warning, either run this state with ` +
            `'clean' set to True to remove ${name} from ${address}, or add ${address} to the 'ip' argument.`,
        );
      }
    } else if (isListed) {
      const stale = comment !== "" && isMap(entry) && entry.get("comment") !== comment;
      if (stale) plan.comment.push(address);
      else plan.comments.push(`Host ${name} (${address}) already present`);
    } else if (isIpv4(address) || isIpv6(address)) {
      plan.add.push(address);
      if (comment !== "") plan.comment.push(address);
    } else {
      plan.invalid = true;
      plan.comments.push(`Invalid IP Address for ${name} (${address})`);
    }
  }
  return plan;
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A name has these addresses.

name
    The name of a host.

ip
    An address, or a list of them.

comment
    The comment after the names of each address.

clean : False
    Whether the name is removed from all other addresses.`,
  params: { name: p.str(), ip: p.any(), comment: p.str(""), clean: p.bool(false) },
  run: async ({ name, ip, comment, clean }, context) => {
    const hosts = await context.call("hosts.list_hosts");
    const addresses = asList(ip).map(str);
    const plan = planFor(name, { addresses, comment, clean }, mapOrEmpty(hosts));
    const ret = startResult(name, !plan.invalid);
    const { comments } = plan;
    const changed: Record<string, ValueMap> = {};
    const note = (kind: string, address: string, what: string) => (changed[kind] ??= new Map()).set(address, [what]);
    for (const address of plan.add) {
      if (context.test) {
        ret.result = null;
        comments.push(`Host ${name} (${address}) would be added`);
      } else if (truthy(await context.call("hosts.add_host", [address, name]))) {
        comments.push(`Added host ${name} (${address})`);
      } else {
        ret.result = false;
        comments.push(`Failed to add host ${name} (${address})`);
        continue;
      }
      note("added", address, name);
    }
    for (const address of plan.comment) {
      if (context.test) comments.push(`Comment for ${address} (${comment}) would be added`);
      else if (truthy(await context.call("hosts.set_comment", [address, comment]))) {
        comments.push(`Set comment for host ${address} (${comment})`);
      } else {
        ret.result = false;
        comments.push(`Failed to add comment for host ${address} (${comment})`);
        continue;
      }
      note("comment_added", address, comment);
    }
    for (const address of plan.remove) {
      if (context.test) {
        ret.result = null;
        comments.push(`Host ${name} (${address}) would be removed`);
      } else if (truthy(await context.call("hosts.rm_host", [address, name]))) {
        comments.push(`Removed host ${name} (${address})`);
      } else {
        ret.result = false;
        comments.push(`Failed to remove host ${name} (${address})`);
        continue;
      }
      note("removed", address, name);
    }
    const warnings = plan.warnings.length > 0 ? { warnings: plan.warnings } : {};
    return { ...ret, ...warnings, comment: comments.join("\n"), changes: map(changed) };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A name does not have these addresses.

name
    The name of a host.

ip
    An address, or a list of them.`,
  params: { name: p.str(), ip: p.any() },
  run: async ({ name, ip }, context) => {
    const ret = startResult(name, null);
    const comments: string[] = [];
    for (const address of asList(ip).map(str)) {
      if (!truthy(await context.call("hosts.has_pair", [address, name]))) {
        ret.result = true;
        comments.push(`Host ${name} (${address}) already absent`);
      } else if (context.test) {
        comments.push(`Host ${name} (${address}) needs to be removed`);
      } else if (truthy(await context.call("hosts.rm_host", [address, name]))) {
        ret.changes = map({ host: name });
        ret.result = true;
        comments.push(`Removed host ${name} (${address})`);
      } else {
        ret.result = false;
        comments.push("Failed to remove host");
      }
    }
    return { ...ret, comment: comments.join("\n") };
  },
});

export const only: ModuleFunction<StateContext> = stateFn({
  doc: `An address has these names and no others.

name
    The address.

hostnames
    A name, or a list of them; an empty list removes the address.`,
  params: { name: p.str(), hostnames: p.any() },
  run: async ({ name, hostnames }, context) => {
    const aliases = await context.call("hosts.get_alias", [name]);
    const old = listOrEmpty(aliases).map(str).join(" ");
    const now = asList(hostnames).map((one) => str(one).trim()).join(" ");
    if (old === now) return { ...startResult(name), comment: `IP address ${name} already set to "${now}"` };
    if (context.test) {
      return { ...startResult(name, null), comment: `Would change ${name} from "${old}" to "${now}"` };
    }
    if (!truthy(await context.call("hosts.set_host", [name, now]))) {
      const comment = `hosts.set_host failed to change ${name} from "${old}" to "${now}"`;
      return { ...startResult(name, false), comment };
    }
    const comment = `successfully changed ${name} from "${old}" to "${now}"`;
    return { name, result: true, comment, changes: map({ [name]: { old, new: now } }) };
  },
});
