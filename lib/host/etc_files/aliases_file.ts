/**
 * The file of mail aliases as Salt reads and writes it: a line is a name, the destination of its mail, and a comment.
 * Source: Salt 3008.3, `salt/modules/aliases.py`; aliases(5).
 * @module
 */

/** A line of the file. */
export interface AliasLine {
  /** The name; `undefined` for a line that is a comment alone. Salt takes an empty line for a name as well. */
  readonly alias: string | undefined;
  /** Where mail goes; empty for a line without a colon. */
  readonly target: string;
  /** What comes after it, its blanks included. */
  readonly comment: string;
}

const LINE = /^([^:#]*)\s*:?\s*([^#]*?)(\s+#[^\n]*|(?=\n?$))/;

/** The lines of a file's text. */
export function parseAliases(text: string): AliasLine[] {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => {
    const match = LINE.exec(line);
    if (match === null) return { alias: undefined, target: "", comment: line.trim() };
    return { alias: match[1], target: match[2], comment: match[3] };
  });
}

/** The text of a file. A name without a target becomes its comment, as in Salt. */
export function formatAliases(lines: readonly AliasLine[]): string {
  return lines.map(({ alias, target, comment }) =>
    alias !== undefined && alias !== "" && target !== "" ? `${alias}: ${target}${comment}\n` : `${comment}\n`
  ).join("");
}
