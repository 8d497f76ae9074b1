/**
 * The files that `deno task build` writes to `dist/share`, for /usr/local/share: manual pages, shell completion,
 * documentation and sample configurations, in the directories where programs search them.
 * @module
 */

import { COMMANDS } from "#scripts/reference/commands.ts";
import { completionScript } from "#scripts/reference/completion.ts";
import { configSample, ROLES } from "#scripts/reference/config_samples.ts";
import { manPage } from "#scripts/reference/man_pages.ts";

/** A file, or a link to another of its directory, by its path below `share`. */
export type Shared = { readonly path: string } & ({ readonly text: string } | { readonly link: string });

const DOC = "doc/salt-deno";
const MODULE_SAMPLES = ["periodic.ts", "salt_module.d.ts"];

/** All files, for the project at `root`. */
export async function sharedFiles(root: string): Promise<Shared[]> {
  const [first, ...others] = COMMANDS.map(({ prog }) => prog);
  const pages = COMMANDS.map(manPage);
  const docs = [...Deno.readDirSync(`${root}/docs`)].filter(({ isFile }) => isFile).map(({ name }) => name).sort();
  return [
    ...pages.map(({ name, text }) => ({ path: `man/man${name.slice(-1)}/${name}`, text })),
    { path: `bash-completion/completions/${first}`, text: await completionScript("bash") },
    ...others.map((prog) => ({ path: `bash-completion/completions/${prog}`, link: first })),
    { path: "zsh/site-functions/_salt", text: await completionScript("zsh") },
    { path: `fish/vendor_completions.d/${first}.fish`, text: await completionScript("fish") },
    ...others.map((prog) => ({ path: `fish/vendor_completions.d/${prog}.fish`, link: `${first}.fish` })),
    ...docs.map((name) => ({ path: `${DOC}/${name}`, text: Deno.readTextFileSync(`${root}/docs/${name}`) })),
    ...MODULE_SAMPLES.map((name) => ({
      path: `${DOC}/samples/${name}`,
      text: Deno.readTextFileSync(`${root}/docs/samples/${name}`),
    })),
    ...ROLES.map((role) => ({ path: `${DOC}/samples/${role}`, text: configSample(role) })),
  ];
}

/** Empties `directory`, and writes `files` below it. */
export function writeShared(files: readonly Shared[], directory: string): void {
  try {
    Deno.removeSync(directory, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  for (const file of files) {
    const path = `${directory}/${file.path}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if ("link" in file) Deno.symlinkSync(file.link, path);
    else Deno.writeTextFileSync(path, file.text);
  }
}
