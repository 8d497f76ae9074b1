import { wrapProse } from "#scripts/reference/wrap_prose.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

Deno.test("wrapProse() fills paragraphs to 100 columns and breaks no code span", () => {
  const words = "word ".repeat(18); // 90 columns
  const page = `# A heading\n\n${words}and \`a span of code\` after it\nand a line.\n\nAnother one.\n`;
  assertEquals(
    wrapProse(page),
    `# A heading\n\n${words}and\n\`a span of code\` after it and a line.\n\nAnother one.\n`,
  );
});

Deno.test("wrapProse() leaves tables, headings and code as they are", () => {
  const long = "word ".repeat(40).trim();
  const page = `# ${long}\n\n| ${long} |\n| --- |\n| ${long} |\n\n\`\`\`sh\n${long}\n\n${long}\n\`\`\`\n`;
  assert(page.split("\n").some((line) => line.length > 100));
  assertEquals(wrapProse(page), page);
});
