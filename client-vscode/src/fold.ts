/** Messages of the server into a conversation: pure, one message at a time, unchanged items keep their identity. */

import { foldTool } from './foldTool';
import type {
  BackgroundTask,
  FileInfo,
  Json,
  NoticeShown,
  PermissionDetail,
  PermissionOption,
  State,
} from './protocol';
import { metaOf } from './protocol';
import type { Action, Chip, Conversation, FootItem, Item, Usage, UserItem } from './state';
import { add, lastItem, replace, settled, withoutRetry } from './transcript';

/** What may happen to a conversation; `at` is milliseconds since 1970, given so that folding stays pure. */
export type Happening =
  | { kind: 'update'; update: Json; at: number }
  | { kind: 'state'; state: State; at: number }
  | { kind: 'notice'; notice: Pick<NoticeShown, 'severity' | 'text'>; detail?: string; actions?: Action[] }
  | { kind: 'retry'; attempt: number; delayMs: number; cause: string; at: number }
  | { kind: 'changes'; files: FileInfo[]; redo?: number }
  | { kind: 'tasks'; tasks: BackgroundTask[] }
  | { kind: 'model'; id: string }
  | { kind: 'sent'; id: string; text: string; chips: Chip[] }
  | { kind: 'asked'; call: string; detail: PermissionDetail; options: PermissionOption[] }
  | { kind: 'answered'; id: string; answer: string; denied: boolean }
  | { kind: 'ended'; stopReason: string }
  | { kind: 'lost'; answer: string };

/** The conversation after one message. Never throws: what is not understood changes nothing. */
export function fold(conversation: Conversation, happening: Happening): Conversation {
  switch (happening.kind) {
    case 'update':
      return foldUpdate(conversation, happening.update, happening.at);
    case 'state':
      return foldState(conversation, happening.state, happening.at);
    case 'notice':
      return add(conversation, {
        kind: 'notice',
        id: `notice:${conversation.serial}`,
        ...happening.notice,
        ...(happening.detail ? { detail: happening.detail } : {}),
        actions: happening.actions ?? [],
      });
    case 'retry':
      return foldRetry(conversation, happening);
    case 'changes':
      return { ...conversation, changes: happening.files, redo: happening.redo ?? 0 };
    case 'tasks':
      return { ...conversation, tasks: happening.tasks };
    case 'model':
      return foldModel(conversation, happening.id);
    case 'sent':
      return add(conversation, {
        kind: 'user',
        id: happening.id,
        text: happening.text,
        chips: happening.chips,
        local: true,
      });
    case 'asked':
      return foldAsk(conversation, happening);
    case 'answered':
      return replace(conversation, happening.id, (item) =>
        item.kind === 'ask' && item.answer === undefined
          ? { ...item, answer: happening.answer, denied: happening.denied }
          : item,
      );
    case 'ended':
      return foldEnd(conversation, happening.stopReason);
    case 'lost':
      return foldLoss(conversation, happening.answer);
  }
}

// --- session/update ---

function foldUpdate(conversation: Conversation, update: Json, at: number): Conversation {
  switch (update['sessionUpdate']) {
    case 'user_message_chunk':
      return foldUser(conversation, update, at);
    case 'agent_message_chunk':
      return foldChunk(conversation, update, 'text', at);
    case 'agent_thought_chunk':
      return foldChunk(conversation, update, 'thinking', at);
    case 'tool_call':
    case 'tool_call_update':
      return foldTool(conversation, update, at);
    case 'current_mode_update':
      return foldMode(conversation, update['currentModeId']);
    case 'session_info_update':
      return typeof update['title'] === 'string' ? { ...conversation, title: update['title'] } : conversation;
    case 'usage_update':
      return foldUsage(conversation, update);
    default:
      return conversation;
  }
}

function textOf(content: unknown): string {
  if (typeof content !== 'object' || content === null) return '';
  const block = content as Json;
  return block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : '';
}

function messageOf(update: Json): string | undefined {
  const id = update['messageId'] ?? metaOf(update)['messageId'];
  return typeof id === 'string' ? id : undefined;
}

