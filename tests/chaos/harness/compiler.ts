/**
 * Builds small C libraries that are preloaded to processes.
 * @module
 */

const COMPILERS = ["/usr/bin/cc", "/usr/local/bin/cc"];

function compiler(): string | undefined {
  return COMPILERS.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** The reason why this machine cannot build them; `undefined` if it can. */
export function missingCompiler(): string | undefined {
  return compiler() === undefined ? "there is no C compiler" : undefined;
}

/**
 * Builds the library of a source beside this file.
 * @returns Its path, in `directory`.
 */
export function buildLibrary(name: string, directory: string): string {
  const library = `${directory}/${name}.so`;
  const source = new URL(`${name}.c`, import.meta.url).pathname;
  const args = ["-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"];
  const { success, stderr } = new Deno.Command(compiler() ?? "cc", { args }).outputSync();
  if (!success) throw new Error(`${name}.c does not compile: ${new TextDecoder().decode(stderr)}`);
  return library;
}
