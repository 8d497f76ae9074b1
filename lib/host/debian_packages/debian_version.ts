/**
 * Compares Debian's package versions: epoch, upstream version, revision.
 * Source: Debian Policy, "Version"; deb-version(7).
 * @module
 */

/** Compares two versions: -1 if `a` is older, 0 if they are equal, 1 if `a` is newer. */
export function compareDebianVersions(a: string, b: string): -1 | 0 | 1 {
  const [left, right] = [parts(a), parts(b)];
  if (left.epoch !== right.epoch) return left.epoch < right.epoch ? -1 : 1;
  const order = comparePart(left.upstream, right.upstream) || comparePart(left.revision, right.revision);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

function parts(version: string): { epoch: number; upstream: string; revision: string } {
  const trimmed = version.trim();
  const colon = trimmed.indexOf(":");
  const rest = trimmed.slice(colon + 1);
  const dash = rest.lastIndexOf("-");
  return {
    epoch: colon < 0 ? 0 : Number(trimmed.slice(0, colon)) || 0,
    upstream: dash < 0 ? rest : rest.slice(0, dash),
    revision: dash < 0 ? "" : rest.slice(dash + 1),
  };
}

/** Texts without digits and numbers in turns. */
function comparePart(a: string, b: string): number {
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    while ((i < a.length && !isDigit(a[i])) || (j < b.length && !isDigit(b[j]))) {
      const order = weight(a[i]) - weight(b[j]);
      if (order !== 0) return order;
      i++;
      j++;
    }
    while (a[i] === "0") i++;
    while (b[j] === "0") j++;
    let first = 0;
    while (isDigit(a[i]) && isDigit(b[j])) {
      if (first === 0) first = a.charCodeAt(i) - b.charCodeAt(j);
      i++;
      j++;
    }
    if (isDigit(a[i])) return 1;
    if (isDigit(b[j])) return -1;
    if (first !== 0) return first;
  }
  return 0;
}

/** `~` is before the end, the end before letters, letters before everything else. */
function weight(character: string | undefined): number {
  if (character === undefined || isDigit(character)) return 0;
  if (character === "~") return -1;
  const code = character.charCodeAt(0);
  return /[A-Za-z]/.test(character) ? code : code + 256;
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}
