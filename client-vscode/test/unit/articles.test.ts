import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answerText, type Article, articles, turnsOf } from '../../src/chat/view/articles';
import { opensItself } from '../../src/chat/view/toolCard';
import { type Page, pagesOf } from '../../src/chat/view/window';
import { readsLabel } from '../../src/chat/view/toolRow';
import type { AskItem, Item, ToolItem } from '../../src/state';

const tool = (id: string, part: Partial<ToolItem> = {}): ToolItem => ({
  kind: 'tool',
  id,
  tool: 'Read',
  family: 'read',
  status: 'done',
  target: id,
  output: '',
  cut: 0,
  diffs: [],
  startedAt: 0,
  ...part,
});
const grep = (id: string) => tool(id, { tool: 'Grep', family: 'search' });
const bash = (id: string, part: Partial<ToolItem> = {}) => tool(id, { tool: 'Bash', family: 'run', ...part });
const user = (id: string): Item => ({ kind: 'user', id, text: id, chips: [] });
const words = (id: string): Item => ({ kind: 'text', id, text: id, message: id, streaming: false });
const foot = (running: boolean): Item => ({ kind: 'foot', id: 'f', running, startedAt: 0 });
const ask = (id: string, call: string, answer?: string, denied = false): AskItem => ({
  kind: 'ask',
  id,
  call,
  detail: { id, kind: 'command', tool: 'Bash', title: '', why: '' },
  options: [],
  ...(answer === undefined ? {} : { answer, denied }),
});

/** An article in short: its kind, and the kinds and ids of its parts. */
function short(article: Article): string {
  if (article.kind !== 'answer') return `${article.kind} ${article.id}`;
  const parts = article.parts.map((part) =>
    part.kind === 'reads'
      ? `reads(${part.tools.map((one) => one.id).join(' ')})`
      : `${part.kind}(${part.id})`,
  );
  return `answer ${parts.join(' ')}`;
}
const shown = (...items: Item[]) => articles(items).map(short);

test('a prompt, an answer and a notice are articles of their own', () => {
  const notice: Item = { kind: 'notice', id: 'n', severity: 'info', text: 'x', actions: [] };
  assert.deepEqual(shown(user('u'), words('a'), foot(false), notice, words('b')), [
    'user u',
    'answer text(a) foot(f)',
    'notice n',
    'answer text(b)',
  ]);
});

test('calls that only read are joined, and what runs parts them', () => {
  assert.deepEqual(shown(tool('1'), grep('2'), bash('3'), tool('4'), words('x'), tool('5')), [
    'answer reads(1 2) call(3) reads(4) text(x) reads(5)',
  ]);
});

test('a joined row keeps its place and name while it grows', () => {
  const [one] = articles([tool('1')]);
  const [two] = articles([tool('1'), grep('2')]);
  const idOf = (article: Article | undefined) =>
    article?.kind === 'answer' ? article.parts[0]?.id : undefined;
  assert.equal(idOf(one), idOf(two));
  assert.equal(one?.id, two?.id);
});

test('a reading that was denied is a row of its own', () => {
  assert.deepEqual(shown(tool('1'), tool('2', { status: 'denied' }), tool('3')), [
    'answer reads(1) call(2) reads(3)',
  ]);
});

test('while a question is open, its call is not shown beside it', () => {
  assert.deepEqual(shown(ask('q', 'b'), bash('b', { status: 'running' }), foot(true)), [
    'answer question(q) foot(f)',
  ]);
});

test('of several open questions the oldest is shown, with their number', () => {
  const [article] = articles([ask('q1', 'a'), bash('a'), ask('q2', 'b'), bash('b')]);
  assert.deepEqual(article?.kind === 'answer' && article.parts, [
    { kind: 'question', id: 'q1', ask: ask('q1', 'a'), place: 1, total: 2 },
  ]);
});

