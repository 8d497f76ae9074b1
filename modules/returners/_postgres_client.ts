/**
 * A connection to PostgreSQL for returners.
 * @module
 */

import type { Client } from "pg";
import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { ReturnerOptions } from "#lib/returners/options.ts";
import { numbered, type SqlClient, textRow } from "#lib/returners/sql_returner.ts";
import { postgresLibrary, type TlsSettings, tlsSettings } from "#lib/stores/postgres_connection.ts";
import { SSL_MODES } from "#lib/stores/postgres_options.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { InvocationError, UnstorableError } from "#lib/errors.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Seconds until a connection is given up, unless an option says otherwise. */
const CONNECT_S = 10;
/** Milliseconds of one statement. */
const STATEMENT_MS = 60_000;

/** Classes of SQLSTATE that say that the values are wrong: data exception, integrity, program limit. */
const CONTENT_CLASSES = ["22", "23", "54"];

/** The SQLSTATE of a connection that pg_hba.conf does not admit. */
const NOT_ADMITTED = "28000";

/** How a returner names its options. */
export interface PostgresOptions {
  readonly names: readonly string[];
  /** `pass`, or the older name. */
  readonly password: "pass" | "passwd";
  /** Whether it has options for TLS. */
  readonly tls: boolean;
}

/** Connects with the options of a returner. */
export async function connectPostgres(
  { names, password, tls }: PostgresOptions,
  context: ReturnerContext,
  ret?: ValueMap,
): Promise<SqlClient> {
  const options = new ReturnerOptions(names, context, ret);
  const ways = waysToConnect(tls ? options : undefined);
  const library = await postgresLibrary();
  const settings = {
    host: options.text("host") ?? "localhost",
    port: options.integer("port") ?? 5432,
    user: options.text("user") ?? "salt",
    password: options.text(password) ?? "salt",
    database: options.text("db") ?? "salt",
    connectionTimeoutMillis: (options.integer("connect_timeout") ?? CONNECT_S) * 1000,
    statement_timeout: STATEMENT_MS,
  };
  const connect = async ([ssl, ...others]: readonly (TlsSettings | false)[]): Promise<Client> => {
    const client = new library.Client({ ...settings, ssl });
    // An error between two statements is that of the next one.
    client.on("error", (error: Error) => context.log("debug", `The connection to PostgreSQL failed: ${error.message}`));
    try {
      await client.connect();
      return client;
    } catch (error) {
      void client.end().catch(() => {}); // it has failed already
      // What the server's pg_hba.conf does not admit in this way, it may admit in the other one.
      const isRefused = error instanceof library.DatabaseError && error.code === NOT_ADMITTED;
      const hasNoTls = ssl !== false && !(error instanceof library.DatabaseError);
      if (others.length > 0 && (isRefused || hasNoTls)) return await connect(others);
      throw error;
    }
  };
  const client = await connect(ways);
  return {
    async query(statement, parameters = []) {
      // PostgreSQL has no text with a NUL.
      const values = parameters.map((value) => typeof value === "string" ? withoutNul(value) : value);
      try {
        const { rows } = await client.query<object>(numbered(statement), values);
        return rows.map(textRow);
      } catch (error) {
        if (error instanceof library.DatabaseError && CONTENT_CLASSES.includes(error.code?.slice(0, 2) ?? "")) {
          throw new UnstorableError(error.message, { cause: error });
        }
        throw error;
      }
    },
    close: () => client.end(),
  };
}

/** U+FFFD stands for NUL, in a text and in the JSON of a text. */
function withoutNul(text: string): string {
  return text.replaceAll("\0", "\ufffd").replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1\ufffd");
}

/** The ways to connect by libpq's `sslmode` and files, in their order; without options those of its default. */
function waysToConnect(options: ReturnerOptions | undefined): (TlsSettings | false)[] {
  const mode = options?.text("sslmode") ?? "prefer";
  const [ca, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) => options && fileText(options, name));
  if (mode === "allow") return [false, tlsSettings({ sslmode: "prefer", ca, cert, key })];
  const sslmode = SSL_MODES.find((known) => known === mode);
  if (sslmode === undefined) {
    throw new InvocationError(`sslmode is none of disable, allow, prefer, require, verify-ca, verify-full: ${mode}`);
  }
  const settings = tlsSettings({ sslmode, ca, cert, key });
  return mode === "prefer" ? [settings, false] : [settings];
}

function fileText(options: ReturnerOptions, name: string): string | undefined {
  const path = options.text(name);
  if (path === undefined) return undefined;
  const text = readTextFileIfExists(path);
  if (text === undefined) throw new InvocationError(`${name}: there is no file ${path}`);
  return text;
}
