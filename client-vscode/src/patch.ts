/** The difference between two view states, so that a streamed word costs a word and not a transcript. */

import type { Item, Shell, ViewState } from './state';

export interface Patch {
  /** Items that are new or changed, whole. */
  items?: Item[];
  /** Text that grew at its end. */
  grown?: { id: string; text: string }[];
  /** Where the order or the set changed: `remove` items from `at` on give way to those of `ids`. */
  splice?: { at: number; remove: number; ids: string[] };
  shell?: Partial<Shell>;
}

function growth(before: Item, after: Item): string | undefined {
  if (before.kind === 'text' && after.kind === 'text') {
    if (before.streaming !== after.streaming) return undefined;
  } else if (before.kind === 'thinking' && after.kind === 'thinking') {
    if (before.running !== after.running) return undefined;
  } else {
    return undefined;
  }
  return after.text.startsWith(before.text) ? after.text.slice(before.text.length) : undefined;
}

function shellDifference(before: Shell, after: Shell): Partial<Shell> {
  const changed = (Object.keys(after) as (keyof Shell)[]).filter((key) => before[key] !== after[key]);
  return Object.fromEntries(changed.map((key) => [key, after[key]]));
}

/** Which items are new or changed, and which only grew at their end; compared by identity. */
function itemDifference(before: Item[], after: Item[]): Patch {
  const patch: Patch = {};
  if (before === after) return patch;
  const old = new Map(before.map((item) => [item.id, item]));
  const items: Item[] = [];
  const grown: { id: string; text: string }[] = [];
  for (const item of after) {
    const was = old.get(item.id);
    if (was === item) continue;
    const text = was && growth(was, item);
    if (text === undefined) items.push(item);
    else if (text) grown.push({ id: item.id, text });
  }
  if (items.length) patch.items = items;
  if (grown.length) patch.grown = grown;
  const splice = orderDifference(before, after);
  if (splice) patch.splice = splice;
  return patch;
}

/** The stretch between what is equal at the beginning and at the end. */
function orderDifference(before: Item[], after: Item[]): Patch['splice'] {
  let at = 0;
  while (at < before.length && at < after.length && before[at]?.id === after[at]?.id) at += 1;
  let foot = 0;
  const room = Math.min(before.length, after.length) - at;
  while (foot < room && before.at(-1 - foot)?.id === after.at(-1 - foot)?.id) foot += 1;
  const ids = after.slice(at, after.length - foot).map((item) => item.id);
  const remove = before.length - foot - at;
  return ids.length || remove ? { at, remove, ids } : undefined;
}

/** What turns `before` into `after`; undefined when nothing changed. */
export function difference(before: ViewState, after: ViewState): Patch | undefined {
  const patch = itemDifference(before.items, after.items);
  const shell = shellDifference(before.shell, after.shell);
  if (Object.keys(shell).length) patch.shell = shell;
  return Object.keys(patch).length ? patch : undefined;
}

/** The state that the other side had in mind; items that did not change keep their identity. */
export function apply(state: ViewState, patch: Patch): ViewState {
  return {
    items: applyItems(state.items, patch),
    shell: patch.shell ? { ...state.shell, ...patch.shell } : state.shell,
  };
}

function applyItems(before: Item[], { items = [], grown = [], splice }: Patch): Item[] {
  if (!items.length && !grown.length && !splice) return before;
  const changed = new Map(items.map((item) => [item.id, item]));
  const longer = new Map(grown.map(({ id, text }) => [id, text]));
  const renew = (item: Item): Item => {
    const more = longer.get(item.id);
    if (more !== undefined && (item.kind === 'text' || item.kind === 'thinking')) {
      return { ...item, text: item.text + more };
    }
    return changed.get(item.id) ?? item;
  };
  const all = before.map(renew);
  if (!splice) return all;
  // An item that only moved stands in the stretch that gives way.
  const moved = new Map(all.slice(splice.at, splice.at + splice.remove).map((item) => [item.id, item]));
  const inside = splice.ids.flatMap((id) => changed.get(id) ?? moved.get(id) ?? []);
  return [...all.slice(0, splice.at), ...inside, ...all.slice(splice.at + splice.remove)];
}
