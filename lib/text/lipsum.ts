/**
 * Text without a meaning, to fill pages with: Jinja's `lipsum`.
 * @module
 */

const WORDS =
  ("a ac accumsan ad adipiscing aenean aliquam aliquet amet ante aptent arcu at auctor augue bibendum blandit class " +
    "commodo condimentum congue consectetuer consequat conubia convallis cras cubilia cum curabitur curae cursus dapibus diam dictum " +
    "dictumst dignissim dis dolor donec dui duis egestas eget eleifend elementum elit enim erat eros est et etiam eu euismod facilisi")
    .split(" ");

/**
 * Paragraphs of random words.
 * @param min Words of each at least.
 * @param max Above the number of words of each.
 * @param html Whether each is in `<p>`.
 */
export function lipsum(paragraphs: number, min: number, max: number, html: boolean): string {
  const texts = Array.from(
    { length: Math.max(0, paragraphs) },
    () => paragraph(min + Math.floor(Math.random() * (max - min))),
  );
  return html ? texts.map((text) => `<p>${text}</p>`).join("\n") : texts.join("\n\n");
}

function paragraph(count: number): string {
  const words = Array.from({ length: count }, (_, i) => {
    const word = WORDS[Math.floor(Math.random() * WORDS.length)];
    const ends = i % 12 === 11 || i === count - 1;
    const starts = i % 12 === 0;
    return (starts ? word[0].toUpperCase() + word.slice(1) : word) + (ends ? "." : i % 5 === 4 ? "," : "");
  });
  return words.join(" ");
}
