/**
 * State module `ssh_known_hosts`: the keys of hosts that ssh knows.
 * Source: Salt 3008.3 `salt/states/ssh_known_hosts.py`.
 * @module
 */

import { CommandNotFoundError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

const DOC = `name
    The host.

user
    The user of the file. Default: the system-wide file.

config
    The file: \`.ssh/known_hosts\` of the user, or \`/etc/ssh/ssh_known_hosts\`.`;

/** The file, or the error. */
function fileOf(
  user: string | null,
  config: string | null,
): { readonly config: string } | { readonly problem: string } {
  const path = config || (user ? ".ssh/known_hosts" : "/etc/ssh/ssh_known_hosts");
  if (user || path.startsWith("/")) return { config: path };
  return { problem: 'If not specifying a "user", specify an absolute "config".' };
}

interface Wanted {
  readonly name: string;
  readonly user: string | null;
  readonly fingerprint: string | null;
  readonly key: string | null;
  readonly port: Value;
  readonly enc: string | null;
  readonly config: string;
  readonly fingerprint_hash_type: string | null;
}

async function predict({ name, user, enc, ...more }: Wanted, context: StateContext): Promise<StateResult> {
  const { key, fingerprint, config } = more;
  if (key && fingerprint) return failState(name, 'Specify either "key" or "fingerprint", not both.');
  if (key && !enc) return failState(name, 'Required argument "enc" if using "key" argument.');
  let status: Value;
  try {
    status = await context.call("ssh.check_known_host", [user, name], map({ ...more }));
  } catch (error) {
    if (!(error instanceof CommandNotFoundError)) throw error;
    return failState(name, `ssh.check_known_host error: ${error.message}`);
  }
  const error = isMap(status) ? status.get("error") : undefined;
  if (error !== undefined) return failState(name, str(error));
  if (status === "exists") return { ...startResult(name), comment: `Host ${name} is already in ${config}` };
  const comment = status === "add"
    ? `Key for ${name} is set to be added to ${config}`
    : `Key for ${name} is set to be updated in ${config}`;
  return { ...startResult(name, null), comment };
}

/** A field of the first host that was saved. */
function firstSaved(result: ValueMap, field: string): string {
  const hosts = result.get("new");
  const first = Array.isArray(hosts) ? hosts[0] : undefined;
  return str(isMap(first) ? first.get(field) ?? null : null);
}

function savedComment({ name, key, fingerprint, enc, config }: Wanted, result: ValueMap): string {
  if (key) return `${name}'s key saved to ${config} (key: ${firstSaved(result, "key")})`;
  if (fingerprint) return `${name}'s key saved to ${config} (fingerprint: ${firstSaved(result, "fingerprint")})`;
  if (enc) return `${name}'s ${enc} key saved to ${config} (key: ${firstSaved(result, "key")})`;
  return `${name}'s key(s) saved to ${config}`;
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A host's key is known.

${DOC}

fingerprint
    The required fingerprint of the host's key, which is then requested from the host.

key
    The key, with its kind in \`enc\`; the host is not asked then.

port
    The host's port.

enc
    The kind of the key.

hash_known_hosts : True
    Whether the file has a hash of the host's name.

timeout : 5
    The timeout for asking the host, in seconds.

fingerprint_hash_type
    The digest of the fingerprint.`,
  params: {
    name: p.str(),
    user: p.str(null),
    fingerprint: p.str(null),
    key: p.str(null),
    port: p.any(null),
    enc: p.str(null),
    config: p.str(null),
    hash_known_hosts: p.bool(true),
    timeout: p.any(5),
    fingerprint_hash_type: p.str(null),
  },
  run: async ({ name, config: given, hash_known_hosts, timeout, ...more }, context) => {
    const file = fileOf(more.user, given);
    if ("problem" in file) return failState(name, file.problem);
    const { config } = file;
    const wanted = { name, config, ...more };
    if (context.test) return await predict(wanted, context);
    const kwargs = map({ ...more, config, hash_known_hosts, timeout, hostname: name });
    const result = await context.call("ssh.set_known_host", [], kwargs);
    const of = isMap(result) ? result : new Map<Value, Value>();
    if (of.get("status") === "exists") return { ...startResult(name), comment: `${name} already exists in ${config}` };
    if (of.get("status") === "error") return failState(name, str(of.get("error") ?? null));
    const changes = map({ old: of.get("old") ?? null, new: of.get("new") ?? null });
    return { name, result: true, comment: savedComment(wanted, of), changes };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A host's key is not known.\n\n${DOC}`,
  params: { name: p.str(), user: p.str(null), config: p.str(null) },
  run: async ({ name, user, config: given }, context) => {
    const file = fileOf(user, given);
    if ("problem" in file) return failState(name, file.problem);
    const { config } = file;
    const where = map({ user, hostname: name, config });
    const entries = await context.call("ssh.get_known_host_entries", [], where);
    if (!Array.isArray(entries) || entries.length === 0) {
      return { ...startResult(name), comment: "Host is already absent" };
    }
    if (context.test) {
      return { ...startResult(name, null), comment: `Key for ${name} is set to be removed from ${config}` };
    }
    const removed = await context.call("ssh.rm_known_host", [], where);
    const of = isMap(removed) ? removed : new Map<Value, Value>();
    if (of.get("status") === "error") return failState(name, str(of.get("error") ?? null));
    const changes = map({ old: entries, new: null });
    return { name, result: true, comment: str(of.get("comment") ?? ""), changes };
  },
});
