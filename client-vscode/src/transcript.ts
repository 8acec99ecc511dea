/** Where an item goes in a transcript, and how one is changed without touching the others. */

import type { Conversation, Item } from './state';

/** The items with a live foot kept last and thinking or text that was under way brought to its end. */
export function settled(items: Item[], at: number | undefined): Item[] {
  return items.map((item) => {
    if (item.kind === 'text' && item.streaming) return { ...item, streaming: false };
    if (item.kind !== 'thinking' || !item.running) return item;
    const ended = { ...item, running: false };
    return at === undefined ? ended : { ...ended, ms: Math.max(0, at - item.startedAt) };
  });
}

export function withoutRetry(items: Item[]): Item[] {
  return items.some((item) => item.kind === 'retry') ? items.filter((item) => item.kind !== 'retry') : items;
}

/** Puts an item at the end, but before the foot of a running turn. */
export function add(conversation: Conversation, item: Item, at?: number): Conversation {
  const items = settled(withoutRetry(conversation.items), at);
  const last = items.at(-1);
  if (last?.kind === 'foot' && last.running) items.splice(-1, 0, item);
  else items.push(item);
  return { ...conversation, items, serial: conversation.serial + 1 };
}

/** Changes one item; the conversation itself when nothing came of it. */
export function replace(conversation: Conversation, id: string, change: (item: Item) => Item): Conversation {
  const index = conversation.items.findIndex((item) => item.id === id);
  const old = conversation.items[index];
  if (!old) return conversation;
  const item = change(old);
  if (item === old) return conversation;
  const items = [...conversation.items];
  items[index] = item;
  return { ...conversation, items };
}

/** The last item that is not the foot of the running turn. */
export function lastItem(conversation: Conversation): Item | undefined {
  const last = conversation.items.at(-1);
  return last?.kind === 'foot' && last.running ? conversation.items.at(-2) : last;
}
