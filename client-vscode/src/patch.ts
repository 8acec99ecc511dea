/** The difference between two view states, so that a streamed word costs a word and not a transcript. */

import type { Item, Shell, ViewState } from './state';

export interface Patch {
  /** Items that are new or changed, whole. */
  items?: Item[];
  /** Text that grew at its end. */
  grown?: { id: string; text: string }[];
  /** All ids in order, sent when the order or the set changed. */
  order?: string[];
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
  const same = before.length === after.length && before.every((item, index) => item.id === after[index]?.id);
  if (!same) patch.order = after.map((item) => item.id);
  return patch;
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

function applyItems(before: Item[], { items = [], grown = [], order }: Patch): Item[] {
  if (!items.length && !grown.length && !order) return before;
  const byId = new Map(before.map((item) => [item.id, item]));
  for (const item of items) byId.set(item.id, item);
  for (const { id, text } of grown) {
    const item = byId.get(id);
    if (item?.kind === 'text' || item?.kind === 'thinking') byId.set(id, { ...item, text: item.text + text });
  }
  const ids = order ?? before.map((item) => item.id);
  return ids.flatMap((id) => byId.get(id) ?? []);
}
