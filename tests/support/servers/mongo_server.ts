/**
 * A MongoDB server in memory on loopback, for tests and for recording Python Salt's answers, because no distribution
 * here has mongod. It has databases, collections, users, roles and logins, in the shapes that MongoDB documents; it is
 * no mongod, and what only a real one would say is not in it.
 * @module
 */

import { BSON } from "mongodb";
import { MongoCollections } from "./mongo_collections.ts";
import { MongoCommandError } from "./mongo_errors.ts";
import { MECHANISMS, type Scram, scramUser, startScram } from "./mongo_scram.ts";
import { MongoUsers } from "./mongo_users.ts";
import { answerBytes, type MongoDocument, type MongoRequest, readRequests } from "./mongo_wire.ts";

/** What mongod 6.0 says of itself. */
const VERSION = "6.0.14";
const WIRE_VERSION = 17;

/** The commands that a connection may send before a login. */
const BEFORE_LOGIN = "hello isMaster ismaster ping buildInfo saslStart saslContinue endSessions logout".split(" ");
/** The commands that an administrator of users may send. */
const OF_USERS = "createUser updateUser dropUser usersInfo grantRolesToUser revokeRolesFromUser".split(" ");

/** Options of {@linkcode MongoServer}. */
export interface MongoServerOptions {
  /** Whether commands need a login. Then there is the user `admin` with the role `root`, who has this password. */
  readonly password?: string;
  /** Milliseconds that each answer waits. */
  readonly delayMs?: number;
}

interface Session {
  scram?: { readonly login: Scram; readonly database: string };
  user?: { readonly name: string; readonly database: string };
}

