/**
 * The options `auth.ldap.*` as plain data, which can be passed to a process, and the escaping of user names in filters
 * and DNs. Source: Salt 3008.3 `salt/auth/ldap.py`; RFC 4514, RFC 4515.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";

/** How the directory is queried. */
export interface LdapSettings {
  /** `ldap://host:389` */
  readonly url: string;
  readonly startTls: boolean;
  /** Whether the server's certificate is checked. */
  readonly verify: boolean;
  /** The DN of the account that searches, or a template for the users' own DNs. */
  readonly bindDn: string;
  readonly bindPassword: string;
  readonly baseDn: string;
  /** Finds a user: `(uid={{ username }})`. */
  readonly filter: string;
  readonly scope: "base" | "one" | "sub";
  readonly directory: "active directory" | "freeipa" | "other";
  readonly groupOu: string;
  readonly groupClass: string;
  readonly groupAttribute: string;
  readonly groupBaseDn: string;
  readonly groupFilter: string;
  readonly accountAttribute: string;
  readonly personType: string;
}

/** The settings of the directory that the options `auth.ldap.*` describe. */
export function ldapSettings(opts: MasterOpts): LdapSettings {
  const tls = opts["auth.ldap.tls"];
  const url = opts["auth.ldap.uri"] ||
    `${tls ? "ldaps" : "ldap"}://${opts["auth.ldap.server"]}:${opts["auth.ldap.port"]}`;
  return {
    url,
    startTls: opts["auth.ldap.starttls"],
    verify: !opts["auth.ldap.no_verify"],
    bindDn: opts["auth.ldap.binddn"],
    bindPassword: opts["auth.ldap.bindpw"],
    baseDn: opts["auth.ldap.basedn"],
    filter: opts["auth.ldap.filter"],
    scope: (["base", "one", "sub"] as const)[opts["auth.ldap.scope"]],
    directory: opts["auth.ldap.activedirectory"] ? "active directory" : opts["auth.ldap.freeipa"] ? "freeipa" : "other",
    groupOu: opts["auth.ldap.groupou"],
    groupClass: opts["auth.ldap.groupclass"],
    groupAttribute: opts["auth.ldap.groupattribute"],
    groupBaseDn: opts["auth.ldap.group_basedn"],
    groupFilter: opts["auth.ldap.group_filter"],
    accountAttribute: opts["auth.ldap.accountattributename"],
    personType: opts["auth.ldap.persontype"],
  };
}

/** `template` with `{{ username }}` replaced. Jinja itself is not evaluated. */
export function renderUsername(template: string, username: string): string {
  return template.replaceAll(/\{\{\s*username\s*\}\}/g, () => username);
}

/** `text` as a value in a filter. */
export function escapedForFilter(text: string): string {
  return text.replaceAll(/[\\*()\0]/g, (c) => `\\${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/**
 * The DN of `template` for a user: a template without `=`, `{{ username }}@example.com`, is not a DN, and takes the
 * name as it is.
 */
export function renderedDn(template: string, username: string): string {
  if (!template.includes("=")) return renderUsername(template, username);
  return renderUsername(template, username.replaceAll(/[,+"\\<>;=#]|^ | $/g, (c) => `\\${c}`));
}

/** The value of the first part of a DN: `cn=ops,ou=Groups` → `ops`. */
export function firstValue(dn: string): string {
  const first = /^(?:\\.|[^,\\])*/.exec(dn)?.[0] ?? "";
  return first.slice(first.lastIndexOf("=") + 1).replaceAll(/\\(.)/g, "$1");
}
