/**
 * Password files. The hashes of the password `correct horse` were made by openssl passwd and crypt(3).
 * @module
 */

import { type PasswordFileForm, passwordFileKnows } from "#lib/auth/password_file.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { assertEquals } from "#tests/support/assert.ts";

const TEXT: PasswordFileForm = {
  filetype: "text",
  hashtype: "plaintext",
  field_separator: ":",
  username_field: 1,
  password_field: 2,
};
const PASSWORD = "correct horse";
const HASHES = {
  md5: "3cb4e732631f47e6eb961f34554b7cde",
  apr1: "$apr1$Zp4kQx1a$m0x.cEyGhSA7W5vbCg56z1",
  sha: "{SHA}L55TUjtiq8FBorTWAZ0jy6g129A=",
  sha256_crypt: "$5$saltsalt$myjXcpMpE2Ofk7fj9hqyNYSn6lmWG4Mqnjx.KIRRr4/",
  sha512_crypt: "$6$saltsalt$hRM5XZ86KXEw9UOmjigeVqFgULtFB2sgpC9lXQDfMib3Zgw7mEiUvBJI2EplzfAqxL5Vvwp2scFtv/uamSo5z0",
  md5_crypt: "$1$saltsalt$NuzA7WTAelpl95xgBGWN60",
  bcrypt: "$2y$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
  yescrypt: "$y$j9T$abcdefghijkl0123$yNFz7t/pKiW9LNuwv1NX0riCzVFGDCVkmbf36MOE/m3",
};

function knows(text: string, form: Partial<PasswordFileForm>, username: string, password = PASSWORD): Promise<boolean> {
  return passwordFileKnows(text, { ...TEXT, ...form }, { username, password });
}

Deno.test("text files: plain and hashed passwords, in any fields", async () => {
  const plain = `dean:goneFishing\nfred:${PASSWORD}\nfred:second\n\nbroken\n`;
  assertEquals(await knows(plain, {}, "fred"), true);
  assertEquals(await knows(plain, {}, "fred", "second"), false); // the first line of a user is used
  assertEquals(await knows(plain, {}, "dean"), false);
  assertEquals(await knows(plain, {}, "eve"), false);
  assertEquals(await knows(plain, {}, "broken", ""), false);
  const hashed = `8888|jon|${HASHES.md5}|x\r\n`;
  const form = { hashtype: "md5", field_separator: "|", username_field: 2, password_field: 3 };
  assertEquals(await knows(hashed, form, "jon"), true);
  assertEquals(await knows(hashed, form, "jon", "wrong"), false);
  assertEquals(await knows(hashed, form, "jon", HASHES.md5), false);
});

for (const [method, hash] of Object.entries(HASHES).filter(([name]) => name !== "md5")) {
  Deno.test(`htpasswd files: ${method}`, async () => {
    const file = `# users\nfred:${hash}\n`;
    const answers = [PASSWORD, "wrong", "", hash].map((password) =>
      knows(file, { filetype: "htpasswd" }, "fred", password)
    );
    assertEquals(await Promise.all(answers), [true, false, false, false]);
  });
}

Deno.test("htpasswd and htdigest files: a line that begins with # is a comment, and no user's", async () => {
  for (const name of ["#fred", "# fred"]) {
    assertEquals(await knows(`${name}:${HASHES.apr1}\n`, { filetype: "htpasswd" }, name), false);
    const digest = hashHex(`${name}:r:${PASSWORD}`, "md5");
    assertEquals(await knows(`${name}:r:${digest}\n`, { filetype: "htdigest", realm: "r" }, name), false);
  }
  assertEquals(await knows(`#fred:${PASSWORD}\n`, {}, "#fred"), true); // these files have no comments
});

Deno.test("htpasswd files: a hash of an unknown kind matches no password, not even the same text", async () => {
  for (const hash of ["secret", "", "*", "!", "$9$x$y"]) {
    assertEquals(await knows(`fred:${hash}\n`, { filetype: "htpasswd" }, "fred", hash), false, hash);
  }
});

Deno.test("htdigest files: only entries of the realm are used", async () => {
  const file = "fred:other:0123\nfred:salt:f98a85e3b204bac846952478e21e3973\n";
  assertEquals(await knows(file, { filetype: "htdigest", realm: "salt" }, "fred"), true);
  assertEquals(await knows(file, { filetype: "htdigest", realm: "salt" }, "fred", "wrong"), false);
  assertEquals(await knows(file, { filetype: "htdigest", realm: "pepper" }, "fred"), false);
});
