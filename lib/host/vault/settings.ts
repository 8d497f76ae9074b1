/**
 * The option `vault`: which server, and how this host signs in. Both forms are read, that of Salt 3006 and that of
 * 3007.
 * Source: Salt 3007.15 `salt/modules/vault.py` (configuration), `salt/utils/vault/factory.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { CommandError } from "#lib/errors.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** How a host signs in. */
export type VaultLogin =
  | { readonly method: "token"; readonly token: string }
  | { readonly method: "approle"; readonly mount: string; readonly roleId: string; readonly secretId?: string };

/** A server with the way to sign in. */
export interface VaultSettings {
  /** The address without a slash at its end. */
  readonly url: string;
  readonly namespace?: string;
  /** As it is configured: whether the certificate is checked, or the authorities for it. */
  readonly verify: Value;
  readonly login: VaultLogin;
}

/**
 * Reads the option.
 * @throws {CommandError} If it does not say which server, or how to sign in.
 */
export function vaultSettings(option: Value | undefined): VaultSettings {
  const vault = mapOrEmpty(option);
  if (vault.get("config_location") === "master") {
    throw new CommandError("vault: no master gives its connection here; `vault:config_location` must be local");
  }
  const server = isMap(vault.get("server")) ? mapOrEmpty(vault.get("server")) : vault;
  const url = server.get("url");
  if (typeof url !== "string" || !/^https?:\/\//.test(url)) {
    throw new CommandError("vault: the option `vault:server:url` has no address");
  }
  const namespace = server.get("namespace");
  return {
    url: rstripChars(url, "/"),
    ...truthy(namespace) && { namespace: str(namespace ?? null) },
    verify: server.get("verify") ?? null,
    login: loginOf(mapOrEmpty(vault.get("auth"))),
  };
}

function loginOf(auth: ValueMap): VaultLogin {
  const method = str(auth.get("method") ?? "token");
  const secret = (name: string): string => {
    const value = auth.get(name);
    if (isMap(value)) throw new CommandError(`vault: a wrapped ${name} is not supported`);
    if (!truthy(value)) throw new CommandError(`vault: the option \`vault:auth:${name}\` is missing`);
    return str(value ?? null);
  };
  if (method === "token") return { method, token: secret("token") };
  if (method !== "approle") throw new CommandError(`vault: the method '${method}' to sign in is not supported`);
  return {
    method,
    mount: str(auth.get("approle_mount") ?? "approle"),
    roleId: secret("role_id"),
    ...truthy(auth.get("secret_id")) && { secretId: secret("secret_id") },
  };
}

/** The authorities of `verify`: a file, or PEM itself; `undefined`: those of the host. */
export function vaultAuthorities({ verify }: VaultSettings): string | undefined {
  if (typeof verify !== "string") return undefined;
  if (verify.startsWith("-----BEGIN ")) return verify;
  const pem = readTextFileIfExists(verify);
  if (pem === undefined) throw new CommandError(`vault: the file '${verify}' of \`verify\` is not there`);
  return pem;
}
