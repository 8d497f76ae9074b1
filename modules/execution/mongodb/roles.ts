/**
 * Execution module `mongodb`: the roles of users.
 * Source: Salt 3006.28 `salt/modules/mongodb.py`.
 * @module
 */

import { AUTHDB, MONGO_LOGIN, MONGO_LOGIN_DOC } from "#lib/host/mongodb/login.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { asList, listOrEmpty } from "#lib/values/shape.ts";
import { equals, isMap, map } from "#lib/values/value.ts";
import { NOT_CONNECTED, withMongo } from "./connection.ts";
import { readJson } from "./json_arguments.ts";
import { listedUsers } from "./listed_users.ts";

const PARAMS = { name: p.str(), roles: p.any(), database: p.str(), ...MONGO_LOGIN, ...AUTHDB };

const PARAMS_DOC =
  "\n\nname\n    The user.\n\nroles\n    A list of names, or of maps with `role` and `db`; also as JSON." +
  `\n\ndatabase\n    The database of the user, and of roles that name none.${MONGO_LOGIN_DOC}`;

function examples(fun: string): [string, string] {
  return [
    `mongodb.${fun} johndoe '["readWrite"]' dbname admin adminpwd localhost 27017`,
    `mongodb.${fun} johndoe '[{"role": "readWrite", "db": "dbname" }, {"role": "read", "db": "otherdb"}]' dbname ` +
    "admin adminpwd localhost 27017",
  ];
}

const WRONG_FORMAT = "Roles provided in wrong format";

export const user_roles_exists: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return whether a user has roles; a text: it is not known.${PARAMS_DOC}`,
    ...examples("user_roles_exists"),
  ),
  permissions: "all",
  params: PARAMS,
  async run({ name, roles: given, database, ...login }, context) {
    const roles = readJson(given);
    if ("problem" in roles) return WRONG_FORMAT;
    const users = await listedUsers({ database, ...login }, context);
    if (!Array.isArray(users)) return NOT_CONNECTED;
    const user = users.filter(isMap).find((one) => one.get("user") === name);
    if (user === undefined) return false;
    const has = listOrEmpty(user.get("roles"));
    return asList(roles.value).map((role) => isMap(role) ? role : map({ role, db: database }))
      .every((role) => has.some((one) => equals(one, role)));
  },
});

/** A function that gives roles, or takes them. */
function rolesFunction(
  fun: string,
  { doc, command, what }: {
    readonly doc: string;
    readonly command: string;
    readonly what: (name: string) => string;
  },
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${doc}${PARAMS_DOC}`, ...examples(fun)),
    permissions: "all",
    params: PARAMS,
    run({ name, roles: given, database, ...login }, context) {
      const roles = readJson(given);
      return withMongo(login, context, {
        what: what(name),
        async use(connection) {
          if ("problem" in roles) return WRONG_FORMAT;
          await connection.run(database, { [command]: name, roles: roles.value });
          return true;
        },
      });
    },
  });
}

export const user_grant_roles: ModuleFunction<JobContext> = rolesFunction("user_grant_roles", {
  doc: "Give a user roles. Return True, or the text of an error.",
  command: "grantRolesToUser",
  what: (name) => `Granting roles to user ${name}`,
});

export const user_revoke_roles: ModuleFunction<JobContext> = rolesFunction("user_revoke_roles", {
  doc: "Take roles from a user. Return True, or the text of an error.",
  command: "revokeRolesFromUser",
  what: (name) => `Revoking roles from user ${name}`,
});
