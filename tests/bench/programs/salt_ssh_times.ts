/**
 * How long `salt-ssh` takes for `state.apply` on a host where nothing has been copied yet, and for the next one: ours
 * beside Python Salt 3008.3, one after the other, on one sshd of loopback.
 *
 *     SALT_DIST=DIRECTORY deno run -A tests/bench/programs/salt_ssh_times.ts [ROUNDS] [PYTHON]
 *
 * DIRECTORY holds the executables of `deno task build`; without it nothing is copied but a launcher. PYTHON is the
 * directory of Python Salt's commands; without it ours are measured alone.
 * @module
 */

import { SshDaemon, whyNoSshd } from "#tests/support/fleet/ssh_daemon.ts";
import { run } from "#tests/support/processes.ts";

/** The seconds of a first and of a second call. */
interface Times {
  readonly first: number;
  readonly second: number;
}

async function main(rounds: number, python: string | undefined): Promise<void> {
  const missing = whyNoSshd();
  if (missing !== undefined) throw new Error(missing);
  await using host = await SshDaemon.start();
  host.write("states/top.sls", "base: {'*': [web]}\n");
  host.write("states/web.sls", `${host.root}/made:\n  file.managed: [{source: 'salt://web.conf'}]\n`);
  host.write("states/web.conf", "port 80\n");
  const kinds = {
    ...python !== undefined && {
      python: [`${python}/salt-ssh`, "-c", `${host.root}/conf`, "--no-color", "-i"],
    },
    ours: [...host.command(), "-i"],
  };
  for (let round = 0; round < rounds; round++) {
    for (const [name, command] of Object.entries(kinds)) {
      const thin = `${host.root}/thin/${name}-${round}`;
      host.roster({
        web1: { thin_dir: thin, set_path: `${python ?? "/usr/local/bin"}:/usr/sbin:/usr/bin:/sbin:/bin` },
      });
      const { first, second } = await timed([...command, "web1", "state.apply"]);
      say(`${name}: first ${first.toFixed(1)} s, second ${second.toFixed(1)} s (load ${Deno.loadavg()[0].toFixed(0)})`);
    }
  }
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function timed(words: readonly string[]): Promise<Times> {
  const once = async () => {
    const begun = performance.now();
    const { code, out, err } = await run(words);
    if (code !== 0) throw new Error(`${code}: ${out}${err}`);
    return (performance.now() - begun) / 1000;
  };
  return { first: await once(), second: await once() };
}

if (import.meta.main) await main(Number(Deno.args[0] ?? 3), Deno.args[1]);
