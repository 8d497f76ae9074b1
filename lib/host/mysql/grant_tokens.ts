/**
 * Takes a GRANT statement, as a server shows it, to pieces.
 * Source: Salt 3008.3 `salt/modules/mysql.py` (`_grant_to_tokens`); docs.python.org, "shlex", the class `shlex` in its
 * older mode.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";

/** A grant's pieces. User and host have no quotes; the database is as it is written. */
export interface GrantTokens {
  readonly user: string;
  readonly host: string;
  readonly grant: readonly string[];
  readonly database: string;
}

/** A text in quotes, a word, which may have quotes in it, or a sign. */
const PIECES = /'[^']*'|`[^`]*`|[A-Za-z0-9_"][A-Za-z0-9_"'`]*|[^ \t\r\n]/g;

/** The pieces of a GRANT statement. */
export function grantTokens(statement: string): GrantTokens {
  const pieces = (statement.match(PIECES) ?? []).slice(1);
  const on = pieces.indexOf("ON");
  const grant = privilegeNames(on < 0 ? pieces : pieces.slice(0, on));
  let database = "", i = on < 0 ? pieces.length : on + 1;
  // A database's name may have TO as a part; what follows the point is a table.
  for (let isTable = false; i < pieces.length && !(isTable && pieces[i] === "TO"); i++) {
    database += pieces[i];
    isTable ||= pieces[i + 1] === ".";
  }
  const at = pieces.indexOf("@", i);
  const user = at < 0 ? pieces.slice(i + 1) : pieces.slice(i + 1, at);
  return { user: unquoted(user.join("")), host: at < 0 ? "" : unquoted(pieces[at + 1] ?? ""), grant, database };
}

function unquoted(text: string): string {
  return stripChars(text, "'");
}

/** The names before `ON`: words of a name are joined, and a column follows its privilege. */
function privilegeNames(pieces: readonly string[]): string[] {
  const names: string[] = [];
  let words: string[] = [], current = "", isColumn = false;
  for (const [i, piece] of pieces.entries()) {
    if (piece === ",") continue;
    if (piece === "(" || piece === ")") {
      isColumn = piece === "(";
      continue;
    }
    const next = pieces[i + 1];
    const isLast = next === undefined || next === "," || next === "(" || next === ")";
    if (!isLast || words.length > 0) {
      words.push(piece);
      if (!isLast) continue;
      names.push(words.join(" "));
      words = [];
      continue;
    }
    if (!isColumn) current = piece;
    names.push(isColumn ? `${current}.${piece}` : piece);
  }
  return names;
}