function foldChunk(
  conversation: Conversation,
  update: Json,
  kind: 'text' | 'thinking',
  at: number,
): Conversation {
  const message = messageOf(update) ?? '';
  if (metaOf(update)['dropped'] === true) {
    const items = conversation.items.filter(
      (item) => !((item.kind === 'text' || item.kind === 'thinking') && item.message === message),
    );
    return { ...conversation, items };
  }
  const text = textOf(update['content']);
  if (!text) return conversation;
  const last = lastItem(conversation);
  if (last?.kind === kind && last.message === message) {
    return replace(conversation, last.id, () => ({ ...last, text: last.text + text }));
  }
  const id = `${kind}:${conversation.serial}`;
  const live = conversation.running;
  const item: Item =
    kind === 'text'
      ? { kind, id, text, message, streaming: live }
      : { kind, id, text, message, startedAt: at, running: live };
  return add(conversation, item, at);
}

/** A prompt given back: by its id it completes the one shown at once, else it is a new item. */
function foldUser(conversation: Conversation, update: Json, at: number): Conversation {
  const chip = chipOf(update['content'], conversation.serial);
  const text = textOf(update['content']);
  if (!chip && !text) return conversation;
  const id = messageOf(update);
  const target = promptToComplete(conversation, id);
  if (target) return replace(conversation, target.id, () => completed(target, text, chip));
  const chips = chip ? [chip] : [];
  return add(conversation, { kind: 'user', id: id ?? `user:${conversation.serial}`, text, chips }, at);
}

/** The item that a chunk belongs to: by id, and without one the prompt that came just before. */
function promptToComplete(conversation: Conversation, id: string | undefined): UserItem | undefined {
  const item = id === undefined ? lastItem(conversation) : conversation.items.find((one) => one.id === id);
  return item?.kind === 'user' ? item : undefined;
}

function completed(item: UserItem, text: string, chip: Chip | undefined): UserItem {
  // What was shown at once is already whole: the echo only makes it the server's.
  if (item.local) return item;
  const known = chip && item.chips.some((other) => sameChip(other, chip));
  return { ...item, text: item.text + text, chips: chip && !known ? [...item.chips, chip] : item.chips };
}

function sameChip(one: Chip, other: Chip): boolean {
  return one.path === other.path && String(one.range) === String(other.range);
}

/** A chip for context that was sent along. */
function chipOf(content: unknown, serial: number): Chip | undefined {
  if (typeof content !== 'object' || content === null) return undefined;
  const block = content as Json;
  const id = `chip:${serial}`;
  if (block['type'] === 'image') return { id, kind: 'image', name: 'image' };
  if (block['type'] !== 'resource') return undefined;
  const uri = (block['resource'] as Json | undefined)?.['uri'];
  return typeof uri === 'string' ? { id, ...placeOf(uri) } : undefined;
}

/** File and lines of an address; that of a selection ends in `#L5-L10`. */
function placeOf(uri: string): Omit<Chip, 'id'> {
  const [address = '', fragment = ''] = uri.split('#');
  const path = address.startsWith('file:') ? decodeURIComponent(new URL(address).pathname) : address;
  if (path.endsWith('/')) {
    const folder = path.slice(0, -1);
    return { kind: 'folder', name: folder.slice(folder.lastIndexOf('/') + 1), path: folder };
  }
  const name = path.slice(path.lastIndexOf('/') + 1);
  const lines = /^L(\d+)(?:-L?(\d+))?$/.exec(fragment);
  if (!lines) return { kind: 'file', name, path };
  return { kind: 'selection', name, path, range: [Number(lines[1]), Number(lines[2] ?? lines[1])] };
}

function foldMode(conversation: Conversation, mode: unknown): Conversation {
  if (typeof mode !== 'string' || !conversation.modes) return conversation;
  return { ...conversation, modes: { ...conversation.modes, currentModeId: mode } };
}

function foldModel(conversation: Conversation, id: string): Conversation {
  if (!conversation.models) return conversation;
  return { ...conversation, models: { ...conversation.models, currentModelId: id } };
}

function foldUsage(conversation: Conversation, update: Json): Conversation {
  const { used, size } = update;
  if (typeof used !== 'number' || typeof size !== 'number') return conversation;
  const cost = update['cost'] as { amount?: unknown; currency?: unknown } | undefined;
  const meta = metaOf(update);
  const usage = { used, size, ...usageParts(meta) };
  if (meta['priceUnknown'] === true) {
    return { ...conversation, usage: { ...usage, priceUnknown: true } };
  }
  if (typeof cost?.amount !== 'number') return { ...conversation, usage };
  const currency = typeof cost.currency === 'string' ? cost.currency : 'USD';
  return { ...conversation, usage: { ...usage, cost: cost.amount, currency } };
}

