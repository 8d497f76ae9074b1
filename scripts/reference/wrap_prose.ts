/**
 * Wraps the paragraphs of a generated page. Tables, headings and code blocks stay as they are.
 * @module
 */

const COLUMNS = 100;

/** The page with its paragraphs filled to 100 columns; a code span is not broken. */
export function wrapProse(page: string): string {
  const blocks = page.split(/(^```[^]*?^```$|^[|#].*$|\n{2,})/m);
  return blocks.map((block, i) => i % 2 === 0 && block.trim() !== "" ? fill(block) : block).join("");
}

function fill(paragraph: string): string {
  const [before] = /^\n*/.exec(paragraph) ?? [""];
  const [after] = /\n*$/.exec(paragraph) ?? [""];
  const lines = [""];
  for (const [word] of paragraph.matchAll(/(?:`[^`]*`|\S)+/g)) {
    const line = lines.length - 1;
    if (lines[line] === "") lines[line] = word;
    else if (lines[line].length + 1 + word.length <= COLUMNS) lines[line] += ` ${word}`;
    else lines.push(word);
  }
  return `${before}${lines.join("\n")}${after}`;
}
