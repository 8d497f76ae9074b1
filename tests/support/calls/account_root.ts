/**
 * A root directory with accounts of its own, for useradd, groupadd, chage and their like.
 * @module
 */

/** The directory, until it is disposed of. */
export class AccountRoot implements Disposable {
  readonly path = Deno.makeTempDirSync({ prefix: "accounts_" });

  /** Writes the files: a root, the groups `staff` and `web`, and ids from 1000 on for new accounts. */
  constructor() {
    const files = {
      passwd: "root:x:0:0:root:/root:/bin/sh\n",
      group: "root:x:0:\nstaff:x:50:\nweb:x:60:old\n",
      shadow: "root:*:19000:0:99999:7:::\n",
      gshadow: "root:*::\nstaff:!::\nweb:!::old\n",
      "login.defs": "UID_MIN 1000\nGID_MIN 1000\nUSERGROUPS_ENAB yes\n",
    };
    Deno.mkdirSync(`${this.path}/etc`);
    Deno.mkdirSync(`${this.path}/home`);
    for (const [name, text] of Object.entries(files)) {
      Deno.writeTextFileSync(`${this.path}/etc/${name}`, text, { mode: name.includes("shadow") ? 0o640 : 0o644 });
    }
  }

  /** A file of `/etc`. */
  read(name: string): string {
    return Deno.readTextFileSync(`${this.path}/etc/${name}`);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}
