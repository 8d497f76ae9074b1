/**
 * Scratch instances of database servers on loopback, each in a temporary directory, for tests of returners. A server is
 * started only if its program is on the host.
 * @module
 */

import { freePort } from "#scripts/fleet/free_port.ts";
import { eventually } from "./eventually.ts";

/** A running server. */
export interface DatabaseServer extends AsyncDisposable {
  readonly port: number;
  /** Runs a script of SQL statements. */
  sql(script: string): Promise<void>;
}

/** The user who runs PostgreSQL and MariaDB: both refuse root. */
const NOBODY = { uid: 65534, gid: 65534 };

/** Directories in which programs of servers are. */
const DIRECTORIES = ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/** The path of a program of a server; `undefined`: the host does not have it. */
export function serverProgram(name: string): string | undefined {
  const versions = listed("/usr/lib/postgresql").map((version) => `/usr/lib/postgresql/${version}/bin`);
  return [...versions, ...DIRECTORIES].map((directory) => `${directory}/${name}`).find(isThere);
}

function listed(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort().reverse();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Another user than root, if this process is root's. */
function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  return Deno.uid() === 0 ? NOBODY : {};
}

/** A directory of that user. */
function ownDirectory(): string {
  const directory = Deno.makeTempDirSync({ prefix: "database_" });
  if (Deno.uid() === 0) Deno.chownSync(directory, NOBODY.uid, NOBODY.gid);
  return directory;
}

async function run(program: string, args: readonly string[], stdin?: string): Promise<void> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
    cwd: "/",
    ...unprivileged(),
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(stdin ?? ""));
  await writer.close();
  const { code, stderr } = await child.output();
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${new TextDecoder().decode(stderr)}`);
}

interface Server {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly port: number;
  sql(script: string): Promise<void>;
}

/** PostgreSQL, which can be ended as by a crash. */
export interface PostgresServer extends DatabaseServer {
  /** The file of its certificate, if it has TLS. */
  readonly certificate: string;
  /** The process that has started all others of the server; 0 after a crash. */
  readonly pid: number;
  /** Ends it without its last writes: its next start recovers. */
  crash(): Promise<void>;
  /** Starts it again after a crash. */
  restart(): Promise<void>;
}

interface ServedDatabase extends DatabaseServer {
  readonly pid: number;
  /** Ends its process; its files stay. */
  end(signal: Deno.Signal): Promise<void>;
}

async function serve({ program, args, directory, port, sql }: Server): Promise<ServedDatabase> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    cwd: directory,
    ...unprivileged(),
  }).spawn();
  const end = async (signal: Deno.Signal) => {
    try {
      child.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // It has ended.
    }
    await child.status;
  };
  const stop = async () => {
    await end("SIGTERM");
    Deno.removeSync(directory, { recursive: true });
  };
  try {
    await eventually(async () => {
      using _connection = await Deno.connect({ hostname: "127.0.0.1", port });
      await sql("");
      return true;
    }, { what: `an answer of ${program}`, everyMs: 200 });
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, sql, end, pid: child.pid, [Symbol.asyncDispose]: stop };
}

/**
 * Starts PostgreSQL with the user `salt`, who may do everything and has the password `salt`, and the database `salt`.
 * @param options.auth How connections are admitted.
 * @param options.tls Whether it has TLS, with a certificate of `localhost` that it signed itself.
 * @param options.synced Whether it waits for the disk, as a server does that is not for tests.
 */
export async function startPostgres(
  { auth = "trust", tls = false, synced = false }: {
    readonly auth?: "trust" | "scram-sha-256";
    readonly tls?: boolean;
    readonly synced?: boolean;
  } = {},
): Promise<PostgresServer> {
  const [initdb, postgres, psql] = ["initdb", "postgres", "psql"].map((name) => serverProgram(name) ?? name);
  const directory = ownDirectory(), port = freePort(), data = `${directory}/data`;
  await run(initdb, ["-D", data, "-U", "salt", "--auth-local=trust", `--auth-host=${auth}`, "-E", "UTF8", "--no-sync"]);
  const certificate = `${data}/server.crt`;
  if (tls) {
    const made = ["-keyout", `${data}/server.key`, "-out", certificate, "-subj", "/CN=localhost"];
    const names = ["-addext", "subjectAltName=DNS:localhost"];
    await run("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...made, ...names]);
  }
  const connect = ["-h", directory, "-p", String(port), "-U", "salt", "-v", "ON_ERROR_STOP=1", "-q"];
  const sql = (database: string) => (script: string) => run(psql, [...connect, "-d", database], script);
  const start = () =>
    serve({
      program: postgres,
      args: [
        "-D",
        data,
        "-p",
        String(port),
        "-h",
        "127.0.0.1",
        "-k",
        directory,
        ...synced ? [] : ["-F"],
        ...tls ? ["-c", "ssl=on"] : [],
      ],
      directory,
      port,
      sql: sql("postgres"),
    });
  let server: ServedDatabase | undefined = await start();
  await server.sql("ALTER USER salt PASSWORD 'salt';\nCREATE DATABASE salt;");
  return {
    port,
    certificate,
    get pid() {
      return server?.pid ?? 0;
    },
    sql: sql("salt"),
    async crash() {
      await server?.end("SIGQUIT");
      server = undefined;
    },
    async restart() {
      server = await start();
    },
    async [Symbol.asyncDispose]() {
      if (server !== undefined) return await server[Symbol.asyncDispose]();
      Deno.removeSync(directory, { recursive: true });
    },
  };
}

/** Starts MariaDB with the database `salt` and the user `salt`, whose password is `salt`. */
export async function startMariadb(): Promise<DatabaseServer> {
  const [install, mariadbd, mariadb] = ["mariadb-install-db", "mariadbd", "mariadb"].map((name) =>
    serverProgram(name) ?? name
  );
  const directory = ownDirectory(), port = freePort(), data = `${directory}/data`;
  await run(install, ["--no-defaults", `--datadir=${data}`, "--auth-root-authentication-method=normal"]);
  const socket = `${directory}/sock`;
  const server = await serve({
    program: mariadbd,
    args: [
      "--no-defaults",
      `--datadir=${data}`,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      `--socket=${socket}`,
      `--pid-file=${directory}/pid`,
    ],
    directory,
    port,
    sql: (script) => run(mariadb, ["--no-defaults", `--socket=${socket}`, "-u", "root"], script),
  });
  await server.sql(
    // The anonymous user of this host would come before a user of any host.
    "CREATE DATABASE salt; CREATE USER salt@localhost IDENTIFIED BY 'salt'; GRANT ALL ON salt.* TO salt@localhost;",
  );
  return { ...server, sql: (script) => server.sql(`USE salt;\n${script}`) };
}

/** Starts Redis; `sql` does nothing. */
export async function startRedis(): Promise<DatabaseServer> {
  const directory = ownDirectory(), port = freePort();
  return await serve({
    program: serverProgram("redis-server") ?? "redis-server",
    args: ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory],
    directory,
    port,
    sql: () => Promise.resolve(),
  });
}

/** Starts MongoDB without users; `sql` does nothing. */
export async function startMongod(): Promise<DatabaseServer> {
  const directory = ownDirectory(), port = freePort();
  return await serve({
    program: serverProgram("mongod") ?? "mongod",
    args: ["--port", String(port), "--bind_ip", "127.0.0.1", "--dbpath", directory, "--unixSocketPrefix", directory],
    directory,
    port,
    sql: () => Promise.resolve(),
  });
}

/**
 * The tables of the returners `postgres` and `pgjsonb`, as Salt's documentation has them.
 * @param json The type of values.
 */
export const POSTGRES_TABLES = (json: string): string => `
CREATE TABLE jids (jid varchar(255) NOT NULL PRIMARY KEY, load ${json} NOT NULL);
CREATE TABLE salt_returns (fun varchar(50) NOT NULL, jid varchar(255) NOT NULL, return ${json} NOT NULL,
  id varchar(255) NOT NULL, success varchar(10) NOT NULL, full_ret ${json} NOT NULL, alter_time timestamptz DEFAULT now());