/** The server. */
export class MongoServer implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #connections = new Set<Deno.Conn>();
  readonly #users = new MongoUsers();
  readonly #collections = new MongoCollections();
  readonly #serving: Promise<void>;
  readonly #options: MongoServerOptions;
  /** The names of the commands so far, without those of connections. */
  readonly commands: string[] = [];

  constructor(options: MongoServerOptions = {}) {
    this.#options = options;
    if (options.password !== undefined) {
      this.#users.create("admin", { createUser: "admin", pwd: options.password, roles: ["root"] });
    }
    this.#serving = this.#accept();
  }

  /** Where it listens. */
  get port(): number {
    return this.#listener.addr.port;
  }

  async #accept(): Promise<void> {
    const served: Promise<void>[] = [];
    for await (const connection of this.#listener) served.push(this.#serve(connection));
    await Promise.all(served);
  }

  async #serve(connection: Deno.Conn): Promise<void> {
    this.#connections.add(connection);
    const session: Session = {};
    try {
      for await (const request of readRequests(connection)) {
        const answer = this.#answer(request, session);
        if (this.#options.delayMs !== undefined && !BEFORE_LOGIN.includes(nameOf(request))) {
          await new Promise((resolve) => setTimeout(resolve, this.#options.delayMs));
        }
        if (request.wantsAnswer) await writeAll(connection, answerBytes(request, answer));
      }
    } catch (error) {
      // The client, or the end of the test, has closed the connection.
      if (this.#connections.has(connection) && !isClosed(error)) throw error;
    } finally {
      if (this.#connections.delete(connection)) connection.close();
    }
  }

  #answer(request: MongoRequest, session: Session): MongoDocument {
    try {
      return this.#run(request, session);
    } catch (error) {
      if (error instanceof MongoCommandError) return error.answer;
      throw error;
    }
  }

  #run(request: MongoRequest, session: Session): MongoDocument {
    const { document, database: db } = request;
    const name = nameOf(request);
    if (!BEFORE_LOGIN.includes(name)) {
      this.commands.push(name);
      this.#refuseStranger(name, request, session);
    }
    const [users, collections] = [this.#users, this.#collections];
    switch (name) {
      case "hello":
      case "isMaster":
      case "ismaster":
        return this.#hello(document);
      case "ping":
      case "endSessions":
      case "killCursors":
        return { ok: 1 };
      case "logout":
        session.user = undefined;
        return { ok: 1 };
      case "buildInfo":
        return { version: VERSION, versionArray: [6, 0, 14, 0], maxBsonObjectSize: 16_777_216, ok: 1 };
      case "saslStart":
        return this.#startLogin(document, db, session);
      case "saslContinue":
        return continueLogin(document, session);
      case "createUser":
        return users.create(db, document);
      case "updateUser":
        return users.update(db, document);
      case "dropUser":
        return users.drop(db, document);
      case "usersInfo":
        return users.info(db, document);
      case "grantRolesToUser":
        return users.grant(db, document);
      case "revokeRolesFromUser":
        return users.revoke(db, document);
      case "listDatabases":
        return collections.listDatabases();
      case "dropDatabase":
        return collections.dropDatabase(db);
      case "create":
        return collections.create(db, document);
      case "drop":
        return collections.drop(db, document);
      case "listCollections":
        return collections.listCollections(db, document);
      case "insert":
        return collections.insert(db, document);
      case "find":
        return collections.find(db, document);
      case "getMore":
        return collections.getMore(db, document);
      case "update":
        return collections.update(db, document);
      case "delete":
        return collections.delete(db, document);
      default:
        throw new MongoCommandError(59, `no such command: '${name}'`);
    }
  }

  /** Refuses a command that needs a login, or roles that the user does not have. */
  #refuseStranger(name: string, { database: db, document }: MongoRequest, { user }: Session): void {
    if (this.#options.password === undefined) return;
    if (user === undefined) throw new MongoCommandError(13, `command ${name} requires authentication`);
    const needed = OF_USERS.includes(name)
      ? ["userAdmin", "dbOwner", "userAdminAnyDatabase"]
      : ["readWrite", "dbOwner", "readWriteAnyDatabase"];
    const may = this.#users.rolesOf(user.database, user.name).some((role) =>
      role.role === "root" || needed.includes(role.role) && (role.db === db || role.role.endsWith("AnyDatabase"))
    );
    if (may) return;
    const first = document[name];
    const argument = typeof first === "string" ? JSON.stringify(first) : String(first);
    throw new MongoCommandError(13, `not authorized on ${db} to execute command { ${name}: ${argument} }`);
  }

  #hello({ saslSupportedMechs: asked }: MongoDocument): MongoDocument {
    const [, db = "", user = ""] = /^([^.]*)\.(.*)$/s.exec(String(asked)) ?? [];
    return {
      helloOk: true,
      ismaster: true,
      isWritablePrimary: true,
      maxBsonObjectSize: 16_777_216,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
      localTime: new Date(),
      logicalSessionTimeoutMinutes: 30,
      connectionId: 1,
      minWireVersion: 0,
      maxWireVersion: WIRE_VERSION,
      readOnly: false,
      ...this.#users.passwordOf(db, user) !== undefined && { saslSupportedMechs: [...MECHANISMS] },
      ok: 1,
    };
  }

  #startLogin({ mechanism, payload }: MongoDocument, database: string, session: Session): MongoDocument {
    const message = payloadText(payload);
    const login = startScram(String(mechanism), message, this.#users.passwordOf(database, scramUser(message)));
    session.scram = { login, database };
    return { conversationId: 1, done: false, payload: payloadOf(login.first), ok: 1 };
  }

  /** Stops it, and ends its connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    const open = [...this.#connections];
    this.#connections.clear();
    for (const connection of open) connection.close();
    await this.#serving;
  }
}

function nameOf({ document }: MongoRequest): string {
  return Object.keys(document)[0] ?? "";
}

function continueLogin({ payload }: MongoDocument, session: Session): MongoDocument {
  const message = payloadText(payload);
  if (message === "" && session.user !== undefined) {
    return { conversationId: 1, done: true, payload: payloadOf(""), ok: 1 };
  }
  const last = session.scram?.login.finish(message);
  if (session.scram === undefined || last === undefined) throw new MongoCommandError(18, "Authentication failed.");
  session.user = { name: session.scram.login.user, database: session.scram.database };
  return { conversationId: 1, done: false, payload: payloadOf(last), ok: 1 };
}

function payloadText(payload: unknown): string {
  return payload instanceof BSON.Binary ? new TextDecoder().decode(payload.buffer.subarray(0, payload.position)) : "";
}

function payloadOf(text: string): BSON.Binary {
  return new BSON.Binary(new TextEncoder().encode(text));
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

function isClosed(error: unknown): boolean {
  return error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted ||
    error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe;
}