test('an allowed question leaves a row, a denied one is told by its call', () => {
  assert.deepEqual(shown(ask('q', 'b', 'Allow once'), bash('b')), ['answer answered(q) call(b)']);
  const [article] = articles([ask('q', 'b', 'Deny: no', true), bash('b', { status: 'denied' })]);
  assert.deepEqual(article?.kind === 'answer' && article.parts, [
    { kind: 'call', id: 'b', tool: bash('b', { status: 'denied' }), denial: 'Deny: no' },
  ]);
});

test('an answer without anything to show is left out', () => {
  assert.deepEqual(shown(user('u'), ask('q1', 'a'), bash('a')), ['user u', 'answer question(q1)']);
  const hidden = articles([ask('q1', 'a'), user('u'), ask('q2', 'b')]);
  assert.deepEqual(hidden.map(short), ['answer question(q1)', 'user u']);
});

test('a row of readings says what it comes to', () => {
  assert.equal(readsLabel([tool('1'), tool('2'), grep('3')]), 'Read 2 files, searched 1 pattern');
  assert.equal(readsLabel([tool('1', { path: '/a' }), tool('2', { path: '/a' })]), 'Read 1 file');
  assert.equal(readsLabel([grep('1'), grep('2')]), 'Searched 2 patterns');
});

test('the newest edit of a file in a turn is the one that stays open', () => {
  const edit = (id: string, path: string) => tool(id, { family: 'edit', path });
  const items = [user('u1'), edit('1', '/a'), edit('2', '/b'), edit('3', '/a'), user('u2'), edit('4', '/a')];
  assert.deepEqual([...turnsOf(items).lastEdits].sort(), ['2', '3', '4']);
  assert.deepEqual([...turnsOf(items).current], ['4']);
});

test('cards open and close by themselves as their calls go on', () => {
  const diffs = [{ path: '/a', added: 1, removed: 0, lines: [] }];
  const edit = tool('e', { family: 'edit', diffs });
  assert.equal(opensItself(bash('b', { status: 'running' }), false, true, false), true);
  assert.equal(opensItself(bash('b'), false, true, false), false);
  assert.equal(opensItself(bash('b', { status: 'failed' }), false, true, false), true);
  assert.equal(opensItself(bash('b', { status: 'failed' }), false, false, false), false);
  assert.equal(opensItself(edit, true, true, false), true);
  assert.equal(opensItself(edit, false, true, true), false);
  assert.equal(opensItself(edit, true, false, true), true);
  assert.equal(opensItself(edit, true, false, false), false);
});

test('a long answer goes on in further articles, its foot stays with the last, and all its words are copied', () => {
  const calls = Array.from({ length: 100 }, (_, index) => bash(`c${index}`));
  const items = [user('u'), words('first'), ...calls, words('last'), foot(false)];
  const all = articles(items);
  assert.deepEqual(
    all.map((one) => (one.kind === 'answer' ? one.parts.length : one.kind)),
    ['user', 40, 40, 23],
  );
  assert.equal(answerText(items, 'f'), 'first\n\nlast');
});

test('pages hold all articles once, and what is added changes the last one alone', () => {
  const turns = (count: number) =>
    Array.from({ length: count }, (_, index) => [
      user(`u${index}`),
      bash(`t${index}`),
      bash(`s${index}`),
    ]).flat();
  const pages = pagesOf(articles(turns(100)));
  const longer = pagesOf(articles(turns(101)));
  const names = (all: Page[]) => all.map((page) => page.articles.map((one) => one.id));
  assert.deepEqual(
    names(pages).flat(),
    articles(turns(100)).map((one) => one.id),
  );
  assert.deepEqual(names(longer).slice(0, pages.length - 1), names(pages).slice(0, -1));
  assert.deepEqual(
    pages.map((page) => page.before),
    names(pages).map((_, index) => names(pages).slice(0, index).flat().length),
  );
  assert.ok(pages.length > 5);
});
