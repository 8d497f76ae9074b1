/**
 * docs/recipes.md: its recipes are followed word by word in a copy of the tree. The files are written, the lines are
 * put beside those that are there, and the command in which each recipe ends is run.
 * @module
 */

import { usablePython } from "#tests/interop/python_salt.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** A block of code. */
interface Block {
  readonly kind: "ts" | "diff" | "sh";
  /** The file that it is about, from the root of the tree; empty for commands. */
  readonly path: string;
  readonly text: string;
}

/** One recipe: its heading, its prose and its blocks, in their order. */
interface Recipe {
  readonly heading: string;
  readonly prose: string;
  readonly blocks: readonly Block[];
}

function readRecipes(page: string): Recipe[] {
  return page.split("\n## ").slice(1).map((text) => {
    const blocks = [...text.matchAll(/^```(ts|diff|sh)(?: (\S+))?\n([^]*?)^```$/gm)]
      .map(([, kind, path = "", code]): Block => ({ kind: kind as Block["kind"], path, text: code }));
    const prose = text.replaceAll(/^```[^]*?^```$/gm, "");
    return { heading: text.split("\n", 1)[0], prose, blocks };
  });
}

/**
 * `source` with the lines of `diff`: those with a space or a minus stand there one after the other, once.
 * @throws If they do not.
 */
function applyDiff(source: string, diff: string, what: string): string {
  const lines = diff.split("\n").slice(0, -1);
  const [before, after] = ["-", "+"].map((mark) =>
    lines.filter((line) => line.startsWith(" ") || line.startsWith(mark)).map((line) => `${line.slice(1)}\n`).join("")
  );
  assert(before !== "" && before !== after, `${what} has lines that are there, and changes them`);
  const text = `\n${source}`;
  const pieces = text.split(`\n${before}`);
  assertEquals(pieces.length, 2, `these lines are in ${what} once:\n${before}`);
  return pieces.join(`\n${after}`).slice(1);
}

/** Does what a recipe says of files. */
function write(root: string, { heading, prose, blocks }: Recipe): void {
  for (const { kind, path, text } of blocks.filter(({ kind }) => kind !== "sh")) {
    assert(
      prose.includes(`\`${path}\``),
      `${heading}: a reader sees no info string, and the prose does not name ${path}`,
    );
    const file = `${root}/${path}`;
    if (kind === "ts") {
      Deno.writeTextFileSync(file, text, { createNew: true });
    } else Deno.writeTextFileSync(file, applyDiff(Deno.readTextFileSync(file), text, path));
  }
}

/** Runs a command of the page in the copy, with this Deno. */
async function follow(root: string, command: string): Promise<string> {
  const { code, out, err } = await run([
    "sh",
    "-c",
    `DENO=$1; deno() { "$DENO" "$@"; }; cd "$0" && ${command}`,
    root,
    Deno.execPath(),
  ]);
  assertEquals(code, 0, `${command}\n${out}${err}`);
  return out;
}

async function copyTree(root: string): Promise<void> {
  const { out } = await run(["git", "-C", ROOT, "ls-files", "-z"]);
  for (const path of out.split("\0").filter((path) => path !== "")) {
    const directory = `${root}/${path}`.replace(/\/[^/]*$/, "");
    Deno.mkdirSync(directory, { recursive: true });
    Deno.copyFileSync(`${ROOT}/${path}`, `${root}/${path}`);
  }
  Deno.symlinkSync(`${ROOT}/node_modules`, `${root}/node_modules`);
  await follow(root, "git init --quiet && git add --all");
}

const RECIPES = readRecipes(Deno.readTextFileSync(`${ROOT}/docs/recipes.md`));

/** Files of the recipes that the generators and the gates must see. */
const MADE: Readonly<Record<string, string>> = {
  "docs/functions.md": "| `devmap` | 1 of 2 |",
  "docs/configuration.md": "show_runner_time",
};

Deno.test("the recipes of docs/recipes.md can be followed word by word", (t) =>
  withTemporaryDirectory(async (root) => {
    await copyTree(root);
    assertEquals(RECIPES.length, 11);
    const python = await usablePython();
    for (const recipe of RECIPES) {
      const commands = recipe.blocks.filter(({ kind }) => kind === "sh").flatMap(({ text }) => text.trim().split("\n"));
      const needsPython = commands.some((command) => command.startsWith("deno task record "));
      const missing = needsPython && python === undefined ? " (ignored: there is no python3 with venv here)" : "";
      await t.step({
        name: `${recipe.heading}: ${commands.at(-1)}${missing}`,
        ignore: missing !== "",
        fn: async () => {
          assert(commands.length > 0, "it ends in a command");
          write(root, recipe);
          for (const command of commands) await follow(root, command);
        },
      });
    }
    await t.step("the tree with all of them passes the gates that take seconds", async () => {
      const files = RECIPES.flatMap(({ blocks }) => blocks.map(({ path }) => path)).filter((path) =>
        path.endsWith(".ts")
      );
      const names = [...new Set(files)].join(" ");
      await follow(root, "git add --all && deno task docs");
      for (const [page, text] of Object.entries(MADE)) {
        assertStringIncludes(Deno.readTextFileSync(`${root}/${page}`), text, page);
      }
      await follow(root, `deno fmt --check ${names} && deno lint ${names}`);
      await follow(root, "git add --all && deno run --allow-read scripts/structure.ts");
    });
  }));