CREATE SEQUENCE seq_salt_events_id;
CREATE TABLE salt_events (id bigint NOT NULL UNIQUE DEFAULT nextval('seq_salt_events_id'), tag varchar(255) NOT NULL,
  data ${json} NOT NULL, alter_time timestamptz DEFAULT now(), master_id varchar(255) NOT NULL);
`;

/** The tables of the returner `mysql`, as Salt's documentation has them. */
export const MYSQL_TABLES = `
CREATE TABLE jids (jid varchar(255) NOT NULL, \`load\` mediumtext NOT NULL, UNIQUE KEY jid (jid)) DEFAULT CHARSET=utf8mb4;
CREATE TABLE salt_returns (fun varchar(50) NOT NULL, jid varchar(255) NOT NULL, \`return\` mediumtext NOT NULL,
  id varchar(255) NOT NULL, success varchar(10) NOT NULL, full_ret mediumtext NOT NULL,
  alter_time timestamp(6) DEFAULT CURRENT_TIMESTAMP(6)) DEFAULT CHARSET=utf8mb4;
CREATE TABLE salt_events (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, tag varchar(255) NOT NULL,
  data mediumtext NOT NULL, alter_time timestamp DEFAULT CURRENT_TIMESTAMP, master_id varchar(255) NOT NULL) DEFAULT CHARSET=utf8mb4;
`;

/** A test with a server; skipped by name where the host does not have its program. */
export function withServer(
  what: string,
  program: string,
  start: () => Promise<DatabaseServer>,
  test: (server: DatabaseServer) => Promise<void>,
): void {
  const missing = serverProgram(program) === undefined;
  Deno.test({
    name: missing ? `${what} (skipped: there is no ${program})` : what,
    ignore: missing,
    async fn() {
      await using server = await start();
      await test(server);
    },
  });
}
