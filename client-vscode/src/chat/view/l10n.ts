/** Words of the panel: the English text is the key, as with `vscode.l10n.t`. */

let strings: Record<string, string> = {};

/** Takes the bundle of the display language; an empty one means English. */
export function setStrings(bundle: Record<string, string>): void {
  strings = bundle;
}

/** The text in the display language, with `{0}`, `{1}` … filled in. */
export function t(key: string, ...values: (string | number)[]): string {
  const text = strings[key] ?? key;
  return text.replace(/\{(\d+)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));
}

/** One text for one thing, the other for any other number; `{0}` is the number. */
export function count(number: number, one: string, many: string): string {
  return number === 1 ? t(one, number) : t(many, number);
}
