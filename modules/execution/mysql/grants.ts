/**
 * Execution module `mysql`: what users may do.
 * Source: the functions of Salt 3008.3 `salt/modules/mysql.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { MysqlClient } from "#lib/host/mysql/client.ts";
import { grantTokens } from "#lib/host/mysql/grant_tokens.ts";
import {
  ALL_PRIVILEGES,
  parsePrivileges,
  privilegesSql,
  privilegeTokens,
  requireSql,
  shownTokens,
} from "#lib/host/mysql/privileges.ts";
import { quoteName } from "#lib/host/mysql/quoting.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { isMap, map, str, truthy, type Value } from "#lib/values/value.ts";
import { CONNECTED, serverVersion, withMysql } from "./connection.ts";
import { shownGrants } from "./known_users.ts";

export const tokenize_grant: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return user, host, privileges and database of a GRANT statement.",
    "mysql.tokenize_grant \"GRANT SELECT, INSERT ON testdb.* TO 'testuser'@'localhost'\"",
  ),
  params: { grant: p.str() },
  run({ grant }) {
    const { user, host, grant: privileges, database } = grantTokens(grant);
    return map({ user, host, grant: privileges, database });
  },
});

/** What is granted, to whom. */
interface Grant {
  readonly grant: string;
  readonly database: string;
  readonly user: string;
  readonly host: string;
  readonly escape: boolean;
}

/** `database.table` as a part of a statement. */
function placeSql({ database, escape }: Pick<Grant, "database" | "escape">): string {
  const at = database.lastIndexOf(".");
  const [name, table] = [database.slice(0, Math.max(at, 0)), database.slice(at + 1)];
  if (!escape) return checkedPlace(`${name}.${table}`);
  const quotedTable = table === "*" ? table : quoteName(table);
  return `${name === "*" ? name : quoteName(name, table === "*")}.${quotedTable}`;
}

/** @throws {CommandError} If what the operator has quoted would be more than a place. */
function checkedPlace(place: string): string {
  if (/^(?:\*|`(?:[^`]|``)*`|[\w$%\\]+)\.(?:\*|`(?:[^`]|``)*`|[\w$]+)$/.test(place)) return place;
  throw new CommandError(`Invalid database : '${place}'`);
}

/** A text in which only letters count that a server shows differently from what was asked for. */
function plain(text: string): string {
  return text.replace(/["\\`]/g, "");
}

/** Whether a version is of MySQL 8.0 or newer, and none of MariaDB's. */
function isMysql8(version: string): boolean {
  return !version.includes("MariaDB") && compareLooseVersions(version, "8.0") >= 0;
}

/** What all privileges are on MySQL 8, which does not say `ALL PRIVILEGES`. */
async function allPrivileges(client: MysqlClient): Promise<readonly string[]> {
  const { rows } = await client.run(() => "SHOW PRIVILEGES");
  const names = rows.map(([name]) => str(name).trim().toUpperCase());
  const granted = names.filter((name) => !["USAGE", "GRANT OPTION", "PROXY"].includes(name));
  return granted.length > 0 ? granted : ALL_PRIVILEGES;
}

async function wantedTokens({ grant, database }: Grant, version: string, client: MysqlClient): Promise<string[]> {
  const isAll = grant.toUpperCase().includes("ALL");
  if (isAll && isMysql8(version) && database === "*.*") return [...await allPrivileges(client)];
  return privilegeTokens(parsePrivileges(isAll ? "ALL" : grant));
}

async function hasGrant(client: MysqlClient, wanted: Grant, context: JobContext): Promise<boolean> {
  const { user, host } = wanted;
  const version = await serverVersion(client);
  const tokens = shownTokens(await wantedTokens(wanted, version, client), version).map(plain);
  const grants = await shownGrants(client, wanted, context);
  if (grants === false) {
    context.log("error", "Grant does not exist or may not be ordered properly.");
    return false;
  }
  const shown = grants.map(grantTokens);
  const here = shown.filter((one) =>
    plain(one.user) === plain(user) && plain(one.host) === plain(host) &&
    plain(one.database) === plain(placeSql(wanted))
  );
  const granted = new Set(here.flatMap(({ grant }) => shownTokens(grant, version)).map(shownName));
  return here.length > 0 && tokens.every((token) => granted.has(token));
}

/** A server's token as requests have it: the columns in capital letters. */
function shownName(token: string): string {
  return plain(token).toUpperCase();
}

const GRANT = {
  grant: p.str(),
  database: p.str(),
  user: p.str(),
  host: p.str("localhost"),
  grant_option: p.any(false),
  escape: p.bool(true),
};

export const grant_exists: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a user has privileges on a database.* or a database.table.",
    "mysql.grant_exists 'SELECT,INSERT,UPDATE,...' 'database.*' 'frank' 'localhost'",
  ),
  ...CONNECTED,
  params: GRANT,
  run: (wanted, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: false }, async (client) => {
      try {
        return await hasGrant(client, wanted, context);
      } catch (error) {
        return refusedGrant(error, context);
      }
    }),
});

/** False for a request that makes no sense, which is logged. */
function refusedGrant(error: unknown, context: JobContext): false {
  if (!(error instanceof CommandError) || error.name !== "CommandError") throw error;
  context.log("error", `Error during grant generation: ${error.message}`);
  return false;
}

/** Salt's list of maps of one pair as triples. */
function sslOptions(given: Value): [string, string, boolean][] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((one) =>
    isMap(one)
      ? [...one].slice(0, 1).map(([name, value]): [string, string, boolean] => [str(name), str(value), truthy(value)])
      : []
  );
}

export const grant_add: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Grant privileges on a database.* or a database.table to a user. Return whether the user has them.",
    "mysql.grant_add 'SELECT,INSERT,UPDATE,...' 'database.*' 'frank' 'localhost'",
  ),
  ...CONNECTED,
  params: { ...GRANT, ssl_option: p.any(false) },
  run: ({ grant_option, ssl_option, ...wanted }, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: false }, async (client) => {
      try {
        const privileges = privilegesSql(parsePrivileges(wanted.grant));
        const options = sslOptions(ssl_option);
        await client.run((quote) =>
          `GRANT ${privileges} ON ${placeSql(wanted)} TO ${quote(wanted.user)}@${quote(wanted.host)}` +
          (options.length > 0 ? requireSql(options, quote) : "") +
          (isTrue(grant_option) ? " WITH GRANT OPTION" : "")
        );
        return await hasGrant(client, wanted, context);
      } catch (error) {
        return refusedGrant(error, context);
      }
    }),
});

export const grant_revoke: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Take privileges on a database.* or a database.table from a user. Return whether the user has them no longer.",
    "mysql.grant_revoke 'SELECT,INSERT,UPDATE' 'database.*' 'frank' 'localhost'",
  ),
  ...CONNECTED,
  params: GRANT,
  run: ({ grant_option, ...given }, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: false }, async (client) => {
      const grant = isTrue(grant_option) ? `${given.grant}, GRANT OPTION` : given.grant;
      const privileges = privilegesSql(parsePrivileges(given.grant)) + (isTrue(grant_option) ? ", GRANT OPTION" : "");
      const place = placeSql({ ...given, escape: true });
      await client.run((quote) => `REVOKE ${privileges} ON ${place} FROM ${quote(given.user)}@${quote(given.host)}`);
      return !await hasGrant(client, { ...given, grant }, context);
    }),
});
