/**
 * How names and values become parts of a statement of MySQL: one function for each.
 * Source: mariadb.com/kb, "String Literals", "Identifier Names", "SQL_MODE" (`NO_BACKSLASH_ESCAPES`); Salt 3008.3
 * `salt/modules/mysql.py` (`quote_identifier`).
 * @module
 */

/** A value as a literal of a statement. */
export type QuoteValue = (value: string) => string;

/**
 * The name of a database, table or column.
 * @param isPattern Whether it is the database of a grant for all tables, where an underscore stands for any letter. A
 * per cent sign stays what it is there: any letters.
 */
export function quoteName(name: string, isPattern = false): string {
  const doubled = name.replaceAll("`", "``");
  return `\`${isPattern ? doubled.replaceAll("_", "\\_") : doubled}\``;
}

/**
 * Makes the function for literals of a server.
 * @param hasEscapes Whether a backslash in a literal changes the next letter: not with `NO_BACKSLASH_ESCAPES`.
 */
export function valueQuoting(hasEscapes: boolean): QuoteValue {
  return (value) => {
    const doubled = value.replaceAll("'", "''");
    return `'${hasEscapes ? doubled.replaceAll("\\", "\\\\") : doubled}'`;
  };
}
