/** One tool call of the server's updates into the item that the panel shows. */

import type { DiffLine, FileDiff, Json } from './protocol';
import { metaOf } from './protocol';
import type { Conversation, Family, ToolItem, ToolStatus } from './state';
import { add, replace } from './transcript';

/** The tail of a command's output that is kept; what comes before is only counted. */
export const OUTPUT_LINES = 200;

const FAMILIES: Record<string, Family> = {
  read: 'read',
  search: 'search',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  execute: 'run',
};

const OUTCOMES: Record<string, ToolStatus> = {
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  stopped: 'stopped',
};

export function foldTool(conversation: Conversation, update: Json, at: number): Conversation {
  const id = update['toolCallId'];
  if (typeof id !== 'string') return conversation;
  const known = conversation.items.some((item) => item.id === id && item.kind === 'tool');
  const begun = known ? conversation : add(conversation, newTool(id, update, at), at);
  return replace(begun, id, (item) => (item.kind === 'tool' ? changed(item, update, at) : item));
}

function newTool(id: string, update: Json, at: number): ToolItem {
  return {
    kind: 'tool',
    id,
    tool: text(metaOf(update)['tool']) ?? text(update['title'])?.split(' ')[0] ?? '',
    family: 'other',
    status: 'running',
    target: '',
    output: '',
    cut: 0,
    diffs: [],
    startedAt: at,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value ? value : undefined;
}

function changed(item: ToolItem, update: Json, at: number): ToolItem {
  const meta = metaOf(update);
  const next: ToolItem = { ...item };
  next.tool = text(meta['tool']) ?? item.tool;
  next.family = FAMILIES[text(update['kind']) ?? ''] ?? item.family;
  next.target = text(meta['summary']) ?? targetOf(update) ?? item.target;
  const path = pathOf(update);
  if (path !== undefined) next.path = path;
  const line = firstPlace(update)?.['line'];
  if (typeof line === 'number') next.line = line;
  readContent(next, update['content']);
  const piece = text(meta['outputDelta']);
  if (piece !== undefined) Object.assign(next, tail(item.output + piece, item.cut));
  const diffs = meta['diffs'];
  if (Array.isArray(diffs)) next.diffs = diffs as FileDiff[];
  readEnd(next, update, meta, at);
  return next;
}

function readEnd(item: ToolItem, update: Json, meta: Json, at: number): void {
  const status = statusOf(update['status'], text(meta['outcome']), item.status);
  const ended = item.status === 'running' && status !== 'running';
  item.status = status;
  if (typeof meta['durationMs'] === 'number') item.ms = meta['durationMs'];
  else if (ended && item.ms === undefined) item.ms = Math.max(0, at - item.startedAt);
  if (typeof meta['exitCode'] === 'number') item.exitCode = meta['exitCode'];
  const note = text(meta['note']);
  if (note !== undefined) item.note = note;
}

function statusOf(status: unknown, outcome: string | undefined, before: ToolStatus): ToolStatus {
  const told = outcome === undefined ? undefined : OUTCOMES[outcome];
  if (told) return told;
  if (status === 'completed') return 'done';
  if (status === 'failed') return 'failed';
  return before;
}

/** What the call is about, from its input when the server did not say it in words. */
function targetOf(update: Json): string | undefined {
  const input = update['rawInput'];
  if (typeof input === 'object' && input !== null) {
    const fields = input as Json;
    for (const key of ['command', 'pattern', 'file_path', 'path', 'url']) {
      const value = text(fields[key]);
      if (value !== undefined) return value;
    }
  }
  return text(update['title']);
}

function firstPlace(update: Json): Json | undefined {
  const locations = update['locations'];
  return Array.isArray(locations) ? (locations[0] as Json | undefined) : undefined;
}

function pathOf(update: Json): string | undefined {
  return text(firstPlace(update)?.['path']);
}

/** Content replaces what was shown, as the protocol has it: text is output, a diff is a diff. */
function readContent(item: ToolItem, content: unknown): void {
  if (!Array.isArray(content)) return;
  const texts: string[] = [];
  const diffs: FileDiff[] = [];
  for (const part of content as Json[]) {
    if (part['type'] === 'content') {
      const inner = part['content'] as Json | undefined;
      const words = text(inner?.['text']);
      if (words !== undefined) texts.push(words);
    } else if (part['type'] === 'diff') {
      diffs.push(wholeTextDiff(part));
    }
  }
  if (texts.length) Object.assign(item, tail(texts.join('\n'), 0));
  if (diffs.length) item.diffs = diffs;
}

/** The last lines of an output, and the count of those that were cut away before them. */
export function tail(output: string, cut: number): { output: string; cut: number } {
  const lines = output.split('\n');
  const extra = lines.length - OUTPUT_LINES;
  if (extra <= 0) return { output, cut };
  return { output: lines.slice(extra).join('\n'), cut: cut + extra };
}

/** A plain reading of two whole texts: what is equal at both ends is left out. */
export function wholeTextDiff(part: Json): FileDiff {
  const old = text(part['oldText']);
  const before = old === undefined ? [] : old.replace(/\n$/, '').split('\n');
  const after = (text(part['newText']) ?? '').replace(/\n$/, '').split('\n');
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let foot = 0;
  const room = Math.min(before.length, after.length) - head;
  while (foot < room && before.at(-1 - foot) === after.at(-1 - foot)) foot += 1;
  const lines: DiffLine[] = [];
  before.slice(head, before.length - foot).forEach((line, index) => {
    lines.push({ sign: '-', text: line, old: head + index + 1 });
  });
  after.slice(head, after.length - foot).forEach((line, index) => {
    lines.push({ sign: '+', text: line, new: head + index + 1 });
  });
  const count = (sign: string) => lines.filter((line) => line.sign === sign).length;
  const path = text(part['path']) ?? '';
  return { path, added: count('+'), removed: count('-'), lines, creates: old === undefined };
}
