/**
 * Files of users and passwords: text with a separator, htpasswd, htdigest.
 * Source: Salt 3008.3 `salt/auth/file.py`; Apache's documentation.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import type { EauthCredentials } from "./eauth_module.ts";
import { verifyPassword } from "./password_hash.ts";
import { sameText } from "#lib/crypto/same_text.ts";

/** How a file is to be read: the parameters of `external_auth: file`, without `^`. */
export interface PasswordFileForm {
  readonly filetype: "text" | "htpasswd" | "htdigest";
  /** For `text`: `plaintext`, or a digest. */
  readonly hashtype: string;
  readonly field_separator: string;
  /** The first field is 1. */
  readonly username_field: number;
  readonly password_field: number;
  /** The realm of the lines of `htdigest` that count. */
  readonly realm?: string;
}

/** Whether the user has this password in a file with these contents. The first line with the name is used. */
export async function passwordFileKnows(
  text: string,
  form: PasswordFileForm,
  { username, password }: EauthCredentials,
): Promise<boolean> {
  for (const line of text.split(/\r?\n/)) {
    const entry = line.trim() === "" ? undefined : entryOf(line.trim(), form);
    if (entry?.name === username) return await isPassword(password, entry.secret, { username, form });
  }
  return false;
}

function entryOf(line: string, form: PasswordFileForm): { name: string; secret: string } | undefined {
  if (form.filetype === "text") {
    const fields = line.split(form.field_separator);
    const [name, secret] = [fields[form.username_field - 1], fields[form.password_field - 1]];
    return name === undefined || secret === undefined ? undefined : { name, secret };
  }
  if (line.startsWith("#")) return undefined;
  const [name, ...rest] = line.split(":");
  if (form.filetype === "htpasswd") return rest.length === 0 ? undefined : { name, secret: rest[0] };
  const [realm, secret] = rest;
  return secret === undefined || realm !== form.realm ? undefined : { name, secret };
}

async function isPassword(
  password: string,
  secret: string,
  { username, form }: { readonly username: string; readonly form: PasswordFileForm },
): Promise<boolean> {
  if (form.filetype === "htpasswd") return await verifyPassword(password, secret);
  if (form.filetype === "htdigest") return sameText(secret, hashHex(`${username}:${form.realm}:${password}`, "md5"));
  return sameText(secret, form.hashtype === "plaintext" ? password : hashHex(password, form.hashtype));
}
