/**
 * `external_auth: file`: a file of users and passwords on the master. Its parameters begin with `^`.
 * Source: Salt 3008.3 `salt/auth/file.py`.
 * @module
 */

import { ConfigError } from "#lib/errors.ts";
import { type EauthContext, type EauthModule, knownWithoutGroups } from "#lib/auth/eauth_module.ts";
import { HASH_TYPES } from "#lib/crypto/hash_types.ts";
import { type PasswordFileForm, passwordFileKnows } from "#lib/auth/password_file.ts";
import { str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * Makes it.
 * @throws {ConfigError} For invalid parameters.
 */
export function fileEauth({ config }: EauthContext): EauthModule {
  const path = parameter(config, "filename");
  if (typeof path !== "string") throw bad("^filename is missing");
  const form = passwordFileForm(config);
  return {
    // Read each time: it may have changed.
    authenticate: async (credentials) =>
      knownWithoutGroups(await passwordFileKnows(await Deno.readTextFile(path), form, credentials)),
  };
}

function passwordFileForm(config: ValueMap): PasswordFileForm {
  const filetype = str(parameter(config, "filetype") ?? "text").toLowerCase();
  if (filetype !== "text" && filetype !== "htpasswd" && filetype !== "htdigest") throw bad(`^filetype ${filetype}`);
  const hashtype = str(parameter(config, "hashtype") ?? "plaintext");
  if (hashtype !== "plaintext" && !HASH_TYPES.some((name) => name === hashtype)) throw bad(`^hashtype ${hashtype}`);
  const realm = parameter(config, "realm");
  if (filetype === "htdigest" && typeof realm !== "string") throw bad("^realm is missing");
  return {
    filetype,
    hashtype,
    field_separator: str(parameter(config, "field_separator") ?? ":"),
    username_field: fieldNumber(parameter(config, "username_field") ?? 1),
    password_field: fieldNumber(parameter(config, "password_field") ?? 2),
    ...typeof realm === "string" ? { realm } : {},
  };
}

function parameter(config: ValueMap, name: string): Value | undefined {
  return config.get(`^${name}`);
}

function fieldNumber(value: Value): number {
  const number = typeof value === "string" ? Number(value) : toNumber(value);
  if (number === undefined || !Number.isInteger(number) || number < 1) throw bad(`the field ${str(value)}`);
  return number;
}

function bad(what: string): ConfigError {
  return new ConfigError(`file: ${what}`, { option: "external_auth" });
}
