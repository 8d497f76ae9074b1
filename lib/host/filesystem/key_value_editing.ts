/**
 * Lines of a key and a value, such as `PermitRootLogin no`, edited in the text of a file.
 * Source: Salt 3008.3 `salt/states/file.py` keyvalue.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { str, typeName, type Value } from "#lib/values/value.ts";
import { strip } from "#lib/values/python_text.ts";
import { universalLines } from "./contents.ts";
import { withoutLeading } from "./text_replacing.ts";

/** The parameters of an edit. */
export interface KeyValueEdit {
  readonly values: ReadonlyMap<string, Value>;
  /** What is between a key and its value. */
  readonly separator: string;
  /** Number of lines of a key that are kept, from the first; below 0: all. */
  readonly count: number;
  /** Characters that are removed from the beginning of a line before it is compared; `null`: white space. */
  readonly uncomment: string | null;
  readonly keyIgnoreCase: boolean;
  readonly valueIgnoreCase: boolean;
  /** Where missing keys are added. */
  readonly missing: "at end" | "at start" | "nowhere";
  /** Whether lines of other keys are taken out. */
  readonly prune: boolean;
}

/** The result of an edit. */
export interface EditedKeyValues {
  readonly text: string;
  /** The removed (`- `) and added (`+ `) lines. */
  readonly diff: readonly string[];
  /** How many lines were edited, and how many taken out. */
  readonly changed: number;
  readonly deleted: number;
}

/** A line, and its text for comparisons. */
interface Line {
  readonly text: string;
  readonly tested: string;
  readonly key: string;
  readonly value: string;
  readonly separated: boolean;
  readonly uncommented: boolean;
}

/**
 * Edits `text`; a line that is edited ends with `\n`.
 * @throws {CommandError} If the separator is empty.
 */
export function editKeyValues(text: string, edit: KeyValueEdit): EditedKeyValues {
  if (edit.separator === "") throw new CommandError("empty separator");
  const left = new Map([...edit.values.keys()].map((key) => [key, edit.count]));
  const diff: string[] = [], content: string[] = [], pruned: string[] = [];
  let changed = 0;
  for (const raw of universalLines(text)) {
    const line = lookAt(raw, edit);
    if (
      edit.prune && ![...edit.values.keys()].some((key) => line.tested.startsWith(foldCase(key, edit.keyIgnoreCase)))
    ) {
      pruned.push(line.text);
      continue;
    }
    const edited = editLine(line, { edit, left });
    changed += edited.changed;
    diff.push(...edited.diff);
    content.push(edited.text);
  }
  const added = [...edit.values].filter(([key]) => (left.get(key) ?? 0) > 0)
    .map(([key, value]) => `${key}${edit.separator}${str(value)}\n`);
  if (edit.missing !== "nowhere" && added.length > 0) {
    changed += added.length;
    if (edit.missing === "at end") {
      diff.push("- <EOF>\n", ...added.map((line) => `+ ${line}`), "+ <EOF>\n");
      content.push(...added);
    } else {
      diff.unshift("  <SOF>\n", ...added.toReversed().map((line) => `+ ${line}`));
      content.unshift(...added.toReversed());
    }
  }
  // Python's `insert(1, …)` puts the first line of an empty list at its start.
  for (const line of pruned) diff.splice(1, 0, `- ${line}`);
  return { text: content.join(""), diff, changed, deleted: pruned.length };
}

function foldCase(text: string, ignore: boolean): string {
  return ignore ? text.toLowerCase() : text;
}

function lookAt(text: string, { uncomment, separator, keyIgnoreCase }: KeyValueEdit): Line {
  const bare = uncomment === null ? text.trimStart() : withoutLeading(text, uncomment);
  const at = bare.indexOf(separator);
  return {
    text,
    tested: foldCase(bare, keyIgnoreCase),
    key: at < 0 ? bare : bare.slice(0, at),
    value: at < 0 ? "" : bare.slice(at + separator.length),
    separated: at >= 0,
    uncommented: bare.length < text.length,
  };
}

interface Editing {
  readonly edit: KeyValueEdit;
  /** Number of lines of each key that are still kept. */
  readonly left: Map<string, number>;
}

/** Edits a line: looks for each key in turn. */
function editLine(line: Line, { edit, left }: Editing): Omit<EditedKeyValues, "deleted"> {
  const diff: string[] = [];
  let { text, value } = line, changed = 0;
  for (const [key, wanted] of edit.values) {
    const { keyIgnoreCase, valueIgnoreCase } = edit;
    if (!line.separated || foldCase(line.key, keyIgnoreCase) !== foldCase(key, keyIgnoreCase)) continue;
    const count = left.get(key) ?? 0;
    value = foldCase(strip(value), valueIgnoreCase);
    const equal = value === foldCase(strip(str(wanted)), valueIgnoreCase);
    // A comment becomes a line while more lines of its key are wanted; a surplus line is removed.
    if (line.uncommented ? count > 0 : !equal || count === 0) {
      changed++;
      diff.push(`- ${text}`);
      text = count === 0 ? "" : `${line.key}${edit.separator}${str(wanted)}\n`;
      if (count !== 0) {
        const comment = typeof wanted === "string" ? text : `${text.trimEnd()} (from ${typeName(wanted)} type)\n`;
        diff.push(`+ ${comment}`);
      }
    }
    if (count > 0) left.set(key, count - 1);
  }
  return { text, diff, changed };
}
