/**
 * The comment that says that a file is managed, as `slsutil.banner` makes it.
 * Source: Salt 3008.3, `salt/modules/slsutil.py` banner.
 * @module
 */

import { fillText } from "#lib/text/textwrap.ts";
import { strip } from "#lib/values/python_text.ts";

/** The parts of a banner. */
export interface Banner {
  /** Characters of a line. */
  readonly width: number;
  /** The prefix of each line. */
  readonly commentchar: string;
  /** Its first character draws the border. */
  readonly borderchar: string;
  readonly blockstart: string | null;
  readonly blockend: string | null;
  readonly title: string;
  readonly text: string;
}

/** Python's `str.center`: an odd blank is on the left if the width is odd. */
function center(text: string, width: number): string {
  const room = Math.max(0, width - [...text].length);
  const left = (room >> 1) + (room & width & 1);
  return " ".repeat(left) + text + " ".repeat(room - left);
}

/** The banner; `undefined` if its width leaves no room for text. */
export function bannerText(
  { width, commentchar, borderchar, blockstart, blockend, title, text }: Banner,
): string | undefined {
  const left = commentchar.trimEnd(), right = strip(commentchar);
  const room = width - left.length - right.length - 2;
  if (room <= 0) return undefined;
  const border = commentchar + borderchar.slice(0, 1).repeat(Math.max(0, width - left.length - right.length)) + right;
  const spacer = commentchar + " ".repeat(Math.max(0, width - commentchar.length * 2)) + commentchar;
  const lines = (words: string) => words.trim() === "" ? [] : fillText(words, { width: room, indent: "" }).split("\n");
  const frame = (line: string) => `${left} ${line} ${right}`;
  return [
    ...blockstart === null ? [] : [blockstart],
    border,
    spacer,
    ...lines(title).map((line) => frame(center(line, room))),
    spacer,
    ...lines(text).map((line) => frame(line + " ".repeat(Math.max(0, room - [...line].length)))),
    border,
    ...blockend === null ? [] : [blockend],
  ].join("\n");
}
