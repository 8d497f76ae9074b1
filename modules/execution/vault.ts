/**
 * Execution module `vault`: secrets and policies of Vault, by its HTTP interface.
 * Source: Salt 3007.15 `salt/modules/vault.py`, which Salt 3008 has no longer.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { forgetTokens, VaultClient, VaultError } from "#lib/host/vault/client.ts";
import {
  deleteSecret,
  destroySecret,
  listSecrets,
  patchSecret,
  readSecret,
  writeSecret,
} from "#lib/host/vault/secrets.ts";
import { vaultSettings } from "#lib/host/vault/settings.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The text by which Salt's functions have no default. */
const NOT_SET = "<Constant.NOT_SET>";

function clientOf({ opts, signal }: JobContext): VaultClient {
  return new VaultClient(vaultSettings(optsValues(opts).get("vault")), signal);
}

function described(error: CommandError): string {
  return error instanceof VaultError ? error.described : `${error.name}: ${error.message}`;
}

/** Reads; what fails is the default, if there is one. */
async function reading<T extends Value>(what: string, fallback: Value, read: () => Promise<T>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (fallback !== NOT_SET) return fallback;
    throw new CommandError(`Failed to ${what}! ${described(error)}`, { cause: error });
  }
}

/** Changes something; what fails is logged, and False. */
async function changing(what: string, context: JobContext, change: () => Promise<Value>): Promise<Value> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    context.log("error", `Failed to ${what} secret! ${described(error)}`);
    return false;
  }
}

export const read_secret: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the secret at a path, or one of its fields. metadata=True: with its version, where it has one. default: what is returned if it " +
      "cannot be read, in place of an error.",
    "vault.read_secret salt/kv/secret",
  ),
  permissions: "all",
  params: { path: p.str(), key: p.str(null), metadata: p.bool(false), default: p.any(NOT_SET) },
  run: ({ path, key, metadata, default: fallback }, context) =>
    reading("read secret", fallback, async () => {
      const secret = await readSecret(clientOf(context), path, metadata && key === null);
      if (key === null) return secret;
      const value = secret.get(key);
      if (value === undefined) throw new VaultError("KeyError", repr(key));
      return value;
    }),
});

/** The keywords that are fields of a secret. */
function fields(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].filter(([key]) => !str(key).startsWith("__")));
}

export const write_secret: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Write a secret of these fields. Return what the server says about it, or whether it was written.",
    'vault.write_secret "secret/my/secret" user="foo" password="bar"',
  ),
  permissions: "all",
  params: { path: p.str() },
  varKwargs: "kwargs",
  run: ({ path }, context, { kwargs }) =>
    changing("write", context, () => writeSecret(clientOf(context), path, fields(kwargs))),
});

export const write_raw: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Write a secret from a map. Return what the server says about it, or whether it was written.",
    'vault.write_raw "secret/my/secret" \'{"user":"foo","password": "bar"}\'',
  ),
  permissions: "all",
  params: { path: p.str(), raw: p.any() },
  run: ({ path, raw }, context) => changing("write", context, () => writeSecret(clientOf(context), path, raw)),
});

export const patch_secret: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change fields of a secret; None removes one. Return what the server says about it, or whether it was changed.",
    'vault.patch_secret "secret/my/secret" password="baz"',
  ),
  permissions: "all",
  params: { path: p.str() },
  varKwargs: "kwargs",
  run: ({ path }, context, { kwargs }) =>
    changing("patch", context, () => patchSecret(clientOf(context), path, fields(kwargs))),
});

export const delete_secret: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a secret, or versions of it. Return whether it was removed.",
    'vault.delete_secret "secret/my/secret"',
    'vault.delete_secret "secret/my/secret" 1 2 3',
  ),
  permissions: "all",
  params: { path: p.str() },
  varArgs: "args",
  run: ({ path }, context, { args }) => changing("delete", context, () => deleteSecret(clientOf(context), path, args)),
});

export const destroy_secret: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Destroy versions of a secret. Return whether they were destroyed.",
    'vault.destroy_secret "secret/my/secret" 1 2',
  ),
  permissions: "all",
  params: { path: p.str() },
  varArgs: "args",
  run({ path }, context, { args }) {
    if (args.length === 0) throw new InvocationError("Need at least one version to destroy.");
    return changing("destroy", context, () => destroySecret(clientOf(context), path, args));
  },
});

