/** Items into what the feed shows: prompts, answers and notices, with quiet tools joined into one row. Pure. */

import type {
  AskItem,
  FootItem,
  Item,
  NoticeItem,
  RetryItem,
  TextItem,
  ThinkingItem,
  ToolItem,
  UserItem,
} from '../../state';

/** Calls that only read, joined. */
export interface Reads {
  kind: 'reads';
  id: string;
  tools: ToolItem[];
}

export interface Answered {
  kind: 'answered';
  id: string;
  ask: AskItem;
}

/** One call as a card, or as a row when it was denied or stopped; `denial` is what the person said. */
export interface Call {
  kind: 'call';
  id: string;
  tool: ToolItem;
  denial?: string;
}

/** The open question; `more` others wait behind it. */
export interface Question {
  kind: 'question';
  id: string;
  ask: AskItem;
  place: number;
  total: number;
}

export type Part = Reads | Answered | Call | Question | TextItem | ThinkingItem | FootItem;

export type Article =
  | { kind: 'user'; id: string; items: Item[]; user: UserItem }
  | { kind: 'answer'; id: string; items: Item[]; parts: Part[]; busy: boolean }
  | { kind: 'notice'; id: string; items: Item[]; notice: NoticeItem | RetryItem };

export function isQuiet(tool: ToolItem): boolean {
  const quiet = tool.family === 'read' || tool.family === 'search';
  return quiet && tool.status !== 'denied' && tool.status !== 'stopped';
}

/** All articles in order. An item that did not change stays the same object inside them. */
export function articles(items: Item[]): Article[] {
  const found: Article[] = [];
  const context = contextOf(items);
  for (const item of items) {
    if (item.kind === 'user') {
      found.push({ kind: 'user', id: item.id, items: [item], user: item });
    } else if (item.kind === 'notice' || item.kind === 'retry') {
      found.push({ kind: 'notice', id: item.id, items: [item], notice: item });
    } else {
      const last = found.at(-1);
      const answer = last?.kind === 'answer' && !isFull(last, item) ? last : newAnswer(item.id, found);
      answer.items.push(item);
      addPart(answer, item, context);
    }
  }
  return found.filter((article) => article.kind !== 'answer' || article.parts.length > 0);
}

/** An answer of this many parts goes on in a further article, so that one article never grows without end. */
const MOST_PARTS = 40;

/** Reading that joins the row before it and the foot belong to what is there already. */
function isFull({ parts }: { parts: Part[] }, next: Item): boolean {
  if (parts.length < MOST_PARTS || next.kind === 'foot') return false;
  return !(next.kind === 'tool' && isQuiet(next) && parts.at(-1)?.kind === 'reads');
}

function newAnswer(id: string, found: Article[]): Article & { kind: 'answer' } {
  const answer: Article & { kind: 'answer' } = {
    kind: 'answer',
    id: `a:${id}`,
    items: [],
    parts: [],
    busy: false,
  };
  found.push(answer);
  return answer;
}

interface Context {
  open: AskItem[];
  /** The last question of each call. */
  asks: Map<string, AskItem>;
  denied: Set<string>;
}

function contextOf(items: Item[]): Context {
  const asks = items.filter((item) => item.kind === 'ask');
  const denied = items.filter((item) => item.kind === 'tool' && item.status === 'denied');
  return {
    open: asks.filter((ask) => ask.answer === undefined),
    asks: new Map(asks.map((ask) => [ask.call, ask])),
    denied: new Set(denied.map((item) => item.id)),
  };
}

function addPart(answer: Article & { kind: 'answer' }, item: Item, context: Context): void {
  const { parts } = answer;
  switch (item.kind) {
    case 'ask':
      addAsk(parts, item, context);
      return;
    case 'tool':
      addTool(parts, item, context);
      return;
    case 'foot':
      answer.busy = item.running;
      parts.push(item);
      return;
    case 'text':
    case 'thinking':
      parts.push(item);
  }
}

/** One card at a time, in order of arrival; an answered question is a row, unless its call shows the denial. */
function addAsk(parts: Part[], ask: AskItem, context: Context): void {
  const { open, denied } = context;
  if (ask.answer === undefined) {
    if (ask !== open[0]) return;
    parts.push({ kind: 'question', id: ask.id, ask, place: 1, total: open.length });
  } else if (!denied.has(ask.call)) {
    parts.push({ kind: 'answered', id: ask.id, ask });
  }
}

/** A call whose question is still open is shown by the question alone. */
function addTool(parts: Part[], tool: ToolItem, context: Context): void {
  const ask = context.asks.get(tool.id);
  if (ask && ask.answer === undefined) return;
  const last = parts.at(-1);
  if (!isQuiet(tool)) {
    const denial = tool.status === 'denied' ? ask?.answer : undefined;
    parts.push({ kind: 'call', id: tool.id, tool, ...(denial === undefined ? {} : { denial }) });
  } else if (last?.kind === 'reads') {
    last.tools.push(tool);
  } else {
    parts.push({ kind: 'reads', id: `r:${tool.id}`, tools: [tool] });
  }
}

/** What the opening of cards depends on. */
export interface Turns {
  /** The newest call of a turn that edits the same file; the older ones fold. */
  lastEdits: Set<string>;
  /** Ids of the calls since the last prompt. */
  current: Set<string>;
}

const known = new WeakMap<Item[], Turns>();

/** Worked out once for a state of the transcript. */
export function turnsOf(items: Item[]): Turns {
  let turns = known.get(items);
  if (!turns) known.set(items, (turns = { lastEdits: lastEdits(items), current: thisTurn(items) }));
  return turns;
}

function lastEdits(items: Item[]): Set<string> {
  const newest = new Map<string, string>();
  let turn = 0;
  for (const item of items) {
    if (item.kind === 'user') turn += 1;
    if (item.kind === 'tool' && item.family === 'edit')
      newest.set(`${turn} ${item.path ?? item.target}`, item.id);
  }
  return new Set(newest.values());
}

function thisTurn(items: Item[]): Set<string> {
  const from = items.findLastIndex((item) => item.kind === 'user');
  return new Set(items.slice(from + 1).map((item) => item.id));
}

/** All that the agent said in the turn that ends with this foot. */
export function answerText(items: Item[], foot: string): string {
  const end = items.findIndex((item) => item.id === foot);
  const begin = items.slice(0, end).findLastIndex((item) => item.kind === 'user');
  const texts = items.slice(begin + 1, end).filter((item) => item.kind === 'text');
  return texts.map((item) => item.text).join('\n\n');
}
