/**
 * Systems of `external_auth` in Python: `auth(username, password)`, and `groups(username)` and `acl(username)` if they
 * have them.
 * Source: Salt 3008.3 `salt/auth/__init__.py`.
 * @module
 */

import type { EauthCredentials, EauthModule, LoadEauth } from "#lib/auth/eauth_module.ts";
import type { PythonLease } from "#lib/python_bridge/loader/separate_calls.ts";
import { str, truthy } from "#lib/values/value.ts";
import type { MasterCalls } from "./python_calls.ts";

/** The systems of `builtin`, and those in Python, which win. Python is started when one is first asked. */
export function withPythonEauth(builtin: LoadEauth): LoadEauth {
  let lease: PythonLease | undefined;
  return async (name, context) => {
    const { opts, log } = context;
    // Most masters have no `external_auth`: their threads do without the code for Python.
    const { PythonLease } = await import("#lib/python_bridge/loader/separate_calls.ts");
    const { MasterCalls } = await import("./python_calls.ts");
    lease ??= new PythonLease(opts, { printed: log.info, keeps: true });
    const calls = new MasterCalls("auth", { opts, log, lease, signal: new AbortController().signal });
    return calls.has(name) ? pythonEauth(name, calls) : await builtin(name, context);
  };
}

function pythonEauth(name: string, calls: MasterCalls): EauthModule {
  const given = ({ username, password }: EauthCredentials) => ({ username, password });
  return {
    async authenticate(credentials) {
      const known = await calls.call(`${name}.auth`, given(credentials));
      if (!truthy(known ?? null)) return undefined;
      const groups = await calls.call(`${name}.groups`, given(credentials));
      return { groups: Array.isArray(groups) ? groups.map(str) : [] };
    },
    async rules(credentials) {
      const rules = await calls.call(`${name}.acl`, given(credentials));
      return Array.isArray(rules) ? rules : undefined;
    },
  };
}
