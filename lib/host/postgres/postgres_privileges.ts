/**
 * Privileges of PostgreSQL: their letters in access control lists, the privileges of each kind of object, and queries.
 * Source: Salt 3008.3, `salt/modules/postgres.py`; PostgreSQL's documentation, "Privileges".
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { InvocationError } from "#lib/errors.ts";
import { quoteSql, type Row } from "./psql.ts";
import { compareStrings } from "#lib/values/value.ts";

const LETTERS: Readonly<Record<string, string>> = {
  a: "INSERT",
  C: "CREATE",
  D: "TRUNCATE",
  c: "CONNECT",
  t: "TRIGGER",
  r: "SELECT",
  U: "USAGE",
  T: "TEMPORARY",
  w: "UPDATE",
  X: "EXECUTE",
  x: "REFERENCES",
  d: "DELETE",
  m: "MAINTAIN",
};

/** The privileges of each kind of object, by their letters. */
const KINDS: Readonly<Record<string, string>> = {
  table: "arwdDxtm",
  tablespace: "C",
  language: "U",
  sequence: "rwU",
  schema: "UC",
  database: "CTc",
  function: "X",
};

/** The kinds of objects that have privileges. */
export interface PrivilegeObject {
  readonly name: string;
  /** `table`, …, or `group`, whose members have its privileges. */
  readonly kind: string;
  /** The schema of a table, a sequence or a function. */
  readonly schema: string;
}

/** The words of a list like `select, insert`. */
export function privilegeWords(privileges: string | null): string[] {
  return (privileges ?? "").toUpperCase().split(/\s?,\s?/);
}

/** @throws {InvocationError} If there is no such kind. */
export function checkedKind(kind: string): string {
  const lower = kind.toLowerCase();
  if (lower === "group" || Object.hasOwn(KINDS, lower)) return lower;
  throw new InvocationError(`Invalid object_type: ${lower} provided`);
}

/** @throws {InvocationError} If a kind of objects has no such privileges, or cannot have an option for them. */
export function checkPrivileges(kind: string, privileges: string | null): void {
  if (kind === "group") {
    if (privileges) throw new InvocationError("The privileges option should not be set for object_type group");
    return;
  }
  const words = [...all(kind), "ALL"];
  if (privilegeWords(privileges).every((word) => words.includes(word))) return;
  throw new InvocationError(`Invalid privilege(s): ${privileges ?? ""} provided for object ${kind}`);
}

/** All privileges of a kind of objects. */
function all(kind: string): string[] {
  return [...KINDS[kind]].map((letter) => LETTERS[letter]);
}

/** The privileges of a role on an object, each with its grant option. */
export type Granted = Readonly<Record<string, boolean>>;

/**
 * Whether a role has the requested privileges.
 * @param grantOption Whether it must have all, and may grant them.
 */
export function covers(
  granted: Granted,
  kind: string,
  { words, grantOption }: { words: readonly string[]; grantOption: boolean },
): boolean {
  const names = Object.keys(granted);
  const sameNames = all(kind).toSorted(compareStrings).join() === names.toSorted(compareStrings).join();
  if (grantOption) return sameNames && Object.values(granted).every((may) => may);
  return words.includes("ALL") ? sameNames : words.every((word) => names.includes(word));
}

/** The roles of a group, each with whether it administers it. */
export function parseMembers(rows: readonly Row[]): Map<string, boolean> {
  return new Map(rows.map((row) => [row.rolname, row.admin_option === "t"]));
}

/**
 * The privileges by role of access control lists like `{jim=ar/postgres,=r/postgres}`; an entry without a name is that
 * of `public`.
 */
export function parseLists(rows: readonly Row[]): Map<string, Granted> {
  const entries = rows.flatMap(({ name = "" }) => stripChars(name, "{}").split(","));
  return new Map(entries.flatMap((entry): [string, Granted][] => {
    const [, role, letters] = /^([^=/]*)=([^/]*)/.exec(entry) ?? [];
    return letters === undefined ? [] : [[role || "public", parseLetters(letters)]];
  }));
}

/** The privileges for a text of letters; a star after a letter is the grant option. */
function parseLetters(letters: string): Granted {
  const marks = [...letters.matchAll(/([a-zA-Z])(\*?)/g)];
  return Object.fromEntries(marks.map(([, letter, star]) => [LETTERS[letter] ?? letter, star !== ""]));
}