export const list_secrets: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the names below a path, as {'keys': names}, or with keys_only=True their list. default: what is returned if they cannot be " +
      "read.",
    'vault.list_secrets "secret/my/"',
  ),
  permissions: "all",
  params: { path: p.str(), default: p.any(NOT_SET), keys_only: p.bool(false) },
  run: ({ path, default: fallback, keys_only }, context) =>
    reading<Value>("list secrets", fallback, async () => {
      const keys = await listSecrets(clientOf(context), path);
      return keys_only ? keys : map({ keys });
    }),
});

export const clear_cache: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Forget the token that this job has signed in with. Return whether there was one.",
    "vault.clear_cache",
    "vault.clear_cache session=True",
  ),
  params: { connection: p.bool(true), session: p.bool(false) },
  run: (_, { signal }) => forgetTokens(signal),
});

export const clear_token_cache: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Forget the token that this job has signed in with. Return whether there was one.",
    "vault.clear_token_cache",
  ),
  params: {},
  run: (_, { signal }) => forgetTokens(signal),
});

/** Asks; what the server refuses is an error with Salt's name for it. */
async function asking(
  context: JobContext,
  method: string,
  endpoint: string,
  payload?: Value,
): Promise<ValueMap | true> {
  try {
    return await clientOf(context).query({ method, endpoint, ...payload !== undefined && { payload } });
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    if (error.kind === "VaultNotFoundError") throw error;
    throw new CommandError(error.described, { cause: error });
  }
}

/** The value for what is not there. */
async function orIfMissing(fallback: Value, ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof VaultError && error.kind === "VaultNotFoundError") return fallback;
    throw error;
  }
}

/** The endpoint of a policy; the name is one step of it. */
function policyEndpoint(policy: string): string {
  if (policy.includes("/")) throw new InvocationError(`Invalid policy: ${policy}`);
  return `sys/policy/${policy}`;
}

export const policy_fetch: ModuleFunction<JobContext> = fn({
  doc: describe("Return the rules of a policy; None: there is none.", "vault.policy_fetch salt_minion"),
  permissions: "all",
  params: { policy: p.str() },
  run: ({ policy }, context) =>
    orIfMissing(null, async () => {
      const answer = await asking(context, "GET", policyEndpoint(policy));
      return answer === true ? null : answer.get("rules") ?? null;
    }),
});

export const policy_write: ModuleFunction<JobContext> = fn({
  doc: describe("Make or change a policy. Return True.", "vault.policy_write salt_minion 'path \"secret/foo\" {...}'"),
  permissions: "all",
  params: { policy: p.str(), rules: p.str() },
  run: ({ policy, rules }, context) => asking(context, "POST", policyEndpoint(policy), map({ policy: rules })),
});

export const policy_delete: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a policy. Return whether there was one.", "vault.policy_delete salt_minion"),
  permissions: "all",
  params: { policy: p.str() },
  run: ({ policy }, context) => orIfMissing(false, () => asking(context, "DELETE", policyEndpoint(policy))),
});

export const policies_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of the policies.", "vault.policies_list"),
  permissions: "all",
  params: {},
  async run(_, context) {
    const answer = await asking(context, "GET", "sys/policy");
    return answer === true ? [] : answer.get("policies") ?? [];
  },
});

export const query: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Send a request to a path below /v1/. Return the answer, or True for one without contents.",
    "vault.query GET auth/token/lookup-self",
  ),
  permissions: "all",
  params: { method: p.str(), endpoint: p.str(), payload: p.dict(null) },
  async run({ method, endpoint, payload }, context) {
    if (!/^[A-Za-z]+$/.test(method)) throw new InvocationError(`Invalid method: ${method}`);
    try {
      return await asking(context, method.toUpperCase(), endpoint, payload ?? undefined);
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      throw new CommandError(error.described, { cause: error });
    }
  },
});

export const update_config: ModuleFunction<JobContext> = fn({
  doc: describe("Return True: the configuration is that of this host, and read for each call.", "vault.update_config"),
  params: { keep_session: p.bool(false) },
  run: () => true,
});

export const get_server_config: ModuleFunction<JobContext> = fn({
  doc: describe("Return url, namespace and verify of the server.", "vault.get_server_config"),
  params: {},
  run(_, { opts }) {
    const { url, namespace = null, verify } = vaultSettings(optsValues(opts).get("vault"));
    return map({ url, namespace, verify });
  },
});
