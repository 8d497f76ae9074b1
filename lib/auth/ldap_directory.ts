/**
 * Checks a user's password in an LDAP directory, and finds the user's groups. Runs in a separate process
 * (auth_process.ts), because the library loads Node's compatibility layer. Source: Salt 3008.3 `salt/auth/ldap.py`; RFC
 * 4511.
 * @module
 */

import { Client, type Entry, InvalidCredentialsError } from "ldapts";
import type { AuthReply } from "./auth_messages.ts";
import type { EauthCredentials } from "./eauth_module.ts";
import { isIpv4, isIpv6 } from "#lib/text/ip_address.ts";
import { escapedForFilter, firstValue, type LdapSettings, renderedDn, renderUsername } from "./ldap_settings.ts";

/** Time for a connection and for each answer, in milliseconds. */
const ANSWER_MS = 10_000;
/** Maximum number of entries of a search. */
const MAX_ENTRIES = 1_000;

/**
 * Queries the directory.
 * @throws {Error} If it cannot be queried.
 */
export async function authenticateByLdap(settings: LdapSettings, credentials: EauthCredentials): Promise<AuthReply> {
  // A bind without a password succeeds, and proves nothing (RFC 4513, 5.1.2).
  if (credentials.username === "" || credentials.password === "") return refuseUnknown("an empty name or password");
  const asAccount = settings.bindDn !== "" && settings.bindPassword !== "";
  const dn = asAccount
    ? await findDn(settings, credentials.username)
    : renderedDn(settings.bindDn, credentials.username);
  if (dn === undefined || dn === "") return refuseUnknown("no entry, or several, for the user");
  const client = await connect(settings);
  try {
    if (!await mayBind(client, dn, credentials.password)) return refuseUnknown(`the directory refuses ${dn}`);
    if (!asAccount) return { known: true, groups: await groupsOf(client, settings, credentials.username) };
  } finally {
    await client.unbind();
  }
  const groups = await withAccount(settings, (account) => groupsOf(account, settings, credentials.username));
  return { known: true, groups };
}

function refuseUnknown(problem: string): AuthReply {
  return { known: false, groups: [], problem };
}

async function connect({ url, startTls, verify }: LdapSettings): Promise<Client> {
  const tls = { rejectUnauthorized: verify };
  const client = new Client({
    url,
    timeout: ANSWER_MS,
    connectTimeout: ANSWER_MS,
    ...url.startsWith("ldaps:") ? { tlsOptions: tls } : {},
  });
  // Without this name, the upgraded connection would accept a certificate for localhost.
  if (startTls) await client.startTLS({ ...tls, ...expectedHost(url) });
  return client;
}

/**
 * The name that the certificate must have: the host of `url`. An address is not sent as a server name (RFC 6066, 3).
 */
function expectedHost(url: string): { readonly host: string; readonly servername?: string } {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "") || "localhost";
  return isIpv4(host) || isIpv6(host) ? { host } : { host, servername: host };
}

/**
 * Whether the directory accepts the password.
 * @throws {Error} If it cannot be asked.
 */
async function mayBind(client: Client, dn: string, password: string): Promise<boolean> {
  try {
    await client.bind(dn, password);
    return true;
  } catch (error) {
    if (error instanceof InvalidCredentialsError) return false;
    throw error;
  }
}

async function withAccount<T>(settings: LdapSettings, act: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(settings);
  try {
    if (!await mayBind(client, settings.bindDn, settings.bindPassword)) {
      throw new Error(`the directory refuses ${settings.bindDn}: see auth.ldap.bindpw`);
    }
    return await act(client);
  } finally {
    await client.unbind();
  }
}

/** The DN of the only entry of a user. */
async function findDn(settings: LdapSettings, username: string): Promise<string | undefined> {
  const filter = renderUsername(settings.filter, escapedForFilter(username));
  const accounts = await withAccount(
    settings,
    (client) => search(client, settings.baseDn, { filter, scope: settings.scope }),
  );
  return accounts.length === 1 ? accounts[0].dn : undefined;
}

interface Search {
  readonly filter: string;
  readonly scope?: "base" | "one" | "sub";
  readonly attributes?: string[];
}

async function search(client: Client, base: string, { filter, scope = "sub", attributes }: Search): Promise<Entry[]> {
  const { searchEntries } = await client.search(base, { scope, filter, attributes, sizeLimit: MAX_ENTRIES });
  return searchEntries;
}

/** The names of a user's groups. */
async function groupsOf(client: Client, settings: LdapSettings, username: string): Promise<string[]> {
  const name = escapedForFilter(username);
  const { accountAttribute: account, groupAttribute, groupClass, baseDn } = settings;
  if (settings.directory === "active directory") {
    const filter = `(&(${account}=${name})(objectClass=${settings.personType}))`;
    const [user] = await search(client, baseDn, { filter, attributes: ["distinguishedName"] });
    if (user === undefined) return [];
    const member = `(&(member=${escapedForFilter(user.dn)})(objectClass=${groupClass}))`;
    const groups = await search(client, baseDn, { filter: member, attributes: [account, "cn"] });
    return groups.flatMap((entry) => values(entry, "cn").slice(0, 1));
  }
  if (settings.directory === "freeipa") {
    const filter = renderUsername(settings.groupFilter, name);
    const groups = await search(client, settings.groupBaseDn, { filter, attributes: [account, groupAttribute, "cn"] });
    return groups.flatMap((entry) =>
      [...values(entry, account), ...values(entry, groupAttribute)].some((user) => firstValue(user) === username)
        ? [firstValue(entry.dn)]
        : []
    );
  }
  const base = settings.groupOu === "" ? baseDn : `ou=${settings.groupOu},${baseDn}`;
  const filter = `(&(${account}=${name})(objectClass=${groupClass}))`;
  const members = await search(client, base, { filter, attributes: [account, "cn", groupAttribute] });
  return members.flatMap((entry) => [
    ...values(entry, account).includes(username) ? values(entry, "cn").slice(0, 1) : [],
    ...firstValue(entry.dn) === username ? values(entry, groupAttribute).map(firstValue) : [],
  ]);
}

/** The values of an attribute, as text. */
function values(entry: Entry, attribute: string): string[] {
  const key = Object.keys(entry).find((name) => name.toLowerCase() === attribute.toLowerCase());
  const value = key === undefined ? [] : entry[key];
  return (Array.isArray(value) ? value : [value]).map((item) =>
    typeof item === "string" ? item : new TextDecoder().decode(item)
  );
}
