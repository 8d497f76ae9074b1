/**
 * `deno task release`: makes the artefacts of a release of the commit that is checked out, in `dist/release/`.
 * docs/releasing.md describes the steps around it.
 * @module
 */

import { BundleError } from "#scripts/build/bundle.ts";
import { BuildError, ROOT, writeScripts } from "#scripts/build/executables.ts";
import { makeArtefacts } from "./artefacts.ts";
import { DENO_VERSION, PLATFORMS, run } from "./platforms.ts";
import { ReleaseError } from "./release_error.ts";
import { VERSION } from "#lib/version.ts";
import { writeOut as say } from "#lib/commands/cli/process_io.ts";
import { parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

const USAGE = `Usage: deno task release [options]

  --platform NAME   Only this platform; may be given more than once: ${PLATFORMS.map(({ name }) => name).join(", ")}.
  --out DIR         Where to; the directory must be empty, or not there. Default: dist/release.
  --trial           Also with changes that are not committed, or without a section of CHANGELOG.md.

SOURCE_DATE_EPOCH sets the time of everything in the release, in seconds. Default: the time of the commit.
`;

async function main(argv: string[]): Promise<number> {
  const { values: options } = parseOptions({
    args: argv,
    options: {
      platform: { type: "string", multiple: true, default: [] },
      out: { type: "string", default: "dist/release" },
      trial: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (options.help) return say(USAGE), 0;
  const unknown = options.platform.find((name) => !PLATFORMS.some((platform) => platform.name === name));
  if (unknown !== undefined) throw new ReleaseError(`there is no platform ${unknown}`);
  if (Deno.version.deno !== DENO_VERSION) {
    throw new ReleaseError(`this is Deno ${Deno.version.deno}; a release is made by Deno ${DENO_VERSION}`);
  }
  if (!options.trial) await checkSources();
  const platforms = PLATFORMS.filter(({ name }) => options.platform.length === 0 || options.platform.includes(name));
  await Deno.mkdir(options.out, { recursive: true });
  const out = await Deno.realPath(options.out);
  if ([...Deno.readDirSync(out)].length > 0) throw new ReleaseError(`${options.out} is not empty`);
  const stage = await Deno.makeTempDir({ prefix: "salt_build_" });
  try {
    const epoch = await releaseTime();
    const scripts = await writeScripts(stage);
    const skipped = await makeArtefacts({ version: VERSION, epoch, platforms, stage, scripts, out });
    for (const line of skipped) say(`${line}\n`);
  } finally {
    await Deno.remove(stage, { recursive: true });
  }
  say(await Deno.readTextFile(`${out}/SHA256SUMS`));
  return 0;
}

/** @throws {ReleaseError} If the checkout is not what a release may be made of. */
async function checkSources(): Promise<void> {
  const changes = await run("git", ["status", "--porcelain"], ROOT);
  if (changes !== "") throw new ReleaseError(`there are changes that are not committed:\n${changes.trimEnd()}`);
  const changelog = await Deno.readTextFile(`${ROOT}/CHANGELOG.md`);
  if (!new RegExp(`^## \\[${RegExp.escape(VERSION)}\\] - \\d{4}-\\d\\d-\\d\\d$`, "m").test(changelog)) {
    throw new ReleaseError(`CHANGELOG.md has no section "## [${VERSION}] - DATE"`);
  }
}

/** SOURCE_DATE_EPOCH, or the time of the commit. */
async function releaseTime(): Promise<number> {
  const given = Deno.env.get("SOURCE_DATE_EPOCH") ?? (await run("git", ["log", "-1", "--format=%ct"], ROOT)).trim();
  if (!/^\d{1,10}$/.test(given)) throw new ReleaseError(`SOURCE_DATE_EPOCH is no number of seconds: ${given}`);
  return Number(given);
}

if (import.meta.main) await runScript(main, { name: "release", failures: [ReleaseError, BuildError, BundleError] });
