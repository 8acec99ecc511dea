/** Fuzzy search over names: letters in order, better at the start of words and in one piece. Pure. */

export interface Match {
  score: number;
  /** Places of the letters, counted in characters. */
  hits: number[];
}

const BEGINS = 30;
const WORD = 12;
const NEXT = 10;
const SEPARATOR = /[\s/\\._-]/;

function wordStart(letters: string[], at: number): boolean {
  const before = letters[at - 1];
  const here = letters[at] ?? '';
  if (before === undefined || SEPARATOR.test(before)) return true;
  return here !== here.toLowerCase() && before === before.toLowerCase();
}

/** One way to find the letters, each as early as it can be from `start` on. */
function from(wanted: string[], letters: string[], low: string[], start: number): Match | undefined {
  const hits: number[] = [];
  let at = start;
  let score = start === 0 ? BEGINS : 0;
  for (const letter of wanted) {
    at = low.indexOf(letter, at);
    if (at < 0) return undefined;
    if (hits.length > 0 && hits.at(-1) === at - 1) score += NEXT;
    if (wordStart(letters, at)) score += WORD;
    hits.push(at);
    at += 1;
  }
  return { score: score - letters.length / 10, hits };
}

/** The best way in which a text holds the letters of a query; undefined when it does not. */
export function fuzzy(query: string, text: string): Match | undefined {
  const wanted = Array.from(query.toLowerCase());
  const [first] = wanted;
  if (first === undefined) return { score: 0, hits: [] };
  const letters = Array.from(text);
  const low = letters.map((letter) => letter.toLowerCase());
  let best: Match | undefined;
  for (let start = low.indexOf(first); start >= 0; start = low.indexOf(first, start + 1)) {
    const match = from(wanted, letters, low, start);
    if (!match) break;
    if (!best || match.score > best.score) best = match;
  }
  return best;
}

const IN_NAME = 1000;

/** A path by its name, and when that does not hold the query by the whole; hits are places in the name. */
export function fuzzyPath(query: string, relative: string): Match | undefined {
  const name = relative.slice(relative.lastIndexOf('/') + 1);
  const inName = query.includes('/') ? undefined : fuzzy(query, name);
  if (inName) return { ...inName, score: inName.score + IN_NAME };
  const inPath = fuzzy(query, relative);
  if (!inPath) return undefined;
  const begin = Array.from(relative).length - Array.from(name).length;
  return { score: inPath.score, hits: inPath.hits.map((hit) => hit - begin).filter((hit) => hit >= 0) };
}
