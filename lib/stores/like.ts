/**
 * Globs as patterns of SQL's `like`, with `\` before what is meant itself.
 * @module
 */

/** A pattern that matches everything that the glob does, and maybe more: `[ab]` becomes any character. */
export function globToLike(glob: string): string {
  let like = "";
  for (let i = 0; i < glob.length; i++) {
    const character = glob[i];
    if (character === "*") like += "%";
    else if (character === "?") like += "_";
    else if (character === "[") return `${like}%`;
    else if ("%_\\".includes(character)) like += `\\${character}`;
    else if (character === "\0") like += "\ufffd";
    else like += character;
  }
  return like;
}

/** The text with which everything begins that a pattern of `like` matches. */
export function likePrefix(like: string): string {
  let prefix = "";
  for (let i = 0; i < like.length && !"%_".includes(like[i]); i++) {
    if (like[i] === "\\") i++;
    prefix += like[i] ?? "";
  }
  return prefix;
}
