/**
 * Connections to PostgreSQL, and what its errors mean for a store: the database is away and may come back, or it
 * refuses, and somebody must do something.
 * @module
 */

import type { Client } from "pg";
import { messageOf, PreflightError, StoreError } from "#lib/errors.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import type { PostgresPlace, SslMode } from "./postgres_options.ts";

/** The database does not answer: what was asked for may be asked again. */
export class DatabaseAwayError extends StoreError {
  override name = "DatabaseAwayError";
}

/** The database or its server refuses this master until somebody changes something. */
export class DatabaseRefusalError extends StoreError {
  override name = "DatabaseRefusalError";
}

/** The server has no TLS. */
class NoTlsError extends DatabaseRefusalError {}

/** The files and the mode of TLS. */
export interface TlsFiles {
  readonly sslmode: SslMode;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Loads the client when it is first needed. */
export function postgresLibrary(): Promise<typeof import("./postgres_library.ts")> {
  return import(new URL("./postgres_library.ts", import.meta.url).href);
}

/** Where the database is, for texts. */
export function databasePlace({ hosts, port, db }: PostgresPlace): string {
  return `${hosts.join(",")}:${port}/${db}`;
}

/**
 * A connection to the first host that takes writes.
 * @param statementMs How long a statement may take; then the connection counts as broken.
 * @param onEnd Called when it breaks between two statements.
 * @throws {DatabaseAwayError} If none does.
 * @throws {DatabaseRefusalError} If one refuses the user, or its certificate is refused.
 */
export async function connectDatabase(
  options: PostgresPlace,
  { statementMs, onEnd }: { readonly statementMs: number; readonly onEnd: () => void },
): Promise<Client> {
  let away: DatabaseAwayError | undefined;
  for (const host of options.hosts) {
    try {
      return await connectHost(host, options, { statementMs, onEnd });
    } catch (error) {
      if (!(error instanceof DatabaseAwayError)) throw error;
      away = error;
    }
  }
  throw away ?? new DatabaseAwayError("postgresql.host names no host", databasePlace(options));
}

type HowToConnect = Parameters<typeof connectDatabase>[1];

async function connectHost(host: string, options: PostgresPlace, how: HowToConnect): Promise<Client> {
  const tls = tlsSettings({
    sslmode: options.sslmode,
    ca: fileText("sslrootcert", options.sslrootcert),
    cert: fileText("sslcert", options.sslcert),
    key: fileText("sslkey", options.sslkey),
  });
  try {
    return await connectOnce(host, options, { ...how, tls });
  } catch (error) {
    // `prefer`: without TLS where the server has none.
    if (options.sslmode !== "prefer" || !(error instanceof NoTlsError)) throw error;
    return await connectOnce(host, options, { ...how, tls: false });
  }
}

async function connectOnce(
  host: string,
  options: PostgresPlace,
  { statementMs, onEnd, tls }: HowToConnect & { readonly tls: TlsSettings | false },
): Promise<Client> {
  const { Client } = await postgresLibrary();
  const client = new Client({
    host,
    port: options.port,
    user: options.user,
    password: passwordOf(options),
    database: options.db,
    ssl: tls,
    connectionTimeoutMillis: options.connectTimeoutMs,
    query_timeout: statementMs,
    application_name: "salt-master",
    keepAlive: true,
  });
  client.on("error", onEnd);
  try {
    await client.connect();
    const { rows } = await client.query<{ readonly readonly: string }>(
      `select current_setting('transaction_read_only') as readonly`,
    );
    if (rows[0]?.readonly !== "off") throw new DatabaseAwayError(`${host} takes no writes`, databasePlace(options));
    return client;
  } catch (error) {
    void client.end().catch(() => {}); // it has failed already
    throw databaseError(error, options);
  }
}

function passwordOf({ pass, passFile }: PostgresPlace): string {
  return passFile === undefined ? pass : (fileText("pass_file", passFile) ?? "").replace(/\r?\n$/, "");
}

function fileText(name: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const text = readTextFileIfExists(path);
  if (text === undefined) throw new DatabaseRefusalError(`postgresql.${name}: there is no file ${path}`, path);
  return text;
}

/** The settings of TLS as the client takes them. */
export interface TlsSettings {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  checkServerIdentity?(): undefined;
}

/** libpq's `sslmode` as settings of the client; `false`: without TLS. */
export function tlsSettings({ sslmode, ca, cert, key }: TlsFiles): TlsSettings | false {
  if (sslmode === "disable") return false;
  return {
    rejectUnauthorized: sslmode.startsWith("verify-"),
    ...ca !== undefined && { ca },
    ...cert !== undefined && { cert },
    ...key !== undefined && { key },
    // `verify-ca` does not compare the host's name.
    ...sslmode === "verify-ca" && { checkServerIdentity: () => undefined },
  };
}

/** What to do about a SQLSTATE that does not go away by itself. */
const ADVICE: Readonly<Record<string, string>> = {
  "28P01": "set postgresql.user and postgresql.pass or pass_file to what the server knows",
  "28000": "let pg_hba.conf of the server admit this user and host, or set postgresql.user",
  "3D000": "create the database, or set postgresql.db to one that is there",
  "42501": "grant the user the right to create in the database, or own its schema",
};

/** Codes of Node and words of rustls for a certificate that is refused. */
const CERTIFICATE = /certificate|CERT_|SELF_SIGNED|UNABLE_TO_VERIFY|UnknownIssuer|NotValidForName/i;

/** SQLSTATE classes and codes that come and go: connection, resources, operator, system, a standby, a deadlock. */
const PASSING = ["08", "53", "57", "58", "25006", "40001", "40P01", "55P03"];

/** What an error of the client means. Errors that are a store's own stay. */
export function databaseError(error: unknown, options: PostgresPlace): StoreError {
  if (error instanceof StoreError) return error;
  // A mistake of this program, or what it refuses itself, is no state of the database.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof PreflightError) throw error;
  const place = databasePlace(options), text = messageOf(error);
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const advice = ADVICE[code];
  if (advice !== undefined) {
    return new DatabaseRefusalError(`PostgreSQL at ${place} refuses: ${text}; ${advice}`, place, { cause: error });
  }
  if (CERTIFICATE.test(`${code} ${text}`)) {
    return new DatabaseRefusalError(
      `The certificate of PostgreSQL at ${place} is refused (${text}); set postgresql.sslrootcert to the authority that signed it, and host to a name in it`,
      place,
      { cause: error },
    );
  }
  if (text.includes("does not support SSL")) {
    return new NoTlsError(
      `PostgreSQL at ${place} has no TLS; switch it on there, or set postgresql.sslmode to prefer or disable`,
      place,
      { cause: error },
    );
  }
  const isState = /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code);
  if (!isState || PASSING.some((passing) => code.startsWith(passing))) {
    return new DatabaseAwayError(`PostgreSQL at ${place} does not answer: ${text}`, place, { cause: error });
  }
  return new StoreError(`PostgreSQL at ${place} refuses a value: ${text}`, place, { cause: error });
}