/** Words with blanks between them; the objects' names come as checked literals. */
function query(...words: readonly string[]): string {
  return words.join(" ");
}

/** The query for the privileges of an object, or the members of a group. */
export function privilegesQuery({ name, kind, schema }: PrivilegeObject): string {
  const [own, space] = [quoteSql(name), quoteSql(schema)];
  const inSchema = ["JOIN pg_catalog.pg_namespace n", "ON n.oid = c.relnamespace", `WHERE nspname = ${space}`];
  switch (kind) {
    case "table":
    case "sequence":
      return query(
        ...["SELECT relacl AS name", "FROM pg_catalog.pg_class c", ...inSchema, `AND relname = ${own}`],
        ...[kind === "table" ? "AND relkind in ('r', 'v')" : "AND relkind = 'S'", "ORDER BY relname"],
      );
    case "schema":
      return query(
        "SELECT nspacl AS name",
        "FROM pg_catalog.pg_namespace",
        `WHERE nspname = ${own}`,
        "ORDER BY nspname",
      );
    case "function":
      return query(
        ...["SELECT proacl AS name", "FROM pg_catalog.pg_proc p", "JOIN pg_catalog.pg_namespace n"],
        ...["ON n.oid = p.pronamespace", `WHERE nspname = ${space}`, `AND p.oid::regprocedure::text = ${own}`],
        "ORDER BY proname, proargtypes",
      );
    case "tablespace":
      return query(
        "SELECT spcacl AS name",
        "FROM pg_catalog.pg_tablespace",
        `WHERE spcname = ${own}`,
        "ORDER BY spcname",
      );
    case "language":
      return query(
        "SELECT lanacl AS name",
        "FROM pg_catalog.pg_language",
        `WHERE lanname = ${own}`,
        "ORDER BY lanname",
      );
    case "database":
      return query(
        "SELECT datacl AS name",
        "FROM pg_catalog.pg_database",
        `WHERE datname = ${own}`,
        "ORDER BY datname",
      );
    default:
      return query(
        ...["SELECT rolname, admin_option", "FROM pg_catalog.pg_auth_members m", "JOIN pg_catalog.pg_roles r"],
        ...["ON m.member=r.oid", "WHERE m.roleid IN", "(SELECT oid", "FROM pg_catalog.pg_roles"],
        ...[`WHERE rolname=${own})`, "ORDER BY rolname"],
      );
  }
}

/** The query for the owner of an object that is not a group. */
export function ownerQuery({ name, kind, schema }: PrivilegeObject): string {
  const [own, space] = [quoteSql(name), quoteSql(schema)];
  const ownerOf = (table: string, letter: string, owner: string, column: string) =>
    query(
      "SELECT rolname AS name",
      `FROM ${table} ${letter}`,
      "JOIN pg_roles r",
      `ON ${letter}.${owner} = r.oid`,
      `WHERE ${column} = ${own}`,
    );
  switch (kind) {
    case "table":
      return query(
        "SELECT tableowner AS name",
        "FROM pg_tables",
        `WHERE schemaname = ${space}`,
        `AND tablename = ${own}`,
      );
    case "sequence":
      return query(
        ...["SELECT rolname AS name", "FROM pg_catalog.pg_class c", "JOIN pg_roles r", "ON c.relowner = r.oid"],
        ...["JOIN pg_catalog.pg_namespace n", "ON n.oid = c.relnamespace", "WHERE relkind='S'", `AND nspname=${space}`],
        `AND relname = ${own}`,
      );
    case "schema":
      return query(
        "SELECT rolname AS name",
        "FROM pg_namespace n",
        "JOIN pg_roles r",
        "ON n.nspowner = r.oid",
        `WHERE nspname = ${own}`,
      );
    case "function":
      return query(
        ...["SELECT rolname AS name", "FROM pg_catalog.pg_proc p", "JOIN pg_catalog.pg_namespace n"],
        ...[
          "ON n.oid = p.pronamespace",
          "JOIN pg_catalog.pg_roles r",
          "ON p.proowner = r.oid",
          `WHERE nspname = ${space}`,
        ],
        ...[`AND p.oid::regprocedure::text = ${own}`, "ORDER BY proname, proargtypes"],
      );
    case "tablespace":
      return ownerOf("pg_tablespace", "t", "spcowner", "spcname");
    case "language":
      return ownerOf("pg_language", "l", "lanowner", "lanname");
    default:
      return ownerOf("pg_database", "d", "datdba", "datname");
  }
}
