/** Small pure readings: times, sizes, paths, text that a terminal would act on. */

/** A clock of minutes and seconds, `1:52`; with hours from an hour on. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (number: number) => String(number).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** How long something took: tenths below ten seconds, whole seconds below a minute, then a clock. */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 59_500) return `${Math.round(ms / 1000)} s`;
  return clock(Math.round(ms / 1000) * 1000);
}

/** A count of tokens, `76k` or `1M`. */
export function thousands(tokens: number): string {
  const thousand = Math.round(tokens / 1000);
  if (thousand >= 1000) return `${Math.round(thousand / 100) / 10}M`;
  return tokens < 1000 ? String(tokens) : `${thousand}k`;
}

/** A count of tokens with a tenth, `38.1k`. */
export function exact(tokens: number): string {
  return tokens < 1000 || tokens >= 999_950 ? thousands(tokens) : `${(tokens / 1000).toFixed(1)}k`;
}

export function money(amount: number, currency: string): string {
  // What is not free is never shown as nothing.
  const digits = amount > 0 && amount < 0.01 ? Math.max(amount, 0.0001).toFixed(4) : amount.toFixed(2);
  return currency === 'USD' ? `$${digits}` : `${digits} ${currency}`;
}

/** A path as seen from the folder; one that lies elsewhere stays whole. */
export function within(cwd: string, path: string): string {
  const root = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return cwd && path.startsWith(root) ? path.slice(root.length) : path;
}

/** The last part of a path and what comes before it. */
export function split(path: string): { base: string; folder: string } {
  const at = path.lastIndexOf('/');
  return { base: path.slice(at + 1), folder: at > 0 ? path.slice(0, at) : '' };
}

const ESCAPES = new RegExp(
  [
    '\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?', // titles, clipboard, links
    '\\u001b[PX^_][^\\u001b]*(?:\\u001b\\\\)?',
    '[\\u001b\\u009b]\\[?[0-?]*[ -/]*[@-~]', // colours, cursor
    '[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]',
  ].join('|'),
  'g',
);

/** Output as plain text: what a terminal would act on is taken out, a rewritten line shows its last state. */
export function plain(output: string): string {
  const lines = output.replace(/\r+\n/g, '\n').split('\n');
  return lines.map((line) => line.slice(line.lastIndexOf('\r') + 1).replace(ESCAPES, '')).join('\n');
}

/** The last lines of a text, and how many come before them. */
export function lastLines(text: string, most: number): { text: string; before: number } {
  const lines = text.replace(/\n+$/, '').split('\n');
  const before = Math.max(0, lines.length - most);
  return { text: lines.slice(before).join('\n'), before };
}

const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Zs}]/gu;

/** A command whole: characters that cannot be seen and long gaps are shown as what they are. */
export function visible(command: string): string {
  const code = (character: string) =>
    (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return command
    .replace(HIDDEN, (character) => `⟨U+${code(character)}⟩`)
    .replace(/ {8,}/g, (gap) => ` ⟨${gap.length} spaces⟩ `);
}

/** A fact as `writes: /tmp/a`, in its two halves; what has no such shape is all second half. */
export function fact(effect: string): [string, string] {
  const [, name = '', rest = effect] = /^([^:/\n]{1,24}): (.+)$/s.exec(effect) ?? [];
  return [name, rest];
}

/** The first sentence, for being read out; at most 200 characters. */
export function firstSentence(text: string): string {
  const line =
    text
      .replace(/[`*_#>]/g, '')
      .trim()
      .split('\n')[0] ?? '';
  const sentence = /^.*?[.!?。！？](?=\s|$)/.exec(line)?.[0] ?? line;
  return sentence.slice(0, 200);
}
