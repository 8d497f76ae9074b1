/**
 * A script of SQL as its statements, without comments.
 * Source: mariadb.com/kb, "Comment Syntax", "String Literals".
 * @module
 */

/**
 * A text in quotes, a comment, or what ends a statement. A comment that begins with `!` or `M!` is a part of its
 * statement.
 */
const PIECES =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`]|``)*`|(\/\*(?!M?!)[\s\S]*?\*\/|#[^\n]*|--(?=\s|$)[^\n]*)|(;)/g;

/** The statements of a script, in their order, each with its semicolon if it has one. */
export function scriptStatements(script: string): string[] {
  const statements: string[] = [];
  let statement = "", at = 0;
  const finish = () => {
    const text = statement.trim();
    if (text !== "" && text !== ";") statements.push(text);
    statement = "";
  };
  for (const piece of script.matchAll(PIECES)) {
    const [text, comment, end] = piece;
    statement += script.slice(at, piece.index) + (comment === undefined ? text : " ");
    at = piece.index + text.length;
    if (end !== undefined) finish();
  }
  statement += script.slice(at);
  finish();
  return statements;
}
