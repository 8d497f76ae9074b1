/**
 * How a script imports its other files on demand. At the start, Deno reads and parses each file that an `import()` in
 * the text names, whether it is imported or not. Also, each `import()` of a file costs 3 to 10 ms, even if that file
 * only re-exports. So the file names are removed from the `import()` expressions, and exports of the start file are
 * used directly.
 * @module
 */

/** One file of a script. */
export interface ScriptFile {
  readonly fileName: string;
  readonly code: string;
}

/**
 * The files of a script, as they are shipped: without files that only re-export from `startFile`, and with late
 * imports. No code changes its line or column, so that the source maps stay valid.
 * @param stem The prefix of the names of all files: `salt`.
 * @throws {RangeError} If an `import()` names a file that is not one of them.
 */
export function withLateImports(files: readonly ScriptFile[], stem: string): ScriptFile[] {
  const startFile = `${stem}.start.mjs`;
  const reexports = new Map(files.flatMap(({ fileName, code }) => {
    const names = reexportsOf(code, startFile);
    return names === undefined ? [] : [[fileName, names] as const];
  }));
  const fileNames = new Set(files.map(({ fileName }) => fileName));
  return files.filter(({ fileName }) => !reexports.has(fileName)).map(({ fileName, code }) => {
    const needed = new Map<string, string>();
    let any = false;
    const changed = code.replaceAll(/import\(`\.\/([^`$]+)`\)/g, (text, file: string) => {
      if (!fileNames.has(file) || !file.startsWith(`${stem}.`)) throw new RangeError(`${fileName} imports ${file}`);
      any = true;
      const name = file.slice(stem.length + 1, -".mjs".length);
      const names = reexports.get(file);
      if (names !== undefined) needed.set(name, names);
      return `__late\`${name}\``.padEnd(text.length);
    });
    return { fileName, code: any ? withLate(changed, { stem, startFile, needed }) : code };
  });
}

/** `{b:__start.a}` of a file that only holds `export{a as b}from"./salt.start.mjs";`, else `undefined`. */
function reexportsOf(code: string, startFile: string): string | undefined {
  const [, names, file] = /^export\{([^}]*)\}from"\.\/([^"]+)";\s*(?:\/\/.*)?$/.exec(code.trim()) ?? [];
  if (file !== startFile) return undefined;
  return `{${
    names.split(",").map((name) => {
      const [from, to = from] = name.split(" as ");
      return `${to}:__start.${from}`;
    }).join()
  }}`;
}

/**
 * `code` with the function that its late imports call. The function comes at the end, so that the mapped lines do not
 * move; the comment that names the map stays last.
 */
function withLate(
  code: string,
  { stem, startFile, needed }: {
    readonly stem: string;
    readonly startFile: string;
    readonly needed: ReadonlyMap<string, string>;
  },
): string {
  const [body, comment = ""] = code.split(/(?=\/\/# sourceMappingURL=)/);
  const file = `import("./${stem}."+name+".mjs")`;
  if (needed.size === 0) return `${body}\nfunction __late([name]){return ${file}}\n${comment}`;
  const here = [...needed].map(([name, exports]) => `${JSON.stringify(name)}:()=>(${exports})`).join();
  return `${body}\nimport*as __start from"./${startFile}";\n` +
    `function __late([name]){const here={${here}}[name];return here?Promise.resolve(here()):${file}}\n${comment}`;
}
