/**
 * A root directory with its own accounts, for useradd, groupadd, chage and similar programs.
 * @module
 */

/** The directory; disposing of the object removes it. */
export class AccountRoot implements Disposable {
  readonly path = Deno.makeTempDirSync({ prefix: "accounts_" });

  /** Writes the account files: the user root, the groups `staff` and `web`. New accounts get ids from 1000 on. */
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

  /** Reads a file of the root's `etc`. */
  read(name: string): string {
    return Deno.readTextFileSync(`${this.path}/etc/${name}`);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}
