/**
 * `deno task build`: makes the three executables, and shared files (share.ts), in `dist/`. It uses `deno compile`; if
 * denort cannot be fetched, it makes self-extracting files that contain Deno itself.
 *
 * Both start from the same directory: the scripts, one for each entry and thread (bundle.ts), and the files of packages
 * that no script contains.
 * @module
 */

import { BundleError } from "./bundle.ts";
import {
  BuildError,
  compileExecutables,
  copyPackages,
  linkExecutables,
  packExecutables,
  ROOT,
  writeScripts,
} from "./executables.ts";
import { EXECUTABLES, TARGETS } from "./production.ts";
import { sharedFiles, writeShared } from "./share.ts";
import { VERSION } from "#lib/version.ts";
import { writeOut as say } from "#lib/commands/cli/process_io.ts";
import { parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

const USAGE = `Usage: deno task build [options]

  --target TRIPLE   The platform to build for: ${TARGETS.join(", ")}.
                    Default: this one.
  --out DIR         Where to. Default: dist.
  --pack            Pack self-extracting executables without trying deno compile.

DENORT_BIN names a denort to compile with, where none can be fetched.
`;

async function main(argv: string[]): Promise<number> {
  const { values: options } = parseOptions({
    args: argv,
    options: {
      target: { type: "string", default: Deno.build.target },
      out: { type: "string", default: "dist" },
      pack: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (options.help) return say(USAGE), 0;
  if (!TARGETS.includes(options.target)) {
    throw new BuildError(`cannot build for ${options.target}; there are ${TARGETS.join(", ")}`);
  }
  const out = await Deno.realPath(await makeDirectory(options.out));
  const stage = await Deno.makeTempDir({ prefix: "salt_build_" });
  try {
    const { target } = options;
    const files = [...copyPackages(stage, target), ...await writeScripts(stage)];
    const build = { stage, files, target, out };
    if (options.pack || !await compileExecutables(build)) {
      if (target !== Deno.build.target) throw new BuildError(foreignText(target));
      await packExecutables(build, { deno: Deno.execPath(), version: VERSION });
    }
    await linkExecutables(out);
  } finally {
    await Deno.remove(stage, { recursive: true });
  }
  writeShared(await sharedFiles(ROOT), `${out}/share`);
  for (const { name, links } of EXECUTABLES) {
    const { size } = await Deno.stat(`${out}/${name}`);
    const also = links.length > 0 ? `, also ${links.join(" and ")}` : "";
    say(`${options.out}/${name}  ${(size / 1e6).toFixed(1)} MB${also}\n`);
  }
  say(`${options.out}/share  manual pages, shell completion, documentation: cp -r ${options.out}/share /usr/local/\n`);
  return 0;
}

async function makeDirectory(directory: string): Promise<string> {
  await Deno.mkdir(directory, { recursive: true });
  return directory;
}

/** Why there is no packed executable for another platform. */
function foreignText(target: string): string {
  return `cannot pack for ${target} on ${Deno.build.target}: what is packed is this machine's own Deno. ` +
    "Build there, give deno compile a denort, or let deno task release fetch that platform's Deno.";
}

if (import.meta.main) await runScript(main, { name: "build", failures: [BuildError, BundleError] });