function usageParts(meta: Json): Partial<Usage> {
  const told = meta['usage'] as Json | undefined;
  const model = typeof meta['model'] === 'string' ? { model: meta['model'] } : {};
  if (typeof told !== 'object') return model;
  const tokens = (name: string) => (typeof told[name] === 'number' ? told[name] : 0);
  const parts = {
    fresh: tokens('inputTokens'),
    cacheRead: tokens('cacheReadInputTokens'),
    cacheWrite: tokens('cacheWrite5MTokens') + tokens('cacheWrite1HTokens'),
    output: tokens('outputTokens'),
  };
  return { ...model, parts };
}

// --- the turn ---

function foldState(conversation: Conversation, state: State, at: number): Conversation {
  const queued = state.queued ?? [];
  const running = state.state !== 'idle';
  const next = { ...conversation, queued, running, paused: running && state.paused === true };
  return running ? startTurn(next, state, at) : endTurn(next, state, at);
}

function startTurn(conversation: Conversation, state: State, at: number): Conversation {
  const last = conversation.items.at(-1);
  if (last?.kind === 'foot' && last.running) return conversation;
  const id = `foot:${state.turnId ?? conversation.serial}`;
  const items = conversation.items.filter((item) => item.id !== id);
  const foot: FootItem = { kind: 'foot', id, running: true, startedAt: state.startedAt ?? at };
  return { ...conversation, items: [...items, foot], serial: conversation.serial + 1 };
}

function endTurn(conversation: Conversation, state: State, at: number): Conversation {
  const items: Item[] = settled(withoutRetry(conversation.items), at).map((item) => {
    if (item.kind === 'foot' && item.running) {
      const ms = state.durationMs ?? Math.max(0, at - item.startedAt);
      return { ...item, running: false, ms, outcome: state.error ? 'failed' : (item.outcome ?? 'done') };
    }
    if (item.kind === 'tool' && item.status === 'running') return { ...item, status: 'stopped' };
    return item;
  });
  const ended = { ...conversation, items };
  if (!state.error) return ended;
  const notice = { severity: 'error', text: state.error } as const;
  return fold(ended, { kind: 'notice', notice });
}

const OUTCOMES: Record<string, FootItem['outcome']> = {
  cancelled: 'stopped',
  max_turn_requests: 'limit',
  max_tokens: 'limit',
  refusal: 'refused',
};

/** The prompt was answered: says on the turn's foot how it ended, whichever message came first. */
function foldEnd(conversation: Conversation, stopReason: string): Conversation {
  const outcome = OUTCOMES[stopReason];
  const foot = conversation.items.findLast((item) => item.kind === 'foot');
  if (!outcome || !foot) return conversation;
  return replace(conversation, foot.id, (item) =>
    item.kind === 'foot' && item.outcome !== 'failed' ? { ...item, outcome } : item,
  );
}

function foldRetry(conversation: Conversation, retry: Happening & { kind: 'retry' }): Conversation {
  return add(conversation, {
    kind: 'retry',
    id: `retry:${conversation.serial}`,
    attempt: retry.attempt,
    delayMs: retry.delayMs,
    until: retry.at + retry.delayMs,
    cause: retry.cause,
  });
}

/** A question goes where its call is, else to the end. A second one with the same id changes nothing. */
function foldAsk(conversation: Conversation, asked: Happening & { kind: 'asked' }): Conversation {
  const { call, detail, options } = asked;
  if (conversation.items.some((item) => item.id === detail.id)) return conversation;
  const ask: Item = { kind: 'ask', id: detail.id, call, detail, options };
  const index = conversation.items.findIndex((item) => item.id === call);
  if (index < 0) return add(conversation, ask);
  const items = [...conversation.items];
  items.splice(index, 0, ask);
  return { ...conversation, items, serial: conversation.serial + 1 };
}

/** The server is gone: nothing runs, open questions are closed, and nobody has answered them. */
function foldLoss(conversation: Conversation, answer: string): Conversation {
  const items: Item[] = settled(withoutRetry(conversation.items), undefined).map((item) => {
    if (item.kind === 'ask' && item.answer === undefined) return { ...item, answer, denied: true };
    if (item.kind === 'tool' && item.status === 'running') return { ...item, status: 'stopped' };
    if (item.kind === 'foot' && item.running) return { ...item, running: false, outcome: 'stopped' };
    return item;
  });
  return { ...conversation, items, running: false, queued: [], tasks: [] };
}
