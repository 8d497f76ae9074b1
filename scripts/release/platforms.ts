/**
 * The platforms of a release, and the Deno for each: the executable of the npm package `@deno/<platform>`.
 * @module
 */

import { ReleaseError } from "./release_error.ts";

/** The version of Deno that a release contains, and that makes it. */
export const DENO_VERSION = "2.9.6";

/** A platform of a release. */
export interface Platform {
  /** As artefacts name it: `linux-x64`. */
  readonly name: string;
  /** As Deno names it: `x86_64-unknown-linux-gnu`. */
  readonly target: string;
  /** The npm package with its Deno. */
  readonly denoPackage: string;
  /** SHA-256 of that Deno, in hexadecimal. */
  readonly denoSum: string;
  /** The architecture in the words of dpkg and rpm, if there are packages for it. */
  readonly packages?: { readonly deb: string; readonly rpm: string };
}

/** All platforms. */
export const PLATFORMS: readonly Platform[] = [
  {
    name: "linux-x64",
    target: "x86_64-unknown-linux-gnu",
    denoPackage: "@deno/linux-x64-glibc",
    denoSum: "bceb5b6a6239b0b010418406d8c77a508f67cf4337d94288f1c19fe71304aab0",
    packages: { deb: "amd64", rpm: "x86_64" },
  },
  {
    name: "linux-arm64",
    target: "aarch64-unknown-linux-gnu",
    denoPackage: "@deno/linux-arm64-glibc",
    denoSum: "d08d392418df53f4e6e88a08909c0e1bccbf9adcead7232df72b6ad6075ec416",
    packages: { deb: "arm64", rpm: "aarch64" },
  },
  {
    name: "macos-x64",
    target: "x86_64-apple-darwin",
    denoPackage: "@deno/darwin-x64",
    denoSum: "ec9fbd8e8f5f6ca5ceb0ebe4a564636f2c698bf60e3187460ded400cc0147fd5",
  },
  {
    name: "macos-arm64",
    target: "aarch64-apple-darwin",
    denoPackage: "@deno/darwin-arm64",
    denoSum: "b3ac3bd206e48c26026cadd80c1367e96c149f9c66130952382a642b09fa8a71",
  },
];

/**
 * The Deno for `platform`: this process's own if it is the same file, else that of the npm package, which `npm` fetches
 * into `directory`.
 * @returns Its path.
 * @throws {ReleaseError} If it cannot be fetched, or is another file than the table names.
 */
export async function denoFor(platform: Platform, directory: string): Promise<string> {
  if (platform.target === Deno.build.target && await sumOf(Deno.execPath()) === platform.denoSum) {
    return Deno.execPath();
  }
  const { denoPackage, denoSum } = platform;
  const home = `${directory}/${platform.name}`;
  Deno.mkdirSync(home, { recursive: true });
  await run("npm", ["pack", "--silent", `${denoPackage}@${DENO_VERSION}`], home);
  const archives = [...Deno.readDirSync(home)].map(({ name }) => name).filter((name) => name.endsWith(".tgz"));
  for (const archive of archives) await run("tar", ["-xzf", archive, "package/deno"], home);
  const path = `${home}/package/deno`;
  const sum = await sumOf(path);
  if (sum !== denoSum) {
    throw new ReleaseError(
      `${denoPackage}@${DENO_VERSION} has the checksum ${sum}, and the table of platforms ${denoSum}`,
    );
  }
  return path;
}

/** The checksum of a file, in hexadecimal. */
export async function sumOf(path: string, algorithm: "SHA-1" | "SHA-256" = "SHA-256"): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest(algorithm, await Deno.readFile(path))).toHex();
}

/**
 * Runs a program.
 * @returns Its output.
 * @throws {ReleaseError} If it is not there, or fails.
 */
export async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const command = new Deno.Command(program, { args: [...args], cwd, env: { ...env, LC_ALL: "C" }, stdin: "null" });
  let result: Deno.CommandOutput;
  try {
    // A program that is missing is thrown by the call itself.
    result = await command.output();
  } catch (error) {
    throw error instanceof Deno.errors.NotFound ? new ReleaseError(`${program} is not installed`) : error;
  }
  const { success, stdout, stderr } = result;
  if (!success) {
    throw new ReleaseError(`${program} ${args.join(" ")} failed:\n${new TextDecoder().decode(stderr).trim()}`);
  }
  return new TextDecoder().decode(stdout);
}
