import { typedCommand } from "#lib/commands/cli/typed_command.ts";
import { assertEquals } from "#tests/support/assert.ts";

for (
  const [config_dir, typed] of [
    ["/etc/salt", "salt-run jobs.attach 1"],
    ["/srv/fleet/etc/salt", "salt-run -c /srv/fleet/etc/salt jobs.attach 1"],
    ["/srv/my salt", "salt-run -c '/srv/my salt' jobs.attach 1"],
    ["/srv/it's", `salt-run -c '/srv/it'"'"'s' jobs.attach 1`],
    ["/srv/$(reboot)", "salt-run -c '/srv/$(reboot)' jobs.attach 1"],
  ]
) {
  Deno.test(`a hint for the configuration in ${config_dir} is ${typed}`, () =>
    assertEquals(typedCommand("salt-run jobs.attach 1", { config_dir }), typed));
}
