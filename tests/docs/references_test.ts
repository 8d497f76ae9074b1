/**
 * Every reference of sources and pages to a page, or to a heading of one, resolves. A heading is cited in one form:
 * in comments `docs/security.md "Limits"`, in pages by a link to it.
 * @module
 */

import { sourceFiles } from "#scripts/source_files.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname);
/** A text, and the name of its file for messages. */
interface Text {
  readonly file: string;
  readonly text: string;
}

function read(file: string): Text {
  return { file, text: Deno.readTextFileSync(`${ROOT}${file}`) };
}

const PAGES = [
  ...["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "tests/corpus/README.md"],
  ...sourceFiles(`${ROOT}docs`, ".md").map((name) => `docs/${name}`),
].map(read);
const SOURCES = [
  ...["master.ts", "minion.ts", "salt.ts"],
  ...sourceFiles(ROOT, ".ts", { below: ["lib", "modules", "scripts", "tests"] }),
  ...sourceFiles(ROOT, ".py", { below: ["tests"] }),
].map(read);
const COMMENTS = SOURCES.map(({ file, text }) => ({ file, text: commentsOf(file, text) }));

/** The comments of a source; a comment of several lines is one line. */
function commentsOf(file: string, text: string): string {
  if (file.endsWith(".py")) {
    const comments = text.match(/"""[^]*?"""|^\s*#.*(?:\n\s*#.*)*/gm) ?? [];
    return comments.map((comment) => comment.replace(/\n\s*#?\s*/g, " ")).join("\n");
  }
  const comments = text.match(/^\s*\/\*[^]*?\*\/|(?<=^|\s)\/\/ .*(?:\n\s*\/\/ .*)*/gm) ?? [];
  return comments.map((comment) => comment.replace(/\n\s*(?:\*|\/\/)? ?/g, " ")).join("\n");
}

/** A page without its code: fences and spans. */
function prose(text: string): string {
  return text.replace(/^ *(```+)[^]*?^ *\1$/gm, "").replace(/(`+)[^`][^]*?\1/g, "");
}

/** The headings of a page, as they are read, and their anchors, as GitHub makes them. */
function headingsOf(text: string): { readonly names: Set<string>; readonly anchors: Set<string> } {
  const names = new Set<string>(), anchors = new Set<string>();
  for (const [, heading] of text.replace(/^ *(```+)[^]*?^ *\1$/gm, "").matchAll(/^#{1,6} (.+)$/gm)) {
    const name = heading.replaceAll("`", "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
    names.add(name);
    const anchor = name.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
    for (let i = 0;; i++) {
      const numbered = i === 0 ? anchor : `${anchor}-${i}`;
      if (anchors.has(numbered)) continue;
      anchors.add(numbered);
      break;
    }
  }
  return { names, anchors };
}

const HEADINGS = new Map(PAGES.map(({ file, text }) => [file, headingsOf(text)]));

/** What is found in texts and not as it should be, each with its file. */
function faults(texts: readonly Text[], pattern: RegExp, isGood: (match: RegExpExecArray, file: string) => boolean) {
  let count = 0;
  const found = texts.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].filter((match) => (count++, !isGood(match, file))).map(([part]) => `${file}: ${part}`)
  );
  return { count, found };
}

Deno.test("every link of a page to a heading resolves", () => {
  const links = /\]\((?!https?:)([^)#\s]*)#([^)\s]*)\)/g;
  const { count, found } = faults(
    PAGES.map(({ file, text }) => ({ file, text: prose(text) })),
    links,
    (match, file) => {
      const [, path, anchor] = match;
      const target = path === "" ? file : new URL(path, `file:///${file}`).pathname.slice(1);
      return HEADINGS.get(target)?.anchors.has(anchor) ?? false;
    },
  );
  assert(count > 50);
  assertEquals(found, []);
});

Deno.test("every heading of a page that a comment or a page cites is there", () => {
  const cited = /\b(docs\/[\w-]+\.md) "([^"]+)"/g;
  const { count, found } = faults(
    [...COMMENTS, ...PAGES],
    cited,
    ([, page, heading]) => HEADINGS.get(page)?.names.has(heading) ?? false,
  );
  assert(count > 40);
  assertEquals(found, []);
});

Deno.test("a heading of a page is cited in one form", () => {
  const inComments = /[\w-]+\.md(?:,| section|, section)s? (?:"|\d)[^.;]*|(?<!docs\/)\b[\w-]+\.md "[^"]*"/g;
  const inPages = /\]\([\w/-]+\.md\),? (?:section )?"[^"]*"/g;
  assertEquals(faults(COMMENTS, inComments, () => false).found, []);
  assertEquals(faults(PAGES, inPages, () => false).found, []);
});

Deno.test("comments and pages name only pages that are in the repository", () => {
  const known = new Set(PAGES.flatMap(({ file }) => [file, file.slice(file.lastIndexOf("/") + 1)]));
  const named = /(?<![\w./-])(?:[\w.-]+\/)*[\w-]+\.md\b/g;
  const isUrl = (path: string) => /^[\w-]+\.(?:com|org|io)\//.test(path);
  const { count, found } = faults(
    [...COMMENTS, ...PAGES.map(({ file, text }) => ({ file, text: prose(text) }))],
    named,
    ([path]) => isUrl(path) || known.has(path.replace(/^(?:\.\.?\/)+/, "")) || known.has(`tests/${path}`),
  );
  assert(count > 100);
  assertEquals(found, []);
  const inTexts = faults(SOURCES, /\bdocs\/[\w-]+\.md\b/g, ([path]) => known.has(path));
  assertEquals(inTexts.found, []);
});

Deno.test("a numbered section that a comment cites is one of a published standard", () => {
  const standard = /RFC \d|FIPS|NIST|Unicode Standard|www\.w3\.org|X\.690|POSIX|manual page/i;
  const { count, found } = faults(
    COMMENTS,
    /\bsections? \d[\d.]*/gi,
    ({ index, input }) => standard.test(input.slice(Math.max(0, index - 90), index)),
  );
  assert(count > 10);
  assertEquals(found, []);
});
