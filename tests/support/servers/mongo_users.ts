/**
 * Users and roles of a MongoDB server in memory: the commands that make, find, change and remove them.
 * Source: MongoDB's manual, "User Management Commands" and "Built-In Roles".
 * @module
 */

import { BSON } from "mongodb";
import { MongoCommandError } from "./mongo_errors.ts";
import { MECHANISMS } from "./mongo_scram.ts";
import type { MongoDocument } from "./mongo_wire.ts";

/** A role of a database. */
export interface MongoRole {
  readonly role: string;
  readonly db: string;
}

interface User {
  readonly user: string;
  readonly db: string;
  readonly userId: BSON.UUID;
  password: string;
  roles: MongoRole[];
}

const OF_ALL_DATABASES = "read readWrite dbAdmin dbOwner userAdmin".split(" ");
const OF_ADMIN = ("root clusterAdmin clusterManager clusterMonitor hostManager backup restore readAnyDatabase " +
  "readWriteAnyDatabase userAdminAnyDatabase dbAdminAnyDatabase").split(" ");

/** All users of a server. */
export class MongoUsers {
  readonly #users = new Map<string, User>();

  /** The password of a user. */
  passwordOf(db: string, user: string): string | undefined {
    return this.#users.get(`${db}.${user}`)?.password;
  }

  /** The roles of a user. */
  rolesOf(db: string, user: string): readonly MongoRole[] {
    return this.#users.get(`${db}.${user}`)?.roles ?? [];
  }

  /** `createUser`. */
  create(db: string, command: MongoDocument): MongoDocument {
    const [user, password] = [String(command.createUser), command.pwd];
    if (user === "") throw new MongoCommandError(2, "User document needs 'user' field to be non-empty");
    if (typeof password !== "string" || password === "") {
      throw new MongoCommandError(2, "Password cannot be empty");
    }
    if (this.#users.has(`${db}.${user}`)) throw new MongoCommandError(51003, `User "${user}@${db}" already exists`);
    const roles = rolesIn(db, command.roles);
    this.#users.set(`${db}.${user}`, { user, db, password, roles, userId: new BSON.UUID() });
    return { ok: 1 };
  }

  /** `updateUser`. */
  update(db: string, command: MongoDocument): MongoDocument {
    const user = this.#need(db, String(command.updateUser));
    if (typeof command.pwd === "string") user.password = command.pwd;
    if (command.roles !== undefined) user.roles = rolesIn(db, command.roles);
    return { ok: 1 };
  }

  /** `dropUser`. */
  drop(db: string, command: MongoDocument): MongoDocument {
    const name = String(command.dropUser);
    if (!this.#users.delete(`${db}.${name}`)) throw new MongoCommandError(11, `User '${name}@${db}' not found`);
    return { ok: 1 };
  }

  /** `usersInfo`: one user, or all of the database. */
  info(db: string, command: MongoDocument): MongoDocument {
    const wanted = command.usersInfo;
    const users = [...this.#users.values()].filter((one) =>
      one.db === db && (typeof wanted !== "string" || one.user === wanted)
    );
    const shown = users.map(({ user, userId, roles }) => ({
      _id: `${db}.${user}`,
      userId,
      user,
      db,
      roles,
      mechanisms: [...MECHANISMS],
    }));
    return { users: shown, ok: 1 };
  }

  /** `grantRolesToUser`. */
  grant(db: string, command: MongoDocument): MongoDocument {
    const user = this.#need(db, String(command.grantRolesToUser));
    const roles = rolesIn(db, command.roles);
    if (roles.length === 0) {
      throw new MongoCommandError(2, 'grantRolesToUser command requires a non-empty "roles" array');
    }
    user.roles = [...user.roles.filter((one) => !roles.some(isSame(one))), ...roles];
    return { ok: 1 };
  }

  /** `revokeRolesFromUser`. */
  revoke(db: string, command: MongoDocument): MongoDocument {
    const user = this.#need(db, String(command.revokeRolesFromUser));
    const roles = rolesIn(db, command.roles);
    if (roles.length === 0) {
      throw new MongoCommandError(2, 'revokeRolesFromUser command requires a non-empty "roles" array');
    }
    user.roles = user.roles.filter((one) => !roles.some(isSame(one)));
    return { ok: 1 };
  }

  #need(db: string, name: string): User {
    const user = this.#users.get(`${db}.${name}`);
    if (user === undefined) throw new MongoCommandError(11, `Could not find user "${name}" for db "${db}"`);
    return user;
  }
}

function isSame(one: MongoRole): (other: MongoRole) => boolean {
  return (other) => one.role === other.role && one.db === other.db;
}

/** The roles of a command: names of the database's, or documents. */
function rolesIn(database: string, given: unknown): MongoRole[] {
  if (!Array.isArray(given)) throw new MongoCommandError(2, '"roles" had the wrong type. Expected array');
  return given.map((one: unknown) => {
    const isDocument = typeof one === "object" && one !== null;
    const [role, db] = isDocument ? [Reflect.get(one, "role"), Reflect.get(one, "db")] : [one, database];
    if (typeof role !== "string" || typeof db !== "string") {
      throw new MongoCommandError(2, "Role names must be either strings or objects");
    }
    if (!OF_ALL_DATABASES.includes(role) && !(db === "admin" && OF_ADMIN.includes(role))) {
      throw new MongoCommandError(31, `Could not find role: ${role}@${db}`);
    }
    return { role, db };
  });
}
