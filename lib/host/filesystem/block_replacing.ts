/**
 * `file.blockreplace`: the text between two markers. Works on the text of a file.
 * Source: Salt 3008.3, `salt/modules/file.py` blockreplace.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { CommandError } from "#lib/errors.ts";
import { hasMatch } from "#lib/regex/replace.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { universalLines } from "./contents.ts";

/** The arguments of `file.blockreplace` that determine the new text. */
export interface BlockEdit {
  readonly markerStart: string;
  readonly markerEnd: string;
  readonly content: string;
  /** Where the block goes if it is not there. */
  readonly absent:
    | { readonly put: "nowhere" }
    | { readonly put: "at start" }
    | { readonly put: "at end" }
    | { readonly put: "before match" | "after match"; readonly regex: string };
  /** Whether the end marker begins its own line. */
  readonly appendNewline: boolean;
}

/** The lines before and after, with their ends. */
export interface BlockEdited {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** @throws {CommandError} If there is no block and no place for it, or a block does not end. */
export function replaceBlock(text: string, edit: BlockEdit): BlockEdited {
  const before = universalLines(text);
  const first = before.at(0);
  const end = first?.endsWith("\r\n") ? "\r\n" : "\n";
  const after: string[] = [];
  let inside = false, there = false;
  for (const line of before) {
    if (line.includes(edit.markerStart)) {
      inside = true;
    } else if (inside) {
      const at = line.indexOf(edit.markerEnd);
      if (at >= 0) {
        inside = false;
        there = true;
        after.push(...body(edit, { end, last: line.slice(at) }));
      }
      continue;
    }
    after.push(line);
  }
  if (inside) throw new CommandError("Unterminated marked block. End of file reached before marker_end.");
  return { before, after: there ? after : put(edit, { before, after, end }) };
}

/** The lines between the markers, and that of the end marker. */
function body(edit: BlockEdit, { end, last }: { readonly end: string; readonly last: string }): string[] {
  const marker = rstripChars(last, "\r\n") + end;
  const lines = edit.content.split(/\r\n|\n/);
  const all = lines.slice(0, -1).map((line) => line + end);
  const final = lines[lines.length - 1];
  return edit.appendNewline ? [...all, final + end, marker] : [...all, final + marker];
}

function put(
  edit: BlockEdit,
  { before, after, end }: { readonly before: readonly string[]; readonly after: string[]; readonly end: string },
): string[] {
  const block = [edit.markerStart + end, ...body(edit, { end, last: edit.markerEnd })];
  const missing = new CommandError("Cannot edit marked block. Markers were not found in file.");
  const { absent } = edit;
  if (absent.put === "nowhere") throw missing;
  if (absent.put === "at start") return [...block, ...after];
  if (absent.put === "at end") {
    const last = after.at(-1);
    const ended = last !== undefined && !last.endsWith(end) ? after.with(-1, last + end) : after;
    return [...ended, ...block];
  }
  const regex = pythonRegex(absent.regex, { search: true });
  const match = before.findIndex((line) => hasMatch(regex, line));
  if (match < 0) throw missing;
  return after.toSpliced(absent.put === "after match" ? match + 1 : match, 0, ...block);
}
