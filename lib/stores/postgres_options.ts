/**
 * The options of `postgresql`: how to reach it.
 * @module
 */

import { PreflightError } from "#lib/errors.ts";
import { isMap, str, toNumber, type Value } from "#lib/values/value.ts";
import { checkFields, type StoreOpts } from "./store_options.ts";

/** How to reach PostgreSQL. */
export interface PostgresPlace {
  /** The first that takes writes is used. */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly db: string;
  readonly user: string;
  readonly pass: string;
  /** A file with the password. */
  readonly passFile: string | undefined;
  readonly sslmode: SslMode;
  readonly sslrootcert: string | undefined;
  readonly sslcert: string | undefined;
  readonly sslkey: string | undefined;
  readonly schema: string;
  readonly connectTimeoutMs: number;
}

/** libpq's words for when TLS is used, and what is checked. */
export const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;

/** One of libpq's words. */
export type SslMode = typeof SSL_MODES[number];

const NAMES = [
  "host",
  "port",
  "db",
  "user",
  "pass",
  "pass_file",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "schema",
  "connect_timeout",
];

/** A name that needs no quotes in SQL. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * The options of `postgresql`.
 * @throws {PreflightError} If one cannot be used.
 */
export function postgresOptions({ postgresql }: Pick<StoreOpts, "postgresql">): PostgresPlace {
  checkFields("postgresql", postgresql, NAMES);
  const text = (name: string) => {
    const value = postgresql.get(name) ?? null;
    if (value !== null && typeof value !== "string") throw refused(name, "a text", value);
    return value ?? undefined;
  };
  const number = (name: string, otherwise: number) => {
    const value = toNumber(postgresql.get(name) ?? otherwise);
    if (value === undefined || value <= 0) throw refused(name, "a number above 0", postgresql.get(name) ?? null);
    return value;
  };
  const host = postgresql.get("host") ?? "localhost";
  const hosts = (Array.isArray(host) ? host : [host]).map((one) => {
    if (typeof one !== "string" || one === "") throw refused("host", "a name or a list of names", host);
    return one;
  });
  const sslmode = SSL_MODES.find((mode) => mode === (text("sslmode") ?? "prefer"));
  if (sslmode === undefined) {
    throw refused("sslmode", `one of ${SSL_MODES.join(", ")}`, postgresql.get("sslmode") ?? null);
  }
  const schema = text("schema") ?? "salt";
  if (!SCHEMA_NAME.test(schema)) throw refused("schema", "a name of small letters, digits and _", schema);
  return {
    hosts,
    port: number("port", 5432),
    db: text("db") ?? "salt",
    user: text("user") ?? "salt",
    pass: text("pass") ?? "",
    passFile: text("pass_file"),
    sslmode,
    sslrootcert: text("sslrootcert"),
    sslcert: text("sslcert"),
    sslkey: text("sslkey"),
    schema,
    connectTimeoutMs: number("connect_timeout", 5) * 1000,
  };
}

function refused(name: string, wanted: string, value: Value): PreflightError {
  const shown = isMap(value) || Array.isArray(value) ? "something else" : str(value);
  return new PreflightError(`postgresql.${name} must be ${wanted}, and is ${shown}`);
}
